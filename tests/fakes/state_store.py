"""The state store as dictionaries under one lock: every rule of the port, no machinery."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import uuid4

from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.domain.errors import LeaseLost, PermanentError
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    Job,
    JobKind,
    JobStatus,
    LeasePolicy,
    LeaseToken,
    Phase2ClaimOutcome,
    SkippedAtCapacity,
    SkippedBackoff,
    SkippedCooldown,
    SkippedExhausted,
    SkippedRunning,
    SkippedUpToDate,
    Stage1ClaimOutcome,
)
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.stage1 import SelectedOutput, Stage1Output
from automemory_dagster.domain.thread import MemoryMode, SourceKind, SpaceId, Thread, ThreadId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import KnownRollout, SpaceState, ThreadState
from tests.fakes.spend import FakeScopes, FakeSpend

_T = TypeVar("_T")

CRASHED = "the worker stopped without a word: its lease ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A job row with what the store keeps beside the job."""

    job: Job
    before: Job | None = None
    """The job as it stood before the running claim."""
    last_success_at: datetime | None = None
    forget_watermark: int = 0


class FakeStateStore(FakeSpend, FakeScopes):
    """A whole ``StateStore`` in memory; safe from many threads of one process."""

    def __init__(self, threads: Sequence[Thread] = ()) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._threads: dict[ThreadId, Thread] = {}
        self._vanished: set[ThreadId] = set()
        self._looks: dict[ThreadId, datetime | None] = {}
        self._rows: dict[tuple[JobKind, str], _Row] = {}
        self._outputs: dict[ThreadId, Stage1Output] = {}
        self._log: dict[ThreadId, LogEntry] = {}
        self._publications: dict[SpaceId, list[Publication]] = {}
        self._selected: dict[SpaceId, dict[ThreadId, int]] = {}
        self.save_threads(threads)

    # ---- recordings --------------------------------------------------------------------------

    @property
    def jobs(self) -> Mapping[tuple[JobKind, str], Job]:
        """Every job row."""
        return {key: row.job for key, row in self._rows.items()}

    @property
    def outputs(self) -> Mapping[ThreadId, Stage1Output]:
        """Every stored stage-1 output."""
        return dict(self._outputs)

    @property
    def entries(self) -> Mapping[ThreadId, LogEntry]:
        """The extraction log."""
        return dict(self._log)

    @property
    def selected(self) -> Mapping[SpaceId, Mapping[ThreadId, int]]:
        """The selection of each space's last successful consolidation."""
        return {space_id: dict(chosen) for space_id, chosen in self._selected.items()}

    # ---- catalogue ---------------------------------------------------------------------------

    def known_rollouts(self, source: str) -> Mapping[str, KnownRollout]:
        with self._lock:
            return {
                thread.rollout_path: KnownRollout(thread_id=thread.thread_id, stamp=thread.stamp)
                for thread in self._seen()
                if thread.source == source
            }

    def save_threads(self, threads: Sequence[Thread], *, look_at: datetime | None = None) -> None:
        with self._lock:
            changed: dict[SpaceId, bool] = {}
            for thread in {thread.thread_id: _clean_thread(thread) for thread in threads}.values():
                self._displace(thread)
                for space_id, is_forgetting in self._effects_of_saving(thread):
                    changed[space_id] = changed.get(space_id, False) or is_forgetting
                self._threads[thread.thread_id] = thread
                self._looks[thread.thread_id] = look_at
                self._vanished.discard(thread.thread_id)
                if (output := self._outputs.get(thread.thread_id)) is not None:
                    moved = replace(output, space_id=thread.space_id)
                    self._outputs[thread.thread_id] = moved
            for space_id, is_forgetting in changed.items():
                self._raise_watermark(space_id, is_forgetting=is_forgetting)

    def mark_vanished(self, thread_ids: Collection[ThreadId], *, now: datetime) -> None:
        with self._lock:
            self._vanished |= set(thread_ids) & self._threads.keys()

    def thread_state(self, thread_id: ThreadId) -> ThreadState | None:
        with self._lock:
            thread = self._threads.get(thread_id)
            return None if thread is None else self._state(thread)

    def find_threads(self, prefix: str) -> Sequence[ThreadId]:
        with self._lock:
            wanted = _ascii_lower(prefix)
            found = [item for item in self._threads if _ascii_lower(item).startswith(wanted)]
            return sorted(found, key=lambda item: (_ascii_lower(item), item))[:20]

    def thread_states(
        self, *, source: str | None = None, thread_ids: Collection[ThreadId] | None = None
    ) -> Iterator[ThreadState]:
        with self._lock:
            states = [
                self._state(thread)
                for thread in self._seen()
                if (source is None or thread.source == source)
                and (thread_ids is None or thread.thread_id in thread_ids)
            ]
        return iter(sorted(states, key=_newest_first))

    def possibly_due(
        self,
        source: str,
        *,
        now: datetime,
        idle_seconds: int,
        limit: int,
        admitted_kinds: Collection[SourceKind] | None = None,
    ) -> Sequence[ThreadState]:
        with self._lock:
            latest = now - timedelta(seconds=idle_seconds)
            states = [
                self._state(thread)
                for thread in self._seen()
                if thread.source == source
                and thread.source_updated_at <= latest
                and not thread.is_archived
                and thread.memory_mode is MemoryMode.ENABLED
                and not thread.problem
                and thread.has_human_request
                and (admitted_kinds is None or thread.source_kind in admitted_kinds)
            ]
            due = [state for state in states if _may_be_due(state, now)]
        return sorted(due, key=_newest_first)[:limit]

    def newest_stamp(self, source: str) -> tuple[int, ThreadId] | None:
        with self._lock:
            stamps = [
                (thread.stamp.mtime_ns, thread.thread_id)
                for thread in self._threads.values()
                if thread.source == source and thread.user_id
            ]
        return max(stamps, default=None)

    def waiting(self, source: str, *, now: datetime, limit: int) -> Sequence[ThreadState]:
        with self._lock:
            found = [
                (look_at, thread_id)
                for thread_id, look_at in self._looks.items()
                if look_at is not None
                and look_at <= now
                and self._threads[thread_id].source == source
                and self._is_unhandled(thread_id)
                and _may_be_due(self._state(self._threads[thread_id]), now)
            ]
            return [self._state(self._threads[key]) for _, key in sorted(found)][:limit]

    def unhandled(self, source: str, *, user_id: str | None = None) -> Iterator[ThreadState]:
        states = [
            state
            for state in self.thread_states(source=source)
            if self._is_unhandled(state.thread.thread_id)
            and (user_id is None or state.thread.user_id == user_id)
        ]
        return iter(states)

    def unpark(
        self,
        *,
        now: datetime,
        user_id: str | None = None,
        thread_ids: Collection[ThreadId] | None = None,
    ) -> int:
        with self._lock:
            count = 0
            for thread_id, thread in self._threads.items():
                look_at = self._looks[thread_id]
                is_meant = thread_id in (thread_ids or ()) or thread.user_id == user_id
                is_later = look_at is None or look_at > now
                if thread.user_id and is_meant and is_later and self._is_unhandled(thread_id):
                    self._looks[thread_id] = now
                    count += 1
            return count

    def _is_unhandled(self, thread_id: ThreadId) -> bool:
        thread = self._threads[thread_id]
        job = self._rows.get((JobKind.STAGE1, thread_id))
        done = job.job.last_success_watermark if job else 0
        return (
            thread_id not in self._vanished
            and not thread.is_archived
            and thread.memory_mode is MemoryMode.ENABLED
            and not thread.problem
            and thread.has_human_request
            and int(thread.source_updated_at.timestamp()) > done
        )

    # ---- ledger ------------------------------------------------------------------------------

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
        with self._lock:
            key = (JobKind.STAGE1, thread.thread_id)
            version = int(thread.source_updated_at.timestamp())
            row = self._rows.get(key) or _Row(job=_new_job(key, policy))
            job = row.job
            if job.last_success_watermark >= version and not is_forced:
                return SkippedUpToDate(last_success_watermark=job.last_success_watermark)
            if _is_live(job, now):
                return SkippedRunning(lease_until=_some(job.lease_until))
            job = _settle_crash(job)
            if version > job.input_watermark:
                job = replace(
                    job, retry_remaining=policy.retry_budget, retry_at=None, transient_failures=0
                )
            if job.retry_remaining <= 0 and not is_forced:
                self._rows[key] = replace(row, job=job)
                return SkippedExhausted(last_error=job.last_error)
            if job.retry_at is not None and job.retry_at > now and not is_forced:
                return SkippedBackoff(retry_at=job.retry_at, last_error=job.last_error)
            if (running := self._count_live(now)) >= policy.max_running:
                return SkippedAtCapacity(running=running)
            return self._take(key, row, job, version, policy, worker, run_id, now)

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
        with self._lock:
            key = (JobKind.CONSOLIDATE, space_id)
            row = self._rows.get(key) or _Row(job=_new_job(key, policy))
            job = row.job
            if _is_live(job, now):
                return SkippedRunning(lease_until=_some(job.lease_until))
            job = _settle_crash(job)
            if job.status in (JobStatus.DONE, JobStatus.PENDING):
                job = replace(job, retry_remaining=policy.retry_budget)
            if not is_forced:
                if job.input_watermark <= job.last_success_watermark:
                    return SkippedUpToDate(last_success_watermark=job.last_success_watermark)
                if job.retry_at is not None and job.retry_at > now:
                    return SkippedBackoff(retry_at=job.retry_at, last_error=job.last_error)
                if row.last_success_at and row.forget_watermark <= job.last_success_watermark:
                    until = row.last_success_at + policy.cooldown
                    if until > now:
                        return SkippedCooldown(until=until)
            return self._take(key, row, job, job.input_watermark, policy, worker, run_id, now)

    def finish_stage1(
        self, claim: Claimed, output: Stage1Output | None, *, entry: LogEntry, now: datetime
    ) -> None:
        with self._lock:
            row = self._owned(claim)
            thread_id = ThreadId(claim.key)
            old = self._outputs.pop(thread_id, None)
            if output is not None:
                output = self._as_stored(output, old)
                self._outputs[thread_id] = output
            for space_id, is_forgetting in _effects_of_finishing(old, output):
                self._raise_watermark(space_id, is_forgetting=is_forgetting)
            self._write_log([entry])
            self._close(claim, row, now, status=JobStatus.DONE)

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
        with self._lock:
            row = self._owned(claim)
            job = row.job
            wait, failures, remaining = policy.retry_delay, 0, job.retry_remaining - 1
            if kind is FailureKind.TRANSIENT:
                wait = policy.retry_delay * 2 ** min(job.transient_failures, 20)
                if retry_after_seconds is not None:
                    wait = timedelta(seconds=max(0, retry_after_seconds))
                failures, remaining = job.transient_failures + 1, job.retry_remaining
            job = replace(
                job,
                status=JobStatus.ERROR,
                lease_token=None,
                lease_until=None,
                finished_at=now,
                retry_at=now + min(wait, policy.max_retry_delay),
                retry_remaining=max(0, remaining),
                transient_failures=failures,
                last_error=clean_text(error),
            )
            self._rows[claim.kind, claim.key] = replace(row, job=job, before=None)
            if entry is not None:
                self._write_log([entry])

    def release(self, claim: Claimed, *, entry: LogEntry | None = None, now: datetime) -> None:
        with self._lock:
            row = self._owned(claim)
            job = replace(
                _some(row.before),
                attempt=row.job.attempt,
                input_watermark=max(
                    _some(row.before).input_watermark,
                    # Changes of a space that came while the claim was held.
                    row.job.input_watermark if claim.kind is JobKind.CONSOLIDATE else 0,
                ),
            )
            self._rows[claim.kind, claim.key] = replace(row, job=job, before=None)
            if entry is not None:
                self._write_log([entry])

    def renew(self, claim: Claimed, *, policy: LeasePolicy, now: datetime) -> Claimed:
        with self._lock:
            row = self._owned(claim)
            until = max(now + policy.lease, _some(row.job.lease_until))
            self._rows[claim.kind, claim.key] = replace(
                row, job=replace(row.job, lease_until=until)
            )
            return replace(claim, lease_until=until)

    def end_leases(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        with self._lock:
            ended = [
                key
                for key, row in self._rows.items()
                if row.job.status is JobStatus.RUNNING
                and _some(row.job.lease_until) > now
                and is_gone(row.job.worker)
            ]
            for key in ended:
                row = self._rows[key]
                self._rows[key] = replace(row, job=replace(row.job, lease_until=now))
            return len(ended)

    def finish_phase2(
        self,
        claim: Claimed,
        publication: Publication | None,
        *,
        selected: Mapping[ThreadId, int],
        now: datetime,
    ) -> None:
        with self._lock:
            row = self._owned(claim)
            space_id = SpaceId(claim.key)
            if publication is not None:
                versions = self._publications.setdefault(space_id, [])
                if publication.space_id != space_id or publication.version != len(versions) + 1:
                    raise PermanentError("the version does not follow the published one")
                versions.append(_clean_publication(publication))
            self._selected[space_id] = dict(selected)
            self._close(claim, replace(row, last_success_at=now), now, status=JobStatus.DONE)

    def job(self, kind: JobKind, key: str) -> Job | None:
        with self._lock:
            row = self._rows.get((kind, key))
            return None if row is None else row.job

    def request_consolidation(self, space_id: SpaceId, *, now: datetime) -> None:
        with self._lock:
            self._raise_watermark(space_id, is_forgetting=False)

    # ---- outputs -----------------------------------------------------------------------------

    def output(self, thread_id: ThreadId) -> Stage1Output | None:
        with self._lock:
            return self._outputs.get(thread_id)

    def selectable_outputs(self, space_id: SpaceId) -> Sequence[SelectedOutput]:
        with self._lock:
            return [
                SelectedOutput(output=output, thread=self._threads[thread_id])
                for thread_id, output in sorted(self._outputs.items())
                if output.space_id == space_id
                and thread_id in self._threads
                and self._threads[thread_id].memory_mode is MemoryMode.ENABLED
            ]

    def record(
        self,
        entries: Sequence[LogEntry],
        *,
        looks: Mapping[ThreadId, datetime | None] | None = None,
    ) -> None:
        with self._lock:
            self._looks |= looks or {}
            self._write_log(entries)

    def log(
        self,
        *,
        space_id: SpaceId | None = None,
        thread_id: ThreadId | None = None,
        user_id: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[LogEntry]:
        with self._lock:
            found = [
                entry
                for entry in self._log.values()
                if (space_id is None or entry.space_id == space_id)
                and (thread_id is None or entry.thread_id == thread_id)
                and (user_id is None or entry.user_id == user_id)
                and (since is None or entry.logged_at >= since)
            ]
        return sorted(found, key=lambda row: (-row.logged_at.timestamp(), row.thread_id))[:limit]

    def spaces(self) -> Sequence[SpaceState]:
        with self._lock:
            known = (
                {thread.space_id for thread in self._threads.values()}
                | {output.space_id for output in self._outputs.values()}
                | set(self._publications)
            )
            return [self.space(space_id) for space_id in sorted(known)]

    def space(self, space_id: SpaceId) -> SpaceState:
        with self._lock:
            versions = self._publications.get(space_id, [])
            row = self._rows.get((JobKind.CONSOLIDATE, space_id))
            return SpaceState(
                space_id=space_id,
                job=self.job(JobKind.CONSOLIDATE, space_id),
                version=len(versions),
                published_at=versions[-1].published_at if versions else None,
                output_count=sum(item.space_id == space_id for item in self._outputs.values()),
                is_forgetting=row is not None
                and row.forget_watermark > row.job.last_success_watermark,
            )

    def publication(self, space_id: SpaceId, version: int | None = None) -> Publication | None:
        with self._lock:
            versions = self._publications.get(space_id, [])
            wanted = len(versions) if version is None else version
            return versions[wanted - 1] if 1 <= wanted <= len(versions) else None

    # ---- inside ------------------------------------------------------------------------------

    def _seen(self) -> Iterator[Thread]:
        return (item for key, item in self._threads.items() if key not in self._vanished)

    def _state(self, thread: Thread) -> ThreadState:
        return ThreadState(thread=thread, job=self.job(JobKind.STAGE1, thread.thread_id))

    def _displace(self, newcomer: Thread) -> None:
        """A file holds one thread: whoever was known at this path is there no more."""
        self._vanished |= {
            thread.thread_id
            for thread in self._seen()
            if (thread.source, thread.rollout_path) == (newcomer.source, newcomer.rollout_path)
            and thread.thread_id != newcomer.thread_id
        }

    def _effects_of_saving(self, new: Thread) -> Iterator[tuple[SpaceId, bool]]:
        output = self._outputs.get(new.thread_id)
        if output is None:
            return
        old = self._threads.get(new.thread_id)
        was_usable = old is not None and old.memory_mode is MemoryMode.ENABLED
        is_usable = new.memory_mode is MemoryMode.ENABLED
        has_moved = output.space_id != new.space_id
        if was_usable and (has_moved or not is_usable):
            yield output.space_id, True
        if is_usable and (has_moved or not was_usable):
            yield new.space_id, False

    def _as_stored(self, output: Stage1Output, old: Stage1Output | None) -> Stage1Output:
        thread = self._threads.get(output.thread_id)
        usage = old or output
        slug = output.rollout_slug
        return replace(
            output,
            space_id=thread.space_id if thread else output.space_id,
            raw_memory=RedactedText(clean_text(output.raw_memory)),
            rollout_summary=RedactedText(clean_text(output.rollout_summary)),
            rollout_slug=None if slug is None else RedactedText(clean_text(slug)),
            usage_count=usage.usage_count,
            last_usage=usage.last_usage,
        )

    def _raise_watermark(self, space_id: SpaceId, *, is_forgetting: bool) -> None:
        key = (JobKind.CONSOLIDATE, space_id)
        row = self._rows.get(key) or _Row(job=_new_job(key, LeasePolicy()))
        watermark = row.job.input_watermark + 1
        status = JobStatus.PENDING if row.job.status is JobStatus.DONE else row.job.status
        self._rows[key] = replace(
            row,
            job=replace(row.job, input_watermark=watermark, status=status),
            forget_watermark=watermark if is_forgetting else row.forget_watermark,
        )

    def _count_live(self, now: datetime) -> int:
        return sum(
            kind is JobKind.STAGE1 and _is_live(row.job, now)
            for (kind, _), row in self._rows.items()
        )

    def _take(
        self,
        key: tuple[JobKind, str],
        row: _Row,
        job: Job,
        version: int,
        policy: LeasePolicy,
        worker: str,
        run_id: str,
        now: datetime,
    ) -> Claimed:
        taken = replace(
            job,
            status=JobStatus.RUNNING,
            lease_token=LeaseToken(str(uuid4())),
            worker=worker,
            run_id=run_id,
            started_at=now,
            finished_at=None,
            lease_until=now + policy.lease,
            retry_at=None,
            attempt=job.attempt + 1,
            last_error="",
            input_watermark=max(job.input_watermark, version),
        )
        self._rows[key] = replace(row, job=taken, before=job)
        return Claimed(
            kind=key[0],
            key=key[1],
            token=_some(taken.lease_token),
            lease_until=_some(taken.lease_until),
            input_watermark=version,
            last_success_watermark=taken.last_success_watermark,
            attempt=taken.attempt,
        )

    def _owned(self, claim: Claimed) -> _Row:
        row = self._rows.get((claim.kind, claim.key))
        if row is None or row.job.lease_token != claim.token:
            raise LeaseLost(f"the lease on {claim.kind} {claim.key} is another worker's now")
        return row

    def _close(self, claim: Claimed, row: _Row, now: datetime, *, status: JobStatus) -> None:
        done = max(row.job.last_success_watermark, claim.input_watermark)
        if claim.kind is JobKind.CONSOLIDATE and row.job.input_watermark > done:
            status = JobStatus.PENDING
        job = replace(
            row.job,
            status=status,
            lease_token=None,
            lease_until=None,
            finished_at=now,
            retry_at=None,
            transient_failures=0,
            last_error="",
            last_success_watermark=done,
        )
        self._rows[claim.kind, claim.key] = replace(row, job=job, before=None)

    def _write_log(self, entries: Iterable[LogEntry]) -> None:
        for entry in entries:
            stored = replace(
                entry,
                detail=RedactedText(clean_text(entry.detail)),
                numbers={clean_text(name): count for name, count in entry.numbers.items()},
            )
            self._log[entry.thread_id] = stored


def _new_job(key: tuple[JobKind, str], policy: LeasePolicy) -> Job:
    kind, name = key
    return Job(kind=kind, key=name, status=JobStatus.PENDING, retry_remaining=policy.retry_budget)


def _is_live(job: Job, now: datetime) -> bool:
    return job.status is JobStatus.RUNNING and job.lease_until is not None and job.lease_until > now


def _settle_crash(job: Job) -> Job:
    """A job found running after its lease crashed: one attempt is used, and nobody holds it."""
    if job.status is not JobStatus.RUNNING:
        return job
    return replace(
        job,
        status=JobStatus.ERROR,
        lease_token=None,
        finished_at=job.lease_until,
        lease_until=None,
        retry_remaining=max(0, job.retry_remaining - 1),
        last_error=CRASHED,
    )


def _may_be_due(state: ThreadState, now: datetime) -> bool:
    job, version = state.job, int(state.thread.source_updated_at.timestamp())
    if job is None:
        return True
    if job.last_success_watermark >= version or _is_live(job, now):
        return False
    if job.input_watermark < version:
        return True
    return job.retry_remaining > 0 and (job.retry_at is None or job.retry_at <= now)


def _effects_of_finishing(
    old: Stage1Output | None, new: Stage1Output | None
) -> Iterator[tuple[SpaceId, bool]]:
    if old is not None and (new is None or old.space_id != new.space_id):
        yield old.space_id, True
    if new is not None and (old is None or _seen_by_memory(old) != _seen_by_memory(new)):
        yield new.space_id, False


def _seen_by_memory(output: Stage1Output) -> tuple[str, str, str, str | None]:
    return output.space_id, output.raw_memory, output.rollout_summary, output.rollout_slug


def _clean_thread(thread: Thread) -> Thread:
    return replace(
        thread,
        title=clean_text(thread.title),
        cwd=clean_text(thread.cwd),
        rollout_path=clean_text(thread.rollout_path),
        branch=clean_text(thread.branch),
        problem=clean_text(thread.problem),
    )


def _clean_publication(publication: Publication) -> Publication:
    files = {path: RedactedText(clean_text(text)) for path, text in publication.files.items()}
    return replace(publication, files=files)


def _ascii_lower(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _newest_first(state: ThreadState) -> tuple[float, str]:
    return -state.thread.source_updated_at.timestamp(), state.thread.thread_id


def _some(value: _T | None) -> _T:
    assert value is not None
    return value
