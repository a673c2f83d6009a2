"""Money set aside before a call and booked after it.

The trap: a limit is a sum, and a sum cannot be locked. Two reservations that add up at the same
moment would each find room for itself; so they take turns, and each adds up in one statement, since
a call that is settled between two would be counted in neither.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Table,
    delete,
    false,
    func,
    insert,
    select,
    type_coerce,
)

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.spend_row import (
    NUMBERS,
    call_values,
    lost_call,
    total_of,
    work_values,
)
from automemory_dagster.adapters.state.statement import insert_new, lock_reservations, upsert
from automemory_dagster.adapters.state.table import spend, spend_reservations
from automemory_dagster.domain.spend import (
    LimitReached,
    MicroUsd,
    ModelCall,
    Period,
    Reserved,
    Scope,
    SpendLimit,
    Work,
    applies_to,
    begin_of,
)
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.ports import SpendTotal

_DAY_MICROSECONDS = 86_400_000_000
_LONGEST_CALL = timedelta(hours=2)
"""Twice the longest time-out that can be set; then nobody waits for the answer any more."""


class SqlSpend:
    """The ``SpendLedger`` of a database."""

    _worker: Callable[[], str]
    """Names this process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(
        self,
        work: Work,
        amount: MicroUsd,
        *,
        limits: Sequence[SpendLimit],
        now: datetime,
        model: str = "",
    ) -> Reserved | LimitReached:
        """The first limit that would be passed is the one that is told."""
        reserved = Reserved(
            reservation_id=str(uuid4()), work=work, micro_usd=amount, reserved_at=now
        )
        row = work_values(work) | {
            "reservation_id": reserved.reservation_id,
            "model": model,
            "reserved_at": now,
            "worker": self._worker(),
            "micro_usd": amount,
        }
        own = [limit for limit in limits if applies_to(limit, work)]

        def write(connection: Connection) -> Reserved | LimitReached:
            lock_reservations(connection)
            sums = _taken(connection, own, run_id=work.run_id, now=now)
            for limit, taken in zip(own, sums, strict=True):
                if taken + amount > limit.micro_usd:
                    return LimitReached(limit=limit, taken=taken, asked=amount)
            connection.execute(insert(spend_reservations).values(row))
            return reserved

        return self._database.write(write)

    def settle(self, reserved: Reserved, call: ModelCall) -> None:
        """A later word on the same call overwrites the earlier one."""

        def write(connection: Connection) -> None:
            upsert(connection, spend, [call_values(reserved.reservation_id, call)])
            _forget(connection, [reserved.reservation_id])

        self._database.write(write)

    def free(self, reserved: Reserved) -> None:
        """What was booked already stays booked."""
        self._database.write(lambda connection: _forget(connection, [reserved.reservation_id]))

    def settle_abandoned(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        """Reads first, without a lock: nearly always there is nothing to do."""
        held = select(spend_reservations)
        with self._database.reading() as connection:
            abandoned = [
                row.reservation_id
                for row in connection.execute(held)
                if row.reserved_at + _LONGEST_CALL <= now or is_gone(row.worker)
            ]

        def write(connection: Connection) -> int:
            still = spend_reservations.c.reservation_id.in_(abandoned)
            rows = connection.execute(held.where(still).with_for_update()).all()
            insert_new(
                connection, spend, [call_values(row.reservation_id, lost_call(row)) for row in rows]
            )
            _forget(connection, [row.reservation_id for row in rows])
            return len(rows)

        return self._database.write(write) if abandoned else 0

    def taken(
        self, limits: Sequence[SpendLimit], *, now: datetime, run_id: str = ""
    ) -> Sequence[MicroUsd]:
        """One statement, so that the sums agree with each other."""
        with self._database.reading() as connection:
            return _taken(connection, limits, run_id=run_id, now=now)

    def spend_totals(
        self, *, since: datetime | None = None, space_id: SpaceId | None = None
    ) -> Sequence[SpendTotal]:
        """Added up by the database."""
        day = type_coerce(spend.c.called_at, BigInteger) // _DAY_MICROSECONDS
        keys = (spend.c.model, spend.c.purpose, spend.c.space_id, spend.c.user_id)
        sums = [func.sum(spend.c[name]).label(name) for name in NUMBERS]
        query = (
            select(
                day.label("day"),
                *keys,
                *sums,
                # A count of the true ones: SQLite and PostgreSQL add up booleans differently.
                func.count().filter(spend.c.is_estimated).label("estimated_calls"),
            )
            .group_by(day, *keys)
            .order_by(day, *keys)
        )
        if since is not None:
            query = query.where(spend.c.called_at >= since)
        if space_id is not None:
            query = query.where(spend.c.space_id == space_id)
        with self._database.reading() as connection:
            return [total_of(row) for row in connection.execute(query)]

    def spent_usd(self, *, since: datetime | None = None) -> float:
        """Exact to the millionth, however many calls there were."""
        query = select(func.coalesce(func.sum(spend.c.micro_usd), 0))
        if since is not None:
            query = query.where(spend.c.called_at >= since)
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one()) / 1_000_000


def _taken(
    connection: Connection, limits: Sequence[SpendLimit], *, run_id: str, now: datetime
) -> Sequence[MicroUsd]:
    if not limits:
        return ()
    sums = [
        _sum(spend, _within(spend, limit, run_id, now))
        # What is under way counts against every period: it may be billed in this one.
        + _sum(spend_reservations, _within(spend_reservations, limit, run_id, None))
        for limit in limits
    ]
    return [MicroUsd(int(found)) for found in connection.execute(select(*sums)).one()]


def _sum(table: Table, conditions: Sequence[ColumnElement[bool]]) -> ColumnElement[int]:
    amount = func.coalesce(func.sum(table.c.micro_usd), 0)
    return select(amount).where(*conditions).scalar_subquery()


def _within(
    table: Table, limit: SpendLimit, run_id: str, now: datetime | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if limit.period is Period.RUN:
        conditions.append(table.c.run_id == run_id if run_id else false())
    elif now is not None:
        conditions.append(table.c.called_at >= begin_of(limit.period, now))
    if limit.scope is Scope.SPACE:
        conditions.append(table.c.space_id == limit.scope_id)
    elif limit.scope is Scope.USER:
        conditions.append(table.c.user_id == limit.scope_id)
    return conditions


def _forget(connection: Connection, reservation_ids: Collection[str]) -> None:
    connection.execute(
        delete(spend_reservations).where(spend_reservations.c.reservation_id.in_(reservation_ids))
    )
