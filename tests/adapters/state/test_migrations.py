"""Schemas: made, brought up to date, or refused; never half of it."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.adapters.state.migration import HEAD, PACKAGED, Migrations
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA, metadata
from automemory_dagster.domain.errors import StateSchemaMismatch, StateUnavailable
from tests.adapters.state.builders import NOON, a_thread, an_id, extract
from tests.postgres import PostgresServer

NEXT = '''"""A later revision."""
import sqlalchemy as sa
from alembic import op

revision = "later"
down_revision = "HEAD"

def upgrade() -> None:
    with op.batch_alter_table("threads") as table:
        table.add_column(sa.Column("mood", sa.Text(), nullable=False, server_default="calm"))
    op.create_table("later", sa.Column("id", sa.Integer(), primary_key=True))
'''.replace("HEAD", HEAD)
BROKEN = NEXT + '    op.execute("INSERT INTO nowhere VALUES (1)")\n'


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "postgres":
        yield request.getfixturevalue("postgres_url")
    else:
        yield f"sqlite:///{tmp_path}/new.sqlite"


def later_migrations(folder: Path, source: str) -> Migrations:
    """The package's migrations and one more."""
    packaged = Path(ScriptDirectory.from_config(config()).dir)
    shutil.copytree(packaged, folder / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "migrations/versions/later.py").write_text(source)
    return Migrations(location=str(folder / "migrations"), head="later")


def config() -> Config:
    found = Config()
    found.set_main_option("script_location", PACKAGED.location)
    found.set_main_option("path_separator", "os")
    return found


def revision(store: SqlStateStore) -> str:
    schema = f"{POSTGRES_SCHEMA}." if store.database.is_postgres else ""
    with store.database.reading() as connection:
        found = connection.execute(text(f"SELECT version_num FROM {schema}alembic_version"))
        return str(found.scalar_one())


def execute(store: SqlStateStore, statement: str) -> None:
    schema = f"{POSTGRES_SCHEMA}." if store.database.is_postgres else ""
    store.database.write(lambda connection: connection.execute(text(statement.format(schema))))


def test_the_newest_migration_is_the_one_the_code_asks_for() -> None:
    assert ScriptDirectory.from_config(config()).get_heads() == [HEAD]


def test_an_empty_database_gets_every_table(url: str) -> None:
    with open_state_store(url) as store:
        assert revision(store) == HEAD
        assert list(store.thread_states()) == []


# The one index of an expression: SQLAlchemy cannot read it back from SQLite. The next test does.
@pytest.mark.filterwarnings("ignore:.*ix_threads_by_prefix")
def test_the_migrations_make_the_tables_that_the_code_knows(url: str) -> None:
    with open_state_store(url) as store, store.database.engine.connect() as connection:
        assert differences(connection, store.database.is_postgres) == []


def differences(connection: Connection, is_postgres: bool) -> list[Any]:
    if is_postgres:
        connection.execute(text(f"SET search_path TO {POSTGRES_SCHEMA}"))
        connection.dialect.default_schema_name = POSTGRES_SCHEMA
    options = {"compare_type": True, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


def test_every_index_the_code_names_is_there(url: str) -> None:
    with open_state_store(url) as store, store.database.engine.connect() as connection:
        catalogue, column = (
            ("pg_indexes", "indexname") if store.database.is_postgres else ("sqlite_master", "name")
        )
        found = set(connection.execute(text(f"SELECT {column} FROM {catalogue}")).scalars())

    wanted = {index.name for table in metadata.tables.values() for index in table.indexes}
    assert wanted <= found


def test_opening_again_changes_nothing(url: str) -> None:
    with open_state_store(url) as store:
        extract(store, a_thread())

    with open_state_store(url) as store:
        assert store.output(an_id()) is not None


def test_an_older_database_is_brought_up_to_date_with_all_it_holds(
    url: str, tmp_path: Path
) -> None:
    with open_state_store(url) as store:
        extract(store, a_thread())
        before = store.thread_state(an_id())

    with open_state_store(url, migrations=later_migrations(tmp_path, NEXT)) as store:
        assert revision(store) == "later"
        assert store.thread_state(an_id()) == before
        assert store.output(an_id()) is not None


def test_a_database_of_the_first_version_gets_the_new_tables(url: str) -> None:
    with open_state_store(url) as store:
        extract(store, a_thread())
        alembic(store, "downgrade", "0001")
        assert revision(store) == "0001"
        assert "spent_at" in columns_of(store, "spend")

    with open_state_store(url) as store:
        assert revision(store) == HEAD
        assert {"call_id", "micro_usd"} <= columns_of(store, "spend")
        assert store.output(an_id()) is not None
        assert store.spent_usd() == 0.0


def alembic(store: SqlStateStore, direction: str, target: str) -> None:
    def work(connection: Connection) -> None:
        if store.database.is_postgres:
            connection.execute(text(f"SET LOCAL search_path TO {POSTGRES_SCHEMA}"))
        options = config()
        options.attributes["connection"] = connection
        getattr(command, direction)(options, target)

    store.database.write(work)


def columns_of(store: SqlStateStore, table: str) -> set[str]:
    schema = POSTGRES_SCHEMA if store.database.is_postgres else None
    with store.database.reading() as connection:
        return {column["name"] for column in inspect(connection).get_columns(table, schema=schema)}


def test_a_newer_database_is_refused_and_loses_nothing(url: str, tmp_path: Path) -> None:
    with open_state_store(url, migrations=later_migrations(tmp_path, NEXT)) as store:
        extract(store, a_thread())

    with pytest.raises(StateSchemaMismatch, match=r"revision later.*newer version"):
        open_state_store(url)

    later = Migrations(location=str(tmp_path / "migrations"), head="later")
    with open_state_store(url, migrations=later) as store:
        assert revision(store) == "later"
        assert store.output(an_id()) is not None


def test_a_migration_that_fails_half_way_leaves_no_trace(url: str, tmp_path: Path) -> None:
    with open_state_store(url) as store:
        extract(store, a_thread())
    broken = later_migrations(tmp_path, BROKEN)

    with pytest.raises(StateUnavailable, match="nothing was changed"):
        open_state_store(url, migrations=broken)

    with open_state_store(url) as store:
        assert revision(store) == HEAD
        assert store.output(an_id()) is not None
        with store.database.reading() as connection:
            schema = POSTGRES_SCHEMA if store.database.is_postgres else None
            assert "later" not in inspect(connection).get_table_names(schema=schema)


def test_tables_of_another_program_are_left_alone(url: str) -> None:
    with open_state_store(url) as store:
        execute(store, "DROP TABLE {}alembic_version")

    with pytest.raises(StateSchemaMismatch, match="another program"):
        open_state_store(url)


def test_many_threads_may_open_a_new_database_at_once(url: str) -> None:
    barrier = threading.Barrier(6)

    def open_at_once(number: int) -> None:
        barrier.wait()
        with open_state_store(url) as store:
            store.save_threads([a_thread(number)])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_at_once, range(6)))

    with open_state_store(url) as store:
        found = store.possibly_due("codex", now=NOON, idle_seconds=0, limit=10)
        assert len(found) == 6


STARTER = """
import sys
from alembic import command
from automemory_dagster.adapters.state import open_state_store
print("ready", flush=True)
for url in sys.stdin:
    with open_state_store(url.strip()) as store:
        print(store.possibly_due.__name__, flush=True)
"""


def test_many_processes_may_open_a_new_database_at_once(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        for _ in range(4)
    ]
    answers = [read_line(starter) for starter in starters]

    with ExitStack() as databases:
        for round_number in range(3):
            url = databases.enter_context(postgres_server.database())
            for place in (url, f"sqlite:///{tmp_path}/{round_number}.sqlite"):
                for starter in starters:
                    tell(starter, place)
                answers += [read_line(starter) for starter in starters]
        for starter in starters:
            starter.communicate(timeout=60)

    assert answers == ["ready"] * 4 + ["possibly_due"] * 24


def tell(starter: "subprocess.Popen[str]", line: str) -> None:
    assert starter.stdin is not None
    starter.stdin.write(line + "\n")
    starter.stdin.flush()


def read_line(starter: "subprocess.Popen[str]") -> str:
    assert starter.stdout is not None
    return starter.stdout.readline().strip()


def test_dagsters_own_version_table_beside_ours_is_neither_read_nor_written(
    postgres_url: str,
) -> None:
    with open_state_store(postgres_url) as store:
        execute(store, "DROP SCHEMA automemory CASCADE")
        execute(store, "CREATE TABLE public.alembic_version (version_num text)")
        execute(store, "INSERT INTO public.alembic_version VALUES ('dagsters')")

    with open_state_store(postgres_url) as store, store.database.reading() as connection:
        assert revision(store) == HEAD
        assert inspect(connection).get_table_names(schema="public") == ["alembic_version"]
        theirs = connection.execute(text("SELECT version_num FROM public.alembic_version"))
        assert theirs.scalar_one() == "dagsters"
