"""The whole deployment on one real PostgreSQL: state and Dagster's storage, sensors to memory."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tests.builders import a_rollout, a_turn
from tests.deployment import DeploymentUnderTest
from tests.e2e.test_live import _LAUNCH, SELECTOR, Live, serving, wait_until
from tests.postgres import PostgresServer

T1, T2 = (f"0195b000-0000-7000-8000-{number:012x}" for number in (1, 2))
_STEPS = """query Steps($id: ID!) { runOrError(runId: $id) { ... on Run { status
  stepStats { stepKey startTime endTime } } } }"""
_MEMORY_EVENTS = """
query Events($asset: AssetKeyInput!) { assetOrError(assetKey: $asset) { ... on Asset {
  assetMaterializations(limit: 50) { runId }
  assetObservations(limit: 50) { runId description } } } }"""


class OnPostgres:
    """A deployment whose settings name a database of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        codex_home = folder / "codex"
        self.deployment = DeploymentUnderTest(
            folder, codex_home, {"AUTOMEMORY_DATABASE_URL": url, "AUTOMEMORY_GENERATE": "1"}
        )
        self.write(T1, "Always use uv, never pip.")

    def write(self, thread_id: str, words: str) -> None:
        """One session more, idle for an hour."""
        turn = a_turn(words, answer="Understood, done.")
        home = self.deployment.codex_home or Path()
        a_rollout(home, thread_id=thread_id, turns=[turn], now=datetime.now(UTC))

    def tables(self, schema: str) -> set[str]:
        """The tables of a schema."""
        return {name for (name,) in self.rows(_TABLES, schema)}

    def rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """What a query gives."""
        connection = psycopg2.connect(self.url)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def databases_in_the_home(self) -> list[str]:
        """Files of SQLite below the home, by content or by name."""
        return [
            str(path.relative_to(self.deployment.home))
            for path in self.deployment.home.rglob("*")
            if path.is_file() and (path.suffix in (".sqlite", ".db") or _is_sqlite(path))
        ]


_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = %s"


@pytest.fixture(scope="module")
def on_postgres(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OnPostgres]:
    """The deployment that is served."""
    with postgres_server.database() as url:
        yield OnPostgres(tmp_path_factory.mktemp("on-postgres"), url)


@pytest.fixture(scope="module")
def live(on_postgres: OnPostgres) -> Iterator[Live]:
    """The deployment, served, once its sensors have published the first memory."""
    with serving(on_postgres.deployment) as live:
        wait_until(lambda: bool(live.materializations("memory")), "the memory is published")
        yield live


def test_one_pass_leaves_everything_in_the_database(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    with postgres_server.database() as url:
        own = OnPostgres(tmp_path, url)

        result = own.deployment.run("run")

        assert result.returncode == 0, result.stdout + result.stderr
        assert "uv" in own.deployment.memory_files()["MEMORY.md"]
        assert own.rows("SELECT version FROM automemory.memory_versions") == [(1,)]
        assert own.rows("SELECT count(*) FROM runs WHERE status = 'SUCCESS'") == [(2,)]
        assert own.databases_in_the_home() == []
        assert url not in result.stdout + result.stderr


def test_sensors_publish_memory(live: Live, on_postgres: OnPostgres) -> None:
    [memory] = live.materializations("memory")

    metadata = {entry["label"]: entry for entry in memory["metadataEntries"]}
    assert metadata["version"]["intValue"] == 1
    assert "uv" in on_postgres.deployment.memory_files()["MEMORY.md"]
    assert [found["partition"] for found in live.materializations("stage1_output")] == [T1]


def test_each_has_its_schema_and_none_the_home(live: Live, on_postgres: OnPostgres) -> None:
    ours, dagsters = on_postgres.tables("automemory"), on_postgres.tables("public")

    assert {"threads", "jobs", "stage1_outputs", "memory_versions"} <= ours
    assert {"runs", "event_logs", "dynamic_partitions", "job_ticks"} <= dagsters
    # A table of ours that Dagster has too, such as ``jobs``, is in both and no trouble.
    assert not {"threads", "stage1_outputs", "memory_versions"} & dagsters
    assert on_postgres.databases_in_the_home() == []


def test_consolidations_launched_at_once_take_turns(live: Live, on_postgres: OnPostgres) -> None:
    """One by its job, which has the singleton's tag; one from the asset's page, which has not."""
    on_postgres.write(T2, "Always name the ticket in the change log.")
    config = {"ops": {"extract_threads": {"config": {"thread_ids": [T2], "force": True}}}}
    live.launch("sweep", config)
    made = len(live.materializations("memory"))
    [[space]] = on_postgres.rows("SELECT DISTINCT space_id FROM automemory.memory_versions")

    runs = [_launch_over(live, job, space) for job in ("consolidate_memory", "__ASSET_JOB")]
    wait_until(lambda: all(_has_ended(live, run) for run in runs), "both end")

    assert [live.run_status(run) for run in runs] == ["SUCCESS", "SUCCESS"]
    # One more run may be the sensor's: whichever came first made the version, the others saw it.
    assert len(live.materializations("memory")) == made + 1
    told = live.graphql(_MEMORY_EVENTS, asset={"path": ["memory"]})["assetOrError"]
    makers = {event["runId"] for event in told["assetMaterializations"]}
    seers = {event["runId"]: event["description"] for event in told["assetObservations"]}
    assert all((run in makers) != (run in seers) for run in runs)
    seen = [seers[run] for run in runs if run in seers]
    assert seen
    assert all(text.startswith(("nothing changed", "skipped")) for text in seen)
    first, second = sorted(_span(live, run) for run in runs)
    assert first[1] <= second[0]
    assert "name the ticket" in on_postgres.deployment.memory_files()["MEMORY.md"]


def _has_ended(live: Live, run: str) -> bool:
    return live.run_status(run) in ("SUCCESS", "FAILURE", "CANCELED")


def _launch_over(live: Live, job: str, space: str) -> str:
    params = {
        "selector": {**SELECTOR, "jobName": job, "assetSelection": [{"path": ["memory"]}]},
        "runConfigData": {},
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": space}]},
    }
    launched = live.graphql(_LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return str(launched["run"]["runId"])


def _span(live: Live, run: str) -> tuple[float, float]:
    [step] = live.graphql(_STEPS, id=run)["runOrError"]["stepStats"]
    return float(step["startTime"]), float(step["endTime"])


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"
