"""Forgetting reaches history: no object under the root holds the old text any more."""

import os
import shutil
import zlib
from pathlib import Path

from automemory_dagster.domain.redaction import RedactedText
from tests.adapters.workspace.ground import SPACE, Ground, contents, killed_at_change

FORGOTTEN = "the-forgotten-sentence"
FILLER = {f"rollout_summaries/{number}.md": f"{number}\n" * 50 for number in range(60)}


def stored_texts(root: Path) -> bytes:
    """Every byte below a folder: files as they are, loose objects and packs inflated."""
    found = []
    for path in root.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        raw = path.read_bytes()
        found.append(raw)
        for start in range(len(raw) - 1) if "objects" in path.parts else ():
            # 0x78 begins every zlib stream; in a pack they stand anywhere.
            if raw[start] == 0x78:
                try:
                    found.append(zlib.decompressobj().decompress(raw[start:]))
                except zlib.error:
                    continue
    return b"\n".join(found)


def with_something_to_forget(ground: Ground) -> None:
    ground.publish({**FILLER, "MEMORY.md": f"{FORGOTTEN} one\n"}, "First")
    ground.edit("own.md", f"{FORGOTTEN} by hand\n")
    ground.publish({"MEMORY.md": f"{FORGOTTEN} two\n"}, f"Second {FORGOTTEN}")
    ground.git("tag", "mine")
    ground.git("branch", "other", "HEAD~1")
    ground.git("-c", "user.name=A", "-c", "user.email=a@b", "stash", "list")
    ground.publish({"MEMORY.md": "kept\n", "own.md": None}, "Third")


def test_the_search_of_these_tests_finds_what_is_there(ground: Ground) -> None:
    with_something_to_forget(ground)

    found = stored_texts(ground.root)

    for text in (f"{FORGOTTEN} one", f"{FORGOTTEN} two", f"{FORGOTTEN} by hand"):
        assert text.encode() in found


def test_nothing_old_is_left_anywhere_under_the_root(ground: Ground) -> None:
    with_something_to_forget(ground)

    commit = ground.workspaces.rewrite_history(SPACE)

    assert FORGOTTEN.encode() not in stored_texts(ground.root)
    assert ground.git("rev-parse", "HEAD").strip() == commit
    assert ground.git("rev-list", "--all", "--count").strip() == "1"
    assert ground.git("show", "HEAD:MEMORY.md") == "kept\n"
    assert ground.git("status", "--porcelain") == ""
    assert ground.git("fsck", "--full", "--strict") == ""


def test_uncommitted_edits_and_agreement_with_the_store_stay(ground: Ground) -> None:
    published = ground.publish({"MEMORY.md": "one\n", "a.md": "a\n"}, "First")
    ground.edit("MEMORY.md", "mine\n")

    ground.workspaces.rewrite_history(SPACE)

    assert not ground.workspaces.recover(published, SPACE)
    assert contents(ground.folder) == {"MEMORY.md": b"mine\n", "a.md": b"a\n"}
    assert ground.git("status", "--porcelain") == " M MEMORY.md\n"
    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.edited_by_hand()) == ["MEMORY.md"]
        assert staging.baseline("MEMORY.md") == "one\n"


def test_copies_put_aside_and_dead_ones_go_too(ground: Ground) -> None:
    ground.publish({"MEMORY.md": f"{FORGOTTEN}\n"}, "First")
    shutil.rmtree(ground.folder / ".git/refs")
    ground.publish({"MEMORY.md": "kept\n"}, "Second")
    child = os.fork()
    if child == 0:
        left_open = ground.workspaces.stage(SPACE)
        left_open.__enter__().write("MEMORY.md", RedactedText(FORGOTTEN))
        os._exit(9)
    os.waitpid(child, 0)

    ground.workspaces.rewrite_history(SPACE)

    assert FORGOTTEN.encode() not in stored_texts(ground.root)


def test_publishing_goes_on_afterwards(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"}, "First")
    ground.workspaces.rewrite_history(SPACE)

    ground.publish({"MEMORY.md": "two\n"}, "Second")

    assert ground.subjects() == ["Second", "Memory, its history forgotten"]


def test_a_space_without_memory_has_nothing_to_forget(ground: Ground) -> None:
    assert ground.workspaces.rewrite_history(SPACE) is None


def test_killed_at_any_moment_it_can_be_done_again(quick_disk: Path) -> None:
    for number in range(1, 200):
        ground = Ground(quick_disk / str(number))
        ground.publish({"MEMORY.md": f"{FORGOTTEN}\n"}, "First")
        published = ground.publish({"MEMORY.md": "kept\n"}, "Second")

        was_killed = killed_at_change(
            number,
            lambda: ground.workspaces.rewrite_history(SPACE),  # noqa: B023
        )
        ground.workspaces.recover(published, SPACE)
        ground.workspaces.rewrite_history(SPACE)

        assert FORGOTTEN.encode() not in stored_texts(ground.root)
        assert contents(ground.folder) == {"MEMORY.md": b"kept\n"}
        assert ground.git("status", "--porcelain") == ""
        shutil.rmtree(ground.root)
        if not was_killed:
            break

    assert number > 15
