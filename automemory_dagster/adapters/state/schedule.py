"""When threads of a scheduled source are looked at: the part of the catalogue that lets a tick cost
what is due and not what is there."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, or_, select, text, update

from automemory_dagster.adapters.state.catalogue import (
    NEWEST_FIRST,
    is_after,
    job_rests,
    read_states,
)
from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.statement import chunks, lock_threads
from automemory_dagster.adapters.state.table import HAS_USER, IS_UNHANDLED, IS_WAITING, threads
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.ports import ThreadState

_PAGE = 500


class SqlSchedule:
    """The schedule's part of the ``ThreadCatalogue`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest_stamp(self, source: str) -> tuple[int, ThreadId] | None:
        """One step into an index. Only for sources whose threads have users."""
        with self._database.reading() as connection:
            found = connection.execute(newest_stamp_query(source)).one_or_none()
        return None if found is None else (found.mtime_ns, found.thread_id)

    def waiting(self, source: str, *, now: datetime, limit: int) -> Sequence[ThreadState]:
        """Served by an index of the waiting threads only."""
        with self._database.reading() as connection:
            return read_states(connection, waiting_query(source, now=now, limit=limit))

    def unhandled(self, source: str, *, user_id: str | None = None) -> Iterator[ThreadState]:
        """A page is a transaction of its own."""
        query = unhandled_query(source, user_id=user_id)
        page = self._page(query)
        yield from page
        while len(page) == _PAGE:
            page = self._page(query.where(is_after(page[-1].thread)))
            yield from page

    def unpark(
        self,
        *,
        now: datetime,
        user_id: str | None = None,
        thread_ids: Collection[ThreadId] | None = None,
    ) -> int:
        """One statement for a user; a chunk of ids each otherwise."""

        def work(connection: Connection) -> int:
            return sum(
                connection.execute(statement.values(look_at=now)).rowcount
                for statement in _unparked(now, user_id, thread_ids)
            )

        return self._database.write(work)

    def _page(self, query: Select[Any]) -> list[ThreadState]:
        with self._database.reading() as connection:
            return read_states(connection, query)


def newest_stamp_query(source: str) -> Select[Any]:
    """The query behind ``newest_stamp``."""
    return (
        select(threads.c.mtime_ns, threads.c.thread_id)
        .where(threads.c.source == source, text(HAS_USER))
        .order_by(threads.c.mtime_ns.desc(), threads.c.thread_id.desc())
        .limit(1)
    )


def waiting_query(source: str, *, now: datetime, limit: int) -> Select[Any]:
    """The query behind ``waiting``, which ``ix_threads_waiting`` serves in its own order."""
    return (
        select(threads)
        .where(
            threads.c.source == source,
            text(IS_WAITING),
            threads.c.look_at <= now,
            func.coalesce(job_rests(now), 0) == 0,
        )
        .order_by(threads.c.look_at, threads.c.thread_id)
        .limit(limit)
    )


def unhandled_query(source: str, *, user_id: str | None = None) -> Select[Any]:
    """One page of ``unhandled``, the newest first."""
    query = (
        select(threads)
        .where(threads.c.source == source, text(IS_UNHANDLED))
        .order_by(*NEWEST_FIRST)
        .limit(_PAGE)
    )
    if user_id is not None:
        query = query.where(threads.c.user_id == user_id, text(HAS_USER))
    return query


def write_looks(connection: Connection, looks: Mapping[ThreadId, datetime | None]) -> None:
    """Note when threads are to be looked at again; ``None`` parks them."""
    if not looks:
        return
    lock_threads(connection, looks)
    connection.execute(
        update(threads)
        .where(threads.c.thread_id == bindparam("looked_at"))
        .values(look_at=bindparam("next_look")),
        [{"looked_at": key, "next_look": moment} for key, moment in sorted(looks.items())],
    )


def _unparked(
    now: datetime, user_id: str | None, thread_ids: Collection[ThreadId] | None
) -> Iterator[Any]:
    # Those that wait for a moment to come, too: it may come earlier by the new settings.
    later = or_(threads.c.look_at.is_(None), threads.c.look_at > now)
    statement = update(threads).where(text(IS_UNHANDLED), text(HAS_USER), later)
    if user_id is not None:
        yield statement.where(threads.c.user_id == user_id)
    for chunk in chunks(sorted(thread_ids or ())):
        yield statement.where(threads.c.thread_id.in_(chunk))
