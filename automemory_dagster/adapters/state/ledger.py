"""Jobs with leases. Each method is one transaction: lock, decide by ``rule``, write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, select

from automemory_dagster.adapters.state import rule
from automemory_dagster.adapters.state.column import whole_seconds
from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.log import write_entries
from automemory_dagster.adapters.state.output import store_output
from automemory_dagster.adapters.state.publication import flag_selected, publish
from automemory_dagster.adapters.state.row import JobRow, job_of
from automemory_dagster.adapters.state.statement import (
    count_live_leases,
    create_job,
    end_leases_of,
    live_workers,
    lock_claims,
    lock_job,
    lock_outputs_of_space,
    lock_owned_job,
    raise_space_watermark,
    renew_lease,
    write_job,
)
from automemory_dagster.adapters.state.table import jobs
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    Job,
    JobKind,
    LeasePolicy,
    LeaseToken,
    Phase2ClaimOutcome,
    SkippedAtCapacity,
    SkippedExhausted,
    SkippedUpToDate,
    Stage1ClaimOutcome,
)
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import SpaceId, Thread, ThreadId
from automemory_dagster.domain.workspace import Publication


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """Who wants a job, when and how much."""

    policy: LeasePolicy
    worker: str
    run_id: str
    now: datetime
    is_forced: bool


class SqlLedger:
    """The ``JobLedger`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim_stage1(
        self,
        thread: Thread,
        *,
        policy: LeasePolicy,
        worker: str,
        run_id: str,
        now: datetime,
        is_forced: bool = False,
    ) -> Stage1ClaimOutcome:
        """Claims take turns over all processes: see ``statement.lock_claims``."""
        request = _Request(
            policy=policy, worker=worker, run_id=run_id, now=now, is_forced=is_forced
        )
        return self._database.write(lambda connection: _claim_stage1(connection, thread, request))

    def finish_stage1(
        self, claim: Claimed, output: Stage1Output | None, *, entry: LogEntry, now: datetime
    ) -> None:
        """The output goes to the space in which the catalogue has the thread now."""
        self._database.write(
            lambda connection: _finish_stage1(connection, claim, output, entry, now)
        )

    def fail(
        self,
        claim: Claimed,
        *,
        kind: FailureKind,
        error: RedactedText,
        policy: LeasePolicy,
        now: datetime,
        retry_after_seconds: int | None = None,
        entry: LogEntry | None = None,
    ) -> None:
        """``retry_after_seconds`` counts for transient failures; no wait exceeds the cap."""

        def work(connection: Connection) -> None:
            row = lock_owned_job(connection, claim)
            job = rule.failed(
                row.job, kind, error, policy, now=now, retry_after_seconds=retry_after_seconds
            )
            write_job(connection, replace(row, job=job, before_claim=None))
            write_entries(connection, [entry] if entry is not None else [])

        self._database.write(work)

    def release(self, claim: Claimed, *, entry: LogEntry | None = None, now: datetime) -> None:
        """The count of claims stays, since run keys are made of it."""

        def work(connection: Connection) -> None:
            row = lock_owned_job(connection, claim)
            write_job(connection, replace(row, job=rule.given_back(row), before_claim=None))
            write_entries(connection, [entry] if entry is not None else [])

        self._database.write(work)

    def renew(self, claim: Claimed, *, policy: LeasePolicy, now: datetime) -> Claimed:
        """Never shortens a lease. One that ended is renewed too, unless it was taken over."""
        until = max(now + policy.lease, claim.lease_until)
        self._database.write(lambda connection: renew_lease(connection, claim, until=until))
        return replace(claim, lease_until=until)

    def end_leases(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        """Reads first: nearly always nobody is gone, and then nothing needs a lock."""
        with self._database.reading() as connection:
            gone = list(filter(is_gone, live_workers(connection, now=now)))
        return self._database.write(lambda c: end_leases_of(c, gone, now=now)) if gone else 0

    def claim_phase2(
        self,
        space_id: SpaceId,
        *,
        policy: LeasePolicy,
        worker: str,
        run_id: str,
        now: datetime,
        is_forced: bool = False,
    ) -> Phase2ClaimOutcome:
        """A crash uses an attempt here too, which nothing asks for: its lease was the wait."""
        request = _Request(
            policy=policy, worker=worker, run_id=run_id, now=now, is_forced=is_forced
        )
        return self._database.write(lambda connection: _claim_phase2(connection, space_id, request))

    def finish_phase2(
        self,
        claim: Claimed,
        publication: Publication | None,
        *,
        selected: Mapping[ThreadId, int],
        now: datetime,
    ) -> None:
        """Raises ``PermanentError`` when the version does not follow the newest one."""

        def work(connection: Connection) -> None:
            lock_outputs_of_space(connection, claim.key)
            row = lock_owned_job(connection, claim)
            if publication is not None:
                publish(connection, publication, space_id=claim.key)
            flag_selected(connection, claim.key, selected)
            job = rule.done(row.job, claim.input_watermark, now=now)
            write_job(connection, replace(row, job=job, before_claim=None, last_success_at=now))

        self._database.write(work)

    def job(self, kind: JobKind, key: str) -> Job | None:
        """Read without a lock."""
        query = select(jobs).where(jobs.c.kind == kind.value, jobs.c.key == key)
        with self._database.reading() as connection:
            found = connection.execute(query).one_or_none()
        return None if found is None else job_of(found)

    def request_consolidation(self, space_id: SpaceId, *, now: datetime) -> None:
        """Does not end a backoff or a cooldown; a forced claim does."""
        self._database.write(
            lambda connection: raise_space_watermark(
                connection, rule.new_space_row(space_id), is_forgetting=False
            )
        )


def _claim_stage1(connection: Connection, thread: Thread, request: _Request) -> Stage1ClaimOutcome:
    lock_claims(connection)
    now, policy, version = request.now, request.policy, whole_seconds(thread.source_updated_at)
    row = lock_job(connection, JobKind.STAGE1, thread.thread_id) or rule.new_row(
        JobKind.STAGE1, thread.thread_id, retry_budget=policy.retry_budget
    )
    job = rule.settle(row.job, version, policy, now=now)
    refusal = rule.refuse_stage1(job, version, now=now, is_forced=request.is_forced)
    if isinstance(refusal, SkippedExhausted) and job != row.job:
        # The crash that used the last attempt: stored, or else the thread would look due for ever.
        write_job(connection, replace(row, job=job, before_claim=None))
    if refusal is not None:
        return refusal
    running = count_live_leases(connection, now=now)
    if running >= policy.max_running:
        return SkippedAtCapacity(running=running)
    return _take(connection, replace(row, job=job), version, request)


def _claim_phase2(
    connection: Connection, space_id: SpaceId, request: _Request
) -> Phase2ClaimOutcome:
    row = lock_job(connection, JobKind.CONSOLIDATE, space_id)
    if row is None:
        if not request.is_forced:
            return SkippedUpToDate(last_success_watermark=0)
        # A row that is not there cannot be locked: make it, whoever else does too, and lock it.
        budget = request.policy.retry_budget
        create_job(connection, rule.new_row(JobKind.CONSOLIDATE, space_id, retry_budget=budget))
        row = lock_job(connection, JobKind.CONSOLIDATE, space_id)
        assert row is not None
    policy, now = request.policy, request.now
    row = replace(row, job=rule.settle_space(row.job, policy, now=now))
    refusal = rule.refuse_phase2(row, policy, now=now, is_forced=request.is_forced)
    return refusal or _take(connection, row, row.job.input_watermark, request)


def _take(connection: Connection, row: JobRow, version: int, request: _Request) -> Claimed:
    token = LeaseToken(str(uuid4()))
    job = rule.taken(row.job, version, token, request.policy, now=request.now)
    job = replace(job, worker=request.worker, run_id=request.run_id)
    write_job(connection, replace(row, job=job, before_claim=row.job))
    return rule.claimed(job, version)


def _finish_stage1(
    connection: Connection,
    claim: Claimed,
    output: Stage1Output | None,
    entry: LogEntry,
    now: datetime,
) -> None:
    row = lock_owned_job(connection, claim)
    job = rule.done(row.job, claim.input_watermark, now=now)
    changed = store_output(connection, ThreadId(claim.key), output, job.last_success_watermark)
    for space_id, is_forgetting in sorted(changed.items()):
        fresh = rule.new_space_row(space_id)
        raise_space_watermark(connection, fresh, is_forgetting=is_forgetting)
    write_entries(connection, [entry])
    write_job(connection, replace(row, job=job, before_claim=None))
