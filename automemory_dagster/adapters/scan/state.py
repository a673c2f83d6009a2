"""The state store's texts: every text column of every table.

A published file's text is stored under its hash, so a rewritten one moves to another row.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, select, text, update

from automemory_dagster.adapters.scan.rows import (
    Change,
    RowKey,
    TextTable,
    cells,
    rewrite_cell,
)
from automemory_dagster.adapters.scan.sqlite_pages import rewrite_pages
from automemory_dagster.adapters.state.column import CleanText, Identifier, JsonObject
from automemory_dagster.adapters.state.engine import Database, translated_errors
from automemory_dagster.adapters.state.statement import insert_new
from automemory_dagster.adapters.state.table import (
    POSTGRES_SCHEMA,
    memory_contents,
    memory_files,
    metadata,
)
from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.ports import StoredValue

PLACE = "state store"


class StateTexts:
    """``StoredTexts`` over the state store."""

    def __init__(self, database: Database, *, sqlite_file: Path | None) -> None:
        """``sqlite_file``: None for PostgreSQL."""
        self._database = database
        self._sqlite_file = sqlite_file
        self._tables = {table.name: _text_table(table) for table in metadata.sorted_tables}

    def values(self) -> Iterator[StoredValue]:
        """By table, then by row."""
        for table in self._tables.values():
            with self._database.reading() as connection:
                for key, value in cells(connection, table):
                    where = f"{key.table}.{key.column}"
                    yield StoredValue(place=PLACE, where=where, value=value, key=key)

    def rewrite(self, key: object, change: Change) -> None:
        """One transaction a cell. Identifiers stay: other rows and files go by them."""
        assert isinstance(key, RowKey)
        table = self._tables[key.table]
        if key.table == memory_contents.name and key.column == memory_contents.c.text.name:
            self._database.write(lambda connection: _rewrite_content(connection, key, change))
        elif key.column not in table.fixed:
            self._database.write(lambda connection: rewrite_cell(connection, table, key, change))

    def scrub(self) -> None:
        """SQLite is written anew; PostgreSQL frees its dead rows."""
        if self._sqlite_file is not None:
            rewrite_pages(self._sqlite_file)
            return
        engine = self._database.engine.execution_options(isolation_level="AUTOCOMMIT")
        with translated_errors(self._database.label), engine.connect() as connection:
            for name in self._tables:
                connection.execute(text(f"VACUUM FULL {POSTGRES_SCHEMA}.{name}"))


def _text_table(table: Table) -> TextTable:
    texts = [c.name for c in table.columns if isinstance(c.type, CleanText | JsonObject)]
    fixed = frozenset(c.name for c in table.columns if isinstance(c.type, Identifier))
    return TextTable(table, table.name, list(table.primary_key.columns), texts, fixed)


def _rewrite_content(connection: Connection, key: RowKey, change: Change) -> None:
    row: dict[str, Any] = dict(
        zip(memory_contents.primary_key.columns.keys(), key.row, strict=True)
    )
    space_id, digest = row["space_id"], row["sha256"]
    is_content = (memory_contents.c.space_id == space_id) & (memory_contents.c.sha256 == digest)
    old = connection.execute(select(memory_contents.c.text).where(is_content)).scalar_one_or_none()
    new = clean_text(str(change(old))) if old is not None else None
    if new is None or new == old:
        return
    new_digest = sha256(new.encode()).hexdigest()
    insert_new(
        connection, memory_contents, [{"space_id": space_id, "sha256": new_digest, "text": new}]
    )
    connection.execute(
        update(memory_files)
        .where(memory_files.c.space_id == space_id, memory_files.c.sha256 == digest)
        .values(sha256=new_digest)
    )
    connection.execute(delete(memory_contents).where(is_content))
