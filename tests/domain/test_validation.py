"""What forbids publishing memory files."""

from collections.abc import Collection

import pytest

from automemory_dagster.domain.validation import validate

SUMMARY_FILE = "rollout_summaries/2025-03-19T20-02-24-0001-fix_tax.md"
MEMORY = f"""\
# Task Group: git.example.com/acme/shop-api

scope: what was learnt in shop-api
applies_to: cwd=/home/dev/shop-api; reuse_rule=safe in this repository

## Task 1: Fix the tax, success

### rollout_summary_files

- {SUMMARY_FILE} (cwd=/s, rollout_path=/r.jsonl, updated_at=2026-11-30T12:00:00+00:00, thread_id=t)

### keywords

- tax, orders

## User preferences

- when testing, the user asked: "run just test" -> run just test [Task 1]

## Reusable knowledge

- Tax is applied once per order [Task 1]
"""
SUMMARY = """\
v1

## User Profile

## User preferences

## General Tips

## What's in Memory

### git.example.com/acme/shop-api

#### 2026-11-30

- Fix the tax: tax, orders
  - desc: how tax is applied
"""
GOOD = {
    "MEMORY.md": MEMORY,
    "memory_summary.md": SUMMARY,
    "raw_memories.md": "# Raw Memories\n",
    SUMMARY_FILE: "thread_id: t\n",
    "skills/release-check/SKILL.md": "---\nname: release-check\n---\n",
    "extensions/ad_hoc/notes/mine.txt": "a note",
}


def no_secrets(text: str) -> Collection[object]:
    return [word for word in text.split() if word == "hunter2"]


def problems(
    changes: dict[str, str | None] | None = None,
    *,
    links: tuple[str, ...] = (),
    known: tuple[str, ...] = (),
) -> tuple[str, ...]:
    files = {**GOOD, **(changes or {})}
    present = {path: text for path, text in files.items() if text is not None}
    return validate(present, links, find_secrets=no_secrets, known_paths=known)


def test_good_files_may_be_published() -> None:
    assert problems() == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("applies_to: cwd=/home/dev/shop-api; ", "applies_to: ", "no line 'applies_to: cwd="),
        ("scope: what", "about: what", "no line 'scope: ...'"),
        ("## Task 1: Fix", "## Task 2: Fix", "tasks are numbered [2], not from 1 upwards"),
        (SUMMARY_FILE, "rollout_summaries/gone.md", "cites rollout_summaries/gone.md"),
        (SUMMARY_FILE, "/etc/passwd", "is no path in rollout_summaries/"),
        ("### keywords", "### words", "wants '### rollout_summary_files' and then"),
        ("- tax, orders\n", "- tax\n- orders\n", "wants one line of keywords"),
        ("order [Task 1]", "order [Task 3]", "[Task 3] is no task of this group"),
        ("## Reusable", "## Useful", "'## Useful knowledge' is no section of a task group"),
        ("## User preferences", "## Failures and how to do differently", "is out of order"),
        ("# Task Group:", "# Group:", "stands before any task group"),
    ],
)
def test_a_handbook_that_breaks_the_format_is_refused(old: str, new: str, expected: str) -> None:
    found = problems({"MEMORY.md": MEMORY.replace(old, new)})

    assert any(expected in problem and problem.startswith("MEMORY.md, line") for problem in found)


def test_a_task_group_that_is_there_twice_is_refused() -> None:
    found = problems({"MEMORY.md": MEMORY + "\n" + MEMORY})

    assert found == (
        "MEMORY.md, '# Task Group: git.example.com/acme/shop-api' is there more than once",
    )


def test_the_summary_must_start_with_its_format() -> None:
    found = problems({"memory_summary.md": SUMMARY.replace("v1\n", "v1 \n", 1)})

    assert found == ("memory_summary.md: the first line must be exactly 'v1'",)


def test_the_sections_of_the_summary_keep_their_order() -> None:
    swapped = SUMMARY.replace("## User Profile\n\n## User preferences", "## User preferences")

    (problem,) = problems({"memory_summary.md": swapped})

    assert problem.startswith("memory_summary.md: its sections must be '## User Profile'")


def test_a_summary_that_readers_would_cut_is_refused() -> None:
    at_limit = SUMMARY + "x" * (9_999 - len(SUMMARY))

    assert problems({"memory_summary.md": at_limit}) == ()
    assert "has 10,000 bytes" in problems({"memory_summary.md": at_limit + "x"})[0]


def test_a_handbook_beyond_half_a_mebibyte_is_refused() -> None:
    found = problems({"MEMORY.md": MEMORY + "x" * 524_288})

    assert len(found) == 1
    assert "at most 524,288 are allowed" in found[0]


def test_every_task_group_has_a_topic() -> None:
    other = MEMORY.replace("acme/shop-api", "acme/other")

    found = problems({"MEMORY.md": MEMORY + "\n" + other})

    assert found == (
        'memory_summary.md: "## What\'s in Memory" has no topic for 1 task group: '
        "'git.example.com/acme/other'",
    )


def test_groups_without_room_in_the_index_must_be_counted_there() -> None:
    other = MEMORY.replace("acme/shop-api", "acme/other")
    counted = SUMMARY + '\n### Older Memory Topics\n\n- 1 more in MEMORY.md: search it for "#"\n'

    assert problems({"MEMORY.md": MEMORY + "\n" + other, "memory_summary.md": counted}) == ()


@pytest.mark.parametrize(
    "path",
    [
        "notes.md",
        "rollout_summaries/deep/x.md",
        "skills/Loud/SKILL.md",
        "extensions/../x",
        "/tmp/x",
        "extensions/.git/config",
        "phase2_workspace_diff.md",
    ],
)
def test_a_file_in_a_strange_place_is_refused(path: str) -> None:
    assert problems({path: "x"}) == (f"{path} is no place for memory files",)


def test_a_persons_own_file_may_stay_where_it_was() -> None:
    assert problems({"notes.md": "mine"}, known=("notes.md",)) == ()


def test_a_link_is_refused() -> None:
    assert problems(links=("skills/x",)) == (
        "skills/x is a symbolic link; memory holds plain files only",
    )


def test_a_secret_is_counted_and_not_repeated() -> None:
    (problem,) = problems({SUMMARY_FILE: "password hunter2"})

    assert problem == f"{SUMMARY_FILE}: possible secrets found, 1 in number"


def test_missing_files_are_named() -> None:
    assert problems({"MEMORY.md": None, "memory_summary.md": None}) == (
        "MEMORY.md is missing",
        "memory_summary.md is missing",
    )


def test_a_persons_lines_are_never_held_against_the_format() -> None:
    by_hand = (
        "my own opening <!-- keep -->\n"
        + MEMORY.replace(
            "- Tax is applied",
            "- ask Ann first [Task 9] <!-- keep -->\nand mind the weekend\n- Tax is applied",
        )
        + "\n## My checklist <!-- keep -->\n\n- look twice\n"
        + "\n# Task Group: my own <!-- keep -->\n\nanything [Task 4]\n\n## Odd\n"
    )
    summary = SUMMARY + "\n## My section <!-- keep -->\n\ntext\n"

    assert problems({"MEMORY.md": by_hand, "memory_summary.md": summary}) == ()


def test_an_empty_memory_may_be_published() -> None:
    empty = SUMMARY.split("### git")[0]

    assert problems({"MEMORY.md": "", "memory_summary.md": empty}) == ()
