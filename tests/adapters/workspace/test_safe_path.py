"""Paths that leave the workspace, reach a git folder or cannot be kept are refused in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.adapters.workspace.safe_path import (
    check_new_path,
    check_path_stays_inside,
)
from automemory_dagster.domain.errors import InvalidArtifacts
from tests.adapters.workspace.ground import SPACE, Ground

ESCAPES = [
    ("", "empty name"),
    ("a//b.md", "empty name"),
    ("a/", "empty name"),
    ("..", "only dots"),
    ("../outside.md", "only dots"),
    ("a/../../b.md", "only dots"),
    ("a/./b.md", "only dots"),
    ("a/... /b.md", "only dots"),
    ("/etc/passwd", "absolute"),
    ("\\\\server\\share\\x", "absolute"),
    ("C:\\x.md", "absolute"),
    ("c:x.md", "absolute"),
    (".git", "git folder"),
    (".git/config", "git folder"),
    ("skills/x/.GIT/hooks/post-commit", "git folder"),
    (".Git /config", "git folder"),
    (".git./config", "git folder"),
    (".git . /config", "git folder"),
    (".git::$INDEX_ALLOCATION/config", "git folder"),
    (".g\u200cit/config", "git folder"),
    ("\uff0egit/config", "git folder"),
    ("GIT~1/config", "git folder"),
    ("a\\.git\\config", "git folder"),
    ("a\0.md", "NUL"),
    ("a/" + "n" * 256, "255 bytes"),
    ("a/" + "\u00e9" * 128, "255 bytes"),
    ("a/" * 600 + "b", "1,024 bytes"),
    ("a\ud800.md", "surrogate"),
]

UNPORTABLE = [
    ("a\\b.md", "characters"),
    ("notes: x.md", "characters"),
    ("what?.md", "characters"),
    ("a\nb.md", "control"),
    ("trailing./x.md", "dot"),
    ("x.md ", "dot"),
    ("con", "device"),
    ("skills/NUL.txt", "device"),
    ("Com1.md", "device"),
    ("lpt\u00b9", "device"),
    ("aux .md", "device"),
]

FINE = [
    "MEMORY.md",
    "rollout_summaries/2026-10-09T12-00-00-0001-blog_writing_style.md",
    "skills/git/SKILL.md",
    ".gitignore",
    ".github/x.md",
    "console.md",
    "com10.md",
    "n" * 255,
    "日本語/メモ.md",
    "...a",
]


@pytest.mark.parametrize(("path", "why"), ESCAPES)
def test_a_path_that_could_leave_is_refused(path: str, why: str) -> None:
    with pytest.raises(InvalidArtifacts, match=why):
        check_path_stays_inside(path)


@pytest.mark.parametrize(("path", "why"), ESCAPES + UNPORTABLE)
def test_a_path_for_a_new_file_must_suit_every_system(path: str, why: str) -> None:
    with pytest.raises(InvalidArtifacts, match=why):
        check_new_path(path)


@pytest.mark.parametrize("path", FINE)
def test_an_ordinary_path_is_accepted(path: str) -> None:
    check_new_path(path)


def test_staging_refuses_them_and_writes_nothing(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        for path, _ in ESCAPES + UNPORTABLE:
            with pytest.raises(InvalidArtifacts):
                staging.write(path, "x")  # type: ignore[arg-type]

        assert staging.paths() == ()
        assert staging.read("../outside.md") is None
        assert not staging.diff().has_changes


@given(st.text(alphabet=st.sampled_from("./\\ gGitT~1:a\u200c\0"), max_size=12))
def test_an_accepted_path_has_no_part_that_is_a_git_folder(path: str) -> None:
    try:
        check_new_path(path)
    except InvalidArtifacts:
        return

    parts = path.replace("\u200c", "").lower().split("/")
    assert all(part.strip(" .") and part.rstrip(" .") not in (".git", "git~1") for part in parts)
