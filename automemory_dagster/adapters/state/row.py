"""Facts to rows and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from automemory_dagster.domain.job import Job, JobKind, JobStatus
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import MemoryMode, RolloutStamp, SourceKind, Thread

Values = dict[str, Any]
"""Column name to value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job with what only the store needs to know of it."""

    job: Job
    before_claim: Job | None = None
    """The job as it stood before the running claim."""
    last_success_at: datetime | None = None
    forget_watermark: int = 0
    """``input_watermark`` of the last forgetting: above ``last_success_watermark``, it is due."""


def thread_values(thread: Thread) -> Values:
    """All columns that a source decides."""
    return {
        "thread_id": thread.thread_id,
        "source": thread.source,
        "space_id": thread.space_id,
        "rollout_path": thread.rollout_path,
        "size_bytes": thread.stamp.size_bytes,
        "mtime_ns": thread.stamp.mtime_ns,
        "prefix_sha256": thread.stamp.prefix_sha256,
        "index_digest": thread.stamp.index_digest,
        "source_updated_at": thread.source_updated_at,
        "created_at": thread.created_at,
        "cwd": thread.cwd,
        "repository": thread.repository,
        "branch": thread.branch,
        "title": thread.title,
        "source_kind": thread.source_kind.value,
        "source_detail": thread.source_detail,
        "memory_mode": thread.memory_mode.value,
        "is_archived": thread.is_archived,
        "forked_from": thread.forked_from,
        "has_human_request": thread.has_human_request,
        "problem": thread.problem,
        "user_id": thread.user_id,
        "goal_key": thread.goal_key,
        "vanished_at": None,
    }


def stamp_of(row: Any) -> RolloutStamp:
    """The stamp of a row of ``threads``."""
    return RolloutStamp(
        size_bytes=row.size_bytes,
        mtime_ns=row.mtime_ns,
        prefix_sha256=row.prefix_sha256,
        index_digest=row.index_digest,
    )


def thread_of(row: Any) -> Thread:
    """The thread of a row of ``threads``."""
    return Thread(
        thread_id=row.thread_id,
        source=row.source,
        space_id=row.space_id,
        rollout_path=row.rollout_path,
        stamp=stamp_of(row),
        source_updated_at=row.source_updated_at,
        created_at=row.created_at,
        cwd=row.cwd,
        repository=row.repository,
        branch=row.branch,
        title=row.title,
        source_kind=SourceKind(row.source_kind),
        source_detail=row.source_detail,
        memory_mode=MemoryMode(row.memory_mode),
        is_archived=row.is_archived,
        forked_from=row.forked_from,
        has_human_request=row.has_human_request,
        problem=row.problem,
        user_id=row.user_id,
        goal_key=row.goal_key,
    )


def job_values(row: JobRow) -> Values:
    """All columns of ``jobs``."""
    job = row.job
    return {
        "kind": job.kind.value,
        "key": job.key,
        "status": job.status.value,
        "lease_token": job.lease_token,
        "worker": job.worker,
        "run_id": job.run_id,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "lease_until": job.lease_until,
        "retry_at": job.retry_at,
        "retry_remaining": job.retry_remaining,
        "transient_failures": job.transient_failures,
        "attempt": job.attempt,
        "last_error": job.last_error,
        "input_watermark": job.input_watermark,
        "last_success_watermark": job.last_success_watermark,
        "before_claim": None if row.before_claim is None else _before_values(row.before_claim),
        "last_success_at": row.last_success_at,
        "forget_watermark": row.forget_watermark,
    }


def job_of(row: Any) -> Job:
    """The job of a row of ``jobs``."""
    return Job(
        kind=JobKind(row.kind),
        key=row.key,
        status=JobStatus(row.status),
        lease_token=row.lease_token,
        worker=row.worker,
        run_id=row.run_id,
        started_at=row.started_at,
        finished_at=row.finished_at,
        lease_until=row.lease_until,
        retry_at=row.retry_at,
        retry_remaining=row.retry_remaining,
        transient_failures=row.transient_failures,
        attempt=row.attempt,
        last_error=row.last_error,
        input_watermark=row.input_watermark,
        last_success_watermark=row.last_success_watermark,
    )


def job_row_of(row: Any) -> JobRow:
    """The whole row of ``jobs``."""
    job = job_of(row)
    return JobRow(
        job=job,
        before_claim=None if row.before_claim is None else _before_of(job, row.before_claim),
        last_success_at=row.last_success_at,
        forget_watermark=row.forget_watermark,
    )


def output_values(output: Stage1Output) -> Values:
    """All columns of ``stage1_outputs`` that extraction decides."""
    return {
        "thread_id": output.thread_id,
        "space_id": output.space_id,
        "source_updated_at": output.source_updated_at,
        "raw_memory": output.raw_memory,
        "rollout_summary": output.rollout_summary,
        "rollout_slug": output.rollout_slug,
        "generated_at": output.generated_at,
        "extractor": output.extractor,
        "usage_count": output.usage_count,
        "last_usage": output.last_usage,
    }


def output_of(row: RowMapping, prefix: str = "") -> Stage1Output:
    """The output of a row whose columns of ``stage1_outputs`` carry a prefix."""
    names = Stage1Output.__dataclass_fields__
    return Stage1Output(**{name: row[prefix + name] for name in names})


def entry_values(entry: LogEntry) -> Values:
    """All columns of ``extraction_log``."""
    return {
        "thread_id": entry.thread_id,
        "space_id": entry.space_id,
        "outcome": entry.outcome.value,
        "reason": entry.reason.value,
        "logged_at": entry.logged_at,
        "source_updated_at": entry.source_updated_at,
        "user_id": entry.user_id,
        "run_id": entry.run_id,
        "detail": entry.detail,
        "extractor": entry.extractor,
        "duration_seconds": entry.duration_seconds,
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
        "usd": entry.usd,
        "numbers": entry.numbers,
    }


def entry_of(row: RowMapping) -> LogEntry:
    """The entry of a row of ``extraction_log``."""
    values = {name: row[name] for name in LogEntry.__dataclass_fields__}
    values |= {"outcome": Outcome(row["outcome"]), "reason": Reason(row["reason"])}
    return LogEntry(**values)


_BEFORE_PLAIN = ("worker", "run_id", "retry_remaining", "transient_failures", "last_error")
_BEFORE_MOMENTS = ("started_at", "finished_at", "retry_at")


def _before_values(job: Job) -> Values:
    moments = {name: getattr(job, name) for name in _BEFORE_MOMENTS}
    return {
        "status": job.status.value,
        "input_watermark": job.input_watermark,
        **{name: getattr(job, name) for name in _BEFORE_PLAIN},
        **{name: value.isoformat() for name, value in moments.items() if value is not None},
    }


def _before_of(job: Job, values: Mapping[str, Any]) -> Job:
    moments: Values = {
        name: datetime.fromisoformat(values[name]) for name in _BEFORE_MOMENTS if name in values
    }
    return Job(
        kind=job.kind,
        key=job.key,
        status=JobStatus(values["status"]),
        attempt=job.attempt,
        input_watermark=values["input_watermark"],
        last_success_watermark=job.last_success_watermark,
        **{name: values[name] for name in _BEFORE_PLAIN},
        **moments,
    )
