"""The whole state store of one database, and how it is opened."""

from collections.abc import Callable
from types import TracebackType

from automemory_dagster.adapters.state.catalogue import SqlCatalogue
from automemory_dagster.adapters.state.engine import (
    Database,
    postgres_database,
    sqlite_database,
)
from automemory_dagster.adapters.state.ledger import SqlLedger
from automemory_dagster.adapters.state.location import sqlite_path, store_location_label
from automemory_dagster.adapters.state.log import SqlLog
from automemory_dagster.adapters.state.migration import PACKAGED, Migrations, migrate
from automemory_dagster.adapters.state.output import SqlOutputs
from automemory_dagster.adapters.state.publication import SqlPublications
from automemory_dagster.adapters.state.schedule import SqlSchedule
from automemory_dagster.adapters.state.scope import SqlScopes
from automemory_dagster.adapters.state.spend import SqlSpend


def _nobody() -> str:
    return ""


class SqlStateStore(
    SqlCatalogue,
    SqlSchedule,
    SqlLedger,
    SqlOutputs,
    SqlLog,
    SqlPublications,
    SqlScopes,
    SqlSpend,
):
    """The ``StateStore`` on SQLite or PostgreSQL. Share one a process; safe from many threads.

    Every method raises ``StateUnavailable`` when the database is locked, gone or unreachable;
    nothing is stored then.
    """

    def __init__(self, database: Database, *, worker: Callable[[], str] = _nobody) -> None:
        super().__init__(database)
        self._worker = worker

    @property
    def label(self) -> str:
        """Where it is, for people; no password."""
        return self._database.label

    @property
    def database(self) -> Database:
        """The connections, for tests and for ``automemory scan``."""
        return self._database

    def close(self) -> None:
        """Close every connection. The store can be used again, which opens new ones."""
        self._database.close()

    def __enter__(self) -> "SqlStateStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_state_store(
    url: str,
    *,
    wait_seconds: float = 30.0,
    migrations: Migrations = PACKAGED,
    worker: Callable[[], str] = _nobody,
) -> SqlStateStore:
    """Open a state store and bring its schema up to date. Safe when many processes start at once.

    ``url``: ``sqlite:///path/to/file`` (made when it is not there; its folder must be) or
    ``postgresql://…`` (the database must be there; our tables get the schema ``automemory``).
    ``wait_seconds``: how long a statement waits for another one's lock. ``worker``: names this
    process on what it sets aside.

    Raises:
        SettingsError: the URL cannot be read.
        StateSchemaMismatch: a newer version of this program wrote it; nothing was changed.
        StateUnavailable: locked, gone or unreachable; nothing was changed.
    """
    label = store_location_label(url)
    path = sqlite_path(url)
    if path is None:
        database = postgres_database(url, label=label, wait_seconds=wait_seconds)
    else:
        database = sqlite_database(path, label=label, wait_seconds=wait_seconds)
    try:
        migrate(database, migrations)
    except BaseException:
        database.close()
        raise
    return SqlStateStore(database, worker=worker)
