"""Where the state store is, as a URL for the driver and as words for people.

The trap: a password in a message. Nothing here ever repeats a URL; people get a label made of the
parts that are no secret.
"""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from automemory_dagster.domain.errors import SettingsError

_SQLITE = "sqlite:///"
_POSTGRES_DRIVER = "postgresql+psycopg2"
_POSTGRES = ("postgresql", "postgres", _POSTGRES_DRIVER)


def normalise_url(url: str) -> str:
    """The URL with the driver that is installed: ``postgres://`` becomes ``postgresql+psycopg2://``.

    Other URLs come back as they are. The result may hold a password.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme in _POSTGRES:
        return f"{_POSTGRES_DRIVER}://{rest}"
    return url


def store_location_label(url: str) -> str:
    """Where the store is, for a person: file, or host, port and database; no password."""
    if (path := sqlite_path(url)) is not None:
        return f"SQLite at {path}"
    parts = postgres_url(url)
    host = parts.host or _first(parts.query.get("host")) or "the local socket"
    port = parts.port or _first(parts.query.get("port"))
    place = f"{host}:{port}" if port else host
    return f"PostgreSQL at {place}, database {parts.database or 'of the same name as the user'}"


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite URL, or None when it is no SQLite URL.

    Everything after ``sqlite:///`` is the path as it stands, so that any folder name works.

    Raises:
        SettingsError: a database in memory, which no second process could see.
    """
    if not url.startswith("sqlite:"):
        return None
    path = url.removeprefix(_SQLITE)
    if path in ("", ":memory:") or not url.startswith(_SQLITE):
        raise SettingsError("The state store needs a SQLite file, as in sqlite:///path/to/file.")
    return Path(path).absolute()


def postgres_url(url: str) -> URL:
    """The parts of a PostgreSQL URL.

    Raises:
        SettingsError: it is no PostgreSQL URL, or cannot be read as one.
    """
    try:
        parts = make_url(normalise_url(url))
    except (ArgumentError, ValueError):
        # Not chained: the cause may repeat the URL.
        parts = None
    if parts is None or parts.drivername != _POSTGRES_DRIVER:
        raise SettingsError(
            "The state store's URL cannot be used: it must be sqlite:///path or "
            "postgresql://user:password@host:port/database, with special characters in the "
            "password percent-encoded."
        )
    return parts


def _first(value: str | tuple[str, ...] | None) -> str | None:
    if isinstance(value, tuple):
        return value[0] if value else None
    return value
