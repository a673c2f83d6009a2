"""The extraction log, one row a thread, and what was spent, which is never overwritten."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import entry_of, entry_values, spend_values
from automemory_dagster.adapters.state.statement import insert_new, upsert
from automemory_dagster.adapters.state.table import extraction_log, spend
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.thread import SpaceId, ThreadId


class SqlLog:
    """The log's part of the ``OutputStore`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, entries: Sequence[LogEntry]) -> None:
        """The last of several entries of one thread stays."""
        if entries:
            self._database.write(lambda connection: write_entries(connection, entries))

    def log(
        self,
        *,
        space_id: SpaceId | None = None,
        thread_id: ThreadId | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[LogEntry]:
        """``since`` is included."""
        rows = extraction_log.c
        query = select(extraction_log).order_by(rows.logged_at.desc(), rows.thread_id).limit(limit)
        if space_id is not None:
            query = query.where(rows.space_id == space_id)
        if thread_id is not None:
            query = query.where(rows.thread_id == thread_id)
        if since is not None:
            query = query.where(rows.logged_at >= since)
        with self._database.reading() as connection:
            return [entry_of(row) for row in connection.execute(query).mappings()]

    def spent_usd(self, *, since: datetime | None = None) -> float:
        """``since`` is included."""
        query = select(func.coalesce(func.sum(spend.c.usd), 0.0))
        if since is not None:
            query = query.where(spend.c.spent_at >= since)
        with self._database.reading() as connection:
            return float(connection.execute(query).scalar_one())


def write_entries(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Overwrite the log rows of these threads and add what they cost.

    The same entry written twice is paid once: thread, run and moment tell one payment from another.
    """
    latest = {entry.thread_id: entry for entry in entries}
    rows = [entry_values(entry) for _, entry in sorted(latest.items())]
    upsert(connection, extraction_log, rows)
    payments = [spend_values(entry) for entry in entries if entry.usd > 0]
    insert_new(connection, spend, payments)
