"""A memory file as sections under headings: enough Markdown to judge it and to edit it in place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from automemory_dagster.domain.handbook import KEEP_MARK

_HEADING = re.compile(r"(#{1,6}) +\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with the lines below it, up to the next heading of any level."""

    headings: tuple[str, ...]
    """Heading lines from the outermost inward, the section's own last; empty for the preamble."""
    lines: tuple[str, ...]
    """Without the line ends; blank ones included."""
    line_number: int
    """Of the heading, from 1; 1 for the preamble."""

    @property
    def heading(self) -> str:
        """The section's own heading line, or the empty text."""
        return self.headings[-1] if self.headings else ""

    @property
    def is_kept(self) -> bool:
        """True when a person's mark stands on the heading or on one above it."""
        return any(KEEP_MARK in heading for heading in self.headings)


def heading_level(line: str) -> int:
    """1 to 6 for a heading line, else 0."""
    match = _HEADING.match(line)
    return len(match[1]) if match else 0


def read_sections(text: str) -> tuple[Section, ...]:
    """All sections in file order, the preamble first, empty or not."""
    return tuple(_sections(text))


def render_sections(sections: tuple[Section, ...]) -> str:
    """The text of sections in order, ending in one newline; empty when there is nothing."""
    lines: list[str] = []
    for section in sections:
        if section.headings:
            lines.append(section.heading)
        lines.extend(section.lines)
    return "\n".join(lines).rstrip("\n") + "\n" if any(lines) else ""


def _sections(text: str) -> Iterator[Section]:
    headings: tuple[str, ...] = ()
    lines: list[str] = []
    start = 1
    for number, line in enumerate(text.splitlines(), start=1):
        level = heading_level(line)
        if not level:
            lines.append(line)
            continue
        yield Section(headings=headings, lines=tuple(lines), line_number=start)
        above = tuple(heading for heading in headings if heading_level(heading) < level)
        headings, lines, start = (*above, line.rstrip()), [], number
    yield Section(headings=headings, lines=tuple(lines), line_number=start)
