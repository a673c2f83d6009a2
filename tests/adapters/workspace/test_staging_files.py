"""What a staging copy takes along of what a person keeps in the workspace, and what it refuses."""

import os
import socket
import stat
from pathlib import Path

import pytest

from automemory_dagster.domain.errors import InvalidArtifacts, TransientError
from automemory_dagster.domain.redaction import RedactedText
from tests.adapters.workspace.ground import SPACE, Ground, contents

PNG = b"\x89PNG\r\n\x1a\n\x00\x01\xff"
LATIN = "Gr\u00fc\u00dfe".encode("latin-1")


def test_files_that_are_no_text_survive_a_publish_byte_for_byte(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    ground.edit("pictures/a.png", PNG)
    ground.edit("latin.txt", LATIN)
    odd_name = os.fsencode(ground.folder) + b"/caf\xe9.md"
    Path(os.fsdecode(odd_name)).write_text("plain text", "utf-8")

    published = ground.publish({"MEMORY.md": "two\n"})

    assert (ground.folder / "pictures/a.png").read_bytes() == PNG
    assert (ground.folder / "latin.txt").read_bytes() == LATIN
    assert Path(os.fsdecode(odd_name)).read_text("utf-8") == "plain text"
    assert list(published.files) == ["MEMORY.md"]
    assert ground.git("status", "--porcelain") == ""
    assert "pictures/a.png" in ground.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_file_that_is_no_text_is_noted_as_an_edit_and_not_read(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    ground.edit("a.png", PNG)

    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.edited_by_hand()) == ["a.png"]
        assert staging.read("a.png") is None
        assert staging.baseline("a.png") is None
        assert "Binary files /dev/null and b/a.png differ" in staging.diff().unified


def test_a_name_that_is_no_utf8_is_shown_with_escapes(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    (ground.folder / os.fsdecode(b"caf\xe9.md")).write_text("x", "utf-8")

    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.edited_by_hand()) == ["caf\\xe9.md"]


def test_links_are_named_and_neither_followed_nor_copied(ground: Ground, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("outside", "utf-8")
    ground.publish({"MEMORY.md": "one\n"})
    (ground.folder / "file.md").symlink_to(outside / "secret.md")
    (ground.folder / "folder").symlink_to(outside)
    (ground.folder / "dangling").symlink_to("nowhere")

    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.links()) == ["dangling", "file.md", "folder"]
        assert list(staging.paths()) == ["MEMORY.md"]
        assert staging.read("folder/secret.md") is None
        for path in ("file.md", "folder/secret.md", "folder/new.md"):
            with pytest.raises(InvalidArtifacts, match="link"):
                staging.write(path, RedactedText("x"))

    assert contents(outside) == {"secret.md": b"outside"}


def test_sockets_and_pipes_are_named_with_the_links(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    os.mkfifo(ground.folder / "pipe")
    here = os.getcwd()
    os.chdir(ground.folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    os.chdir(here)

    with ground.workspaces.stage(SPACE) as staging:
        assert list(staging.links()) == ["pipe", "socket"]


def test_a_file_cannot_be_where_a_folder_is_nor_the_other_way(ground: Ground) -> None:
    ground.publish({"notes/a.md": "a", "MEMORY.md": "one"})

    with ground.workspaces.stage(SPACE) as staging:
        with pytest.raises(InvalidArtifacts, match="is a folder"):
            staging.write("notes", RedactedText("x"))
        with pytest.raises(InvalidArtifacts, match="needs a folder"):
            staging.write("MEMORY.md/x.md", RedactedText("x"))


def test_text_that_no_file_can_hold_is_refused(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        with pytest.raises(InvalidArtifacts, match="NUL"):
            staging.write("a.md", RedactedText("a\0b"))
        with pytest.raises(InvalidArtifacts, match="surrogate"):
            staging.write("a.md", RedactedText("a\udc80"))

        assert staging.read("a.md") is None


def test_a_persons_file_with_a_name_of_their_own_may_be_rewritten(ground: Ground) -> None:
    ground.edit("notes: today?.md", "my password is x")

    ground.publish({"notes: today?.md": "my password is [redacted]"})

    assert contents(ground.folder) == {"notes: today?.md": b"my password is [redacted]"}


def test_what_is_published_is_private_and_scripts_stay_executable(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    script = ground.edit("skills/x/run.sh", "#!/bin/sh\n")
    script.chmod(0o755)
    (ground.folder / "MEMORY.md").chmod(0o644)
    ground.edit("shared.md", "unchanged\n").chmod(0o644)

    ground.publish({"MEMORY.md": "two\n", "skills/x/run.sh": "#!/bin/sh\ntrue\n"})

    for path in [ground.root / entry for entry in ground.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert script.stat().st_mode & 0o777 == 0o700
    assert "100755 blob" in ground.git("ls-tree", "-r", "HEAD", "skills/x/run.sh")
    assert ground.git("status", "--porcelain") == ""


def test_unchanged_files_keep_their_time(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n", "raw_memories.md": "raw\n"})
    os.utime(ground.folder / "raw_memories.md", ns=(5, 1_234_567_890_123_456_789))

    ground.publish({"MEMORY.md": "two\n", "raw_memories.md": "raw\n"})

    assert (ground.folder / "raw_memories.md").stat().st_mtime_ns == 1_234_567_890_123_456_789


def test_a_repository_inside_is_taken_along_without_being_tracked(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})
    ground.edit("skills/cloned/.git/HEAD", "ref: refs/heads/main\n")
    ground.edit("skills/cloned/SKILL.md", "text\n")
    (ground.folder / "empty").mkdir()

    published = ground.publish({"MEMORY.md": "two\n"})

    assert (ground.folder / "skills/cloned/.git/HEAD").read_text("utf-8").startswith("ref:")
    assert (ground.folder / "empty").is_dir()
    assert list(published.files) == ["MEMORY.md", "skills/cloned/SKILL.md"]
    assert ".git" not in ground.git("ls-tree", "-r", "--name-only", "HEAD")


def test_ignore_rules_hide_nothing(ground: Ground) -> None:
    ground.edit(".gitignore", "*\n")
    ground.edit("ignored.md", "x")

    published = ground.publish({"MEMORY.md": "one\n"})

    assert list(published.files) == [".gitignore", "MEMORY.md", "ignored.md"]
    assert "ignored.md" in ground.git("ls-tree", "-r", "--name-only", "HEAD")


def test_the_copy_shares_nothing_with_the_workspace(ground: Ground) -> None:
    ground.publish({"MEMORY.md": "one\n"})

    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("two\n"))
        with (ground.folder / "MEMORY.md").open("r+b") as file:
            file.write(b"ONE")

        assert staging.read("MEMORY.md") == "two\n"
    assert (ground.folder / "MEMORY.md").read_bytes() == b"ONE\n"


def test_folders_that_a_deletion_empties_go_too(ground: Ground) -> None:
    ground.publish({"skills/x/SKILL.md": "s", "MEMORY.md": "one\n"})

    ground.publish({"skills/x/SKILL.md": None})

    assert not (ground.folder / "skills").exists()


def test_a_workspace_that_is_a_link_is_refused(ground: Ground, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ground.root.mkdir()
    ground.folder.symlink_to(elsewhere)

    with (
        pytest.raises(InvalidArtifacts, match="symbolic link"),
        ground.workspaces.stage(SPACE),
    ):
        pass


def test_a_disk_that_refuses_is_told_in_words(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "memories").write_text("a file where the root should be", "utf-8")

    with (
        pytest.raises(TransientError, match="cannot be used"),
        ground.workspaces.stage(SPACE),
    ):
        pass


def test_a_staging_copy_is_gone_when_the_context_ends(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        staging.write("MEMORY.md", RedactedText("one\n"))

    assert not ground.folder.exists()
    private = ground.folder.parent / f".{ground.folder.name}"
    assert [entry.name for entry in private.iterdir()] == ["lock"]
