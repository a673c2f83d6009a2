"""Dagster's own storage: events, runs, tags, ticks, on SQLite (many files) or PostgreSQL.

It is read by its table names, since only the layer above may import Dagster; a test compares them
with Dagster's schema. Bodies are JSON and are changed as values, so that Dagster still reads them.
"""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, LargeBinary, column, create_engine, exc, inspect, pool, table, text

from automemory_dagster.adapters.scan.rows import (
    Change,
    RowKey,
    TextTable,
    cells,
    in_json,
    parsed,
    rewrite_cell,
)
from automemory_dagster.adapters.scan.sqlite_pages import rewrite_pages, sqlite_files
from automemory_dagster.adapters.state.engine import translated_errors
from automemory_dagster.adapters.state.location import postgres_url, store_location_label
from automemory_dagster.ports import StoredValue

PLACE = "Dagster"

BODIES: Mapping[str, tuple[str, ...]] = {
    "asset_check_executions": ("evaluation_event",),
    "asset_daemon_asset_evaluations": ("asset_evaluation_body",),
    "asset_event_tags": ("value",),
    "asset_keys": ("last_materialization", "asset_details", "tags", "cached_status_data"),
    "backfill_tags": ("value",),
    "bulk_actions": ("body",),
    "daemon_heartbeats": ("body",),
    "dynamic_partitions": (),
    "event_logs": ("event",),
    "instigators": ("instigator_body",),
    "job_ticks": ("tick_body",),
    "jobs": ("job_body",),
    "kvs": ("value",),
    "run_tags": ("value",),
    "runs": ("run_body",),
    "snapshots": ("snapshot_body",),
}
"""What is rewritten; every table has the primary key ``id``."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "asset_check_executions": ("partition",),
    "asset_event_tags": ("key",),
    "asset_keys": ("asset_key",),
    "dynamic_partitions": ("partition",),
    "event_logs": ("partition", "step_key"),
    "kvs": ("key",),
    "run_tags": ("key",),
    "runs": ("pipeline_name", "partition"),
}
"""What is looked at and left, since other rows go by it."""

_COMPRESSED = "snapshot_body"


@dataclass(frozen=True, slots=True)
class _Cell:
    file: Path | None
    """None on PostgreSQL."""
    key: RowKey


class DagsterTexts:
    """``StoredTexts`` over Dagster's storage."""

    def __init__(self, folder: Path, *, database_url: str | None) -> None:
        """``folder``: Dagster's home, for SQLite; ``database_url``: None unless on PostgreSQL."""
        self._folder = folder
        self._url = database_url
        self._label = store_location_label(database_url) if database_url else "SQLite"

    def values(self) -> Iterator[StoredValue]:
        """By database, table and row."""
        for file in self._files():
            try:
                yield from self._values_in(file)
            except (exc.DatabaseError, sqlite3.Error) as error:
                # Of the driver's words only the kind: they may repeat a row.
                problem = f"could not be read ({type(error).__name__})"
                where = self._where(file)
                yield StoredValue(place=PLACE, where=where, value="", key=None, problem=problem)

    def rewrite(self, key: object, change: Change) -> None:
        """One transaction a cell."""
        assert isinstance(key, _Cell)
        found = _TABLES[key.key.table]
        if key.key.column in found.fixed:
            return
        new = _in_zlib(in_json(change)) if key.key.column == _COMPRESSED else in_json(change)
        with self._engine(key.file) as engine, engine.begin() as connection:
            rewrite_cell(connection, found, key.key, new)

    def scrub(self) -> None:
        """Each SQLite file is written anew; PostgreSQL frees its dead rows."""
        for file in self._files():
            if file is not None:
                rewrite_pages(file)
                continue
            with self._engine(None) as engine:
                autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
                with autocommit.connect() as connection:
                    for name in _present(engine):
                        connection.execute(text(f"VACUUM FULL {name}"))

    def _files(self) -> Iterator[Path | None]:
        if self._url is not None:
            yield None
        yield from sqlite_files(self._folder)

    def _values_in(self, file: Path | None) -> Iterator[StoredValue]:
        with self._engine(file) as engine, engine.connect() as connection:
            for name in _present(engine):
                for key, value in cells(connection, _TABLES[name]):
                    where = f"{name}.{key.column}"
                    yield _stored(where, value, _Cell(file, key))

    def _where(self, file: Path | None) -> str:
        return str(file.relative_to(self._folder)) if file else self._label

    @contextmanager
    def _engine(self, file: Path | None) -> Iterator[Engine]:
        engine = _sqlite_engine(file) if file else _postgres_engine(self._url or "")
        try:
            if file:
                yield engine
                return
            with translated_errors(self._label):
                yield engine
        finally:
            engine.dispose()


def _text_table(name: str) -> TextTable:
    texts = (*BODIES[name], *NAMES.get(name, ()))
    typed = [column(each, LargeBinary) if each == _COMPRESSED else column(each) for each in texts]
    found = table(name, column("id"), *typed)
    return TextTable(found, name, [found.c.id], texts, frozenset(NAMES.get(name, ())))


_TABLES = {name: _text_table(name) for name in BODIES}


def _present(engine: Engine) -> list[str]:
    return sorted(_TABLES.keys() & set(inspect(engine).get_table_names()))


def _stored(where: str, value: Any, key: _Cell) -> StoredValue:
    if key.key.column == _COMPRESSED:
        try:
            value = zlib.decompress(bytes(value)).decode("utf-8", "surrogateescape")
        except zlib.error:
            problem = "is not compressed as Dagster does it"
            return StoredValue(place=PLACE, where=where, value="", key=key, problem=problem)
    value = parsed(value) if isinstance(value, str) else value
    return StoredValue(place=PLACE, where=where, value=value, key=key)


def _in_zlib(change: Change) -> Change:
    def changed(blob: object) -> object:
        assert isinstance(blob, bytes | memoryview)
        old = zlib.decompress(bytes(blob)).decode("utf-8", "surrogateescape")
        new = str(change(old))
        return blob if new == old else zlib.compress(new.encode("utf-8", "surrogateescape"))

    return changed


def _sqlite_engine(file: Path) -> Engine:
    return create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(file, timeout=30.0),
        poolclass=pool.NullPool,
        hide_parameters=True,
    )


def _postgres_engine(url: str) -> Engine:
    return create_engine(
        postgres_url(url),
        poolclass=pool.NullPool,
        connect_args={"connect_timeout": 10, "application_name": "automemory scan"},
        hide_parameters=True,
    )
