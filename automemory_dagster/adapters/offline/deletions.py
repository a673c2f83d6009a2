"""Bullets that a person deleted: remembered in a file they can read, so that they do not come back.

An entry lives as long as some selected thread still says it: then it has work to do. It is dropped
with the last such thread, so that this file keeps nothing that was to be forgotten.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.grouping import bare_words
from automemory_dagster.adapters.offline.meaning import read_meaning
from automemory_dagster.adapters.offline.merging import MemoryLine, is_same_statement
from automemory_dagster.domain.artifacts import MEMORY, MEMORY_SUMMARY
from automemory_dagster.domain.document import read_sections
from automemory_dagster.domain.hand_edits import DeletedLine, bare_bullet
from automemory_dagster.domain.handbook import GROUP_HEADING, plain_line

DELETIONS = "extensions/deleted_by_hand/deleted_lines.md"

_TITLE = "# Lines deleted by hand"
_INTRO = (
    "A person took these lines out of the memory, and they stay out while a session still says "
    "them.\nDelete a line here to let it come back."
)


@dataclass(frozen=True, slots=True, order=True)
class Deletion:
    """One deleted bullet."""

    file: str
    """``MEMORY.md`` or ``memory_summary.md``."""
    group: str
    """Title of the task group in ``MEMORY.md``; empty for the summary."""
    words: str


def read_deletions(text: str | None) -> tuple[Deletion, ...]:
    """The file's entries; lines that are no bullets are passed over."""
    found = []
    for section in read_sections(text or ""):
        file, _, group = section.heading.removeprefix("## ").partition(": ")
        if file in (MEMORY, MEMORY_SUMMARY):
            bullets = [line for line in section.lines if line.startswith("- ")]
            found += [Deletion(file, group.strip(), bare_bullet(line)) for line in bullets]
    return tuple(sorted(set(found)))


def render_deletions(deletions: Iterable[Deletion]) -> str:
    """The file's text; empty when there is no entry."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for deletion in sorted(set(deletions)):
        by_place.setdefault((deletion.file, deletion.group), []).append(deletion.words)
    if not by_place:
        return ""
    parts = [_TITLE, _INTRO]
    for (file, group), words in by_place.items():
        parts.append(f"## {file}: {group}" if group else f"## {file}")
        parts.append("\n".join(f"- {plain_line(line)}" for line in words))
    return "\n\n".join(parts) + "\n"


def deletion_of(file: str, line: DeletedLine) -> Deletion:
    """A deleted bullet as an entry."""
    title = line.headings[0] if line.headings else ""
    is_group = title.startswith(GROUP_HEADING)
    group = title.removeprefix(GROUP_HEADING).strip() if is_group else ""
    return Deletion(file, group, bare_words(line.words))


def is_deleted(line: MemoryLine, project: str, deletions: Sequence[Deletion]) -> bool:
    """True when a person deleted this line from the project's task group."""
    return any(
        deletion.file == MEMORY
        and deletion.group == project
        and is_same_statement(read_meaning(line.text), read_meaning(deletion.words))
        for deletion in deletions
    )
