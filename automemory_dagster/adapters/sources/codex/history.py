"""Which files, and how much of each, hold one thread's own record.

The trap: a thread that was resumed or rewound lies in several files, and the older one may still
hold turns that were undone. A file's ``history_base`` says where it joins on; other threads' files
are never read, since a parent's history is not this thread's evidence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.adapters.sources.codex.lines import LineStream
from automemory_dagster.adapters.sources.codex.records import parse_line, records_of
from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.thread import ThreadId

_SUFFIX = ".zst"
_MOST_FILES = 512


@dataclass(frozen=True, slots=True)
class Stretch:
    """One file of the thread and where the reading of it ends."""

    path: Path
    stream: LineStream
    end_ordinal: int | None = None
    """Records with this ordinal and above were undone or are told by a later file."""
    end_byte: int | None = None
    """The same as a byte offset, for records without ordinals."""


def stretches_of(paths: Sequence[Path], thread_id: ThreadId, home: Path) -> tuple[Stretch, ...]:
    """The thread's files in order, pages that ``history_base`` names and the caller did not among
    them.

    Each file is looked at once, so that a base that leads back to itself ends there; a missing page
    is passed over.
    """
    files = _existing(paths, home)
    streams = {path: LineStream(path) for path in files}
    bases = {path: _base_of(stream, thread_id) for path, stream in streams.items()}
    if files and bases[files[0]] is not None:
        earlier = [path for path in _pages(home, thread_id) if _stem(path) not in map(_stem, files)]
        files = [*earlier[:_MOST_FILES], *files]
        streams |= {path: LineStream(path) for path in earlier}
        bases |= {path: _base_of(streams[path], thread_id) for path in earlier}
    stretches: list[Stretch] = []
    ordinal: int | None = None
    byte: int | None = None
    for path in reversed(files):
        stretches.insert(0, Stretch(path, streams[path], ordinal, byte))
        base = bases.get(path)
        byte = None
        if base is not None:
            end = base.get("end_ordinal_exclusive")
            if isinstance(end, int):
                ordinal = end if ordinal is None else min(ordinal, end)
            offset = base.get("end_byte_offset")
            byte = offset if isinstance(offset, int) else None
    return tuple(stretches)


def _existing(paths: Sequence[Path], home: Path) -> list[Path]:
    """The paths that are there, each rollout once; one that was compressed or archived meanwhile is
    found again."""
    found: dict[str, Path] = {}
    for path in paths:
        for candidate in _whereabouts(path, home):
            if candidate.is_file():
                found.setdefault(_stem(candidate), candidate)
                break
    if not found:
        names = ", ".join(path.name for path in paths) or "no file"
        raise RolloutUnreadable(f"the rollout is gone: {names}")
    return list(found.values())


def _whereabouts(path: Path, home: Path) -> Iterator[Path]:
    yield path
    stem = path.name.removesuffix(_SUFFIX)
    for folder in (path.parent, home / "archived_sessions"):
        yield folder / stem
        yield folder / (stem + _SUFFIX)


def _pages(home: Path, thread_id: ThreadId) -> list[Path]:
    pattern = f"rollout-*-{thread_id}*.jsonl*"
    pages: dict[str, Path] = {}
    for folder in ("sessions", "archived_sessions"):
        for path in sorted((home / folder).rglob(pattern), key=lambda each: each.name):
            pages.setdefault(_stem(path), path)
    return sorted(pages.values(), key=lambda each: each.name)


def _base_of(stream: LineStream, thread_id: ThreadId) -> dict[str, object] | None:
    """The file's ``history_base`` when it names this very thread."""
    first = stream.peek()
    if first is None or b'"history_base"' not in first:
        return None
    for value in parse_line(first).objects:
        for record in records_of(value):
            base = record.payload.get("history_base")
            if isinstance(base, dict) and base.get("thread_id") == thread_id:
                return base
    return None


def _stem(path: Path) -> str:
    return path.name.removesuffix(_SUFFIX)
