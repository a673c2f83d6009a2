"""The gates of cloud tasks: which may be extracted now, and why the others may not.

Evaluated in the order of the specification of cloud memory, section 3; the first that fails is the
reason. ``force`` waives rest and size, and nothing else.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from automemory_dagster.domain.eligibility import Gate, Ruling, first_failure, job_gates
from automemory_dagster.domain.job import Job
from automemory_dagster.domain.outcome import Reason
from automemory_dagster.domain.quota import Quota

COMPLETED = "completed"
QUOTA_LOOK_AGAIN = timedelta(minutes=10)
"""A quota may change at any moment without telling anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPolicy:
    """What a task's user has decided, with the task's own flag over it."""

    is_generation_on: bool = False
    disable_on_external_context: bool = True
    min_remaining_percent: int = 20
    """Least share of the month's quota that must be left."""
    idle: timedelta = timedelta(seconds=900)
    min_duration: timedelta = timedelta(seconds=30)
    min_result_chars: int = 200
    """Unicode code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """What the gates ask of one task."""

    status: str
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result_chars: int = 0
    """Unicode code points of the result."""
    has_followup: bool = False
    """Another task or a person sent it a message."""
    is_child: bool = False
    """A coordinator made it."""

    @property
    def version(self) -> datetime:
        """When it came to rest: what tells one result of the task from the next."""
        return self.finished_at or self.updated_at


def rule(
    facts: TaskFacts,
    policy: TaskPolicy,
    quota: Quota,
    job: Job | None,
    *,
    now: datetime,
    is_forced: bool = False,
) -> Ruling:
    """All gates of one task, in the order in which they decide, and when to look again."""
    waived = _WAIVED_BY_FORCE if is_forced else frozenset()
    gates = tuple(
        replace(gate, passes=True, is_waived=True)
        if not gate.passes and gate.reason in waived
        else gate
        for gate in (*_task_gates(facts, policy, quota, now), *_job_gates(facts, job, now))
    )
    return Ruling(
        gates=gates,
        is_external_context_refused=policy.disable_on_external_context,
        look_at=_look_again(first_failure(gates), facts, policy, job, now=now),
    )


_WAIVED_BY_FORCE = frozenset(
    {
        Reason.NOT_IDLE,
        Reason.TOO_SHORT,
        Reason.RESULT_TOO_SHORT,
        # No gates of the specification, but the waits after failures: a person may hurry them.
        Reason.EXHAUSTED,
        Reason.BACKOFF,
    }
)


def _task_gates(
    facts: TaskFacts, policy: TaskPolicy, quota: Quota, now: datetime
) -> tuple[Gate, ...]:
    is_completed, is_on = facts.status == COMPLETED, policy.is_generation_on
    switch = f"generation is {'on' if is_on else 'off'} for this task"
    rested, idle = now - facts.version, policy.idle
    return (
        _gate(Reason.NOT_COMPLETED, is_completed, f"the task is {facts.status}", "a completed one"),
        _gate(Reason.GENERATION_DISABLED, is_on, switch, "generation on"),
        _gate(Reason.NOT_IDLE, rested >= idle, f"at rest for {_words(rested)}", _least(idle)),
        *_size_gates(facts, policy),
        *_context_and_quota_gates(facts, policy, quota),
    )


def _size_gates(facts: TaskFacts, policy: TaskPolicy) -> tuple[Gate, ...]:
    lasted, least = _duration(facts), policy.min_duration
    is_long = lasted is not None and lasted >= least
    took = "no start or no end" if lasted is None else f"took {_words(lasted)}"
    chars, wanted = facts.result_chars, policy.min_result_chars
    result = f"a result of {chars} characters"
    return (
        _gate(Reason.TOO_SHORT, is_long, took, _least(least)),
        _gate(Reason.RESULT_TOO_SHORT, chars >= wanted, result, f"at least {wanted} characters"),
    )


def _context_and_quota_gates(
    facts: TaskFacts, policy: TaskPolicy, quota: Quota
) -> tuple[Gate, ...]:
    is_touched, percent = facts.has_followup or facts.is_child, policy.min_remaining_percent
    by = "a message to the task" if facts.has_followup else "a coordinator made the task"
    found = by if is_touched else "no external context"
    is_refused = is_touched and policy.disable_on_external_context
    wanted = "no external context" if policy.disable_on_external_context else "anything"
    reason = Reason.QUOTA_CHECK_FAILED if quota.problem else Reason.QUOTA_LOW
    return (
        _gate(Reason.EXTERNAL_CONTEXT, not is_refused, found, wanted),
        _gate(reason, quota.has_left(percent), quota.words, f"at least {percent} % left"),
    )


def _job_gates(facts: TaskFacts, job: Job | None, now: datetime) -> tuple[Gate, ...]:
    return tuple(
        replace(gate, reason=Reason.ALREADY_EXTRACTED) if gate.reason is Reason.UP_TO_DATE else gate
        for gate in job_gates(facts.version, job, now)
    )


def _look_again(
    failure: Gate | None, facts: TaskFacts, policy: TaskPolicy, job: Job | None, *, now: datetime
) -> datetime | None:
    match failure.reason if failure else None:
        case Reason.NOT_IDLE:
            return facts.version + policy.idle
        case Reason.QUOTA_LOW | Reason.QUOTA_CHECK_FAILED:
            return now + QUOTA_LOOK_AGAIN
        case Reason.BACKOFF:
            return job.retry_at if job else None
        case Reason.RUNNING_ELSEWHERE:
            return job.lease_until if job else None
        case _:
            return None


def _duration(facts: TaskFacts) -> timedelta | None:
    if facts.started_at is None or facts.finished_at is None:
        return None
    return facts.finished_at - facts.started_at


def _gate(reason: Reason, passes: bool, found: str, wanted: str) -> Gate:
    return Gate(reason=reason, passes=passes, found=found, wanted=wanted)


def _least(span: timedelta) -> str:
    return f"at least {_words(span)}"


def _words(span: timedelta) -> str:
    # Parts of a second are told when there are any, since a gate may hang on them.
    return f"{span.total_seconds():.3f}".rstrip("0").rstrip(".") + " s"
