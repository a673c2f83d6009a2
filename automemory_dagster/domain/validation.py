"""May these files be published? All that is wrong with them, in words a person can act on.

Source of the formats: ``reference/codex-memory-spec.md``, sections 5.6 and 6; Codex checks far
less. The trap: a message that repeats a secret. Messages name files, lines and headings, and how
many secrets there are, never which.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from automemory_dagster.domain.artifacts import (
    MEMORY,
    MEMORY_SUMMARY,
    RAW_MEMORIES,
    ROLLOUT_SUMMARIES,
)
from automemory_dagster.domain.document import read_sections
from automemory_dagster.domain.handbook import KEEP_MARK
from automemory_dagster.domain.handbook_format import group_titles, handbook_problems
from automemory_dagster.domain.memory_summary import (
    FORMAT_LINE,
    INDEX_HEADING,
    MAX_SUMMARY_BYTES,
    SECTION_HEADINGS,
)

MAX_MEMORY_BYTES = 512 * 1024
"""Ours: what a reader can still search through at once."""

FindSecrets = Callable[[str], Collection[object]]

_SKILL = re.compile(r"skills/[a-z0-9-]{1,64}/.+")
_UNLISTED = re.compile(r"^- (\d+) more in MEMORY\.md\b", re.MULTILINE)


def validate(
    staging_files: Mapping[str, str],
    links: Sequence[str],
    *,
    find_secrets: FindSecrets,
    known_paths: Collection[str] = (),
) -> tuple[str, ...]:
    """Everything that forbids publishing these files; empty when nothing does.

    Args:
        staging_files: path to text, all of the workspace.
        links: paths of symbolic links in it.
        find_secrets: finds known kinds of secret in a text.
        known_paths: files that were there before the consolidation, a person's own among them;
        these may stay.
    """
    return tuple(_problems(staging_files, links, find_secrets, known_paths))


def _problems(
    files: Mapping[str, str],
    links: Sequence[str],
    find_secrets: FindSecrets,
    known_paths: Collection[str],
) -> Iterator[str]:
    for path in sorted(links):
        yield f"{path} is a symbolic link; memory holds plain files only"
    for path in sorted(files):
        if not _is_allowed(path) and (path not in known_paths or _escapes(path)):
            yield f"{path} is no place for memory files"
    yield from _memory_problems(files)
    yield from _summary_problems(files)
    for path in sorted(files):
        if count := len(find_secrets(files[path])):
            yield f"{path}: possible secrets found, {count} in number"


def _is_allowed(path: str) -> bool:
    if _escapes(path):
        return False
    if path in (MEMORY, MEMORY_SUMMARY, RAW_MEMORIES):
        return True
    if path.startswith(f"{ROLLOUT_SUMMARIES}/"):
        return path.count("/") == 1 and not path.endswith("/")
    return bool(_SKILL.fullmatch(path)) or path.startswith("extensions/")


def _escapes(path: str) -> bool:
    parts = path.split("/")
    return "\\" in path or any(part in ("", ".", "..", ".git") for part in parts)


def _memory_problems(files: Mapping[str, str]) -> Iterator[str]:
    text = files.get(MEMORY)
    if text is None:
        yield f"{MEMORY} is missing"
        return
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_MEMORY_BYTES:
        yield f"{MEMORY} has {size:,} bytes; at most {MAX_MEMORY_BYTES:,} are allowed"
    for problem in handbook_problems(text, files.keys()):
        yield f"{MEMORY}, {problem}"


def _summary_problems(files: Mapping[str, str]) -> Iterator[str]:
    text = files.get(MEMORY_SUMMARY)
    if text is None:
        yield f"{MEMORY_SUMMARY} is missing"
        return
    if text.split("\n", 1)[0] != FORMAT_LINE:
        yield f"{MEMORY_SUMMARY}: the first line must be exactly {FORMAT_LINE!r}"
    size = len(text.encode("utf-8", "replace"))
    if size >= MAX_SUMMARY_BYTES:
        yield (
            f"{MEMORY_SUMMARY} has {size:,} bytes; fewer than {MAX_SUMMARY_BYTES:,} are allowed, "
            "since readers cut the rest out of its middle"
        )
    sections = [
        section
        for section in read_sections(text)
        if section.heading.startswith("## ") and KEEP_MARK not in section.heading
    ]
    found = tuple(section.heading for section in sections)
    if found != SECTION_HEADINGS:
        wanted = ", ".join(repr(heading) for heading in SECTION_HEADINGS)
        yield f"{MEMORY_SUMMARY}: its sections must be {wanted}, in this order"
        return
    yield from _index_problems(files.get(MEMORY, ""), text)


def _index_problems(memory: str, summary: str) -> Iterator[str]:
    index = "\n".join(
        "\n".join((section.heading, *section.lines))
        for section in read_sections(summary)
        if INDEX_HEADING in section.headings
    )
    missing = [title for title in group_titles(memory) if title not in index]
    unlisted = _UNLISTED.search(index)
    if len(missing) > (int(unlisted[1]) if unlisted else 0):
        names = ", ".join(repr(title) for title in missing[:3])
        yield (
            f"{MEMORY_SUMMARY}: {INDEX_HEADING!r} has no topic for {len(missing)} "
            f"task group{'s' if len(missing) > 1 else ''}: {names}"
        )
