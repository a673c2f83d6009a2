"""Every thread ever seen, with its stage-1 job."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    ScalarSelect,
    Select,
    and_,
    case,
    func,
    or_,
    select,
    text,
    type_coerce,
)
from sqlalchemy.sql import ColumnElement

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import job_of, stamp_of, thread_of
from automemory_dagster.adapters.state.saving import mark_vanished, save
from automemory_dagster.adapters.state.statement import (
    chunks,
)
from automemory_dagster.adapters.state.table import IS_UNHANDLED, jobs, threads
from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.domain.job import JobKind, JobStatus
from automemory_dagster.domain.thread import SourceKind, Thread, ThreadId
from automemory_dagster.ports import KnownRollout, ThreadState

_PAGE = 500
_MOST_FOUND = 20
_LAST_CHARACTER = "\U0010ffff"
_UPPER_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class SqlCatalogue:
    """The ``ThreadCatalogue`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known_rollouts(self, source: str) -> Mapping[str, KnownRollout]:
        """Without vanished threads: a file that comes back is new."""
        columns = (
            threads.c.rollout_path,
            threads.c.thread_id,
            threads.c.size_bytes,
            threads.c.mtime_ns,
            threads.c.prefix_sha256,
            threads.c.index_digest,
        )
        query = select(*columns).where(threads.c.source == source, threads.c.vanished_at.is_(None))
        with self._database.reading() as connection:
            return {
                row.rollout_path: KnownRollout(thread_id=row.thread_id, stamp=stamp_of(row))
                for row in connection.execute(query)
            }

    def save_threads(self, threads: Sequence[Thread], *, look_at: datetime | None = None) -> None:
        """Also moves each thread's output into the thread's space."""
        if threads:
            self._database.write(lambda connection: save(connection, threads, look_at=look_at))

    def mark_vanished(self, thread_ids: Collection[ThreadId], *, now: datetime) -> None:
        """An unknown id does nothing."""
        self._database.write(lambda connection: mark_vanished(connection, thread_ids, now))

    def thread_state(self, thread_id: ThreadId) -> ThreadState | None:
        """Vanished ones too."""
        query = select(threads).where(threads.c.thread_id == thread_id)
        found = self._states_of(query)
        return found[0] if found else None

    def find_threads(self, prefix: str) -> Sequence[ThreadId]:
        """Vanished ones too; ascending as if all were in lower case."""
        wanted = clean_text(prefix).translate(_UPPER_TO_LOWER)
        lowered = func.lower(threads.c.thread_id)
        query = (
            select(threads.c.thread_id)
            .where(lowered >= wanted, lowered < wanted + _LAST_CHARACTER)
            .order_by(lowered, threads.c.thread_id)
            .limit(_MOST_FOUND)
        )
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def thread_states(
        self, *, source: str | None = None, thread_ids: Collection[ThreadId] | None = None
    ) -> Iterator[ThreadState]:
        """A page is a transaction of its own: what changes meanwhile may be missed or seen anew."""
        if thread_ids is not None:
            return iter(self._states_by_id(thread_ids, source))
        return self._pages(source)

    def possibly_due(
        self,
        source: str,
        *,
        now: datetime,
        idle_seconds: int,
        limit: int,
        admitted_kinds: Collection[SourceKind] | None = None,
    ) -> Sequence[ThreadState]:
        """Also leaves out threads without a human request, which no gate lets through."""
        return self._states_of(
            due_query(
                source,
                now=now,
                idle_seconds=idle_seconds,
                limit=limit,
                admitted_kinds=admitted_kinds,
            )
        )

    def _states_of(self, query: Select[Any]) -> list[ThreadState]:
        with self._database.reading() as connection:
            return read_states(connection, query)

    def _states_by_id(
        self, thread_ids: Collection[ThreadId], source: str | None
    ) -> list[ThreadState]:
        states = [
            state
            for chunk in chunks(sorted(set(thread_ids)))
            for state in self._states_of(_seen(source).where(threads.c.thread_id.in_(chunk)))
        ]
        states.sort(key=lambda state: state.thread.thread_id)
        states.sort(key=lambda state: state.thread.source_updated_at, reverse=True)
        return states

    def _pages(self, source: str | None) -> Iterator[ThreadState]:
        query = _seen(source).order_by(*NEWEST_FIRST).limit(_PAGE)
        page = self._states_of(query)
        yield from page
        while len(page) == _PAGE:
            page = self._states_of(query.where(is_after(page[-1].thread)))
            yield from page


def due_query(
    source: str,
    *,
    now: datetime,
    idle_seconds: int,
    limit: int,
    admitted_kinds: Collection[SourceKind] | None = None,
) -> Select[Any]:
    """The query behind ``possibly_due``, which ``ix_threads_unhandled`` serves in its own order."""
    query = (
        select(threads)
        .where(
            threads.c.source == source,
            text(IS_UNHANDLED),
            threads.c.source_updated_at <= now - timedelta(seconds=idle_seconds),
            func.coalesce(job_rests(now), 0) == 0,
        )
        .order_by(*NEWEST_FIRST)
        .limit(limit)
    )
    if admitted_kinds is not None:
        query = query.where(threads.c.source_kind.in_([kind.value for kind in admitted_kinds]))
    return query


NEWEST_FIRST = (threads.c.source_updated_at.desc(), threads.c.thread_id)


def job_rests(now: datetime) -> ScalarSelect[int]:
    """1 when the thread's job lets nobody try now, 0 when it does, null when there is no job.

    A value a row and no join: PostgreSQL, before it has statistics of a table just filled, joins
    by comparing every thread with every job.
    """
    is_live = and_(jobs.c.status == JobStatus.RUNNING.value, jobs.c.lease_until > now)
    # Newer content renews a job that failed before: only failures on this very version count.
    has_failed = and_(
        jobs.c.input_watermark >= type_coerce(threads.c.source_updated_at, BigInteger),
        or_(jobs.c.retry_remaining <= 0, jobs.c.retry_at > now),
    )
    return (
        select(case((or_(is_live, has_failed), 1), else_=0))
        .where(jobs.c.key == threads.c.thread_id, jobs.c.kind == JobKind.STAGE1.value)
        .correlate(threads)
        .scalar_subquery()
    )


def read_states(connection: Connection, query: Select[Any]) -> list[ThreadState]:
    """The threads that a query over whole rows gives, in its order, with their jobs."""
    rows = connection.execute(query).all()
    found = {
        row.key: job_of(row)
        for chunk in chunks(row.thread_id for row in rows)
        for row in connection.execute(
            select(jobs).where(jobs.c.key.in_(chunk), jobs.c.kind == JobKind.STAGE1.value)
        )
    }
    return [ThreadState(thread=thread_of(row), job=found.get(row.thread_id)) for row in rows]


def _seen(source: str | None) -> Select[Any]:
    query = select(threads).where(threads.c.vanished_at.is_(None))
    return query if source is None else query.where(threads.c.source == source)


def is_after(last: Thread) -> ColumnElement[bool]:
    """What comes after a thread, newest first. The first test alone lets the index skip ahead."""
    updated = threads.c.source_updated_at
    return and_(
        updated <= last.source_updated_at,
        or_(updated < last.source_updated_at, threads.c.thread_id > last.thread_id),
    )
