"""Connections: how a transaction begins, waits and fails on each database.

The trap: a transaction that reads first and locks later. Every writing transaction here holds its
lock before it reads, so that what it decides on is still true when it writes.
"""

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, exc, pool, text

from automemory_dagster.adapters.state.location import postgres_url
from automemory_dagster.adapters.state.sqlite_file import file_identity, prepare_sqlite_file
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA
from automemory_dagster.domain.errors import PermanentError, StateUnavailable

T = TypeVar("T")

_WRITES = "automemory_writes"
_ATTEMPTS = 4
_RETRIED_STATES = frozenset({"40001", "40P01"})
"""PostgreSQL: serialization failure, deadlock. Both undo the transaction and may be run again."""


class Database:
    """One database with its connections. Share one a process; safe from many threads."""

    def __init__(self, engine: Engine, *, label: str, wait_seconds: float) -> None:
        self.engine = engine
        self.label = label
        self.is_postgres = engine.dialect.name == "postgresql"
        self._wait_seconds = wait_seconds
        self._writing = engine.execution_options(**{_WRITES: True})
        self._turn = threading.Lock()
        # A process that ends in order closes its connections, so that SQLite folds the log into
        # the file and a copy of the file alone holds everything.
        weakref.finalize(self, engine.dispose)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One read transaction.

        Raises:
            StateUnavailable: locked, gone or unreachable.
        """
        with self._translated(), self.engine.begin() as connection:
            yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one write transaction: all of it is stored, or nothing.

        ``work`` is run again when the database undid it for a deadlock, so it has no other effects.

        Raises:
            StateUnavailable: locked, gone or unreachable; nothing was stored.
        """
        with self._translated(), self._my_turn():
            for _ in range(_ATTEMPTS - 1):
                try:
                    return self._write_once(work)
                except exc.DBAPIError as error:
                    if getattr(error.orig, "pgcode", None) not in _RETRIED_STATES:
                        raise
            return self._write_once(work)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _write_once(self, work: Callable[[Connection], T]) -> T:
        with self._writing.begin() as connection:
            if self.is_postgres:
                wait = f"{int(self._wait_seconds * 1000)}ms"
                connection.execute(text(f"SET LOCAL lock_timeout = '{wait}'"))
            return work(connection)

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        # SQLite lets waiting writers poll with growing sleeps; the threads of one process queue
        # here instead and get the lock the moment it is free.
        if self.is_postgres:
            yield
            return
        if not self._turn.acquire(timeout=self._wait_seconds):
            raise StateUnavailable(f"The state store ({self.label}) is busy; try again later.")
        try:
            yield
        finally:
            self._turn.release()

    def _translated(self) -> AbstractContextManager[None]:
        return translated_errors(self.label)


@contextmanager
def translated_errors(label: str) -> Iterator[None]:
    """Turn the library's errors into ours. The statement and its values stay out of the message."""
    try:
        yield
    except (exc.IntegrityError, exc.DataError) as error:
        raise PermanentError(
            f"The state store ({label}) refused what was to be stored; nothing was changed. "
            f"It says: {_first_line(error)}"
        ) from error
    except (exc.DBAPIError, exc.TimeoutError) as error:
        raise StateUnavailable(
            f"The state store ({label}) cannot be used now; nothing was changed. "
            f"It says: {_first_line(error)}"
        ) from error


def sqlite_database(path: Path, *, label: str, wait_seconds: float) -> Database:
    """A database in a file, made now when it is not there.

    Lost later, it is an error and not a new empty store.
    """
    prepare_sqlite_file(path, label=label, wait_seconds=wait_seconds)

    def connect() -> sqlite3.Connection:
        _refuse_lost_file(path)
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",
            uri=True,
            timeout=wait_seconds,
            # The driver's own BEGIN comes too late and is never immediate: see _begin.
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        # With a write-ahead log a power cut may lose the last transactions and never damages the
        # file; a lost claim or output is made again, so the fsync a commit would cost is saved.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=pool.QueuePool, pool_size=8, max_overflow=-1
    )
    event.listen(engine, "begin", _begin)
    event.listen(engine, "connect", lambda _, record: _remember_file(path, record))
    event.listen(
        engine, "checkout", lambda _, record, proxy: _refuse_stale_connection(path, record)
    )
    return Database(engine, label=label, wait_seconds=wait_seconds)


def postgres_database(url: str, *, label: str, wait_seconds: float) -> Database:
    """A database on a server."""
    engine = create_engine(
        postgres_url(url),
        # Each statement must see what was committed before it, even while it waited for a lock.
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_size=5,
        max_overflow=20,
        pool_timeout=wait_seconds,
        # Many rows go in a few messages; one by one, a server a millisecond away costs it a row.
        executemany_mode="values_plus_batch",
        connect_args={"connect_timeout": 10, "application_name": "automemory"},
        # Names the schema in every statement: a search_path would be lost behind a pooler.
        execution_options={"schema_translate_map": {None: POSTGRES_SCHEMA}},
        hide_parameters=True,
    )
    return Database(engine, label=label, wait_seconds=wait_seconds)


def _begin(connection: Connection) -> None:
    # SQLite takes its write lock at the first write. With a plain BEGIN two workers can both read
    # "unclaimed", and the second fails when it writes; BEGIN IMMEDIATE makes it wait before.
    is_writing = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _remember_file(path: Path, record: pool.ConnectionPoolEntry) -> None:
    record.info["file"] = file_identity(path)


def _refuse_lost_file(path: Path) -> None:
    if file_identity(path) is None:
        raise StateUnavailable(f"The state store's file {path} is gone; nothing was changed.")


def _refuse_stale_connection(path: Path, record: pool.ConnectionPoolEntry) -> None:
    # An open connection to a deleted file goes on writing to nowhere.
    _refuse_lost_file(path)
    if file_identity(path) != record.info["file"]:
        raise exc.DisconnectionError("the file was replaced")


def _first_line(error: Exception) -> str:
    cause: Any = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
