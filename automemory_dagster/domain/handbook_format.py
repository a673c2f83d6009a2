"""Judges ``MEMORY.md`` against the handbook's shape, in words that a person can act on.

A person's own lines (those with the keep mark) are never held against the format, nor are plain
lines between the mandatory ones: only structure that a reader relies on is judged.
"""

import re
from collections.abc import Collection, Iterator

from automemory_dagster.domain.document import Section, heading_level, read_sections
from automemory_dagster.domain.handbook import (
    BLOCK_HEADINGS,
    GROUP_HEADING,
    KEEP_MARK,
    KEYWORDS_HEADING,
    SUMMARY_FILES_HEADING,
    task_references,
)

_TASK = re.compile(r"## Task (\d+): \S")
_CITED_FILE = re.compile(r"- (rollout_summaries/\S+)")
_APPLIES_TO = re.compile(r"applies_to: *cwd=[^;]+; *reuse_rule=\S")


def group_titles(text: str) -> tuple[str, ...]:
    """Titles of the task groups, in file order, those that a person keeps by a mark left out."""
    return tuple(
        section.heading.removeprefix(GROUP_HEADING).strip()
        for section in read_sections(text)
        if section.heading.startswith(GROUP_HEADING) and not section.is_kept
    )


def handbook_problems(text: str, existing_paths: Collection[str]) -> Iterator[str]:
    """What is wrong with ``MEMORY.md``; nothing when it is well.

    ``existing_paths``: the files that may be cited.
    """
    groups: list[list[Section]] = []
    for section in read_sections(text):
        if section.is_kept:
            continue
        if section.heading.startswith(GROUP_HEADING):
            groups.append([section])
        elif groups:
            groups[-1].append(section)
        elif section.headings:
            yield f"line {section.line_number}: {section.heading!r} stands before any task group"
    titles = [sections[0].heading for sections in groups]
    for title in sorted({title for title in titles if titles.count(title) > 1}):
        yield f"{title!r} is there more than once"
    for sections in groups:
        yield from _group_problems(sections, existing_paths)


def _group_problems(sections: list[Section], existing: Collection[str]) -> Iterator[str]:
    head, body = sections[0], sections[1:]
    where = f"line {head.line_number}, {head.heading!r}"
    if not any(line.startswith("scope: ") for line in head.lines):
        yield f"{where}: no line 'scope: ...'"
    if not any(_APPLIES_TO.match(line) for line in head.lines):
        yield f"{where}: no line 'applies_to: cwd=...; reuse_rule=...'"
    numbers = [int(match[1]) for section in body if (match := _TASK.match(section.heading))]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{where}: tasks are numbered {numbers}, not from 1 upwards"
    if not numbers and not any(section.heading in BLOCK_HEADINGS for section in body):
        yield f"{where}: neither a task nor anything learnt"
    yield from _order_problems(body)
    yield from _task_problems(body, existing)
    for section in body:
        if section.heading in BLOCK_HEADINGS:
            yield from _reference_problems(section, set(numbers))


def _order_problems(body: list[Section]) -> Iterator[str]:
    ranks = {heading: rank for rank, heading in enumerate(BLOCK_HEADINGS, start=1)}
    latest = 0
    for section in body:
        if heading_level(section.heading) != 2:
            continue
        is_task = bool(_TASK.match(section.heading))
        rank = 0 if is_task else ranks.get(section.heading, -1)
        if rank < 0:
            yield f"line {section.line_number}: {section.heading!r} is no section of a task group"
        elif rank < latest or (rank == latest and rank > 0):
            yield f"line {section.line_number}: {section.heading!r} is out of order"
        latest = max(latest, rank)


def _task_problems(body: list[Section], existing: Collection[str]) -> Iterator[str]:
    parts: dict[str, list[Section]] = {}
    for section in body:
        if _TASK.match(section.heading):
            parts[section.heading] = [section]
        elif len(section.headings) > 2 and section.headings[1] in parts:
            parts[section.headings[1]].append(section)
    for heading, sections in parts.items():
        where = f"line {sections[0].line_number}, {heading!r}"
        below = {section.heading: section for section in sections[1:]}
        if list(below) != [SUMMARY_FILES_HEADING, KEYWORDS_HEADING]:
            yield f"{where}: wants {SUMMARY_FILES_HEADING!r} and then {KEYWORDS_HEADING!r}"
            continue
        yield from _citation_problems(where, below[SUMMARY_FILES_HEADING], existing)
        if len(_bullets(below[KEYWORDS_HEADING])) != 1:
            yield f"{where}: wants one line of keywords"


def _citation_problems(where: str, section: Section, existing: Collection[str]) -> Iterator[str]:
    bullets = _bullets(section)
    if not bullets:
        yield f"{where}: names no rollout summary file"
    for bullet in bullets:
        match = _CITED_FILE.match(bullet)
        if not match:
            yield f"{where}: {bullet[:80]!r} is no path in rollout_summaries/"
        elif match[1] not in existing:
            yield f"{where}: cites {match[1]}, which is not there"


def _reference_problems(section: Section, numbers: set[int]) -> Iterator[str]:
    for bullet in _bullets(section):
        for number in task_references(bullet):
            if number not in numbers:
                yield (
                    f"line {section.line_number}, {section.heading!r}: "
                    f"[Task {number}] is no task of this group"
                )


def _bullets(section: Section) -> list[str]:
    return [line for line in section.lines if line.startswith("- ") and KEEP_MARK not in line]
