"""Making a control plane's tables, and refusing one that lacks what we ask of it."""

from sqlalchemy import Connection, inspect

from automemory_dagster.adapters.control_plane.table import metadata
from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.migration import Migrations, migrate, schema_revision
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA
from automemory_dagster.domain.errors import SettingsError

HEAD = "0001"
"""The revision this version works with; a test compares it with the newest migration."""

CONTROL_PLANE = Migrations(
    location="automemory_dagster.adapters.control_plane:migrations",
    head=HEAD,
    version_table="alembic_version_control_plane",
    subject="control plane",
    # The database holds the state store's tables, and may hold views of the control plane's own.
    may_join_others=True,
)


def init_control_plane(database: Database) -> tuple[str, ...]:
    """Make what is not there yet; give the names of all the tables. Idempotent.

    A table or view of the same name is taken as it is, and must have every column.

    Raises:
        SettingsError: a table or view lacks a column; nothing was changed.
        StateSchemaMismatch: a newer version made them; nothing was changed.
        StateUnavailable: the database cannot be used now; nothing was changed.
    """
    with database.reading() as connection:
        problems = _missing_columns(connection)
    if problems:
        raise SettingsError(
            "The control plane's tables cannot be used; nothing was changed. Columns are missing: "
            + "; ".join(problems)
        )
    migrate(database, CONTROL_PLANE)
    return tuple(metadata.tables)


def has_control_plane(database: Database) -> bool:
    """True when ``init_control_plane`` was run for this database."""
    return schema_revision(database, CONTROL_PLANE) is not None


def _missing_columns(connection: Connection) -> list[str]:
    schema = POSTGRES_SCHEMA if connection.dialect.name == "postgresql" else None
    inspector = inspect(connection)
    problems = []
    for table in metadata.tables.values():
        if not inspector.has_table(table.name, schema=schema):
            continue
        found = {column["name"] for column in inspector.get_columns(table.name, schema=schema)}
        if missing := [column.name for column in table.c if column.name not in found]:
            problems.append(f"{table.name} lacks {', '.join(missing)}")
    return problems
