"""Keeps the way back in ``MEMORY.md`` right by counting, so that no model has to.

Task numbers, citations and what falls with a forgotten session follow from the text alone. A
person's lines and sections (those with the keep mark) are left as they stand.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from automemory_dagster.domain.document import Section, read_sections, render_sections
from automemory_dagster.domain.handbook import (
    BLOCK_HEADINGS,
    GROUP_HEADING,
    KEEP_MARK,
    SUMMARY_FILES_HEADING,
    SummaryReference,
    render_reference,
    task_references,
)

_TASK = re.compile(r"## Task (\d+): ")
_CITED = re.compile(r"- `?(rollout_summaries/[^\s`]+)")
_STEM_START = re.compile(r"rollout_summaries/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\w{4}(?=[-.])")
_NUMBER = re.compile(r"\[Task (\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """A handbook without what rested on summaries that are gone, and how much that was."""

    text: str
    groups: tuple[str, ...]
    """Titles of the groups that lost something."""
    tasks: int
    lines: int


def with_true_citations(text: str, references: Mapping[str, SummaryReference]) -> str:
    """The handbook with each cited file's facts as ``references`` (by path) has them.

    A file that was renamed since (same thread, another slug) is cited by its new name; one that is
    not known is left alone.
    """
    renamed = {start: path for path in references if (start := _stem_start(path))}

    def cited(line: str) -> str:
        match = _CITED.match(line)
        if match is None or KEEP_MARK in line:
            return line
        path = match[1] if match[1] in references else renamed.get(_stem_start(match[1]), "")
        return render_reference(references[path]) if path else line

    def edited(section: Section) -> Section:
        if section.is_kept or section.heading != SUMMARY_FILES_HEADING:
            return section
        # A file cited twice in one task, before and after a rename, is one way back.
        return replace(section, lines=tuple(_unique_bullets(map(cited, section.lines))))

    return render_sections(tuple(map(edited, read_sections(text))))


def without_lost_tasks(text: str, existing_paths: Collection[str]) -> Forgotten:
    """The handbook without tasks whose every cited file is gone, and what rested on them alone.

    Numbers stay as they were; see ``renumbered``.
    """
    kept: list[Section] = []
    titles, tasks, lines = [], 0, 0
    for group in _groups(text):
        left, lost_tasks, lost_lines = _without_lost(group, existing_paths)
        kept += left
        tasks, lines = tasks + lost_tasks, lines + lost_lines
        if left != group:
            titles.append(group[0].heading.removeprefix(GROUP_HEADING).strip())
    # Rendered only when something fell: untouched text keeps its bytes.
    rendered = render_sections(tuple(kept)) if titles else text
    return Forgotten(text=rendered, groups=tuple(titles), tasks=tasks, lines=lines)


def renumbered(text: str) -> str:
    """The handbook with each group's tasks numbered from 1 in their order, references with them.

    A group whose numbers are ambiguous (one twice, or a reference to none) stays as it is: whoever
    judges it then sees what is wrong.
    """
    return render_sections(
        tuple(section for group in _groups(text) for section in _renumbered(group))
    )


def cited_paths(text: str) -> frozenset[str]:
    """The files in ``rollout_summaries/`` that tasks name."""
    return frozenset(
        match[1]
        for section in read_sections(text)
        if section.heading == SUMMARY_FILES_HEADING
        for line in section.lines
        if (match := _CITED.match(line))
    )


def _groups(text: str) -> list[list[Section]]:
    """Sections by their outermost heading, in file order."""
    groups: list[list[Section]] = []
    for section in read_sections(text):
        if not groups or len(section.headings) < 2:
            groups.append([section])
        else:
            groups[-1].append(section)
    return groups


def _is_ours(group: Sequence[Section]) -> bool:
    return group[0].heading.startswith(GROUP_HEADING) and not group[0].is_kept


def _without_lost(
    group: list[Section], existing: Collection[str]
) -> tuple[list[Section], int, int]:
    """What is left of a group, how many tasks fell, and how many bullets."""
    if not _is_ours(group):
        return group, 0, 0
    cleaned = [_without_lost_files(section, existing) for section in group]
    lost = {
        old.headings[1]
        for old, new in zip(group, cleaned, strict=True)
        if old.heading == SUMMARY_FILES_HEADING and len(old.headings) == 3
        if _cites(old) and not _cites(new)
    }
    numbers = _numbers(group)
    left = {number for heading, number in numbers.items() if heading not in lost}
    gone = set(numbers.values()) - left
    if numbers and not left:
        return [section for section in cleaned if section.is_kept], len(lost), _bullets(group)
    result: list[Section] = []
    for section in cleaned:
        if not section.is_kept and section.headings[1:2] and section.headings[1] in lost:
            continue
        shorter = _without_references(section, gone) if gone else section
        if shorter.heading not in BLOCK_HEADINGS or _bullets([shorter]) or not _bullets([section]):
            result.append(shorter)
    return result, len(lost), _bullets(cleaned) - _bullets(result)


def _without_lost_files(section: Section, existing: Collection[str]) -> Section:
    if section.is_kept or section.heading != SUMMARY_FILES_HEADING:
        return section
    lines = (
        line
        for line in section.lines
        if KEEP_MARK in line or not (match := _CITED.match(line)) or match[1] in existing
    )
    return replace(section, lines=tuple(lines))


def _without_references(section: Section, gone: AbstractSet[int]) -> Section:
    """The section without bullets that rest on these tasks alone, and without their numbers."""
    if section.is_kept or section.heading not in BLOCK_HEADINGS:
        return section
    lines: list[str] = []
    is_dropping = False
    for line in section.lines:
        if is_dropping and line.startswith((" ", "\t")):
            continue
        numbers = task_references(line)
        is_dropping = (
            line.startswith("- ") and KEEP_MARK not in line and bool(numbers) and {*numbers} <= gone
        )
        if not is_dropping:
            lines.append(line if KEEP_MARK in line else _dropping(line, gone))
    return replace(section, lines=tuple(lines))


def _dropping(line: str, gone: AbstractSet[int]) -> str:
    return _NUMBER.sub(lambda match: "" if int(match[1]) in gone else match[0], line).rstrip()


def _renumbered(group: list[Section]) -> list[Section]:
    numbers = list(_numbers(group).values()) if _is_ours(group) else []
    references = {
        number
        for section in group
        if section.heading in BLOCK_HEADINGS and not section.is_kept
        for line in section.lines
        if line.startswith("- ") and KEEP_MARK not in line
        for number in task_references(line)
    }
    if len({*numbers}) != len(numbers) or not references <= {*numbers}:
        return group
    new = {old: index for index, old in enumerate(numbers, start=1)}
    return [_with_numbers(section, new) for section in group]


def _with_numbers(section: Section, new: Mapping[int, int]) -> Section:
    if section.is_kept:
        return section
    if match := _TASK.match(section.heading):
        heading = f"## Task {new[int(match[1])]}: {section.heading[match.end() :]}"
        return replace(section, headings=(*section.headings[:-1], heading))
    if section.heading not in BLOCK_HEADINGS:
        return section
    lines = tuple(
        line
        if KEEP_MARK in line
        else _NUMBER.sub(lambda match: f"[Task {new.get(int(match[1]), match[1])}]", line)
        for line in section.lines
    )
    return replace(section, lines=lines)


def _numbers(group: Sequence[Section]) -> dict[str, int]:
    return {
        section.heading: int(match[1])
        for section in group
        if not section.is_kept and (match := _TASK.match(section.heading))
    }


def _cites(section: Section) -> bool:
    return any(_CITED.match(line) for line in section.lines)


def _bullets(sections: Iterable[Section]) -> int:
    return sum(
        line.startswith("- ")
        for section in sections
        if section.heading in BLOCK_HEADINGS
        for line in section.lines
    )


def _stem_start(path: str) -> str:
    match = _STEM_START.match(path)
    return match[0] if match else ""


def _unique_bullets(lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    first = {line: index for index, line in reversed(list(enumerate(lines)))}
    return [line for i, line in enumerate(lines) if not line.startswith("- ") or first[line] == i]
