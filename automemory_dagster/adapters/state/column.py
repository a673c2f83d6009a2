"""The column types: what a value becomes on its way into a database and back.

The trap: a database that hands back something other than what was stored (a moment without zone,
cut to milliseconds; a text sorted by a locale) makes two databases behave differently. Moments are
microseconds since 1970 in UTC, a thread's version is whole seconds, keys sort by code point.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from automemory_dagster.adapters.state.text import clean_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)


class CleanText(TypeDecorator[str]):
    """Text without what databases refuse. Every text column is one."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Clean what goes in."""
        return None if value is None else clean_text(value)


class Identifier(CleanText):
    """A key. Compares and sorts by code point on both databases, whatever the locale."""

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """PostgreSQL sorts by its locale unless told otherwise; SQLite by bytes."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(Text(collation=collation))


class Moment(TypeDecorator[datetime]):
    """An aware moment, exact to the microsecond."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Microseconds since 1970; a moment without zone raises ``TypeError``."""
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """UTC."""
        return None if value is None else _EPOCH + value * _MICROSECOND


class WholeSecond(TypeDecorator[datetime]):
    """An aware moment cut to the second: the version of a rollout, comparable with a watermark."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Seconds since 1970; a moment without zone raises ``TypeError``."""
        return None if value is None else whole_seconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """UTC."""
        return None if value is None else _EPOCH + value * _SECOND


class JsonObject(TypeDecorator[Mapping[str, Any]]):
    """A small flat object as text; never searched by the database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> str | None:
        """Compact. Cleaned before it is written as JSON: an escape would hide what is refused."""
        if value is None:
            return None
        clean = {clean_text(key): _clean(item) for key, item in value.items()}
        return json.dumps(clean, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any] | None:
        """A plain dictionary."""
        return None if value is None else json.loads(value)


def whole_seconds(moment: datetime) -> int:
    """Unix seconds, cut, of an aware moment."""
    return (moment - _EPOCH) // _SECOND


def _clean(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value
