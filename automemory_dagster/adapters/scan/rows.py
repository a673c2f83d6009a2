"""Text columns of tables, read in pages by primary key and rewritten row by row."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, and_, select, tuple_, update

PAGE = 200
"""Rows a query: published files and events are large."""

Change = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class RowKey:
    """One cell: the table, the values of its primary key, the column."""

    table: str
    row: tuple[Any, ...]
    column: str


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table, its primary key and the columns that hold text."""

    table: FromClause
    name: str
    key: Sequence[ColumnElement[Any]]
    texts: Sequence[str]
    fixed: frozenset[str] = frozenset()
    """Text columns that name something: looked at, never rewritten."""


def cells(connection: Connection, table: TextTable) -> Iterator[tuple[RowKey, Any]]:
    """Every text of a table, by primary key; rows that are written meanwhile may be left out."""
    columns = [table.table.c[name] for name in table.texts]
    last: tuple[Any, ...] | None = None
    while True:
        query = select(*table.key, *columns).order_by(*table.key).limit(PAGE)
        if last is not None:
            query = query.where(tuple_(*table.key) > tuple_(*last))
        rows = connection.execute(query).all()
        for row in rows:
            key = tuple(row[: len(table.key)])
            for name, value in zip(table.texts, row[len(table.key) :], strict=True):
                if value:
                    yield RowKey(table.name, key, name), value
        if len(rows) < PAGE:
            return
        last = tuple(rows[-1][: len(table.key)])


def rewrite_cell(connection: Connection, table: TextTable, key: RowKey, change: Change) -> None:
    """Change one cell in the caller's transaction; nothing happens when its row is gone."""
    column = table.table.c[key.column]
    is_row = and_(*(part == value for part, value in zip(table.key, key.row, strict=True)))
    found = connection.execute(select(column).where(is_row).with_for_update()).one_or_none()
    if found is None or found[0] is None:
        return
    new = change(found[0])
    if new != found[0]:
        connection.execute(update(table.table).where(is_row).values({key.column: new}))  # type: ignore[arg-type]


def parsed(text: str) -> object:
    """The JSON value that a text is, or the text when it is none."""
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def in_json(change: Change) -> Change:
    """The same change for a text that may be JSON: made on the value, so that it stays JSON."""

    def changed(text: object) -> object:
        value = parsed(text) if isinstance(text, str) else text
        new = change(value)
        if new == value:
            return text
        return new if isinstance(value, str) else json.dumps(new)

    return changed
