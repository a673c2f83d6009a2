"""The agent's tools on a real staging copy: what may be touched, and that nothing else is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from automemory_dagster.adapters.models.consolidation.memory_files import (
    MAX_ANSWER_BYTES,
    MAX_SKILL_FILES,
    MemoryFiles,
)
from automemory_dagster.adapters.models.consolidation.paths import Refused
from automemory_dagster.adapters.secrets import redact
from automemory_dagster.ports import Staging
from tests.adapters.workspace.ground import SPACE, Ground, contents

SECRET = "ghp_" + "a1B2" * 9
RECAP = "rollout_summaries/2025-03-19T10-00-00-0001-fix_tax.md"
FILES = {
    "MEMORY.md": "# Task Group: shop\n\n- one\n- two\n- one more\n",
    "memory_summary.md": "v1\n",
    "raw_memories.md": "# Raw Memories\n\n" + "- a line of it\n" * 3_000,
    RECAP: "thread_id: t1\n\nThe tax was wrong.\n",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: d\n---\nGo.\n",
    "skills/theirs/SKILL.md": "a person's\n",
    "notes.txt": "private words\n",
}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    ground = Ground(tmp_path / "memories")
    ground.publish(FILES)
    return ground


@pytest.fixture
def staging(ground: Ground) -> Iterator[Staging]:
    with ground.workspaces.stage(SPACE) as staging:
        yield staging


@pytest.fixture
def files(staging: Staging) -> MemoryFiles:
    return MemoryFiles(staging, redact=redact, own_skills=["skills/deploy/SKILL.md"])


ESCAPES = [
    "..",
    "../MEMORY.md",
    "skills/../MEMORY.md",
    "skills/../../outside.md",
    "skills/deploy/../../.git/config",
    "/etc/passwd",
    "/MEMORY.md",
    "./MEMORY.md",
    "MEMORY.md/",
    "//MEMORY.md",
    "C:\\memory.md",
    "C:/memory.md",
    "\\\\server\\share\\x.md",
    "skills\\deploy\\SKILL.md",
    "skills/deploy\\..\\x.md",
    ".git/config",
    "skills/.git/config",
    "skills/deploy/.git/hooks/pre-commit",
    "skills/deploy/.GIT",
    "skills/deploy/git~1/config",
    "skills/deploy/.hidden",
    "memory.md",
    "MEMORY.MD",
    "Memory.md",
    "memory_summary.MD",
    "skills/Deploy/SKILL.md",
    "skills/deploy/skill.md",
    "Skills/deploy/SKILL.md",
    "skills/CON/x.md",
    "skills/deploy/CON",
    "skills/deploy/nul.md",
    "skills/deploy/com1.txt",
    "skills/deploy/AUX.tar.gz",
    "skills/deploy/x.",
    "skills/deploy/x ",
    "skills/deploy/x.md ",
    " MEMORY.md",
    "MEMORY.md\n",
    "skills/deploy/a\nb.md",
    "skills/deploy/a\x00b.md",
    "skills/deploy/a\x1b[2Jb.md",
    "skills/deploy/a\u202eb.md",
    "skills/deploy/a\u200b.md",
    "skills/dеploy/SKILL.md",  # a Cyrillic letter
    "МEMORY.md",  # another one
    "MEMORY.md\u200b",
    "ＭEMORY.md",
    "skills/deploy/\ud800.md",
    "skills/" + "a" * 65 + "/SKILL.md",
    "skills/deploy/" + "a" * 65 + ".md",
    "skills/deploy/" + "a/" * 300 + "x.md",
    "skills/deploy",
    "skills/deploy/",
    "skills/x.md",
    "skills/-rf/x.md",
    "skills/deploy/a/b/c/d.md",
    "skills/deploy/a:stream",
    "extensions/model_skills/files.md",
    "extensions/deleted_by_hand/deleted_lines.md",
    "notes.txt",
    "surprise.sh",
    "",
    "~/.bashrc",
    "file:///etc/passwd",
    "%2e%2e/x.md",
]


@pytest.mark.parametrize("path", ESCAPES, ids=ascii)
def test_no_other_path_can_be_written(
    ground: Ground, staging: Staging, files: MemoryFiles, path: str
) -> None:
    before = contents(ground.root, with_git=True)

    for call in (
        lambda: files.write(path, "x"),
        lambda: files.replace(path, "one", "x"),
        lambda: files.delete(path),
    ):
        with pytest.raises(Refused) as refused:
            call()
        assert str(refused.value).isascii()
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 400

    assert staging.diff().changes == ()
    assert contents(ground.root, with_git=True) == before


@pytest.mark.parametrize("path", ESCAPES, ids=ascii)
def test_no_other_path_can_be_read(files: MemoryFiles, path: str) -> None:
    with pytest.raises(Refused, match="There is no file"):
        files.read(path)


@pytest.mark.parametrize("path", ["raw_memories.md", RECAP, "rollout_summaries/new.md"])
def test_inputs_are_read_only(staging: Staging, files: MemoryFiles, path: str) -> None:
    with pytest.raises(Refused, match="is an input and cannot be changed"):
        files.write(path, "x")
    with pytest.raises(Refused, match="is an input and cannot be changed"):
        files.delete(path)

    assert staging.diff().changes == ()


def test_a_person_s_other_file_is_not_shown(files: MemoryFiles) -> None:
    assert "notes.txt" not in files.list()
    assert "notes.txt" not in files.search("private words")


def test_a_person_s_skill_is_read_only(staging: Staging, files: MemoryFiles) -> None:
    for path in ("skills/theirs/SKILL.md", "skills/theirs/more.md"):
        with pytest.raises(Refused, match=r"skills/theirs is a person's skill"):
            files.write(path, "x")

    assert "a person's" in files.read("skills/theirs/SKILL.md")
    assert staging.diff().changes == ()


def test_a_link_is_neither_read_nor_written_through(tmp_path: Path, ground: Ground) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("outside\n")
    os.symlink(outside, ground.folder / "skills" / "linked")
    os.symlink(outside / "SKILL.md", ground.folder / "skills" / "deploy" / "link.md")

    with ground.workspaces.stage(SPACE) as staging:
        files = MemoryFiles(staging, redact=redact, own_skills=["skills/deploy/SKILL.md"])
        for path in ("skills/linked/SKILL.md", "skills/deploy/link.md"):
            with pytest.raises(Refused):
                files.read(path)
            with pytest.raises(Refused):
                files.write(path, "x")

    assert (outside / "SKILL.md").read_text() == "outside\n"


def test_a_file_is_read_in_pieces_that_tell_where_they_go_on(files: MemoryFiles) -> None:
    first = files.read("raw_memories.md")

    assert len(first.encode()) <= MAX_ANSWER_BYTES + 200
    # 15 bytes a line, after 16 of the title and a blank one: 1,065 lines fit.
    assert first.startswith("raw_memories.md, lines 1 to 1067 of 3002; read on from line 1068:\n")
    assert files.read("raw_memories.md", 3001).count("- a line of it") == 2
    assert files.read("MEMORY.md", 3, 4) == "MEMORY.md, lines 3 to 4 of 5:\n- one\n- two"
    with pytest.raises(Refused, match="has 5 lines; there are none from 6"):
        files.read("MEMORY.md", 6)


def test_a_search_finds_lines_by_place(files: MemoryFiles) -> None:
    assert files.search("TAX") == f"{RECAP}:3: The tax was wrong."
    assert files.search("one", "MEMORY.md") == "MEMORY.md:3: - one\nMEMORY.md:5: - one more"
    assert files.search("one", "skills") == "No line contains 'one'."
    many = files.search("a line of it")
    assert many.count("\n") == 40
    assert "2960 more lines contain it" in many


def test_a_replacement_needs_one_place(staging: Staging, files: MemoryFiles) -> None:
    with pytest.raises(Refused, match=r"2 times \(lines 3, 5\)"):
        files.replace("MEMORY.md", "- one", "- 1")
    with pytest.raises(Refused, match="does not contain the text"):
        files.replace("MEMORY.md", "three", "3")
    with pytest.raises(Refused, match="is empty"):
        files.replace("MEMORY.md", "", "3")
    assert staging.diff().changes == ()

    said = files.replace("MEMORY.md", "- two\n", "- 2\n")

    assert staging.read("MEMORY.md") == "# Task Group: shop\n\n- one\n- 2\n- one more\n"
    assert said.startswith("MEMORY.md is written: 41 of at most 524,288 bytes.")


def test_too_much_is_refused_and_nothing_written(staging: Staging, files: MemoryFiles) -> None:
    for path, limit in (
        ("MEMORY.md", 524_288),
        ("memory_summary.md", 9_999),
        ("skills/deploy/SKILL.md", 32_000),
    ):
        with pytest.raises(Refused, match=rf"{limit + 1:,} bytes; at most {limit:,} are allowed"):
            files.write(path, "x" * (limit + 1))

    assert staging.diff().changes == ()
    files.write("memory_summary.md", "x" * 9_999)
    assert len(staging.read("memory_summary.md") or "") == 9_999


def test_a_secret_is_replaced_on_both_sides(staging: Staging, files: MemoryFiles) -> None:
    said = files.write("MEMORY.md", f"token {SECRET}\n")

    assert SECRET not in (staging.read("MEMORY.md") or "")
    assert "What looked like a secret in it was replaced." in said


def test_what_a_terminal_obeys_is_not_written(staging: Staging, files: MemoryFiles) -> None:
    files.write("MEMORY.md", "a\x1b[31mb\u202ec\r\n")

    assert staging.read("MEMORY.md") == "abc\n"


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_what_is_no_text_is_refused(staging: Staging, files: MemoryFiles, text: str) -> None:
    with pytest.raises(Refused, match="no file was written"):
        files.write("MEMORY.md", text)

    assert staging.diff().changes == ()


def test_the_two_files_cannot_be_deleted(staging: Staging, files: MemoryFiles) -> None:
    for path in ("MEMORY.md", "memory_summary.md"):
        with pytest.raises(Refused, match="must stay"):
            files.delete(path)

    assert staging.diff().changes == ()


def test_a_skill_can_be_made_changed_and_deleted(staging: Staging, files: MemoryFiles) -> None:
    files.write("skills/release/SKILL.md", "a\n")
    files.write("skills/release/scripts/run.sh", "b\n")
    files.replace("skills/release/SKILL.md", "a", "c")
    files.delete("skills/release/scripts/run.sh")
    files.delete("skills/deploy/SKILL.md")

    assert files.own_skills == ("skills/release/SKILL.md",)
    assert staging.read("skills/release/SKILL.md") == "c\n"
    assert staging.read("skills/deploy/SKILL.md") is None


def test_skills_are_bounded_in_number(files: MemoryFiles) -> None:
    for number in range(MAX_SKILL_FILES - 1):
        files.write(f"skills/s{number}/SKILL.md", "x")

    with pytest.raises(Refused, match="which is the most"):
        files.write("skills/one-too-many/SKILL.md", "x")


def test_a_name_that_differs_in_case_from_one_that_is_there_is_refused(files: MemoryFiles) -> None:
    with pytest.raises(Refused, match=r"differs only in case from skills/deploy/SKILL\.md"):
        files.write("skills/deploy/Skill.md", "x")


def test_lists_are_paged(staging: Staging, files: MemoryFiles) -> None:
    for number in range(150):
        staging.write(f"rollout_summaries/{number:03}.md", redact("x"))

    first = files.list("rollout_summaries")

    assert first.splitlines()[0] == "rollout_summaries/000.md  (1 bytes)"
    assert first.splitlines()[-1] == ("51 more; list again with after='rollout_summaries/099.md'")
    assert files.list("rollout_summaries", after="rollout_summaries/099.md").count("\n") == 50
