"""One ``dagster.yaml`` for both databases, as Dagster itself reads it."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import psycopg2
import pytest
from dagster_postgres import DagsterPostgresStorage

from automemory_dagster.contract import PHASE1_POOL, PHASE2_POOL
from automemory_dagster.defs.pools import set_pool_limits
from automemory_dagster.defs.storage import AutomemoryStorage
from automemory_dagster.domain.errors import SettingsError

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with nothing of the machine's settings."""
    monkeypatch.delenv("AUTOMEMORY_DATABASE_URL", raising=False)
    monkeypatch.setenv("AUTOMEMORY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The settings name this database."""
    monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", postgres_url)
    return postgres_url


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """The instance of the repository's own file."""
    with dg.DagsterInstance.from_config(str(CHECKOUT), "dagster.yaml") as instance:
        yield instance


def _use(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("threads", ["one"])
    instance.report_runless_asset_event(dg.AssetMaterialization("memory"))
    assert instance.get_dynamic_partitions("threads") == ["one"]
    assert instance.get_latest_materialization_event(dg.AssetKey("memory")) is not None


class TestSqlite:
    def test_without_a_url_everything_lies_in_the_home(
        self, home: Path, instance: dg.DagsterInstance
    ) -> None:
        _use(instance)

        files = {path.relative_to(home).as_posix() for path in home.rglob("*.db")}
        assert {"dagster/history/runs.db", "dagster/schedules/schedules.db"} <= files
        assert all(file.startswith("dagster/") for file in files)

    def test_the_home_is_nobody_elses_to_read(self, home: Path) -> None:
        AutomemoryStorage.from_config_value(None, {})

        assert home.stat().st_mode & 0o077 == 0


class TestPostgres:
    def test_a_url_moves_all_of_it(
        self, home: Path, postgres: str, instance: dg.DagsterInstance
    ) -> None:
        _use(instance)

        assert {"runs", "event_logs", "dynamic_partitions", "jobs"} <= _tables(postgres)
        assert list(home.rglob("*.db")) == []

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
    def test_every_spelling_of_the_scheme_is_understood(
        self, postgres: str, scheme: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spelled = postgres.replace("postgresql", scheme, 1)
        monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", spelled)

        storage = AutomemoryStorage.from_config_value(None, {})

        assert isinstance(storage, DagsterPostgresStorage)
        assert "runs" in _tables(postgres)

    def test_it_can_be_opened_again_and_again(self, postgres: str) -> None:
        for _ in range(2):
            with dg.DagsterInstance.from_config(str(CHECKOUT), "dagster.yaml") as instance:
                instance.add_dynamic_partitions("threads", ["one"])

        assert "runs" in _tables(postgres)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_pools_get_their_limits_once_and_a_persons_choice_stays(
    kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "postgres":
        request.getfixturevalue("postgres")
    instance: dg.DagsterInstance = request.getfixturevalue("instance")
    storage = instance.event_log_storage
    set_pool_limits(instance)
    first = {limit.name: limit.limit for limit in storage.get_pool_limits()}
    storage.set_concurrency_slots(PHASE1_POOL, 5)

    set_pool_limits(instance)

    assert first == {PHASE1_POOL: 2, PHASE2_POOL: 1}
    assert {limit.name: limit.limit for limit in storage.get_pool_limits()} == {
        PHASE1_POOL: 5,
        PHASE2_POOL: 1,
    }


def test_the_instance_leaves_retries_to_us_and_tells_nobody(instance: dg.DagsterInstance) -> None:
    assert instance.run_retries_enabled is False
    assert instance.telemetry_enabled is False
    assert instance.run_monitoring_enabled is True
    config = instance.get_concurrency_config()
    assert config.pool_config.default_pool_limit == 1
    assert str(config.pool_config.pool_granularity.value) == "run"


def test_a_wrong_setting_is_told_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", "mysql://me:hunter2@example.com/x")

    with pytest.raises(SettingsError) as refused:
        AutomemoryStorage.from_config_value(None, {})

    assert "AUTOMEMORY_DATABASE_URL" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def _tables(url: str) -> set[str]:
    connection = psycopg2.connect(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            return {str(row[0]) for row in cursor.fetchall()}
    finally:
        connection.close()
