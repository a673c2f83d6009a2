"""Tables and JSON that look alike in every command."""

import json
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

_WHOLE = ("at (UTC)", "thread", "outcome", "reason", "gate")
"""Columns that lose their use when they are broken over lines."""


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> Group:
    """A table under its title; cells are taken literally, since brackets in them are no markup."""
    built = Table(header_style="bold", box=None, pad_edge=False)
    for header in headers:
        is_number = bool(rows) and all(
            isinstance(row[len(built.columns)], int | float) for row in rows
        )
        built.add_column(
            header,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=header in _WHOLE,
        )
    for row in rows:
        built.add_row(*(Text(str(cell)) for cell in row))
    return Group(Text(title, style="italic"), built)


def print_json(console: Console, value: object) -> None:
    """JSON on standard output, never wrapped or coloured, so that another program reads it."""
    console.out(json.dumps(value, indent=2, ensure_ascii=False, default=str), highlight=False)


def moment(value: datetime | None) -> str:
    """A moment for people, UTC."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if value else "never"


def iso(value: datetime | None) -> str | None:
    """A moment for programs."""
    return value.isoformat() if value else None


def plural(count: int, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
