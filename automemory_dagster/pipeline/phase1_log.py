"""The log rows of phase 1: each outcome of a thread with its reason, in words for a person."""

import time
from collections import Counter
from collections.abc import Mapping

from automemory_dagster.domain.job import (
    Claimed,
    SkippedAtCapacity,
    SkippedBackoff,
    SkippedExhausted,
    SkippedRunning,
    SkippedUpToDate,
    Stage1ClaimOutcome,
)
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.spend import NOTHING_SPENT, Spent
from automemory_dagster.domain.thread import SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import TranscriptReport
from automemory_dagster.ports import Clock


class EntryWriter:
    """Makes the log rows of one run: it knows the clock and the run."""

    def __init__(self, *, clock: Clock, redact: Redact, run_id: str) -> None:
        self._clock = clock
        self._redact = redact
        self._run_id = run_id

    def entry(
        self,
        thread: Thread,
        outcome: Outcome,
        reason: Reason,
        *,
        detail: str = "",
        started: float | None = None,
        report: TranscriptReport | None = None,
        extractor: str = "",
        spent: Spent = NOTHING_SPENT,
    ) -> LogEntry:
        """The row of one thread. ``started``: monotonic seconds, when work was begun at all."""
        seconds = time.monotonic() - started if started is not None else 0.0
        return LogEntry(
            thread_id=thread.thread_id,
            space_id=thread.space_id,
            outcome=outcome,
            reason=reason,
            logged_at=self._clock(),
            source_updated_at=thread.source_updated_at,
            user_id=thread.user_id,
            run_id=self._run_id,
            detail=self._redact(detail),
            extractor=extractor,
            duration_seconds=round(seconds, 3),
            input_tokens=spent.usage.input_tokens or (report.estimated_tokens if report else 0),
            output_tokens=spent.usage.output_tokens,
            usd=spent.usd,
            numbers=_numbers(report, self._redact) if report else {},
        )

    def unknown(self, thread_id: ThreadId) -> LogEntry:
        """The row of an id that no thread has; never stored, since nothing is known of it."""
        return LogEntry(
            thread_id=thread_id,
            space_id=SpaceId(""),
            outcome=Outcome.FAILED,
            reason=Reason.VANISHED,
            logged_at=self._clock(),
            run_id=self._run_id,
            detail=self._redact(f"no thread {thread_id} is known; a sweep lists what is there"),
        )


def reason_of_skip(outcome: Stage1ClaimOutcome) -> tuple[Reason, str]:
    """The reason for a claim that was not granted, and one sentence on it."""
    match outcome:
        case SkippedUpToDate():
            return Reason.UP_TO_DATE, "another worker handled this version meanwhile"
        case SkippedRunning(lease_until=until):
            held = f"another worker holds the lease until {until:%H:%M:%S} UTC"
            return Reason.RUNNING_ELSEWHERE, held
        case SkippedAtCapacity(running=running):
            return Reason.AT_CAPACITY, f"{running} extractions run already; it stays due"
        case SkippedBackoff(retry_at=at, last_error=error):
            wait = f"failed before ({error}); next try at {at:%Y-%m-%d %H:%M:%S} UTC"
            return Reason.BACKOFF, wait
        case SkippedExhausted(last_error=error):
            return Reason.EXHAUSTED, f"no tries left after: {error}"
        case Claimed():
            raise AssertionError("a claim is no skip")


def _numbers(report: TranscriptReport, redact: Redact) -> Mapping[str, int]:
    reading = report.reading
    return {
        "bytes_read": reading.bytes_read,
        "lines_read": reading.lines_read,
        "lines_kept": reading.lines_kept,
        "rows_kept": report.rows_kept,
        "rows_cut": report.rows_cut,
        **_prefixed("dropped", reading.dropped_lines, redact),
        **_prefixed("unknown_type", reading.unknown_types, redact),
        **_prefixed("external_context", reading.external_context, redact),
        **_prefixed("omitted", report.rows_omitted, redact),
    }


def _prefixed(prefix: str, counts: Mapping[str, int], redact: Redact) -> dict[str, int]:
    named: Counter[str] = Counter()
    for name, count in sorted(counts.items()):
        # Types of records and names of servers stand in the file as anybody may have written them.
        named[f"{prefix}_{redact(name).replace(' ', '_')}"] += count
    return dict(named)
