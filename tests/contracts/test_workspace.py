"""One exam for staging copies: the fake that other tests trust, and the real one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from automemory_dagster.domain.errors import InvalidArtifacts
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.workspace import ChangeKind
from automemory_dagster.ports import Staging
from tests.adapters.workspace.ground import SPACE, Ground
from tests.fakes.staging import FakeStaging

MakeStaging = Callable[[Mapping[str, str], Mapping[str, str]], Staging]

BASELINE = {"MEMORY.md": "one\ntwo\n", "notes/b.txt": "b", "raw_memories.md": "raw\n"}


@pytest.fixture(params=["fake", "git"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStaging]:
    """Makes a staging copy from a baseline and what the workspace holds now."""
    with ExitStack() as stack:

        def fake(baseline: Mapping[str, str], now: Mapping[str, str]) -> Staging:
            return FakeStaging(now, baseline=baseline)

        def real(baseline: Mapping[str, str], now: Mapping[str, str]) -> Staging:
            ground = Ground(tmp_path)
            if baseline:
                ground.publish(baseline)
            for path in baseline.keys() - now.keys():
                (ground.folder / path).unlink()
            for path, text in now.items():
                ground.edit(path, text)
            return stack.enter_context(ground.workspaces.stage(SPACE))

        yield fake if request.param == "fake" else real


class TestFiles:
    def test_a_new_space_is_empty(self, make: MakeStaging) -> None:
        staging = make({}, {})

        assert list(staging.paths()) == []
        assert list(staging.links()) == []
        assert list(staging.edited_by_hand()) == []
        assert not staging.diff().has_changes

    def test_paths_are_sorted_and_texts_are_exact(self, make: MakeStaging) -> None:
        texts = {"b.md": "no newline", "a/z.md": "\r\nx\r\n", "B.md": "\ufeffünï\u2028"}

        staging = make(texts, texts)

        assert list(staging.paths()) == ["B.md", "a/z.md", "b.md"]
        assert {path: staging.read(path) for path in texts} == texts

    def test_what_was_written_is_read_back(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)

        staging.write("skills/x/SKILL.md", RedactedText("new\n"))
        staging.write("MEMORY.md", RedactedText("other\n"))

        assert staging.read("skills/x/SKILL.md") == "new\n"
        assert staging.read("MEMORY.md") == "other\n"
        assert staging.baseline("MEMORY.md") == "one\ntwo\n"
        assert staging.baseline("skills/x/SKILL.md") is None

    def test_what_was_deleted_is_gone_and_deleting_again_is_nothing(
        self, make: MakeStaging
    ) -> None:
        staging = make(BASELINE, BASELINE)

        staging.delete("notes/b.txt")
        staging.delete("notes/b.txt")

        assert list(staging.paths()) == ["MEMORY.md", "raw_memories.md"]
        assert staging.read("notes/b.txt") is None
        assert staging.baseline("notes/b.txt") == "b"

    def test_a_path_out_of_the_copy_is_refused(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)

        for path in ("../x.md", "/x.md", ".git/config", "a/../../x.md"):
            with pytest.raises(InvalidArtifacts):
                staging.write(path, RedactedText("x"))


class TestDiff:
    def test_added_modified_and_deleted_are_told_apart_and_sorted(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)

        staging.write("MEMORY.md", RedactedText("one\n2\n"))
        staging.write("new.md", RedactedText("n\n"))
        staging.delete("raw_memories.md")

        found = staging.diff()
        assert [(change.kind, change.path) for change in found.changes] == [
            (ChangeKind.MODIFIED, "MEMORY.md"),
            (ChangeKind.ADDED, "new.md"),
            (ChangeKind.DELETED, "raw_memories.md"),
        ]
        assert "-two" in found.unified
        assert "+2" in found.unified

    def test_writing_the_same_again_is_no_change(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)

        staging.write("MEMORY.md", RedactedText("other\n"))
        staging.write("MEMORY.md", RedactedText(BASELINE["MEMORY.md"]))

        assert not staging.diff().has_changes

    def test_a_persons_edits_are_named_and_part_of_the_diff(self, make: MakeStaging) -> None:
        now = {"MEMORY.md": "mine\n", "raw_memories.md": "raw\n", "own/note.txt": "hello"}

        staging = make(BASELINE, now)
        staging.write("later.md", RedactedText("by the program"))

        assert list(staging.edited_by_hand()) == ["MEMORY.md", "notes/b.txt", "own/note.txt"]
        assert [change.path for change in staging.diff().changes] == [
            "MEMORY.md",
            "later.md",
            "notes/b.txt",
            "own/note.txt",
        ]


class TestPublish:
    def test_a_publish_gives_a_commit_id(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)
        staging.write("MEMORY.md", RedactedText("new\n"))

        with staging.publish("Memory version 2") as commit:
            pass

        assert len(commit) == 40
        assert set(commit) <= set("0123456789abcdef")

    def test_the_error_of_the_context_comes_through(self, make: MakeStaging) -> None:
        staging = make(BASELINE, BASELINE)

        with pytest.raises(LookupError, match="the store refused"), staging.publish("Memory"):
            raise LookupError("the store refused")

        assert staging.baseline("MEMORY.md") == "one\ntwo\n"
