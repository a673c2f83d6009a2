"""What each event does to a job, as pure functions; ``ledger`` makes them atomic.

Source: the behavioural specification, sections 2 and 5.1, with its faults mended.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.adapters.state.row import JobRow
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    Job,
    JobKind,
    JobStatus,
    LeasePolicy,
    LeaseToken,
    SkippedBackoff,
    SkippedCooldown,
    SkippedExhausted,
    SkippedRunning,
    SkippedUpToDate,
)
from automemory_dagster.domain.redaction import NO_TEXT, RedactedText

CRASHED = redact("the worker stopped without a word: its lease ended")
"""The error of a job whose worker vanished."""

# 2 ** 20 times any delay of a second or more is far beyond every cap; more only makes big numbers.
_MOST_DOUBLINGS = 20


def new_row(kind: JobKind, key: str, *, retry_budget: int) -> JobRow:
    """A job nobody has claimed yet."""
    job = Job(kind=kind, key=key, status=JobStatus.PENDING, retry_remaining=retry_budget)
    return JobRow(job=job)


def new_space_row(space_id: str) -> JobRow:
    """The job of a space that changed before anybody consolidated it."""
    return new_row(JobKind.CONSOLIDATE, space_id, retry_budget=LeasePolicy().retry_budget)


def is_live(job: Job, *, now: datetime) -> bool:
    """True while a worker holds the job; the last instant of a lease is not part of it."""
    return job.status is JobStatus.RUNNING and job.lease_until is not None and job.lease_until > now


def settle(job: Job, version: int, policy: LeasePolicy, *, now: datetime) -> Job:
    """The job as a claim of this version finds it: crashes charged, newer input forgiven all."""
    job = _charge_crash(job, now=now)
    if version > job.input_watermark:
        job = replace(job, retry_remaining=policy.retry_budget, retry_at=None, transient_failures=0)
    return job


def settle_space(job: Job, policy: LeasePolicy, *, now: datetime) -> Job:
    """The job of a space as a claim finds it. Its budget counts failures since the last success.

    Nothing is refused for a budget used up: memory that is never consolidated again helps nobody,
    and each try has waited for its backoff or for a lease to end.
    """
    job = _charge_crash(job, now=now)
    if job.status in (JobStatus.DONE, JobStatus.PENDING):
        return replace(job, retry_remaining=policy.retry_budget)
    return job


def refuse_stage1(
    job: Job, version: int, *, now: datetime, is_forced: bool
) -> SkippedUpToDate | SkippedRunning | SkippedExhausted | SkippedBackoff | None:
    """Why a settled job may not be claimed, or None; capacity is asked after this."""
    if not is_forced and job.last_success_watermark >= version:
        return SkippedUpToDate(last_success_watermark=job.last_success_watermark)
    if (running := _refuse_running(job, now=now)) is not None:
        return running
    if not is_forced and job.retry_remaining <= 0:
        return SkippedExhausted(last_error=job.last_error)
    return None if is_forced else _refuse_backoff(job, now=now)


def refuse_phase2(
    row: JobRow, policy: LeasePolicy, *, now: datetime, is_forced: bool
) -> SkippedUpToDate | SkippedRunning | SkippedBackoff | SkippedCooldown | None:
    """Why a space may not be consolidated, or None."""
    job = row.job
    if (running := _refuse_running(job, now=now)) is not None or is_forced:
        return running
    if job.input_watermark <= job.last_success_watermark:
        return SkippedUpToDate(last_success_watermark=job.last_success_watermark)
    if (backoff := _refuse_backoff(job, now=now)) is not None:
        return backoff
    # What was forgotten must not be handed out any longer than it takes to leave it out.
    is_forgetting = row.forget_watermark > job.last_success_watermark
    if row.last_success_at is None or is_forgetting:
        return None
    until = row.last_success_at + policy.cooldown
    return SkippedCooldown(until=until) if until > now else None


def taken(job: Job, version: int, token: LeaseToken, policy: LeasePolicy, *, now: datetime) -> Job:
    """The job under a new lease. Its watermark never falls, even for a rollout that was rewound."""
    return replace(
        job,
        status=JobStatus.RUNNING,
        lease_token=token,
        started_at=now,
        finished_at=None,
        lease_until=now + policy.lease,
        retry_at=None,
        attempt=job.attempt + 1,
        last_error=NO_TEXT,
        input_watermark=max(job.input_watermark, version),
    )


def failed(
    job: Job,
    kind: FailureKind,
    error: RedactedText,
    policy: LeasePolicy,
    *,
    now: datetime,
    retry_after_seconds: int | None,
) -> Job:
    """The job after a failure, whose lease is over."""
    wait, failures, remaining = policy.retry_delay, 0, max(0, job.retry_remaining - 1)
    if kind is FailureKind.TRANSIENT:
        wait = policy.retry_delay * 2 ** min(job.transient_failures, _MOST_DOUBLINGS)
        failures, remaining = job.transient_failures + 1, job.retry_remaining
        if retry_after_seconds is not None:
            wait = timedelta(seconds=max(0, retry_after_seconds))
    return replace(
        job,
        status=JobStatus.ERROR,
        lease_token=None,
        lease_until=None,
        finished_at=now,
        retry_at=now + min(wait, policy.max_retry_delay),
        retry_remaining=remaining,
        transient_failures=failures,
        last_error=error,
    )


def done(job: Job, watermark: int, *, now: datetime) -> Job:
    """The job after a success up to a watermark."""
    handled = max(job.last_success_watermark, watermark)
    has_more = job.kind is JobKind.CONSOLIDATE and job.input_watermark > handled
    return replace(
        job,
        status=JobStatus.PENDING if has_more else JobStatus.DONE,
        lease_token=None,
        lease_until=None,
        finished_at=now,
        retry_at=None,
        transient_failures=0,
        last_error=NO_TEXT,
        last_success_watermark=handled,
    )


def given_back(row: JobRow) -> Job:
    """The job as if it had not been claimed, but for the count of claims and news of its input."""
    before = row.before_claim or replace(row.job, status=JobStatus.PENDING)
    # A space's watermark counts what others changed meanwhile; a thread's is the claim's own.
    is_counter = row.job.kind is JobKind.CONSOLIDATE
    return replace(
        before,
        lease_token=None,
        lease_until=None,
        attempt=row.job.attempt,
        input_watermark=row.job.input_watermark if is_counter else before.input_watermark,
    )


def claimed(job: Job, version: int) -> Claimed:
    """What the new holder of a lease is told."""
    assert job.lease_token is not None
    assert job.lease_until is not None
    return Claimed(
        kind=job.kind,
        key=job.key,
        token=job.lease_token,
        lease_until=job.lease_until,
        input_watermark=version,
        last_success_watermark=job.last_success_watermark,
        attempt=job.attempt,
    )


def _charge_crash(job: Job, *, now: datetime) -> Job:
    """A job that still says running after its lease ended crashed, and nobody was told of it."""
    if job.status is not JobStatus.RUNNING or is_live(job, now=now):
        return job
    return replace(
        job,
        status=JobStatus.ERROR,
        lease_token=None,
        lease_until=None,
        finished_at=job.lease_until,
        retry_remaining=max(0, job.retry_remaining - 1),
        last_error=CRASHED,
    )


def _refuse_running(job: Job, *, now: datetime) -> SkippedRunning | None:
    if not is_live(job, now=now) or job.lease_until is None:
        return None
    return SkippedRunning(lease_until=job.lease_until)


def _refuse_backoff(job: Job, *, now: datetime) -> SkippedBackoff | None:
    if job.retry_at is None or job.retry_at <= now:
        return None
    return SkippedBackoff(retry_at=job.retry_at, last_error=job.last_error)
