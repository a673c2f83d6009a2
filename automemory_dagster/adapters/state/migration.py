"""Bringing a database to this version's schema, once, whoever starts first.

The trap: two processes that start together and both create the tables. The check and the change
are one transaction under one lock, and both databases undo a schema change that fails half-way.
"""

import threading
from dataclasses import dataclass

from sqlalchemy import Connection, inspect, text

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA
from automemory_dagster.domain.errors import StateSchemaMismatch

HEAD = "0003"
"""The revision this version works with; a test compares it with the newest migration."""

VERSION_TABLE = "alembic_version"

_LOCK = (0x6D656D6F, 1)
"""Advisory lock of migrations on PostgreSQL; two numbers that nobody else is likely to use."""

# Alembic keeps the running migration in module globals, so threads take turns.
_alembic_turn = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """One set of tables: where its migrations are and which is the newest."""

    location: str = "automemory_dagster.adapters.state:migrations"
    head: str = HEAD
    version_table: str = VERSION_TABLE
    subject: str = "state store"
    """What people call it."""
    may_join_others: bool = False
    """False: a database that holds tables and no version of this set is another program's."""


PACKAGED = Migrations()
"""The ones that come with this version."""


def migrate(database: Database, migrations: Migrations) -> None:
    """Bring the schema to the head; one query when it is there already. Idempotent.

    Raises:
        StateSchemaMismatch: a newer version wrote it, or it is another program's; unchanged.
        StateUnavailable: it cannot be used now; unchanged.
    """
    if schema_revision(database, migrations) == migrations.head:
        return
    with _alembic_turn:
        database.write(lambda connection: _upgrade(connection, migrations, database.label))


def schema_revision(database: Database, migrations: Migrations = PACKAGED) -> str | None:
    """The revision of a set of tables, or None when there are none of it."""
    with database.reading() as connection:
        return _revision(connection, migrations.version_table)


def _upgrade(connection: Connection, migrations: Migrations, label: str) -> None:
    # Imported here: a process that finds the schema in place need not pay for Alembic.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        _prepare_postgres(connection)
    config = Config(
        attributes={"connection": connection, "version_table": migrations.version_table}
    )
    config.set_main_option("script_location", migrations.location)
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    _refuse_foreign(connection, known, migrations, label)
    command.upgrade(config, migrations.head)


def _prepare_postgres(connection: Connection) -> None:
    connection.execute(
        text("SELECT pg_advisory_xact_lock(:space, :number)"),
        {"space": _LOCK[0], "number": _LOCK[1]},
    )
    # IF NOT EXISTS asks for the right to create even when there is nothing to create.
    if not inspect(connection).has_schema(POSTGRES_SCHEMA):
        connection.execute(text(f"CREATE SCHEMA {POSTGRES_SCHEMA}"))
    # Dagster has an alembic_version of its own in the public schema: it must be out of sight.
    connection.execute(text(f"SET LOCAL search_path TO {POSTGRES_SCHEMA}"))


def _refuse_foreign(
    connection: Connection, known: set[str], migrations: Migrations, label: str
) -> None:
    revision = _revision(connection, migrations.version_table)
    holds_tables = not migrations.may_join_others and inspect(connection).get_table_names(
        schema=_schema(connection)
    )
    if revision is None and holds_tables:
        raise StateSchemaMismatch(
            f"The database ({label}) holds another program's tables; nothing was changed. "
            f"Name another one for the {migrations.subject}."
        )
    if revision is not None and revision not in known:
        raise StateSchemaMismatch(
            f"The {migrations.subject} ({label}) has schema revision {revision}, which this "
            f"version of automemory does not know (its own is {migrations.head}): a newer version "
            "wrote it. Nothing was changed. Install that version again, or name another database."
        )


def _revision(connection: Connection, version_table: str) -> str | None:
    schema = _schema(connection)
    if not inspect(connection).has_table(version_table, schema=schema):
        return None
    name = f"{schema}.{version_table}" if schema else version_table
    revision = connection.execute(text(f"SELECT version_num FROM {name}")).scalar_one_or_none()
    return None if revision is None else str(revision)


def _schema(connection: Connection) -> str | None:
    return POSTGRES_SCHEMA if connection.dialect.name == "postgresql" else None
