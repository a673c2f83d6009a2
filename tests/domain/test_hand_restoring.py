"""A person's lines after somebody edited the file in place: kept, whatever was tried."""

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.hand_edits import find_hand_lines
from automemory_dagster.domain.hand_restoring import restored, without_marks
from automemory_dagster.domain.handbook import KEEP_MARK

BASE = """\
# Task Group: shop

scope: work in shop
applies_to: cwd=/shop; reuse_rule=here

## User preferences

- use uv [Task 1]
- be brief [Task 1]
"""
EDITED = BASE.replace("- be brief", "- ask Ann first\n- be brief") + "\n## My notes\n\nCall Bob.\n"
HAND_LINES = find_hand_lines(EDITED, BASE)
STARTED = restored(EDITED, HAND_LINES)


def test_a_line_is_marked_where_it_stands() -> None:
    assert (
        EDITED.replace("ask Ann first", f"ask Ann first {KEEP_MARK}")
        .replace("## My notes", f"## My notes {KEEP_MARK}")
        .replace("Call Bob.", f"Call Bob. {KEEP_MARK}")
        == STARTED
    )


def test_an_edit_around_it_leaves_it_alone() -> None:
    edited = STARTED.replace("- use uv [Task 1]", "- use uv, never pip [Task 1][Task 2]")

    assert restored(edited, HAND_LINES) == edited


def test_a_line_that_was_reworded_is_put_back_and_the_new_wording_is_nobodys() -> None:
    edited = STARTED.replace(f"ask Ann first {KEEP_MARK}", f"never ask Ann {KEEP_MARK}")

    found = restored(edited, HAND_LINES)

    assert f"- ask Ann first {KEEP_MARK}\n" in found
    assert "- never ask Ann\n" in found


def test_a_mark_that_was_taken_off_is_put_on_again() -> None:
    assert restored(without_marks(STARTED), HAND_LINES) == STARTED


def test_a_forged_mark_is_taken_off() -> None:
    edited = STARTED.replace("be brief [Task 1]", f"be brief [Task 1] {KEEP_MARK}")

    assert restored(edited, HAND_LINES) == STARTED


def test_everything_deleted_is_put_back() -> None:
    found = restored("", HAND_LINES)

    assert f"- ask Ann first {KEEP_MARK}" in found
    assert f"## My notes {KEEP_MARK}" in found
    assert f"Call Bob. {KEEP_MARK}" in found


@given(st.permutations(STARTED.splitlines()), st.sets(st.integers(0, 14)))
def test_no_edit_loses_a_line_and_a_second_restoring_changes_nothing(
    lines: list[str], gone: set[int]
) -> None:
    edited = "\n".join(line for i, line in enumerate(lines) if i not in gone)

    once = restored(edited, HAND_LINES)

    assert all(line.text in once.splitlines() for line in HAND_LINES if line.text)
    assert once.count(KEEP_MARK) >= 3
    assert restored(once, HAND_LINES) == once
