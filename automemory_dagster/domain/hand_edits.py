"""A person's edits of a memory file: found against the baseline, put back after it is rewritten.

The trap: once published, a person's line is in the baseline too and looks like any other. So each
line that a person added gets the keep mark when it is first seen; from then on the mark tells.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from automemory_dagster.domain.document import (
    Section,
    heading_level,
    read_sections,
    render_sections,
)
from automemory_dagster.domain.handbook import (
    BLOCK_HEADINGS,
    GROUP_HEADING,
    KEEP_MARK,
    without_task_references,
)

NOTES_HEADING = f"## Kept by hand {KEEP_MARK}"
"""Takes a person's lines of a task group whose own section is gone."""

_HEAD_LINES = ("scope: ", "applies_to: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandLine:
    """One line of a person, with the mark, and where it stood."""

    headings: tuple[str, ...]
    """Heading lines from the outermost inward, without marks."""
    text: str
    """Empty when the person wrote a heading and nothing below it."""
    is_own_section: bool
    """True when the person wrote the heading above it too."""

    @property
    def words(self) -> str:
        """What it says, free of dash, mark and task references."""
        return bare_bullet(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedLine:
    """A bullet that a person took out, free of dash and task references, and where it stood."""

    headings: tuple[str, ...]
    words: str


def bare_bullet(line: str) -> str:
    """A bullet's words, free of dash, mark and task references."""
    text = line.replace(KEEP_MARK, "").strip()
    return without_task_references(text.removeprefix("- ").strip())


def find_hand_lines(current: str | None, baseline: str | None) -> tuple[HandLine, ...]:
    """A person's lines in file order: those with the mark, and those the baseline does not have.

    A line whose mark was taken off counts as handed back.
    """
    known = {_path(s): Counter(map(_unmarked, _lines(s))) for s in read_sections(baseline or "")}
    found: list[HandLine] = []
    for section in read_sections(current or ""):
        path = _path(section)
        is_own = bool(path) and (section.is_kept or path not in known)
        left = known.get(path, Counter()).copy()
        for line in _lines(section) or ([""] if is_own else []):
            left[_unmarked(line)] -= 1
            is_new = left[_unmarked(line)] < 0
            if (is_own or is_new or KEEP_MARK in line) and (path or not _is_format_line(line)):
                found.append(HandLine(headings=path, text=_marked(line), is_own_section=is_own))
    return tuple(found)


def find_deleted_lines(
    current: str | None, baseline: str | None, *, headings: Collection[str]
) -> tuple[DeletedLine, ...]:
    """Bullets that a person took out of the sections with these headings, in the baseline's order.

    A file that is gone as a whole was not edited but thrown away: nothing counts as deleted.
    """
    if current is None or baseline is None:
        return ()
    # A line that was marked, or moved to another section, is still said.
    said = {bare_bullet(line) for section in read_sections(current) for line in _lines(section)}
    return tuple(
        DeletedLine(headings=_path(section), words=bare_bullet(line))
        for section in read_sections(baseline)
        if section.heading in headings
        for line in _lines(section)
        if KEEP_MARK not in line and bare_bullet(line) not in said
    )


def put_back(text: str, hand_lines: Sequence[HandLine]) -> str:
    """The text with a person's lines at the end of their sections.

    A section that is gone: a task group's block section returns; in a task group that is there
    the lines go to ``NOTES_HEADING``; a group that is gone returns with the mark; elsewhere the
    nearest section above takes the lines.
    """
    sections = list(read_sections(text))
    for line in hand_lines:
        index = _ensure(sections, _target(sections, line))
        if line.text:
            sections[index] = _with_line(sections[index], line.text)
    return render_sections(tuple(sections))


def _path(section: Section) -> tuple[str, ...]:
    return tuple(map(_unmarked, section.headings))


def _lines(section: Section) -> list[str]:
    return [line.rstrip() for line in section.lines if line.strip()]


def _unmarked(line: str) -> str:
    return line.replace(KEEP_MARK, "").rstrip()


def _marked(line: str) -> str:
    return line if not line or KEEP_MARK in line else f"{line} {KEEP_MARK}"


def _is_format_line(line: str) -> bool:
    # A person who damaged the first line of the summary did not mean to add a line.
    words = bare_bullet(line)
    return len(words) <= 3 and words[:1].lower() == "v"


def _target(sections: Sequence[Section], line: HandLine) -> tuple[str, ...]:
    """Headings of the section that shall take the line, marked where they become a person's."""
    paths = {_path(section): section.is_kept for section in sections}
    depth = max(n for n in range(len(line.headings) + 1) if line.headings[:n] in paths)
    there, missing = line.headings[:depth], line.headings[depth:]
    if not missing or line.is_own_section or not there or paths[there]:
        return (*there, *map(_marked, missing))
    if not there[0].startswith(GROUP_HEADING):
        return there
    if missing[0] in BLOCK_HEADINGS:
        return (*there, missing[0])
    return (there[0], NOTES_HEADING)


def _ensure(sections: list[Section], target: tuple[str, ...]) -> int:
    """Index of the target section; made, with those above it, where it is missing."""
    index = 0
    for depth in range(len(target) + 1):
        headings = target[:depth]
        path = tuple(map(_unmarked, headings))
        found = next((i for i, section in enumerate(sections) if _path(section) == path), None)
        if found is None:
            found = _place_of(sections, path)
            _end_with_blank(sections, found - 1)
            sections.insert(found, Section(headings=headings, lines=("",), line_number=0))
        index = found
    return index


def _place_of(sections: Sequence[Section], path: tuple[str, ...]) -> int:
    """Where a new section goes: last among its parent's, block sections in their order."""
    parent, level = path[:-1], heading_level(path[-1])
    inside = [i for i, section in enumerate(sections) if _path(section)[: len(parent)] == parent]
    later: tuple[str, ...] = ()
    if path[-1] in BLOCK_HEADINGS and parent and not sections[inside[0]].is_kept:
        later = BLOCK_HEADINGS[BLOCK_HEADINGS.index(path[-1]) + 1 :]
    for i in inside[1:]:
        rank = heading_level(sections[i].heading)
        is_later = sections[i].heading in later or (sections[i].is_kept and rank == level)
        # Below a heading of a higher rank it would be read as a part of that one.
        if rank < level or (later and is_later):
            return i
    return inside[-1] + 1


def _end_with_blank(sections: list[Section], index: int) -> None:
    section = sections[index]
    if (section.headings or section.lines) and (not section.lines or section.lines[-1].strip()):
        sections[index] = replace(section, lines=(*section.lines, ""))


def _with_line(section: Section, text: str) -> Section:
    lines = list(section.lines)
    for key in _HEAD_LINES:
        # These two stand once in a group; a person's word replaces ours.
        rivals = [i for i, old in enumerate(lines) if text.startswith(key) and old.startswith(key)]
        if rivals:
            lines[rivals[0]] = text
            return replace(section, lines=tuple(lines))
    while lines and not lines[-1].strip():
        lines.pop()
    if section.headings and not lines:
        lines = [""]
    elif lines and not text.lstrip().startswith("- ") and KEEP_MARK not in lines[-1]:
        # Prose after bullets would read as the last bullet's second line.
        lines.append("")
    return replace(section, lines=(*lines, text, ""))
