"""The gates of cloud tasks: order, boundaries, what force waives, when to look again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product

import pytest

from automemory_dagster.domain.cloud_eligibility import TaskFacts, TaskPolicy, rule
from automemory_dagster.domain.eligibility import Ruling
from automemory_dagster.domain.job import Job, JobKind, JobStatus
from automemory_dagster.domain.outcome import Reason
from automemory_dagster.domain.quota import Quota, unreadable

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
ON = TaskPolicy(is_generation_on=True)
PLENTY = Quota(limit_usd=Decimal(10))
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


def a_task(
    *, rested: timedelta = timedelta(hours=1), lasted: timedelta = timedelta(minutes=5)
) -> TaskFacts:
    """A task that passes every gate at noon."""
    ended = NOON - rested
    return TaskFacts(
        status="completed",
        updated_at=ended,
        started_at=ended - lasted,
        finished_at=ended,
        result_chars=1_000,
    )


def ruling(
    facts: TaskFacts | None = None,
    *,
    policy: TaskPolicy = ON,
    quota: Quota = PLENTY,
    job: Job | None = None,
    is_forced: bool = False,
) -> Ruling:
    return rule(facts or a_task(), policy, quota, job, now=NOON, is_forced=is_forced)


def reason(found: Ruling) -> str | None:
    return None if found.failure is None else found.failure.reason.value


GATES = ("generation_disabled", "not_idle", "too_short", "external_context", "quota_low")


@pytest.mark.parametrize("is_forced", [False, True])
@pytest.mark.parametrize("fails", list(product([False, True], repeat=5)))
def test_the_first_gate_that_fails_is_the_reason(
    fails: tuple[bool, ...], *, is_forced: bool
) -> None:
    off, restless, short, touched, poor = fails
    facts = replace(
        a_task(
            rested=timedelta(seconds=899 if restless else 900),
            lasted=timedelta(seconds=29 if short else 30),
        ),
        has_followup=touched,
    )

    found = rule(
        facts,
        TaskPolicy(is_generation_on=not off),
        Quota(limit_usd=Decimal(10), used_usd=Decimal("8.01" if poor else "8.00")),
        None,
        now=NOON,
        is_forced=is_forced,
    )

    waived = {"not_idle", "too_short"} if is_forced else set()
    failing = [name for name, fails_it in zip(GATES, fails, strict=True) if fails_it]
    expected = [name for name in failing if name not in waived]
    assert reason(found) == (expected[0] if expected else None)
    assert [gate.reason.value for gate in found.gates if gate.is_waived] == [
        name for name in failing if name in waived
    ]


def test_everything_is_off_unless_said() -> None:
    assert reason(ruling(policy=TaskPolicy())) == "generation_disabled"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (a_task(rested=timedelta(seconds=900)), None),
        (a_task(rested=timedelta(seconds=900) - MICROSECOND), "not_idle"),
        (a_task(rested=-SECOND), "not_idle"),
        (a_task(lasted=timedelta(seconds=30)), None),
        (a_task(lasted=timedelta(seconds=30) - MICROSECOND), "too_short"),
        (a_task(lasted=-SECOND), "too_short"),
        (replace(a_task(), started_at=None), "too_short"),
        (replace(a_task(), finished_at=None), "too_short"),
        (replace(a_task(), result_chars=200), None),
        (replace(a_task(), result_chars=199), "result_too_short"),
        (replace(a_task(lasted=SECOND), result_chars=0), "too_short"),
        (replace(a_task(), is_child=True), "external_context"),
        (replace(a_task(), has_followup=True), "external_context"),
    ],
)
def test_boundaries(facts: TaskFacts, expected: str | None) -> None:
    assert reason(ruling(facts)) == expected


@pytest.mark.parametrize("status", ["queued", "running", "failed", "interrupted", "merged"])
@pytest.mark.parametrize("is_forced", [False, True])
def test_only_completed_tasks_are_extracted(status: str, *, is_forced: bool) -> None:
    found = ruling(replace(a_task(), status=status), is_forced=is_forced)

    assert reason(found) == "not_completed"
    assert found.look_at is None


def test_external_context_passes_when_the_user_allows_it() -> None:
    facts = replace(a_task(), has_followup=True, is_child=True)

    found = ruling(facts, policy=replace(ON, disable_on_external_context=False))

    assert found.failure is None
    assert not found.is_external_context_refused


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_quota_that_cannot_be_read_closes_the_gate(*, is_forced: bool) -> None:
    policy = replace(ON, min_remaining_percent=0)

    found = ruling(policy=policy, quota=unreadable("no such table"), is_forced=is_forced)

    assert reason(found) == "quota_check_failed"


def a_job(**changes: object) -> Job:
    job = Job(
        kind=JobKind.STAGE1,
        key="cloud:t",
        status=JobStatus.DONE,
        input_watermark=int(a_task().version.timestamp()),
    )
    return replace(job, **changes)  # type: ignore[arg-type]


VERSION = int(a_task().version.timestamp())


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_task_is_extracted_once(*, is_forced: bool) -> None:
    done = a_job(last_success_watermark=VERSION)

    assert reason(ruling(job=done, is_forced=is_forced)) == "already_extracted"


def test_a_task_that_went_on_and_ended_anew_is_extracted_again() -> None:
    done = a_job(last_success_watermark=VERSION - 1, input_watermark=VERSION - 1)

    assert ruling(job=done).failure is None


def test_the_waits_after_failures_hold_unless_forced() -> None:
    failed = a_job(status=JobStatus.ERROR, retry_at=NOON + SECOND, retry_remaining=0)

    assert reason(ruling(job=failed)) == "exhausted"
    assert ruling(job=failed, is_forced=True).failure is None


@pytest.mark.parametrize(
    ("found", "look_at"),
    [
        (ruling(policy=TaskPolicy()), None),
        (ruling(a_task(rested=timedelta(seconds=100))), NOON + timedelta(seconds=800)),
        (ruling(a_task(lasted=SECOND)), None),
        (ruling(replace(a_task(), result_chars=0)), None),
        (ruling(replace(a_task(), is_child=True)), None),
        (ruling(quota=Quota(limit_usd=Decimal(0))), NOON + timedelta(minutes=10)),
        (ruling(quota=unreadable("time-out")), NOON + timedelta(minutes=10)),
        (ruling(job=a_job(status=JobStatus.ERROR, retry_at=NOON + SECOND)), NOON + SECOND),
        (
            ruling(job=a_job(status=JobStatus.RUNNING, lease_until=NOON + 2 * SECOND)),
            NOON + 2 * SECOND,
        ),
        (ruling(job=a_job(status=JobStatus.ERROR, retry_remaining=0)), None),
    ],
)
def test_when_it_is_looked_at_again(found: Ruling, look_at: datetime | None) -> None:
    assert found.failure is not None
    assert found.look_at == look_at


def test_every_reason_of_the_specification_has_its_code() -> None:
    codes = {
        "generation_disabled",
        "not_idle",
        "too_short",
        "result_too_short",
        "external_context",
        "quota_low",
        "quota_check_failed",
        "already_extracted",
    }

    assert codes <= {item.value for item in Reason}
