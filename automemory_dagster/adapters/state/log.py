"""The extraction log, one row a thread."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, select, text

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import entry_of, entry_values
from automemory_dagster.adapters.state.schedule import write_looks
from automemory_dagster.adapters.state.statement import upsert
from automemory_dagster.adapters.state.table import HAS_USER, extraction_log
from automemory_dagster.domain.cloud import task_of
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.thread import SpaceId, ThreadId


class SqlLog:
    """The log's part of the ``OutputStore`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self,
        entries: Sequence[LogEntry],
        *,
        looks: Mapping[ThreadId, datetime | None] | None = None,
    ) -> None:
        """The last of several entries of one thread stays."""

        def work(connection: Connection) -> None:
            write_looks(connection, looks or {})
            write_entries(connection, entries)

        if entries or looks:
            self._database.write(work)

    def log(
        self,
        *,
        space_id: SpaceId | None = None,
        thread_id: ThreadId | None = None,
        user_id: str | None = None,
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
        if user_id is not None:
            query = query.where(rows.user_id == user_id, text(HAS_USER))
        if since is not None:
            query = query.where(rows.logged_at >= since)
        with self._database.reading() as connection:
            return [entry_of(row) for row in connection.execute(query).mappings()]


def write_entries(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Overwrite the log rows of these threads."""
    latest = {entry.thread_id: entry for entry in entries}
    upsert(connection, extraction_log, [entry_values(entry) for _, entry in sorted(latest.items())])
    if tasks := [entry for entry in latest.values() if task_of(entry.thread_id) is not None]:
        # Imported here: those tables are made of this package's columns.
        from automemory_dagster.adapters.control_plane.task_log import write_task_log

        write_task_log(connection, tasks)
