"""Recognises a parent's history that was copied into a fork's or a sub-agent's file.

The trap: copied records carry the fork's clock, so time alone does not tell them from the fork's
own. What tells, from surest to least: the ordinal at which own history starts; a turn's UUIDv7,
older than the thread's; a time before the thread began; and, last, that copies are written in one
burst without the pauses of real work.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from automemory_dagster.adapters.sources.codex.messages import turn_id
from automemory_dagster.adapters.sources.codex.records import Record

_LONGEST_BURST_GAP_SECONDS = 0.5


@dataclass(slots=True)
class CopiedHistory:
    """Where in a file the copied history ends; asked once a record, in order."""

    own_id: str
    start_ordinal: int | None = None
    """``subagent_history_start_ordinal``: own history starts here; decides alone when present."""
    began_at: float | None = None
    """When the thread began, Unix seconds."""
    is_open: bool = False
    """True while copied records go by."""
    ended_in_burst: bool = False
    """True when only a pause told the end: the last turn that nobody answered is then the thread's
    own."""
    _last_time: float | None = None

    def begin(self, meta: dict[str, Any]) -> None:
        """The thread's own ``session_meta``: what it says about a copy."""
        self.began_at = self.began_at or unix_seconds(meta.get("timestamp"))
        ordinal = meta.get("subagent_history_start_ordinal")
        if isinstance(ordinal, int) and ordinal > 0:
            self.start_ordinal, self.is_open = ordinal, True
        elif meta.get("forked_from_id") and not meta.get("history_base"):
            self.is_open = True

    def meet_foreign_meta(self) -> None:
        """Another thread's ``session_meta`` in this file: a copy follows it."""
        if self.start_ordinal is None:
            self.is_open = True

    def is_own(self, record: Record) -> bool:
        """False while ``record`` belongs to the copy; the first own one closes it."""
        if not self.is_open:
            return True
        if self._is_copied(record):
            return False
        self.is_open = False
        return True

    def _is_copied(self, record: Record) -> bool:
        if self.start_ordinal is not None and record.ordinal is not None:
            return record.ordinal < self.start_ordinal
        own, turn = _uuid7_millis(self.own_id), _uuid7_millis(turn_id(record.payload))
        now, before = unix_seconds(record.timestamp), self._last_time
        self._last_time = now if now is not None else before
        if own is not None and turn is not None:
            return turn < own
        if now is None:
            return True
        if self.began_at is not None and now < self.began_at:
            return True
        if before is None or now - before < _LONGEST_BURST_GAP_SECONDS:
            return True
        self.ended_in_burst = True
        return False


def unix_seconds(value: Any) -> float | None:
    """A record's time: ISO 8601 text, or a number of seconds, milliseconds, micro- or
    nanoseconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        number = float(value)
        while abs(number) > 1e11:
            number /= 1000
        return number
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _uuid7_millis(text: str) -> int | None:
    try:
        identity = UUID(text)
    except ValueError:
        return None
    return identity.int >> 80 if identity.version == 7 else None
