"""What phase 1 works with, and what it says became of one thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from automemory_dagster.domain.eligibility import Gate
from automemory_dagster.domain.job import LeasePolicy
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.spend import Purpose, Work
from automemory_dagster.domain.thread import Thread
from automemory_dagster.domain.transcript import TranscriptReport
from automemory_dagster.pipeline.phase1_log import EntryWriter
from automemory_dagster.ports import Clock, Extractor, Origin, StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase1World:
    """What phase 1 works with."""

    origins: Mapping[str, Origin]
    """By name: the sources that are read. A thread of another one is left alone."""
    store: StateStore
    extractor_for: Callable[[Thread], Extractor]
    """Which extractor a thread gets: its space or its user may name another model."""
    redact: Redact
    clock: Clock
    leases: LeasePolicy
    budget_tokens: int
    concurrency: int = 8
    worker: str = ""
    run_id: str = ""

    @property
    def writer(self) -> EntryWriter:
        """Makes this run's log rows."""
        return EntryWriter(
            clock=self.clock,
            redact=self.redact,
            run_id=self.run_id,
        )

    def work(self, thread: Thread) -> Work:
        """On whose account a thread is extracted."""
        return Work(
            purpose=Purpose.EXTRACT,
            space_id=thread.space_id,
            thread_id=thread.thread_id,
            user_id=thread.user_id,
            run_id=self.run_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase1Result:
    """What became of one thread: its log row, with what only this run knows."""

    thread: Thread | None
    """None when no such thread is known."""
    entry: LogEntry
    report: TranscriptReport | None = None
    gates: tuple[Gate, ...] = ()
