"""The diff is one that people and ``git apply`` can read, and never longer than its limit."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.workspace.scan import PLAIN, Blob, blob_id_of
from automemory_dagster.adapters.workspace.unified import CUT_MARK, Side, render_diff
from automemory_dagster.domain.redaction import RedactedText
from tests.adapters.workspace.ground import SPACE, Ground

LIMIT = 4_194_304


def a_side(content: bytes | None, mode: int = PLAIN) -> Side | None:
    if content is None:
        return None
    return Side(Blob(mode, blob_id_of(content)), lambda: content)


def diff_of(old: bytes | None, new: bytes | None) -> str:
    return render_diff([(b"a.md", a_side(old), a_side(new))])


def test_a_change_has_three_lines_around_it() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))

    found = diff_of(old.encode(), old.replace("10\n", "ten\n").encode())

    assert found == (
        "diff --git a/a.md b/a.md\n"
        "--- a/a.md\n"
        "+++ b/a.md\n"
        "@@ -7,7 +7,7 @@\n"
        " 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_a_new_file_comes_from_nowhere_and_a_missing_newline_is_told() -> None:
    assert diff_of(None, b"x") == (
        "diff --git a/a.md b/a.md\n"
        "new file mode 100644\n"
        "--- /dev/null\n"
        "+++ b/a.md\n"
        "@@ -0,0 +1 @@\n"
        "+x\n"
        "\\ No newline at end of file\n"
    )


def test_a_change_of_rights_alone_is_told() -> None:
    found = render_diff([(b"run.sh", a_side(b"x"), a_side(b"x", 0o100755))])

    assert found == "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"


def test_only_newlines_end_lines() -> None:
    found = diff_of("a\u2028b\x0cc\rd\n".encode(), "a\u2028b\x0cc\rD\n".encode())

    assert "-a\u2028b\x0cc\rd\n+a\u2028b\x0cc\rD\n" in found


def test_a_long_diff_is_cut_between_characters_with_a_mark() -> None:
    found = diff_of(None, ("語" * 99 + "\n").encode() * 20_000)

    body = found.removesuffix(CUT_MARK)
    assert body != found
    assert LIMIT - 3 < len(body.encode()) <= LIMIT
    assert "4,194,304" in CUT_MARK
    assert "\ufffd" not in body


def test_the_list_of_changes_is_never_cut(ground: Ground) -> None:
    with ground.workspaces.stage(SPACE) as staging:
        for number in range(3):
            staging.write(f"{number}.md", RedactedText("x" * 3_000_000))

        found = staging.diff()

    assert [change.path for change in found.changes] == ["0.md", "1.md", "2.md"]
    assert found.unified.endswith(CUT_MARK)


lines = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "--- x", "é"]), max_size=30)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=lines, new=lines, shared=st.integers(0, 12), has_end=st.booleans())
def test_git_applies_it(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[str],
    new: list[str],
    shared: int,
    has_end: bool,
) -> None:
    start = [f"shared {number}" for number in range(shared)]
    end = "\n" if has_end else ""
    before = ("\n".join(start + old) + end).encode()
    after = ("\n".join(start + new) + end).encode()
    if before == after or not before or not after:
        return
    folder = tmp_path_factory.mktemp("apply")
    (folder / "a.md").write_bytes(before)

    _apply(folder, diff_of(before, after))

    assert (folder / "a.md").read_bytes() == after


def _apply(folder: Path, patch: str) -> None:
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "--unsafe-paths", "-"],
        cwd=folder,
        input=patch.encode(),
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    assert done.returncode == 0, done.stderr
