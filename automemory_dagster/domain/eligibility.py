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
        *_job_gates(thread, job, now),
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
    mode = thread.memory_mode
    kinds = ", ".join(sorted(policy.admitted_kinds))
    return (
        Gate(
            reason=Reason.GENERATION_DISABLED,
            passes=policy.is_generation_on,
            found="generation is on" if policy.is_generation_on else "generation is off",
            wanted="generation on for this source",
        ),
        Gate(
            reason=Reason.UNREADABLE,
            passes=not thread.problem,
            found=thread.problem or "readable",
            wanted="a rollout with at least one readable record",
        ),
        Gate(
            reason=Reason.ARCHIVED,
            passes=not thread.is_archived,
            found="archived" if thread.is_archived else "not archived",
            wanted="not archived",
        ),
        Gate(
            reason=Reason.MEMORY_MODE_DISABLED,
            passes=mode is not MemoryMode.DISABLED,
            found=f"memory mode {mode}",
            wanted="not disabled",
        ),
        Gate(
            reason=Reason.MEMORY_MODE_POLLUTED,
            passes=mode is not MemoryMode.POLLUTED,
            found=f"memory mode {mode}",
            wanted="not polluted",
        ),
        Gate(
            reason=Reason.SOURCE_KIND,
            passes=thread.source_kind in policy.admitted_kinds,
            found=f"{thread.source_kind} ({thread.source_detail or 'no source recorded'})",
            wanted=kinds,
        ),
        Gate(
            reason=Reason.EMPTY,
            passes=thread.has_human_request,
            found="a person's request" if thread.has_human_request else "no person's request",
            wanted="at least one request by a person",
        ),
    )


def _timing_gates(thread: Thread, policy: EligibilityPolicy, now: datetime) -> tuple[Gate, ...]:
    age = now - thread.source_updated_at
    limit = policy.max_age
    return (
        Gate(
            reason=Reason.NOT_IDLE,
            passes=age >= policy.idle,
            found=f"last written {_seconds(age)} s ago",
            wanted=f"at least {_seconds(policy.idle)} s ago",
        ),
        Gate(
            reason=Reason.TOO_OLD,
            passes=limit is None or age <= limit,
            found=f"last written {age.days} days ago",
            wanted="any age" if limit is None else f"at most {limit.days} days ago",
        ),
    )


def _job_gates(thread: Thread, job: Job | None, now: datetime) -> tuple[Gate, ...]:
    version = int(thread.source_updated_at.timestamp())
    done = job.last_success_watermark if job else 0
    # Newer content renews a job that failed before, so only failures on this very version count.
    on_this_version = job is not None and job.input_watermark >= version
    retry_at = job.retry_at if job and on_this_version else None
    is_live = bool(
        job and job.status is JobStatus.RUNNING and job.lease_until and job.lease_until > now
    )
    is_exhausted = bool(job and on_this_version and job.retry_remaining <= 0)
    return (
        Gate(
            reason=Reason.UP_TO_DATE,
            passes=done < version,
            found=f"version {version}, handled up to {done}"
            if done
            else f"version {version}, never handled",
            wanted="a version newer than the handled one",
        ),
        Gate(
            reason=Reason.EXHAUSTED,
            passes=not is_exhausted,
            found=f"{job.retry_remaining} tries left" if job else "not tried yet",
            wanted="a try left, or newer content",
        ),
        Gate(
            reason=Reason.BACKOFF,
            passes=retry_at is None or retry_at <= now,
            found=f"next try at {retry_at:%Y-%m-%d %H:%M:%S} UTC" if retry_at else "no wait",
            wanted="no wait left",
        ),
        Gate(
            reason=Reason.RUNNING_ELSEWHERE,
            passes=not is_live,
            found="another worker holds the lease" if is_live else "no live lease",
            wanted="no live lease",
        ),
    )


def _can_be_waived(gate: Gate) -> bool:
    # A live lease is not a rule but a fact: two workers on one thread would race.
    return gate.reason not in CONSENT_REASONS and gate.reason is not Reason.RUNNING_ELSEWHERE


def _waived(gate: Gate) -> Gate:
    return Gate(
        reason=gate.reason, passes=True, found=gate.found, wanted=gate.wanted, is_waived=True
    )


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
