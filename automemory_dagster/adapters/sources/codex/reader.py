"""Reads one thread's rollout files into the evidence that a memory may rest on, in bounded memory.

Streams lines, parses each on its own, and leaves all judgement to ``assembly``. Order is file
order, never time.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import orjson

from automemory_dagster.adapters.sources.codex.assembly import Assembly
from automemory_dagster.adapters.sources.codex.history import Stretch, stretches_of
from automemory_dagster.adapters.sources.codex.lines import Line, LineStream
from automemory_dagster.adapters.sources.codex.records import parse_line, records_of
from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.rollout import Reading, ReadReport
from automemory_dagster.domain.thread import ThreadId

_MAX_DOCUMENT_BYTES = 64 << 20
"""Generation A is one document a file and cannot be streamed; the public ones stop at 4 MiB."""
_MOST_LINES_REMEMBERED = 131_072


def read_rollout(
    paths: Sequence[Path],
    *,
    thread_id: ThreadId,
    home: Path,
    mcp_allow: Collection[str] = (),
) -> Reading:
    """Read the evidence of one thread.

    Args:
        paths: the thread's files in order, oldest first; one that moved meanwhile is looked for in
        ``home``. thread_id: the thread's own id, which tells its records from copied ones. home:
        the Codex home, where pages of the same thread are found. mcp_allow: MCP servers whose use
        is no external context.

    Raises:
        RolloutUnreadable: the files are gone, empty, or hold no rollout record.
    """
    reader = _Reader(Assembly(str(thread_id), mcp_allow))
    for stretch in stretches_of(paths, thread_id, home):
        reader.read_file(stretch)
    return reader.finish([path.name for path in paths])


class _Reader:
    """One reading: lines in, evidence out."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._holding = assembly.holding
        self._bytes_read = 0
        self._seen: dict[int, None] = {}

    def read_file(self, stretch: Stretch) -> None:
        self._assembly.begin_file()
        document = _document(stretch.path)
        if document is not None:
            self._bytes_read += len(document)
            self._take_line(Line(document), None)
            return
        stream = LineStream(stretch.path)
        for line in stream:
            is_behind = stretch.end_byte is not None and stream.line_start >= stretch.end_byte
            end = -1 if is_behind and stretch.end_ordinal is None else stretch.end_ordinal
            self._take_line(line, end)
        self._bytes_read += stream.bytes_read
        if stream.is_damaged:
            self._count_line("malformed")

    def finish(self, names: list[str]) -> Reading:
        assembly, holding = self._assembly, self._holding
        if not assembly.recognised:
            raise RolloutUnreadable(_why_unreadable(names, holding.lines_read, assembly))
        assembly.finish()
        return Reading(
            items=holding.items(),
            report=ReadReport(
                bytes_read=self._bytes_read,
                lines_read=holding.lines_read,
                lines_kept=holding.lines_kept,
                dropped_lines=dict(sorted(holding.dropped.items())),
                unknown_types=dict(assembly.unknown_types),
                external_context=dict(assembly.external),
                cited_threads=tuple(assembly.cited),
            ),
            memory_mode=assembly.memory_mode,
        )

    def _take_line(self, line: Line, end_ordinal: int | None) -> None:
        self._assembly.position += 1
        if line.is_oversized:
            self._count_line("oversized")
            return
        if not line.data or line.data.isspace():
            self._count_line("blank")
            return
        parsed = parse_line(line.data)
        for _ in range(parsed.fragments):
            self._count_line("malformed")
        is_repeated = len(parsed.objects) == 1 and self._is_repeated(line.data, parsed.objects[0])
        for value in parsed.objects:
            for record in records_of(value):
                self._holding.begin_line(self._assembly.position)
                if is_repeated:
                    reason = "duplicate"
                elif end_ordinal is not None and (
                    end_ordinal < 0 or (record.ordinal or 0) >= end_ordinal
                ):
                    reason = "rolled_back"
                else:
                    reason = self._assembly.take(record)
                self._holding.end_line(reason)

    def _count_line(self, reason: str) -> None:
        self._holding.begin_line(self._assembly.position)
        self._holding.end_line(reason)

    def _is_repeated(self, data: bytes, value: dict[str, object]) -> bool:
        """True for a record that stands in the file a second time, byte by byte.

        Only where records carry a time: in generation B a person who says "continue" twice writes
        the same line twice.
        """
        if "timestamp" not in value or "payload" not in value:
            return False
        key = hash(data)
        if key in self._seen:
            return True
        self._seen[key] = None
        if len(self._seen) > _MOST_LINES_REMEMBERED:
            self._seen.pop(next(iter(self._seen)))
        return False


def _document(path: Path) -> bytes | None:
    """The whole file when it is one JSON document over several lines, as generation A writes it;
    else None."""
    try:
        with path.open("rb") as file:
            start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
            if start.split(b"\n", 1)[0].strip() not in (b"{", b"["):
                return None
            file.seek(0)
            data = file.read(_MAX_DOCUMENT_BYTES + 1)
        value = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (OSError, orjson.JSONDecodeError):
        return None
    is_whole = len(data) <= _MAX_DOCUMENT_BYTES
    return data if is_whole and isinstance(value, dict) and "items" in value else None


def _why_unreadable(names: list[str], lines_read: int, assembly: Assembly) -> str:
    what = ", ".join(names)
    if not lines_read:
        return f"{what} is empty"
    kinds = ", ".join(sorted(assembly.unknown_types)[:3])
    found = f"; it holds {kinds}" if kinds else ""
    return f"none of the {lines_read} lines of {what} is a rollout record{found}"
