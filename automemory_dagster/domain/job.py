"""Jobs: leases, retries and watermarks as facts and rules; the state store makes them atomic.

Source: ``reference/codex-memory-spec.md``, sections 2 and 5, with its faults mended: a transient
failure uses no attempt, a crash that repeats does, a lease is renewed while work runs, forgetting
is not delayed by the cooldown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from automemory_dagster.domain.redaction import NO_TEXT, RedactedText

LeaseToken = NewType("LeaseToken", str)


class JobKind(StrEnum):
    """The two kinds of job.

    Names are Codex's.
    """

    STAGE1 = "memory_stage1"
    """Its key is the thread id."""

    CONSOLIDATE = "memory_consolidate_global"
    """Its key is the space id."""


class JobStatus(StrEnum):
    """Where a job stands.

    Names are Codex's.
    """

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    ERROR = "error"


class FailureKind(StrEnum):
    """Whether a failure uses an attempt."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasePolicy:
    """How long work may hold a job and how it is tried again."""

    lease: timedelta = timedelta(hours=1)
    """Codex's number.

    Renewed while work runs.
    """

    retry_delay: timedelta = timedelta(hours=1)
    """Codex's number; doubles with each transient failure in a row, up to ``max_retry_delay``."""

    max_retry_delay: timedelta = timedelta(hours=24)
    retry_budget: int = 3
    """Permanent failures and crashes before the job rests until its thread has newer content.

    Codex's number.
    """

    max_running: int = 16
    """Live stage-1 leases over all processes: the global cap, enforced by the claim.

    Ours.
    """

    cooldown: timedelta = timedelta(0)
    """Quiet time of a space after a successful consolidation.

    Codex: six hours; ours is a setting.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job row."""

    kind: JobKind
    key: str
    status: JobStatus
    lease_token: LeaseToken | None = None
    worker: str = ""
    run_id: str = ""
    """The Dagster run that last worked on it; empty outside Dagster."""

    started_at: datetime | None = None
    finished_at: datetime | None = None
    lease_until: datetime | None = None
    retry_at: datetime | None = None
    retry_remaining: int = 3
    transient_failures: int = 0
    """In a row; a success or newer input sets it back."""
    attempt: int = 0
    """Claims so far, over the job's whole life: what makes a run key new after a failure."""

    last_error: RedactedText = NO_TEXT
    input_watermark: int = 0
    """Unix seconds of the newest input known (stage 1), or a counter that rises with each change
    (consolidation)."""

    last_success_watermark: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The caller owns the job until ``lease_until``; every write it makes must carry ``token``."""

    kind: JobKind
    key: str
    token: LeaseToken
    lease_until: datetime
    input_watermark: int
    last_success_watermark: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedUpToDate:
    """This version of the input was processed already."""

    last_success_watermark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRunning:
    """Another worker holds the lease."""

    lease_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedAtCapacity:
    """As many stage-1 jobs run as the global cap allows."""

    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedBackoff:
    """It failed before and rests."""

    retry_at: datetime
    last_error: RedactedText


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedExhausted:
    """Its retry budget is used up; newer content of the thread renews it."""

    last_error: RedactedText


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCooldown:
    """The space was consolidated a short while ago."""

    until: datetime


Stage1ClaimOutcome = (
    Claimed
    | SkippedUpToDate
    | SkippedRunning
    | SkippedAtCapacity
    | SkippedBackoff
    | SkippedExhausted
)
Phase2ClaimOutcome = Claimed | SkippedUpToDate | SkippedRunning | SkippedBackoff | SkippedCooldown
