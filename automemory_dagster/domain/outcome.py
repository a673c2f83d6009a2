"""The outcome of each thread and the reason for it: what ``automemory why`` and the UI show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from automemory_dagster.domain.redaction import NO_TEXT, RedactedText
from automemory_dagster.domain.thread import SpaceId, ThreadId


class Outcome(StrEnum):
    """What became of a thread the last time it was looked at."""

    EXTRACTED = "extracted"
    NO_OUTPUT = "no_output"
    SKIPPED = "skipped"
    FAILED = "failed"


class Reason(StrEnum):
    """Why. Stored and shown as it stands; never renamed."""

    EXTRACTED = "extracted"
    NOTHING_TO_KEEP = "nothing_to_keep"
    GENERATION_DISABLED = "generation_disabled"
    ARCHIVED = "archived"
    MEMORY_MODE_DISABLED = "memory_mode_disabled"
    MEMORY_MODE_POLLUTED = "memory_mode_polluted"
    EXTERNAL_CONTEXT = "external_context"
    SOURCE_KIND = "source_kind"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    NOT_IDLE = "not_idle"
    TOO_OLD = "too_old"
    TOO_SHORT = "too_short"
    RESULT_TOO_SHORT = "result_too_short"
    QUOTA_LOW = "quota_low"
    QUOTA_CHECK_FAILED = "quota_check_failed"
    """The quota could not be read: nothing is extracted as long as that is so."""
    NOT_COMPLETED = "not_completed"
    """A task that was completed and goes on; it is looked at when it ends."""
    UP_TO_DATE = "up_to_date"
    ALREADY_EXTRACTED = "already_extracted"
    """A cloud task is extracted once, and again only when it went on and ended anew."""
    BACKOFF = "in_backoff"
    EXHAUSTED = "exhausted"
    BUDGET = "budget"
    """A spending limit is reached; it is looked at again when the limit allows it."""
    RATE_LIMIT = "rate_limit"
    """The plan's own limit is nearly used up; it is looked at again later."""
    RUNNING_ELSEWHERE = "running_elsewhere"
    AT_CAPACITY = "at_capacity"
    LEASE_LOST = "lease_lost"
    TRANSIENT_FAILURE = "transient_failure"
    PERMANENT_FAILURE = "permanent_failure"
    DUE = "due"
    """Passes every gate and waits for its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One row of the extraction log; a thread has one, overwritten each time."""

    thread_id: ThreadId
    space_id: SpaceId
    outcome: Outcome
    reason: Reason
    logged_at: datetime
    source_updated_at: datetime | None = None
    user_id: str = ""
    """Whose thread it is; empty where there are no users."""
    run_id: str = ""
    """The Dagster run; empty outside Dagster."""
    detail: RedactedText = NO_TEXT
    extractor: str = ""
    duration_seconds: float = 0.0
    input_tokens: int = 0
    """Estimated, of the transcript."""
    output_tokens: int = 0
    usd: float = 0.0
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The transcript report: bytes and lines read, kept, dropped by reason."""
