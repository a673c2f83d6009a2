"""Puts a person's lines right in a file that somebody else edited in place.

The trap: whoever edits the file can also forge the mark, and a forged line would stay for good. So
the marks in the edited text mean nothing; only the lines found before the edit get one.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from automemory_dagster.domain.document import Section, read_sections, render_sections
from automemory_dagster.domain.hand_edits import HandLine, put_back
from automemory_dagster.domain.handbook import KEEP_MARK


def restored(text: str, hand_lines: Sequence[HandLine]) -> str:
    """The text with every hand line in it, marked, and no other mark. Idempotent.

    A line that still stands in its section is marked where it stands; one that was changed, moved
    or taken out is put back at its section's end. The one other mark that stays is that of a
    heading with nothing but hand lines below it: it may have been made for them.
    """
    words = {_unmarked(line.text) for line in hand_lines}
    sections = [_without_forged_marks(section, text, words) for section in read_sections(text)]
    for line in hand_lines:
        if line.is_own_section:
            sections = [_with_own_heading(section, line.headings) for section in sections]
    missing = [line for line in hand_lines if line.text and not _mark_in_place(sections, line)]
    missing += [line for line in hand_lines if not line.text]
    return put_back(render_sections(tuple(sections)), missing)


def without_marks(text: str) -> str:
    """The text with every keep mark taken off; its lines stay."""
    return "\n".join(_unmarked(line) for line in text.split("\n"))


def _without_forged_marks(section: Section, text: str, words: Collection[str]) -> Section:
    lines = tuple(map(_unmarked, section.lines))
    heading = section.heading
    if KEEP_MARK in heading and not _holds_only(text, section.headings, words):
        return replace(section, headings=(*section.headings[:-1], _unmarked(heading)), lines=lines)
    return replace(section, lines=lines)


def _holds_only(text: str, headings: tuple[str, ...], words: Collection[str]) -> bool:
    below = [s for s in read_sections(text) if s.headings[: len(headings)] == headings]
    lines = [_unmarked(line).rstrip() for section in below for line in section.lines]
    return all(line in words for line in lines if line) and any(lines)


def _with_own_heading(section: Section, path: tuple[str, ...]) -> Section:
    if _path(section) != path or KEEP_MARK in section.heading:
        return section
    return replace(
        section, headings=(*section.headings[:-1], f"{section.heading.rstrip()} {KEEP_MARK}")
    )


def _mark_in_place(sections: list[Section], line: HandLine) -> bool:
    for index, section in enumerate(sections):
        if _path(section) != line.headings:
            continue
        lines = _with_mark(section.lines, line.text)
        if lines is not None:
            sections[index] = replace(section, lines=lines)
            return True
    return False


def _with_mark(lines: tuple[str, ...], wanted: str) -> tuple[str, ...] | None:
    """The lines with the first one that says ``wanted`` marked; None when none does."""
    bare = _unmarked(wanted)
    for index, line in enumerate(lines):
        if KEEP_MARK not in line and line.rstrip() == bare:
            return (*lines[:index], wanted, *lines[index + 1 :])
    return None


def _path(section: Section) -> tuple[str, ...]:
    return tuple(_unmarked(heading).rstrip() for heading in section.headings)


def _unmarked(line: str) -> str:
    return line.replace(KEEP_MARK, "").rstrip() if KEEP_MARK in line else line
