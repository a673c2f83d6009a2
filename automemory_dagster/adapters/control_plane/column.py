"""The column types of a control plane, which other programs read and write too.

The trap: a moment as text that sorts wrongly. PostgreSQL has a type for it; on SQLite a moment is
UTC in one fixed form, ``2026-12-01 12:00:00.000000``, which sorts as time does, and a constraint of
the tables we make refuses any other form.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

SQLITE_MOMENT = "____-__-__ __:__:__.______"
"""The form of a moment on SQLite, as a LIKE pattern."""


class UtcMoment(TypeDecorator[datetime]):
    """An aware moment: ``timestamptz`` on PostgreSQL, text of a fixed form on SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text on SQLite."""
        is_postgres = dialect.name == "postgresql"
        return dialect.type_descriptor(DateTime(timezone=True) if is_postgres else Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """UTC; a moment without zone raises ``TypeError``."""
        if value is None:
            return None
        if value.utcoffset() is None:
            raise TypeError("a moment needs a time zone")
        moment = value.astimezone(UTC)
        return moment if dialect.name == "postgresql" else sqlite_moment(moment)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """UTC."""
        if value is None:
            return None
        # A view may hand out a moment without zone; the contract says that it is UTC.
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def sqlite_moment(moment: datetime) -> str:
    """A moment as SQLite's tables hold it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
