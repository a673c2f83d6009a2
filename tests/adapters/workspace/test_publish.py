"""A publish swaps everything in at once, or leaves everything as it was."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from automemory_dagster.adapters.workspace import GitWorkspaces
from automemory_dagster.domain.errors import LeaseLost, TransientError
from automemory_dagster.domain.redaction import RedactedText
from tests.adapters.workspace.ground import NOON, SPACE, Ground, contents, fingerprint


def test_plain_git_reads_the_history(ground: Ground) -> None:
    ground.publish(
        {"MEMORY.md": "one\n", "a/b/c.md": "deep\n", "a.md": "x", "a-b.md": "y"}, "First"
    )
    second = ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "First"]
    assert ground.git("rev-parse", "HEAD").strip() == second.commit
    assert ground.git("status", "--porcelain") == ""
    assert ground.git("fsck", "--full", "--strict", "--no-dangling") == ""
    assert ground.git("show", "HEAD~1:MEMORY.md") == "one\n"
    assert ground.git("log", "-1", "--format=%an <%ae> %cn <%ce> %at %ai") == (
        "automemory <automemory@localhost> automemory <automemory@localhost> "
        "1796126400 2026-12-01 12:00:00 +0000\n"
    )


def test_no_settings_of_anybody_are_read(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = "[user]\n\tname = Ann\n\temail = ann@example.com\n[core]\n\tautocrlf = true\n"
    (tmp_path / ".gitconfig").write_text(settings, "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))

    ground.publish({"MEMORY.md": "one\r\n"})

    assert "Ann" not in ground.git("log", "--format=%an %cn")
    assert ground.git("cat-file", "-s", "HEAD:MEMORY.md").strip() == "5"
    assert (ground.folder / "MEMORY.md").read_bytes() == b"one\r\n"


def test_a_persons_edits_are_committed_as_they_were_before_the_memory(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "raw_memories.md": "raw\n", "old.md": "old\n"}, "First")
    ground.edit("MEMORY.md", "mine\n")
    ground.edit("own.md", "own\n")
    (ground.folder / "old.md").unlink()
    (ground.folder / "link").symlink_to("own.md")

    ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "Edits by hand", "First"]
    assert ground.git("show", "HEAD~1:MEMORY.md") == "mine\n"
    listed = ground.git("ls-tree", "-r", "--name-only", "HEAD~1").splitlines()
    assert listed == ["MEMORY.md", "link", "own.md", "raw_memories.md"]
    assert ground.git("cat-file", "-p", "HEAD~1:link") == "own.md"
    assert ground.git("fsck", "--full", "--strict", "--no-dangling") == ""


def test_files_from_before_the_first_publish_are_edits_by_hand(ground: Ground) -> None:
    ground.edit("AGENTS.md", "mine\n")

    ground.publish({"MEMORY.md": "one\n"}, "First")

    assert ground.subjects() == ["First", "Edits by hand"]
    assert contents(ground.folder) == {"AGENTS.md": b"mine\n", "MEMORY.md": b"one\n"}


def test_a_persons_own_commits_and_branch_are_kept(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"}, "First")
    ground.git("checkout", "-q", "-b", "mine")
    ground.edit("MEMORY.md", "mine\n")
    ground.git("-c", "user.name=Ann", "-c", "user.email=a@example.com", "commit", "-qam", "Mine")

    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.edited_by_hand()) == ["MEMORY.md"]
        assert staging.baseline("MEMORY.md") == "one\n"
    ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "Mine", "First"]
    assert ground.git("branch", "--show-current").strip() == "mine"
    assert ground.git("status", "--porcelain") == ""


def test_publishing_no_change_is_fine(ground: Ground) -> None:
    first = ground.publish({"MEMORY.md": "one\n"})

    second = ground.publish({})

    assert second.commit != first.commit
    assert contents(ground.folder) == {"MEMORY.md": b"one\n"}
    assert ground.git("status", "--porcelain") == ""


def test_an_error_puts_everything_back_byte_for_byte(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "notes/a.md": "a"})
    ground.edit("own.md", "own")
    (ground.folder / "link").symlink_to("own.md")
    before = fingerprint(ground.folder)

    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        with pytest.raises(LookupError, match="two"), staging.publish("Second"):
            raise LookupError((ground.folder / "MEMORY.md").read_text("utf-8"))

    assert fingerprint(ground.folder) == before
    assert ground.subjects() == ["Memory"]


def test_an_error_at_the_first_publish_leaves_no_workspace(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("one\n"))
        with pytest.raises(KeyboardInterrupt), staging.publish("First"):
            raise KeyboardInterrupt

    assert not ground.folder.exists()


def test_an_edit_made_while_the_store_decides_is_taken_back_along(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})

    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        with pytest.raises(LookupError), staging.publish("Second"):
            raise LookupError(ground.edit("new/own.md", "own"))

    assert contents(ground.folder) == {"MEMORY.md": b"one\n", "new/own.md": b"own"}


def test_an_unchanged_file_edited_in_place_meanwhile_keeps_the_edit(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "notes.md": "kept\n"})

    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        with pytest.raises(LookupError), staging.publish("Second"):
            raise LookupError((ground.folder / "notes.md").open("r+").write("KEPT"))

    assert contents(ground.folder) == {"MEMORY.md": b"one\n", "notes.md": b"KEPT\n"}


def test_a_copy_whose_publish_failed_still_shares_nothing(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "notes.md": "kept\n"})

    with ground.workspaces.stage(SPACE) as staging:
        (ground.folder / "new.md").write_text("new", "utf-8")
        with pytest.raises(TransientError), staging.publish("Second"):
            pass
        staging.write("notes.md", RedactedText("other\n"))
        staging.delete("MEMORY.md")

    found = {"MEMORY.md": b"one\n", "new.md": b"new", "notes.md": b"kept\n"}
    assert contents(ground.folder) == found


def test_an_unchanged_file_is_the_same_file_afterwards(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "notes.md": "kept\n"})
    before = (ground.folder / "notes.md").stat().st_ino

    ground.publish({"MEMORY.md": "two\n"})

    assert (ground.folder / "notes.md").stat().st_ino == before
    assert (ground.folder / "notes.md").stat().st_nlink == 1
    assert ground.git("status", "--porcelain") == ""


def test_an_edit_made_since_the_copy_was_taken_stops_the_publish(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})

    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        ground.edit("MEMORY.md", "mine\n")
        with pytest.raises(TransientError, match="edited"), staging.publish("Second"):
            pass

    assert contents(ground.folder) == {"MEMORY.md": b"mine\n"}
    assert ground.subjects() == ["Memory"]


def test_a_stale_process_loses_its_lease_and_changes_nothing(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})

    with ground.workspaces.stage(SPACE) as stale:
        stale.write("MEMORY.md", RedactedText("stale\n"))
        ground.publish({"MEMORY.md": "two\n"}, "Second")
        with pytest.raises(LeaseLost), stale.publish("Stale"):
            pass

    assert contents(ground.folder) == {"MEMORY.md": b"two\n"}
    assert ground.subjects() == ["Second", "Memory"]


def test_a_stale_first_publish_loses_too(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as stale:
        stale.write("MEMORY.md", RedactedText("stale\n"))
        ground.publish({"MEMORY.md": "one\n"}, "First")
        with pytest.raises(LeaseLost), stale.publish("Stale"):
            pass

    assert ground.subjects() == ["First"]


def test_of_many_publishers_at_once_exactly_one_wins(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "zero\n"}, "Zero")
    patient = GitWorkspaces(ground.root, clock=lambda: NOON)
    barrier = threading.Barrier(4)
    outcomes: list[str] = []

    def publish(number: int) -> None:
        with patient.stage(SPACE) as staging:
            staging.write("MEMORY.md", RedactedText(f"{number}\n"))
            barrier.wait()
            try:
                with staging.publish(f"By {number}"):
                    outcomes.append(f"By {number}")
            except LeaseLost:
                outcomes.append("lost")

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outcomes.count("lost") == 3
    winner = next(outcome for outcome in outcomes if outcome != "lost")
    assert ground.subjects() == [winner, "Zero"]
    assert (ground.folder / "MEMORY.md").read_text("utf-8") == f"{winner.removeprefix('By ')}\n"


def test_another_process_in_these_folders_is_waited_for_and_then_told(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})

    with (
        ground.workspaces.stage(SPACE) as staging,
        staging.publish("Second"),
        pytest.raises(TransientError, match=r"0\.2 seconds"),
    ):
        ground.workspaces.recover(None, SPACE)


def test_a_live_staging_copy_is_left_alone_and_a_dead_ones_is_removed(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    private = ground.folder.parent / f".{ground.folder.name}"
    child = os.fork()
    if child == 0:
        left_open = ground.workspaces.stage(SPACE)
        left_open.__enter__()
        os._exit(9)
    os.waitpid(child, 0)
    assert len(list(private.glob("staging-*"))) == 1

    with ground.workspaces.stage(SPACE) as first, ground.workspaces.stage(SPACE):
        assert len(list(private.glob("staging-*"))) == 2
        assert first.read("MEMORY.md") == "one\n"

    assert list(private.glob("staging-*")) == []


def test_a_git_folder_that_nobody_can_read_is_put_aside(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"}, "First")
    (ground.folder / ".git/refs/heads/main").write_text("f" * 40 + "\n", "utf-8")
    (ground.folder / ".git/refs/automemory/baseline").unlink()

    ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "Edits by hand"]
    private = ground.folder.parent / f".{ground.folder.name}"
    assert (private / "put-aside/objects").is_dir()


def test_many_versions_stay_small_and_readable(quick_disk: Path) -> None:
    ground = Ground(quick_disk)
    text = "".join(f"{number} and more words to fill the line\n" for number in range(2_000))
    for version in range(80):
        ground.publish({"raw_memories.md": text + f"{version}\n", "MEMORY.md": f"{version}\n"})

    assert len(ground.subjects()) == 80
    assert ground.git("fsck", "--full", "--strict", "--no-dangling") == ""
    assert ground.git("show", "HEAD~70:MEMORY.md") == "9\n"
    objects = [path for path in (ground.folder / ".git/objects").rglob("*") if path.is_file()]
    assert len(objects) < 250
    # 80 versions of 88 KB each, half of them still loose at 20 KB.
    assert sum(path.stat().st_size for path in objects) < 1_500_000


def test_git_may_pack_and_prune_what_we_wrote(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"}, "First")
    subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=ground.folder, check=True)

    ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "First"]
    assert ground.git("fsck", "--full", "--strict", "--no-dangling") == ""
