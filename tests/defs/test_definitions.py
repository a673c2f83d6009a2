"""Everything Dagster loads: names, descriptions, pools, tags, and the name of the location."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml

from automemory_dagster import contract
from automemory_dagster.definitions import defs

CHECKOUT = Path(__file__).resolve().parents[2]
REPOSITORY = defs.get_repository_def()
GRAPH = REPOSITORY.asset_graph


def test_they_load_without_a_warning_about_our_code() -> None:
    # In a process of its own: this one has loaded them already.
    code = "from automemory_dagster.definitions import defs; defs.get_repository_def()"

    loaded = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=False
    )

    assert loaded.returncode == 0, loaded.stderr
    # A warning names the file of the code that it is about.
    assert "automemory_dagster" not in loaded.stderr, loaded.stderr


def test_loading_them_touches_no_database_and_no_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code = "import automemory_dagster.definitions as d; d.defs.get_repository_def()"

    subprocess.run(
        [sys.executable, "-c", code], env={"AUTOMEMORY_HOME": str(home)}, cwd=tmp_path, check=True
    )

    assert list(tmp_path.iterdir()) == []


def test_they_have_the_names_that_outsiders_rely_on() -> None:
    assert {job.name for job in REPOSITORY.get_all_jobs()} - {"__ASSET_JOB"} == {
        contract.SWEEP_JOB,
        contract.CONSOLIDATE_JOB,
        contract.HOUSEKEEPING_JOB,
    }
    assert {key.to_user_string() for key in GRAPH.get_all_asset_keys()} == {
        contract.CANDIDATE_ROLLOUT,
        contract.STAGE1_OUTPUT,
        contract.SELECTABLE_OUTPUTS,
        contract.MEMORY,
    }
    assert {sensor.name for sensor in REPOSITORY.sensor_defs} == {
        contract.IDLE_SENSOR,
        contract.PENDING_SENSOR,
    }
    assert [found.name for found in REPOSITORY.schedule_defs] == [contract.HOUSEKEEPING_SCHEDULE]


def _described() -> Iterator[tuple[str, str | None]]:
    for key in GRAPH.get_all_asset_keys():
        yield f"asset {key.to_user_string()}", GRAPH.get(key).description
    for check_key in GRAPH.asset_check_keys:
        yield f"check {check_key.name}", GRAPH.get_check_spec(check_key).description
    for job in REPOSITORY.get_all_jobs():
        if job.name != "__ASSET_JOB":
            yield f"job {job.name}", job.description
            for node in job.nodes:
                yield f"op {node.name}", node.definition.description
                yield from _configuration(node.definition)
    for sensor in REPOSITORY.sensor_defs:
        yield f"sensor {sensor.name}", sensor.description
    for schedule in REPOSITORY.schedule_defs:
        yield f"schedule {schedule.name}", schedule.description


def _configuration(definition: object) -> Iterator[tuple[str, str | None]]:
    schema = getattr(definition, "config_schema", None)
    for name, field in getattr(getattr(schema, "config_type", None), "fields", {}).items():
        yield f"configuration {name}", field.description


@pytest.mark.parametrize(("what", "description"), sorted(_described(), key=lambda found: found[0]))
def test_everything_tells_a_stranger_what_it_is(what: str, description: str | None) -> None:
    assert description, what
    assert len(description) >= 15, what


def test_the_launchpad_tells_every_field_of_the_configuration() -> None:
    told = {what for what, _ in _described() if what.startswith("configuration ")}

    assert told == {
        *("configuration thread_ids", "configuration force", "configuration limit"),
        "configuration space_ids",
    }


@pytest.mark.parametrize(
    ("op", "pool"),
    [
        (contract.EXTRACT_OP, contract.PHASE1_POOL),
        (contract.CONSOLIDATE_OP, contract.PHASE2_POOL),
    ],
)
def test_each_phase_has_its_pool(op: str, pool: str) -> None:
    [definition] = [
        node.definition
        for job in REPOSITORY.get_all_jobs()
        for node in job.nodes
        if node.name == op and job.name in (contract.SWEEP_JOB, contract.CONSOLIDATE_JOB)
    ]

    assert isinstance(definition, dg.OpDefinition)
    assert definition.pool == pool
    assert definition.retry_policy is None


def test_every_launch_of_the_consolidation_carries_the_tag_of_the_singleton() -> None:
    instance_file = yaml.safe_load((CHECKOUT / "dagster.yaml").read_text())
    limits = instance_file["concurrency"]["runs"]["tag_concurrency_limits"]

    job = defs.resolve_job_def(contract.CONSOLIDATE_JOB)

    assert job.tags[contract.SINGLETON_TAG] == contract.CONSOLIDATE_JOB
    assert limits == [
        {
            "key": contract.SINGLETON_TAG,
            "value": {"applyLimitPerUniqueValue": True},
            "limit": 1,
        }
    ]


def test_both_sensors_and_the_schedule_are_on_by_themselves() -> None:
    on = dg.DefaultSensorStatus.RUNNING

    assert {sensor.default_status for sensor in REPOSITORY.sensor_defs} == {on}
    assert {sensor.minimum_interval_seconds for sensor in REPOSITORY.sensor_defs} == {30}
    assert {found.default_status for found in REPOSITORY.schedule_defs} == {
        dg.DefaultScheduleStatus.RUNNING
    }


def test_every_way_to_start_calls_the_location_the_same() -> None:
    workspace = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["dagster"]
    [location] = workspace["load_from"]

    assert location["python_module"]["location_name"] == contract.CODE_LOCATION
    assert project["code_location_name"] == contract.CODE_LOCATION
    assert location["python_module"]["module_name"] == project["module_name"]


def test_a_run_key_depends_on_the_members_and_the_moment_not_on_their_order() -> None:
    key = contract.batch_run_key(["b", "a"], 1_000)

    assert key == contract.batch_run_key(["a", "b"], 1_000)
    assert key != contract.batch_run_key(["a", "b"], 1_030)
    assert key != contract.batch_run_key(["a", "b", "c"], 1_000)
    assert len(key) < 60
