"""The control plane's tables: made beside the state store's, or taken as they are."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError

from automemory_dagster.adapters.control_plane import has_control_plane, init_control_plane
from automemory_dagster.adapters.control_plane.migration import CONTROL_PLANE, HEAD
from automemory_dagster.adapters.control_plane.table import (
    auto_memory_audit,
    auto_memory_log,
    identity_memories,
    metadata,
    tasks,
    user_auto_memory_settings,
)
from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA
from automemory_dagster.domain.errors import SettingsError, StateSchemaMismatch

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[SqlStateStore]:
    """A state store of its own, without a control plane."""
    with open_state_store(request.getfixturevalue(f"{request.param}_url")) as store:
        yield store


@pytest.fixture
def database(store: SqlStateStore) -> Database:
    """One with a control plane."""
    init_control_plane(store.database)
    return store.database


def schema(database: Database) -> str | None:
    return POSTGRES_SCHEMA if database.is_postgres else None


def a_memory(**changes: Any) -> dict[str, Any]:
    values = {
        "id": "m1",
        "level": "project",
        "user_id": "ann",
        "project_id": "shop",
        "kind": "fact",
        "content": "Tests run with make test.",
        "source_thread_id": "t1",
        "source": "auto",
        "created_at": NOON,
    }
    return values | changes


def test_the_newest_migration_is_the_one_the_code_asks_for() -> None:
    config = Config()
    config.set_main_option("script_location", CONTROL_PLANE.location)
    config.set_main_option("path_separator", "os")

    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_the_tables_are_made_when_they_are_asked_for_and_not_before(store: SqlStateStore) -> None:
    assert not has_control_plane(store.database)

    names = init_control_plane(store.database)

    assert has_control_plane(store.database)
    assert {"users", "projects", "tasks", "task_followups", "user_quotas"} < set(names)
    found = inspect(store.database.engine).get_table_names(schema=schema(store.database))
    assert set(names) <= set(found)


def test_making_them_again_changes_nothing(database: Database) -> None:
    database.write(lambda c: c.execute(insert(identity_memories).values(a_memory())))

    init_control_plane(database)

    with database.reading() as connection:
        assert len(connection.execute(select(identity_memories)).all()) == 1


def test_the_state_store_opens_again_beside_them(
    request: pytest.FixtureRequest, store: SqlStateStore
) -> None:
    init_control_plane(store.database)

    with open_state_store(_url_of(store)) as again:
        assert has_control_plane(again.database)


def _url_of(store: SqlStateStore) -> str:
    engine = store.database.engine
    if store.database.is_postgres:
        return engine.url.render_as_string(hide_password=False)
    with engine.connect() as connection:
        return f"sqlite:///{connection.exec_driver_sql('PRAGMA database_list').first()[2]}"


def test_the_migrations_make_the_tables_that_the_code_knows(database: Database) -> None:
    with database.engine.connect() as connection:
        assert _differences(connection, database) == []


def _differences(connection: Connection, database: Database) -> list[Any]:
    if database.is_postgres:
        connection.execute(text(f"SET search_path TO {POSTGRES_SCHEMA}"))
        connection.dialect.default_schema_name = POSTGRES_SCHEMA
    ours = set(metadata.tables)
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, _: kind != "table" or name in ours,
    }
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


def test_every_constraint_the_code_names_is_there(database: Database) -> None:
    inspector = inspect(database.engine)
    for table in metadata.tables.values():
        found = {
            check["name"]
            for check in inspector.get_check_constraints(table.name, schema=schema(database))
        }
        wanted = {
            constraint.name for constraint in table.constraints if "ck_" in str(constraint.name)
        }
        assert wanted <= found


def test_a_view_of_a_control_plane_with_other_names_is_taken_as_it_is(
    store: SqlStateStore,
) -> None:
    prefix = f"{POSTGRES_SCHEMA}." if store.database.is_postgres else ""
    with store.database.engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE {prefix}accounts (account TEXT, label TEXT)"))
        connection.execute(
            text(
                f"CREATE VIEW {prefix}users AS "
                f"SELECT account AS id, label AS name FROM {prefix}accounts"
            )
        )
        connection.execute(text(f"INSERT INTO {prefix}accounts VALUES ('ann', 'Ann')"))

    init_control_plane(store.database)

    with store.database.reading() as connection:
        assert connection.execute(select(metadata.tables["users"])).one() == ("ann", "Ann")


def test_a_view_that_lacks_a_column_is_refused_by_name_and_nothing_is_made(
    store: SqlStateStore,
) -> None:
    prefix = f"{POSTGRES_SCHEMA}." if store.database.is_postgres else ""
    with store.database.engine.begin() as connection:
        connection.execute(text(f"CREATE VIEW {prefix}users AS SELECT 'ann' AS id"))

    with pytest.raises(SettingsError, match="users lacks name"):
        init_control_plane(store.database)

    assert not has_control_plane(store.database)


def test_a_newer_control_plane_is_refused(database: Database) -> None:
    prefix = f"{POSTGRES_SCHEMA}." if database.is_postgres else ""
    newer = f"UPDATE {prefix}alembic_version_control_plane SET version_num = '9999'"
    database.write(lambda connection: connection.execute(text(newer)))

    with pytest.raises(StateSchemaMismatch, match=r"control plane.*revision 9999"):
        init_control_plane(database)


def test_a_moment_comes_back_in_utc_whatever_its_zone(database: Database) -> None:
    tokyo = datetime(2026, 12, 1, 21, 0, 0, 5, tzinfo=timezone(timedelta(hours=9)))
    database.write(
        lambda c: c.execute(insert(identity_memories).values(a_memory(created_at=tokyo)))
    )

    with database.reading() as connection:
        found = connection.execute(select(identity_memories.c.created_at)).scalar_one()

    assert found == datetime(2026, 12, 1, 12, 0, 0, 5, tzinfo=UTC)
    assert found.utcoffset() == timedelta(0)


def test_a_moment_without_zone_is_refused(database: Database) -> None:
    naive = NOON.replace(tzinfo=None)

    with pytest.raises(Exception, match="time zone"):
        database.write(
            lambda c: c.execute(insert(identity_memories).values(a_memory(created_at=naive)))
        )


def test_sqlite_refuses_a_moment_in_another_form(sqlite_url: str) -> None:
    with open_state_store(sqlite_url) as store:
        init_control_plane(store.database)
        with (
            pytest.raises(IntegrityError, match="created_at"),
            store.database.engine.begin() as connection,
        ):
            connection.execute(
                text(
                    "INSERT INTO tasks (id, user_id, project_id, status, prompt, created_at, "
                    "updated_at) VALUES ('t', 'u', 'p', 'queued', '', '2026-12-01T12:00:00Z', "
                    "'2026-12-01 12:00:00.000000')"
                )
            )


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"level": "user", "project_id": None}, "of_user"),
        ({"level": "user", "source": "manual"}, "of_user"),
        ({"level": "user", "source": "manual", "user_id": None, "project_id": None}, "of_user"),
        ({"project_id": None}, "of_project"),
        ({"source_thread_id": None}, "automatic"),
        ({"level": "team"}, "level"),
        ({"source": "guess"}, "source"),
        ({"content": ""}, "content"),
    ],
)
def test_a_memory_that_breaks_a_promise_is_refused_by_the_database(
    database: Database, changes: dict[str, Any], constraint: str
) -> None:
    with (
        pytest.raises(IntegrityError, match=f"ck_identity_memories_{constraint}"),
        database.engine.begin() as connection,
    ):
        connection.execute(insert(identity_memories).values(a_memory(**changes)))


def test_a_task_has_one_live_automatic_memory_and_any_number_of_others(
    database: Database,
) -> None:
    rows = [
        a_memory(id="old", superseded_by="live"),
        a_memory(id="gone", deleted_at=NOON),
        a_memory(id="by hand", source="manual"),
        a_memory(id="live"),
    ]
    database.write(lambda c: c.execute(insert(identity_memories), _same_keys(rows)))

    with (
        pytest.raises(IntegrityError, match=r"source_thread_id|by_thread"),
        database.engine.begin() as connection,
    ):
        connection.execute(insert(identity_memories).values(a_memory(id="twin")))


def _same_keys(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {name for row in rows for name in row}
    return [{name: row.get(name) for name in names} for row in rows]


def test_settings_that_are_not_said_are_the_defaults(database: Database) -> None:
    database.write(lambda c: c.execute(insert(user_auto_memory_settings).values(user_id="ann")))

    with database.reading() as connection:
        row = connection.execute(select(user_auto_memory_settings)).one()

    assert row == ("ann", False, False, True, 20, 900, 30, 200, None, None, "newest")


@pytest.mark.parametrize("table", metadata.tables.values(), ids=lambda table: table.name)
def test_no_column_is_left_untyped(table: Table) -> None:
    assert all(str(column.type) != "NULL" for column in table.c)


def test_both_metadata_share_no_name() -> None:
    from automemory_dagster.adapters.state.table import metadata as state

    assert not set(metadata.tables) & set(state.tables)
    assert isinstance(state, MetaData)
    assert {auto_memory_log.name, auto_memory_audit.name, tasks.name} <= set(metadata.tables)
