"""Fixtures for all tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.adapters.state.table import POSTGRES_SCHEMA, metadata
from automemory_dagster.ports import StateStore
from tests.fakes.state_store import FakeStateStore
from tests.postgres import PostgresServer, running_postgres

# ---- databases -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real PostgreSQL, one a test process, started when the first test asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A new and empty database."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(scope="session")
def _shared_postgres_store(postgres_server: PostgresServer) -> Iterator[SqlStateStore]:
    with postgres_server.database() as url, open_state_store(url) as store:
        yield store


@pytest.fixture
def postgres_store(_shared_postgres_store: SqlStateStore) -> SqlStateStore:
    """An empty store on PostgreSQL."""
    names = ", ".join(f"{POSTGRES_SCHEMA}.{name}" for name in metadata.tables)
    with _shared_postgres_store.database.engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {names}"))
    return _shared_postgres_store


@pytest.fixture(scope="session")
def _migrated_sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("state") / "migrated.sqlite"
    open_state_store(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_url(tmp_path: Path, _migrated_sqlite_file: Path) -> str:
    """The URL of an empty store's file; the migrations ran once for all tests."""
    path = tmp_path / "state.sqlite"
    shutil.copyfile(_migrated_sqlite_file, path)
    return f"sqlite:///{path}"


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[SqlStateStore]:
    """An empty store on SQLite."""
    with open_state_store(sqlite_url) as store:
        yield store


@pytest.fixture(params=["fake", "sqlite", "postgres"])
def state_store(request: pytest.FixtureRequest) -> StateStore:
    """An empty store of each kind: one exam for all three."""
    if request.param == "fake":
        return FakeStateStore()
    store: StateStore = request.getfixturevalue(f"{request.param}_store")
    return store
