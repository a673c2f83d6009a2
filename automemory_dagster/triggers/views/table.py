"""Tables and JSON that look alike in every command.

What is shown was redacted when it was stored, maybe by rules that knew less: it is redacted again.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from automemory_dagster.adapters.secrets import redact

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
        built.add_row(*(Text(redact(str(cell))) for cell in row))
    return Group(Text(title, style="italic"), built)


def print_json(console: Console, value: object) -> None:
    """JSON on standard output, never wrapped or coloured, so that another program reads it."""
    shown = _redacted(value)
    console.out(json.dumps(shown, indent=2, ensure_ascii=False, default=str), highlight=False)


def _redacted(value: object) -> object:
    """Texts only: a name such as ``token`` in our own JSON says nothing about what it names."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {_redacted(key): _redacted(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item) for item in value]
    return value


def moment(value: datetime | None) -> str:
    """A moment for people, UTC."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if value else "never"


def iso(value: datetime | None) -> str | None:
    """A moment for programs."""
    return value.isoformat() if value else None


def plural(count: int, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
