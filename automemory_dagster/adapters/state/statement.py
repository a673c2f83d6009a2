"""Every statement that can race, on one page.

Whoever takes more than one lock takes them in this order, so that nobody waits in a ring: the
claims' lock, a stage-1 job, threads (by id), outputs (by id), a space's job (by id). The lock of
reservations is taken alone.
On SQLite the whole transaction holds the one write lock, and FOR UPDATE is not written out.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, TextClause, bindparam, func, select, text, update

from automemory_dagster.adapters.state.row import JobRow, Values, job_row_of, job_values
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA, jobs, stage1_outputs, threads
from automemory_dagster.domain.errors import LeaseLost
from automemory_dagster.domain.job import Claimed, JobKind, JobStatus
from automemory_dagster.domain.thread import SpaceId, ThreadId

T = TypeVar("T")

CHUNK = 500
"""Values a statement; SQLite allows 32,766 and slows down long before."""
_CLAIMS, _RESERVATIONS = 2, 3


def lock_claims(connection: Connection) -> None:
    """Let stage-1 claims take turns until the transaction ends, over all processes.

    The cap on live leases is a count, and a count cannot be locked: two claims of different
    threads would both count one below the cap and both go ahead, each unseen by the other until
    it commits; and a row that is not there yet cannot be locked either. Claims are short, so
    turns cost nothing. SQLite's write lock is such a turn already.
    """
    _take_turns(connection, _CLAIMS)


def lock_reservations(connection: Connection) -> None:
    """Let reservations take turns in the same way: a limit on spend is a sum."""
    _take_turns(connection, _RESERVATIONS)


def _take_turns(connection: Connection, number: int) -> None:
    if is_postgres(connection):
        connection.execute(select(func.pg_advisory_xact_lock(0x6D656D6F, number)))


def lock_job(connection: Connection, kind: JobKind, key: str) -> JobRow | None:
    """Read a job that nobody else may change until the transaction ends."""
    found = connection.execute(
        select(jobs).where(jobs.c.kind == kind.value, jobs.c.key == key).with_for_update()
    ).one_or_none()
    return None if found is None else job_row_of(found)


def lock_owned_job(connection: Connection, claim: Claimed) -> JobRow:
    """Lock the job of a claim that still holds.

    A lease that ended but was not taken over still holds: the work is done, and nobody else did it.

    Raises:
        LeaseLost: another worker has the job, or its end was recorded already.
    """
    row = lock_job(connection, claim.kind, claim.key)
    if row is None or row.job.lease_token != claim.token:
        raise lease_lost(claim)
    return row


def lease_lost(claim: Claimed) -> LeaseLost:
    """The error of whoever comes too late."""
    return LeaseLost(
        f"The lease on {claim.kind} {claim.key} is no longer this worker's; nothing was written."
    )


def count_live_leases(connection: Connection, *, now: datetime) -> int:
    """Stage-1 leases that have not ended; true until the transaction ends, under ``lock_claims``.

    But for one case: a worker that renews a lease which had ended (a laptop that slept). It works
    on in any case, so refusing it would waste the work and not lower the load.
    """
    return connection.execute(
        select(func.count())
        .select_from(jobs)
        .where(
            text("status = 'running'"),
            jobs.c.kind == JobKind.STAGE1.value,
            jobs.c.lease_until > now,
        )
    ).scalar_one()


def write_job(connection: Connection, row: JobRow) -> None:
    """Store a job that is locked, or whose kind's claims are."""
    upsert(connection, jobs, [job_values(row)])


def create_job(connection: Connection, row: JobRow) -> None:
    """Store a new job unless somebody else did first."""
    insert_new(connection, jobs, [job_values(row)])


def renew_lease(connection: Connection, claim: Claimed, *, until: datetime) -> None:
    """Extend a lease in one statement.

    Raises:
        LeaseLost: another worker has the job.
    """
    result = connection.execute(
        update(jobs)
        .where(
            jobs.c.kind == claim.kind.value,
            jobs.c.key == claim.key,
            jobs.c.lease_token == claim.token,
            jobs.c.status == JobStatus.RUNNING.value,
        )
        .values(lease_until=until)
    )
    if result.rowcount != 1:
        raise lease_lost(claim)


def live_workers(connection: Connection, *, now: datetime) -> frozenset[str]:
    """Who holds a live lease."""
    rows = connection.execute(select(jobs.c.worker).where(_RUNNING, jobs.c.lease_until > now))
    return frozenset(rows.scalars())


def end_leases_of(connection: Connection, workers: Collection[str], *, now: datetime) -> int:
    """End these workers' live leases; gives how many."""
    live = (_RUNNING, jobs.c.lease_until > now, jobs.c.worker.in_(workers))
    return connection.execute(update(jobs).where(*live).values(lease_until=now)).rowcount


_RUNNING = jobs.c.status == JobStatus.RUNNING.value


def lock_threads(connection: Connection, thread_ids: Collection[str]) -> list[Any]:
    """Rows of ``threads`` (id, space, path, mode), locked in the order of their ids."""
    columns = (
        threads.c.thread_id,
        threads.c.space_id,
        threads.c.rollout_path,
        threads.c.memory_mode,
    )
    return [
        row
        for chunk in chunks(sorted(thread_ids))
        for row in connection.execute(
            select(*columns)
            .where(threads.c.thread_id.in_(chunk))
            .order_by(threads.c.thread_id)
            .with_for_update()
        )
    ]


def lock_outputs(connection: Connection, thread_ids: Collection[str]) -> dict[ThreadId, SpaceId]:
    """Space by thread of those threads that have an output, locked in the order of their ids."""
    return {
        row.thread_id: row.space_id
        for chunk in chunks(sorted(thread_ids))
        for row in connection.execute(
            select(stage1_outputs.c.thread_id, stage1_outputs.c.space_id)
            .where(stage1_outputs.c.thread_id.in_(chunk))
            .order_by(stage1_outputs.c.thread_id)
            .with_for_update()
        )
    }


def lock_outputs_of_space(connection: Connection, space_id: str) -> None:
    """Lock all outputs of a space in the order of their ids."""
    connection.execute(
        select(stage1_outputs.c.thread_id)
        .where(stage1_outputs.c.space_id == space_id)
        .order_by(stage1_outputs.c.thread_id)
        .with_for_update()
    ).all()


def raise_space_watermark(connection: Connection, fresh: JobRow, *, is_forgetting: bool) -> None:
    """Count one more change of a space; ``fresh`` is its job as it would be made new.

    One statement that reads and writes, so that no change is lost between two workers.
    """
    first = {"input_watermark": 1, "forget_watermark": int(is_forgetting)}
    risen = "jobs.input_watermark + 1"
    changes = (
        f"input_watermark = {risen}, "
        f"forget_watermark = {risen if is_forgetting else 'jobs.forget_watermark'}, "
        "status = CASE WHEN jobs.status = 'done' THEN 'pending' ELSE jobs.status END"
    )
    statement = _insert_statement(jobs, is_postgres(connection), f"DO UPDATE SET {changes}")
    connection.execute(statement, job_values(fresh) | first)


def upsert(
    connection: Connection, table: Table, rows: Sequence[Values], *, keep: Collection[str] = ()
) -> None:
    """Insert rows or overwrite those of the same key, but for the columns to ``keep``."""
    if not rows:
        return
    keys = {column.name for column in table.primary_key}
    changes = ", ".join(
        f"{name} = excluded.{name}" for name in rows[0] if name not in keys and name not in keep
    )
    statement = _insert_statement(
        table, is_postgres(connection), f"DO UPDATE SET {changes}", tuple(rows[0])
    )
    connection.execute(statement, rows if len(rows) > 1 else rows[0])


def insert_new(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert those rows whose key is not there yet."""
    if rows:
        statement = _insert_statement(table, is_postgres(connection), "DO NOTHING", tuple(rows[0]))
        connection.execute(statement, rows if len(rows) > 1 else rows[0])


def is_postgres(connection: Connection) -> bool:
    """False on SQLite."""
    return connection.dialect.name == "postgresql"


@cache
def _insert_statement(
    table: Table, is_postgres: bool, action: str, names: tuple[str, ...] | None = None
) -> TextClause:
    # Spelt out, since SQLAlchemy builds its own ON CONFLICT anew for each execution: that took
    # more time than all the rest of a claim.
    columns = [table.c[name] for name in names] if names else list(table.c)
    keys = ", ".join(column.name for column in table.primary_key)
    place = f"{POSTGRES_SCHEMA}.{table.name}" if is_postgres else table.name
    return text(
        f"INSERT INTO {place} AS {table.name} ({', '.join(column.name for column in columns)}) "
        f"VALUES ({', '.join(':' + column.name for column in columns)}) "
        f"ON CONFLICT ({keys}) {action}"
    ).bindparams(*(bindparam(column.name, type_=column.type) for column in columns))


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """The values in lists of at most ``size``."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk
