"""Reads one thread's rollout files into the evidence that a memory may rest on, in bounded memory.

Streams lines, parses each on its own, and leaves all judgement to ``assembly``. Order is file
order, never time.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import orjson

from automemory_dagster.adapters.sources.codex.assembly import Assembly
from automemory_dagster.adapters.sources.codex.history import Stretch, stretches_of
from automemory_dagster.adapters.sources.codex.lines import Line
from automemory_dagster.adapters.sources.codex.plumbing import reason_by_first_bytes
from automemory_dagster.adapters.sources.codex.records import (
    Record,
    parse_line,
    record_of,
    records_of,
)
from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.rollout import FETCH_COMMANDS, Reading, ReadReport
from automemory_dagster.domain.thread import ThreadId

_MAX_DOCUMENT_BYTES = 64 << 20
"""Generation A is one document a file and cannot be streamed; the public ones stop at 4 MiB."""


def read_rollout(
    paths: Sequence[Path],
    *,
    thread_id: ThreadId,
    home: Path,
    mcp_allow: Collection[str] = (),
    fetch_commands: Collection[str] = FETCH_COMMANDS,
) -> Reading:
    """Read the evidence of one thread.

    Args:
        paths: the thread's files in order, oldest first; one that moved meanwhile is looked for in
        ``home``. thread_id: the thread's own id, which tells its records from copied ones. home:
        the Codex home, where pages of the same thread are found. mcp_allow: MCP servers whose use
        is no external context. fetch_commands: programs that fetch, by the names a shell knows.

    Raises:
        RolloutUnreadable: the files are gone, empty, or hold no rollout record.
    """
    reader = _Reader(Assembly(str(thread_id), mcp_allow, fetch_commands))
    for stretch in stretches_of(paths, thread_id, home):
        reader.read_file(stretch)
    return reader.finish([path.name for path in paths])


class _Reader:
    """One reading: lines in, evidence out."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._holding = assembly.holding
        self._bytes_read = 0

    def read_file(self, stretch: Stretch) -> None:
        """Take a file's lines as far as they are the thread's."""
        self._assembly.begin_file()
        document = _document(stretch)
        if document is not None:
            self._bytes_read += len(document)
            self._take_line(document, None)
            return
        stream, ordinal, byte = stretch.stream, stretch.end_ordinal, stretch.end_byte
        for line in stream:
            is_undone = byte is not None and ordinal is None and stream.line_start >= byte
            self._take_line(line, -1 if is_undone else ordinal)
        self._bytes_read += stream.bytes_read
        if stream.is_damaged:
            self._holding.count_line("malformed")

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
                cited_threads=tuple(assembly.words.cited),
            ),
            memory_mode=assembly.memory_mode,
        )

    def _take_line(self, line: Line, end_ordinal: int | None) -> None:
        """Take one line; from ``end_ordinal`` on (-1: all of it) it is undone."""
        assembly, holding = self._assembly, self._holding
        if line is None:
            holding.count_line("oversized")
            return
        if end_ordinal is None and not assembly.copy.is_open:
            reason = reason_by_first_bytes(line)
            if reason is not None:
                assembly.recognised += 1
                holding.count_line(reason)
                return
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            value = None
        if type(value) is dict:
            record = record_of(value)
            for each in (record,) if record is not None else records_of(value):
                self._take_record(each, line, end_ordinal)
            return
        parsed = parse_line(line)
        for _ in range(parsed.fragments):
            holding.count_line("malformed")
        if not parsed.objects and not parsed.fragments:
            holding.count_line("blank")
        for value in parsed.objects:
            # A line that holds several records cannot stand for each of them.
            own = repr(value).encode("utf-8", "surrogatepass")
            for record in records_of(value):
                self._take_record(record, own + b"\\u", end_ordinal)

    def _take_record(self, record: Record, line: bytes, end_ordinal: int | None) -> None:
        holding = self._holding
        holding.begin_line(holding.lines_read + 1)
        if end_ordinal is not None and (record.ordinal or 0) >= end_ordinal:
            holding.count_line("rolled_back")
        else:
            holding.end_line(self._assembly.take(record, line))


def _document(stretch: Stretch) -> bytes | None:
    """The whole file when it is one JSON document over several lines (generation A); else None."""
    first = stretch.stream.peek()
    if first is None or first.strip() not in (b"{", b"["):
        return None
    try:
        with stretch.path.open("rb") as file:
            data = file.read(_MAX_DOCUMENT_BYTES + 1)
        value = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (OSError, orjson.JSONDecodeError):
        return None
    return data if isinstance(value, dict) and "items" in value else None


def _why_unreadable(names: list[str], lines_read: int, assembly: Assembly) -> str:
    what = ", ".join(names)
    if not lines_read:
        return f"{what} is empty"
    kinds = ", ".join(sorted(assembly.unknown_types)[:3])
    found = f"; it holds {kinds}" if kinds else ""
    return f"none of the {lines_read} lines of {what} is a rollout record{found}"
