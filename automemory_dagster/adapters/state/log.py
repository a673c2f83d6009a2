"""The extraction log, one row a thread."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import entry_of, entry_values
from automemory_dagster.adapters.state.statement import upsert
from automemory_dagster.adapters.state.table import extraction_log
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


def write_entries(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Overwrite the log rows of these threads."""
    latest = {entry.thread_id: entry for entry in entries}
    upsert(connection, extraction_log, [entry_values(entry) for _, entry in sorted(latest.items())])
