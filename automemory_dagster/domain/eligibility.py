"""The gates: which threads may be extracted now, and why the others may not.

Every gate is evaluated and kept with its values, so that a person can be told all of it; the first
one that fails, in the order below, is the reason. Source of the rules: ``reference/codex-memory-
spec.md``, section 2; the defaults differ where the project's own say so.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from automemory_dagster.domain.job import Job, JobStatus
from automemory_dagster.domain.outcome import Reason
from automemory_dagster.domain.thread import MemoryMode, SourceKind, Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibilityPolicy:
    """What a source's person or operator has decided."""

    is_generation_on: bool
    """Consent.

    Off means off: no extraction, no model call, whatever else is asked for.
    """

    idle: timedelta = timedelta(seconds=900)
    max_age: timedelta | None = timedelta(days=90)
    """None: no thread is too old."""

    admitted_kinds: frozenset[SourceKind] = frozenset({SourceKind.INTERACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One gate with the values that decided it."""

    reason: Reason
    """The reason code when it does not pass."""

    passes: bool
    found: str
    """What was found, for a person: ``idle for 120 s``."""
    wanted: str
    """What would pass: ``at least 900 s``."""
    is_waived: bool = False
    """Would not pass, but the caller asked for this thread by name."""


CONSENT_REASONS = frozenset(
    {
        Reason.GENERATION_DISABLED,
        Reason.ARCHIVED,
        Reason.MEMORY_MODE_DISABLED,
        Reason.MEMORY_MODE_POLLUTED,
        Reason.SOURCE_KIND,
        Reason.EMPTY,
        Reason.UNREADABLE,
    }
)
"""Gates of consent and of sense: nobody's asking waives them.

The rest are about timing and may be waived.
"""


OUTSIDE_WINDOW = CONSENT_REASONS | {
    Reason.TOO_OLD,
    Reason.TOO_SHORT,
    Reason.RESULT_TOO_SHORT,
    Reason.EXTERNAL_CONTEXT,
    Reason.NOT_COMPLETED,
}
"""Gates that keep a thread out of the live window: it is no candidate, now or soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a source's gates say of one thread now."""

    gates: tuple[Gate, ...]
    is_external_context_refused: bool = False
    """What the record itself tells of sources outside the thread forbids it too."""
    look_at: datetime | None = None
    """When a thread that is not due is to be looked at again; None: not before something of it, of
    its person's settings or of its flags changes. Only for sources that keep a schedule."""

    @property
    def failure(self) -> Gate | None:
        """The gate that gives the reason, or None when the thread is due."""
        return first_failure(self.gates)

    @property
    def is_candidate(self) -> bool:
        """True for a thread inside the live window: nobody forbids it and it is not too old."""
        return all(gate.passes for gate in self.gates if gate.reason in OUTSIDE_WINDOW)


def evaluate(
    thread: Thread,
    job: Job | None,
    policy: EligibilityPolicy,
    *,
    now: datetime,
    is_asked_for: bool = False,
) -> tuple[Gate, ...]:
    """All gates of one thread, in the order in which they decide.

    ``is_asked_for``: a person named this thread (a backfill, ``force``): the gates of timing are
    waived.
    """
    gates = (
        *_consent_gates(thread, policy),
        *_timing_gates(thread, policy, now),
        *job_gates(thread.source_updated_at, job, now),
    )
    if not is_asked_for:
        return gates
    return tuple(
        gate if gate.passes or not _can_be_waived(gate) else _waived(gate) for gate in gates
    )


def first_failure(gates: Iterable[Gate]) -> Gate | None:
    """The gate that gives the reason, or None when the thread is due."""
    return next((gate for gate in gates if not gate.passes), None)


def _consent_gates(thread: Thread, policy: EligibilityPolicy) -> tuple[Gate, ...]:
    mode, kind = thread.memory_mode, thread.source_kind
    is_on = policy.is_generation_on
    on, archived = "on" if is_on else "off", "archived" if thread.is_archived else "not archived"
    asked = "a person's request" if thread.has_human_request else "no person's request"
    detail = thread.source_detail or "no source recorded"
    kinds = ", ".join(sorted(policy.admitted_kinds))
    is_off, is_polluted = mode is MemoryMode.DISABLED, mode is MemoryMode.POLLUTED
    found = f"memory mode {mode}"
    readable = thread.problem or "readable"
    return (
        _gate(Reason.GENERATION_DISABLED, is_on, f"generation is {on}", "generation on"),
        _gate(Reason.UNREADABLE, not thread.problem, readable, "a rollout that can be read"),
        _gate(Reason.ARCHIVED, not thread.is_archived, archived, "not archived"),
        _gate(Reason.MEMORY_MODE_DISABLED, not is_off, found, "not disabled"),
        _gate(Reason.MEMORY_MODE_POLLUTED, not is_polluted, found, "not polluted"),
        _gate(Reason.SOURCE_KIND, kind in policy.admitted_kinds, f"{kind} ({detail})", kinds),
        _gate(Reason.EMPTY, thread.has_human_request, asked, "at least one"),
    )


def _timing_gates(thread: Thread, policy: EligibilityPolicy, now: datetime) -> tuple[Gate, ...]:
    age, limit = now - thread.source_updated_at, policy.max_age
    written = f"last written {_ago(_seconds(age), 's')}"
    days = f"last written {_ago(age // timedelta(days=1), 'days')}"
    is_young = limit is None or age <= limit
    any_age = "any age" if limit is None else f"at most {limit.days} days ago"
    idle = f"at least {_seconds(policy.idle)} s ago"
    return (
        _gate(Reason.NOT_IDLE, age >= policy.idle, written, idle),
        _gate(Reason.TOO_OLD, is_young, days, any_age),
    )


def job_gates(updated_at: datetime, job: Job | None, now: datetime) -> tuple[Gate, ...]:
    """The gates of a thread's job: this version not handled, tries left, no wait, no live lease."""
    version = int(updated_at.timestamp())
    done = job.last_success_watermark if job else 0
    # Newer content renews a job that failed before, so only failures on this very version count.
    failed = job if job is not None and job.input_watermark >= version else None
    retry_at = failed.retry_at if failed else None
    tries = f"{failed.retry_remaining} tries left" if failed else "not tried yet"
    handled = f"handled up to {done}" if done else "never handled"
    wait = f"next try at {retry_at:%Y-%m-%d %H:%M:%S} UTC" if retry_at else "no wait"
    is_live = _has_live_lease(job, now)
    lease = "another worker holds the lease" if is_live else "no live lease"
    has_tries = failed is None or failed.retry_remaining > 0
    may_try = retry_at is None or retry_at <= now
    newer = "a version newer than the handled one"
    return (
        _gate(Reason.UP_TO_DATE, done < version, f"version {version}, {handled}", newer),
        _gate(Reason.EXHAUSTED, has_tries, tries, "a try left, or newer content"),
        _gate(Reason.BACKOFF, may_try, wait, "no wait left"),
        _gate(Reason.RUNNING_ELSEWHERE, not is_live, lease, "no live lease"),
    )


def _has_live_lease(job: Job | None, now: datetime) -> bool:
    if job is None or job.status is not JobStatus.RUNNING or job.lease_until is None:
        return False
    return job.lease_until > now


def _gate(reason: Reason, passes: bool, found: str, wanted: str) -> Gate:
    return Gate(reason=reason, passes=passes, found=found, wanted=wanted)


def _can_be_waived(gate: Gate) -> bool:
    # A live lease is not a rule but a fact: two workers on one thread would race.
    return gate.reason not in CONSENT_REASONS and gate.reason is not Reason.RUNNING_ELSEWHERE


def _waived(gate: Gate) -> Gate:
    return Gate(
        reason=gate.reason, passes=True, found=gate.found, wanted=gate.wanted, is_waived=True
    )


def _ago(count: int, unit: str) -> str:
    """A file's time may lie ahead, as after a copy from a machine whose clock runs fast."""
    return f"{count} {unit} ago" if count >= 0 else f"{-count} {unit} in the future"


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
