"""A person's edits are found once and kept for ever."""

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.hand_edits import (
    DeletedLine,
    find_deleted_lines,
    find_hand_lines,
    put_back,
)
from automemory_dagster.domain.handbook import BLOCK_HEADINGS

GROUP = "# Task Group: shop-api"
MEMORY = f"""\
{GROUP}

scope: work in shop-api
applies_to: cwd=/shop; reuse_rule=holds here

## Task 1: Fix the tax, success

### keywords

- tax

## User preferences

- use uv [Task 1]

## Failures and how to do differently

- pip is not there [Task 1]
"""


def rewritten(current: str, generated: str = MEMORY, baseline: str | None = MEMORY) -> str:
    return put_back(generated, find_hand_lines(current, baseline))


def test_an_untouched_file_holds_no_hand_line() -> None:
    assert find_hand_lines(MEMORY, MEMORY) == ()


def test_an_added_line_is_marked_and_stays_in_its_section() -> None:
    edited = MEMORY.replace("- use uv [Task 1]\n", "- ask Ann first\n- use uv [Task 1]\n")

    assert rewritten(edited) == MEMORY.replace(
        "- use uv [Task 1]\n", "- use uv [Task 1]\n- ask Ann first <!-- keep -->\n"
    )


def test_a_marked_line_stays_though_the_baseline_has_it_and_nothing_else_does() -> None:
    published = rewritten(MEMORY.replace("- use uv", "- ask Ann first\n- use uv"))

    assert rewritten(published, baseline=published) == published


def test_a_line_whose_mark_was_taken_off_is_handed_back() -> None:
    published = rewritten(MEMORY.replace("- use uv", "- ask Ann first\n- use uv"))

    again = rewritten(published.replace(" <!-- keep -->", ""), baseline=published)

    assert again == MEMORY


def test_prose_of_a_person_stays_in_one_piece() -> None:
    edited = MEMORY.replace("- use uv [Task 1]\n", "- use uv [Task 1]\n\nNote:\nask Ann.\n")

    assert "- use uv [Task 1]\n\nNote: <!-- keep -->\nask Ann. <!-- keep -->\n\n## Fail" in (
        rewritten(edited)
    )


def test_a_section_that_is_gone_returns_in_its_place_for_a_persons_line() -> None:
    edited = MEMORY.replace("- use uv", "- ask Ann first\n- use uv")
    without = MEMORY.replace("## User preferences\n\n- use uv [Task 1]\n\n", "")

    assert rewritten(edited, without) == without.replace(
        "## Failures", "## User preferences\n\n- ask Ann first <!-- keep -->\n\n## Failures"
    )


def test_a_line_of_a_task_that_is_gone_stays_in_its_group() -> None:
    edited = MEMORY.replace("- tax\n", "- tax\n- mind the rounding\n")
    renamed = MEMORY.replace("Task 1: Fix the tax", "Task 1: Another")

    assert rewritten(edited, renamed) == (
        renamed + "\n## Kept by hand <!-- keep -->\n\n- mind the rounding <!-- keep -->\n"
    )


def test_a_group_that_is_gone_returns_with_the_persons_lines_alone() -> None:
    edited = MEMORY.replace("- use uv", "- ask Ann first\n- use uv")

    assert rewritten(edited, "") == (
        f"{GROUP} <!-- keep -->\n\n## User preferences <!-- keep -->\n\n"
        "- ask Ann first <!-- keep -->\n"
    )


def test_a_section_of_a_person_stays_with_all_it_holds() -> None:
    edited = MEMORY + "\n## Releases\n\n- on Tuesdays\n\n# Task Group: private\n\nmine\n"

    assert rewritten(edited) == (
        MEMORY + "\n## Releases <!-- keep -->\n\n- on Tuesdays <!-- keep -->\n"
        "\n# Task Group: private <!-- keep -->\n\nmine <!-- keep -->\n"
    )


def test_a_persons_scope_replaces_ours() -> None:
    edited = MEMORY.replace("scope: work in shop-api", "scope: the shop and its taxes")

    assert rewritten(edited) == MEMORY.replace(
        "scope: work in shop-api", "scope: the shop and its taxes <!-- keep -->"
    )


def test_in_the_summary_the_nearest_section_takes_a_line_whose_own_is_gone() -> None:
    baseline = "v1\n\n## What's in Memory\n\n### old\n\n- x: y\n"
    edited = baseline + "- see also the wiki\n"

    text = rewritten(edited, "v1\n\n## What's in Memory\n\n### new\n", baseline)

    assert text == ("v1\n\n## What's in Memory\n\n- see also the wiki <!-- keep -->\n\n### new\n")


def test_a_damaged_first_line_is_no_line_of_a_person() -> None:
    baseline = "v1\n\n## User Profile\n"

    assert rewritten("v2\n\n## User Profile\n", baseline, baseline) == baseline


def test_a_deleted_bullet_is_found_and_a_moved_or_marked_one_is_not() -> None:
    edited = MEMORY.replace("- pip is not there [Task 1]\n", "").replace(
        "- use uv [Task 1]", "- use uv [Task 1] <!-- keep -->"
    )

    assert find_deleted_lines(edited, MEMORY, headings=BLOCK_HEADINGS) == (
        DeletedLine(
            headings=(GROUP, "## Failures and how to do differently"), words="pip is not there"
        ),
    )


def test_a_file_thrown_away_as_a_whole_deletes_no_line() -> None:
    assert find_deleted_lines(None, MEMORY, headings=BLOCK_HEADINGS) == ()


ADDED = st.lists(
    st.sampled_from(
        ["- a", "- b", "text", "", "## Mine", "# Task Group: other", "## User preferences", "### x"]
    ),
    max_size=6,
)


@given(ADDED, st.integers(0, 20), st.sampled_from([MEMORY, "", MEMORY.split("## User")[0]]))
def test_whatever_a_person_adds_is_still_there_after_two_rewritings(
    added: list[str], at: int, generated: str
) -> None:
    lines = MEMORY.splitlines()
    edited = "\n".join([*lines[:at], *added, *lines[at:]]) + "\n"

    once = rewritten(edited, generated)
    twice = rewritten(once, generated, once)

    assert twice == once
    for line in filter(str.strip, added):
        if not line.startswith("#"):
            assert once.count(f"{line} <!-- keep -->") >= 1
