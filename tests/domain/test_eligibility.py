"""The gates, each with its boundary, in the order in which they decide."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from automemory_dagster.domain.eligibility import EligibilityPolicy, evaluate, first_failure
from automemory_dagster.domain.job import Job, JobKind, JobStatus
from automemory_dagster.domain.outcome import Reason
from automemory_dagster.domain.thread import (
    MemoryMode,
    RolloutStamp,
    SourceKind,
    SpaceId,
    Thread,
    ThreadId,
)

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
POLICY = EligibilityPolicy(
    is_generation_on=True, idle=timedelta(seconds=900), max_age=timedelta(days=90)
)
THREAD = Thread(
    thread_id=ThreadId("t"),
    source="codex",
    space_id=SpaceId("s"),
    rollout_path="r.jsonl",
    stamp=RolloutStamp(size_bytes=1, mtime_ns=1, prefix_sha256="0"),
    source_updated_at=NOON - timedelta(hours=1),
)
VERSION = int(THREAD.source_updated_at.timestamp())


def _reason(
    thread: Thread = THREAD,
    job: Job | None = None,
    policy: EligibilityPolicy = POLICY,
    *,
    is_asked_for: bool = False,
) -> Reason | None:
    failure = first_failure(evaluate(thread, job, policy, now=NOON, is_asked_for=is_asked_for))
    return failure.reason if failure else None


def _job(**changes: object) -> Job:
    job = Job(
        kind=JobKind.STAGE1,
        key="t",
        status=JobStatus.ERROR,
        input_watermark=VERSION,
        last_success_watermark=0,
    )
    return replace(job, **changes)  # type: ignore[arg-type]


def test_a_thread_that_passes_every_gate_is_due() -> None:
    assert _reason() is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problem": "not a rollout"}, Reason.UNREADABLE),
        ({"is_archived": True}, Reason.ARCHIVED),
        ({"memory_mode": MemoryMode.DISABLED}, Reason.MEMORY_MODE_DISABLED),
        ({"memory_mode": MemoryMode.POLLUTED}, Reason.MEMORY_MODE_POLLUTED),
        ({"source_kind": SourceKind.EXEC}, Reason.SOURCE_KIND),
        ({"source_kind": SourceKind.SUBAGENT}, Reason.SOURCE_KIND),
        ({"has_human_request": False}, Reason.EMPTY),
    ],
)
def test_what_is_forbidden_stays_forbidden_when_a_person_asks(
    changes: dict[str, object], reason: Reason
) -> None:
    thread = replace(THREAD, **changes)  # type: ignore[arg-type]

    assert _reason(thread) is reason
    assert _reason(thread, is_asked_for=True) is reason


def test_generation_off_is_the_first_reason_whatever_else_holds() -> None:
    off = replace(POLICY, is_generation_on=False)

    assert _reason(replace(THREAD, is_archived=True), policy=off) is Reason.GENERATION_DISABLED
    assert _reason(policy=off, is_asked_for=True) is Reason.GENERATION_DISABLED


@pytest.mark.parametrize(
    ("seconds", "reason"), [(899, Reason.NOT_IDLE), (900, None), (901, None), (0, Reason.NOT_IDLE)]
)
def test_a_thread_is_idle_from_the_threshold_on(seconds: int, reason: Reason | None) -> None:
    thread = replace(THREAD, source_updated_at=NOON - timedelta(seconds=seconds))

    assert _reason(thread) is reason
    assert _reason(thread, is_asked_for=True) is None


@pytest.mark.parametrize(
    ("age", "reason"), [(timedelta(days=90), None), (timedelta(days=90, seconds=1), Reason.TOO_OLD)]
)
def test_a_thread_is_too_old_past_the_limit(age: timedelta, reason: Reason | None) -> None:
    thread = replace(THREAD, source_updated_at=NOON - age)

    assert _reason(thread) is reason
    assert _reason(thread, policy=replace(POLICY, max_age=None)) is None


def test_a_kind_that_a_setting_admits_passes() -> None:
    policy = replace(POLICY, admitted_kinds=frozenset({SourceKind.INTERACTIVE, SourceKind.EXEC}))

    assert _reason(replace(THREAD, source_kind=SourceKind.EXEC), policy=policy) is None


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (_job(status=JobStatus.DONE, last_success_watermark=VERSION), Reason.UP_TO_DATE),
        (_job(status=JobStatus.DONE, last_success_watermark=VERSION - 1), None),
        (_job(retry_remaining=0), Reason.EXHAUSTED),
        (_job(retry_at=NOON + timedelta(seconds=1)), Reason.BACKOFF),
        (_job(retry_at=NOON), None),
    ],
)
def test_the_job_decides_and_a_person_may_ask_again(job: Job, reason: Reason | None) -> None:
    assert _reason(job=job) is reason
    assert _reason(job=job, is_asked_for=True) is None


def test_newer_content_renews_a_job_that_is_exhausted_or_waits() -> None:
    older = _job(input_watermark=VERSION - 1, retry_remaining=0, retry_at=NOON + timedelta(hours=1))

    assert _reason(job=older) is None


def test_a_live_lease_holds_even_when_a_person_asks() -> None:
    running = _job(status=JobStatus.RUNNING, lease_until=NOON + timedelta(seconds=1))
    expired = _job(status=JobStatus.RUNNING, lease_until=NOON)

    assert _reason(job=running, is_asked_for=True) is Reason.RUNNING_ELSEWHERE
    assert _reason(job=expired) is None


def test_a_time_ahead_of_ours_is_not_idle_and_reads_as_words() -> None:
    thread = replace(THREAD, source_updated_at=NOON + timedelta(days=2, seconds=5))

    gate = next(
        gate for gate in evaluate(thread, None, POLICY, now=NOON) if gate.reason is Reason.NOT_IDLE
    )

    assert not gate.passes
    assert gate.found == "last written 172805 s in the future"


def test_a_waived_gate_says_so_and_keeps_its_values() -> None:
    thread = replace(THREAD, source_updated_at=NOON - timedelta(seconds=10))

    gates = evaluate(thread, None, POLICY, now=NOON, is_asked_for=True)
    [gate] = [gate for gate in gates if gate.is_waived]

    assert (gate.reason, gate.passes) == (Reason.NOT_IDLE, True)
    assert gate.found == "last written 10 s ago"
    assert gate.wanted == "at least 900 s ago"
