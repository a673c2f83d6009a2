"""Phase 2 in Dagster: the extraction log as metadata of ``memory``, and what a failure leaves."""

from pathlib import Path

import pytest

from automemory_dagster.contract import MEMORY, SPACES_PARTITIONS
from automemory_dagster.domain.thread import SpaceId
from tests.builders import a_turn
from tests.defs.shell import Shell, failure_of, id_of, made, seen


@pytest.fixture
def swept(shell: Shell) -> Shell:
    """Two sessions extracted, one with nothing in it, one that forbids it."""
    shell.write(1, "Always use uv, never pip.")
    shell.write(2, "Always run `just test` before you commit.")
    shell.write(3, turns=[a_turn("hello", answer="Hello!")])
    shell.write(4, memory_mode="disabled")
    shell.sweep()
    return shell


class TestThePublishedMemory:
    def test_its_metadata_is_the_extraction_log(self, swept: Shell) -> None:
        result = swept.consolidate()

        assert result.success
        [(partition, told)] = made(result, MEMORY).items()
        rows = [record.data for record in told["extraction_log"].records]
        assert partition == swept.space
        assert {(row["thread"], row["outcome"], row["reason"]) for row in rows} == {
            (id_of(1), "extracted", "extracted"),
            (id_of(2), "extracted", "extracted"),
            (id_of(3), "no_output", "nothing_to_keep"),
            (id_of(4), "skipped", "memory_mode_disabled"),
        }
        columns = {column.name for column in told["extraction_log"].schema.columns}
        assert columns == set(rows[0])
        assert {row["title"] for row in rows} >= {"Always use uv, never pip.", "hello"}

    def test_its_totals_add_up(self, swept: Shell) -> None:
        told = made(swept.consolidate(), MEMORY)[swept.space]

        rows = [record.data for record in told["extraction_log"].records]
        totals = {
            (record.data["outcome"], record.data["reason"]): record.data["threads"]
            for record in told["outcomes"].records
        }
        assert totals == {
            ("extracted", "extracted"): 2,
            ("no_output", "nothing_to_keep"): 1,
            ("skipped", "memory_mode_disabled"): 1,
        }
        assert told["input_tokens"] == sum(row["input_tokens"] for row in rows) > 0
        assert told["usd"] == 0.0
        assert told["threads"] == 2

    def test_its_summary_is_the_published_file(self, swept: Shell) -> None:
        told = made(swept.consolidate(), MEMORY)[swept.space]

        workspace = Path(told["workspace"])
        assert told["summary"] == (workspace / "memory_summary.md").read_text()
        assert told["summary"].startswith("v1\n")
        assert told["version"] == 1
        assert told["consolidator"] == "offline/2"
        assert told["commit"] in (workspace / ".git" / "refs" / "heads" / "main").read_text()

    def test_its_counts_are_those_of_the_files(self, swept: Shell) -> None:
        first = made(swept.consolidate(), MEMORY)[swept.space]
        files = [
            path
            for path in Path(first["workspace"]).rglob("*")
            if path.is_file() and ".git" not in path.parts
        ]
        swept.write(5, "Write commit messages in English.")
        swept.sweep()

        second = made(swept.consolidate(), MEMORY)[swept.space]

        counts = ("files_added", "files_modified", "files_deleted")
        assert [first[count] for count in counts] == [len(files), 0, 0]
        # One more rollout summary; the handbook, its summary and the raw memories are rewritten.
        assert [second[count] for count in counts] == [1, 3, 0]
        assert second["version"] == 2

    def test_its_log_tells_only_what_is_new_since_the_last_one(self, swept: Shell) -> None:
        swept.consolidate()
        new = swept.write(5, "Write commit messages in English.")
        swept.sweep()

        told = made(swept.consolidate(), MEMORY)[swept.space]

        assert [record.data["thread"] for record in told["extraction_log"].records] == [new]

    def test_a_version_that_only_a_persons_edit_made_has_an_empty_log(self, swept: Shell) -> None:
        workspace = _publish_first(swept)
        (workspace / "my-notes.md").write_text("Ask Kim about the tax rules.\n")

        result = swept.consolidate(partition=swept.space)

        told = made(result, MEMORY)[swept.space]
        assert result.success
        assert (told["version"], told["usd"], told["input_tokens"]) == (2, 0.0, 0)
        assert list(told["extraction_log"].records) == list(told["outcomes"].records) == []


class TestARunWithNothingToDo:
    def test_over_a_partition_it_says_that_nothing_changed(self, swept: Shell) -> None:
        swept.consolidate()

        again = swept.consolidate(partition=swept.space)

        assert again.success
        assert made(again, MEMORY) == {}
        told = seen(again, MEMORY)[swept.space]["description"]
        assert told == "nothing changed; version 1 stands"

    def test_over_everything_it_does_nothing(self, swept: Shell) -> None:
        swept.consolidate()

        again = swept.consolidate()

        assert again.success
        assert made(again, MEMORY) == seen(again, MEMORY) == {}

    def test_for_a_named_space_it_says_why_it_was_skipped(self, swept: Shell) -> None:
        swept.consolidate()

        again = swept.consolidate(space_ids=[swept.space])

        assert "nothing changed" in seen(again, MEMORY)[swept.space]["description"]
        assert swept.automemory.store.space(SpaceId(swept.space)).version == 1


def test_an_unknown_space_is_refused_by_name(swept: Shell) -> None:
    result = swept.consolidate(space_ids=["codex:elsewhere"])

    told = str(failure_of(result).step_failure_data.user_failure_data.description)
    assert "codex:elsewhere" in told
    assert swept.space in told
    assert [space.space_id for space in swept.automemory.store.spaces()] == [swept.space]


class TestAFailure:
    def test_it_is_told_in_our_words_is_not_retried_and_changes_nothing(self, swept: Shell) -> None:
        workspace = _publish_first(swept)
        published = swept.automemory.store.publication(SpaceId(swept.space))
        (workspace / "outside").symlink_to("/etc/hostname")
        swept.write(5, "Write commit messages in English.")
        swept.sweep()
        before = _files(workspace)

        result = swept.consolidate(partition=swept.space)

        failure = failure_of(result).step_failure_data.user_failure_data
        assert failure is not None
        assert "outside is a symbolic link" in str(failure.description)
        assert not [event for event in result.all_events if event.is_step_up_for_retry]
        assert swept.automemory.store.publication(SpaceId(swept.space)) == published
        assert _files(workspace) == before
        assert swept.automemory.store.space(SpaceId(swept.space)).has_pending_changes

    def test_the_next_run_succeeds_when_the_cause_is_gone(self, swept: Shell) -> None:
        workspace = _publish_first(swept)
        (workspace / "outside").symlink_to("/etc/hostname")
        swept.write(5, "Write commit messages in English.")
        swept.sweep()
        assert not swept.consolidate(partition=swept.space).success
        (workspace / "outside").unlink()

        result = swept.consolidate(partition=swept.space)

        assert result.success
        assert "commit messages in English" in (workspace / "MEMORY.md").read_text()

    def test_the_other_spaces_of_the_run_are_done(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path, split_by_project=True)
        for number, project in ((1, "api"), (2, "web")):
            shell.write(number, repository_url=f"https://git.example.com/acme/{project}.git")
        shell.sweep()
        spaces = sorted(shell.partitions(SPACES_PARTITIONS))
        workspace = Path(shell.automemory.workspace.location(SpaceId(spaces[0])))
        workspace.mkdir(parents=True)
        (workspace / "outside").symlink_to("/etc/hostname")

        result = shell.consolidate()

        failure = failure_of(result).step_failure_data.user_failure_data
        assert [space.rsplit("/", 1)[1] for space in spaces] == ["api", "web"]
        assert "1 of 2 spaces failed" in str(failure.description)
        assert set(made(result, MEMORY)) == {spaces[1]}


def _publish_first(shell: Shell) -> Path:
    told = made(shell.consolidate(partition=shell.space), MEMORY)[shell.space]
    return Path(told["workspace"])


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
