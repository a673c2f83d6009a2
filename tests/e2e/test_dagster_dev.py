"""Starting it as Dagster users do: ``DAGSTER_HOME=$PWD dagster dev -w workspace.yaml``."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deployment import DeploymentUnderTest
from tests.e2e.test_live import wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
_LOADED = """{ repositoriesOrError { ... on RepositoryConnection { nodes {
  location { name } jobs { name } sensors { name sensorState { status } } } } } }"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two files that a checkout has for Dagster, and a home below it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copy(CHECKOUT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def stopped(checkout: Path) -> Iterator[dict[str, Any]]:
    """What ``dagster dev`` served, and how it ended."""
    port = _free_port()
    environment = DeploymentUnderTest(checkout).environment | {"DAGSTER_HOME": str(checkout)}
    log = checkout / "dev.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*_command("dev"), "-w", "workspace.yaml", "-p", str(port)],
            cwd=checkout,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Its own group, so that what outlives it can be found; and whoever runs the tests in
            # the background has SIGINT ignored, which a child would inherit.
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until(
                lambda: process.poll() is not None or bool(_repositories(address)),
                "dagster dev serves the code location",
                seconds=90,
            )
            assert process.poll() is None, log.read_text()
            told = {"repositories": _repositories(address), "home": checkout / "home"}
            process.send_signal(signal.SIGINT)
            told["returncode"] = process.wait(45)
            wait_until(lambda: not _is_alive(process.pid), "its processes end", seconds=20)
            yield told | {"log": log.read_text("utf-8", "replace")}
        finally:
            if _is_alive(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def test_it_serves_the_code_location_with_its_sensors_on(stopped: dict[str, Any]) -> None:
    [repository] = stopped["repositories"]

    assert repository["location"]["name"] == "automemory_dagster"
    assert {"sweep", "consolidate_memory", "housekeeping"} <= {
        job["name"] for job in repository["jobs"]
    }
    assert {
        sensor["name"]: sensor["sensorState"]["status"] for sensor in repository["sensors"]
    } == {"idle_rollouts": "RUNNING", "memory_pending": "RUNNING"}


def test_its_storage_is_that_of_the_deployments_home(stopped: dict[str, Any]) -> None:
    assert (stopped["home"] / "dagster" / "history" / "runs.db").is_file()


def test_ctrl_c_ends_it(stopped: dict[str, Any]) -> None:
    assert stopped["returncode"] == 0, stopped["log"]
    assert "Traceback" not in stopped["log"]


def test_the_project_table_names_the_same_location(checkout: Path) -> None:
    shutil.copy(CHECKOUT / "pyproject.toml", checkout / "pyproject.toml")
    environment = DeploymentUnderTest(checkout).environment | {"DAGSTER_HOME": str(checkout)}

    listed = subprocess.run(
        [*_command("schedule"), "list"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert listed.returncode == 0, listed.stderr
    assert "daily_housekeeping" in listed.stdout


def _command(name: str) -> list[str]:
    return [sys.executable, "-m", "dagster", name]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _repositories(address: str) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"{address}/graphql",
        json.dumps({"query": _LOADED}).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            answer = json.load(response)
    except OSError:
        return []
    return list(answer["data"]["repositoriesOrError"].get("nodes", []))


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
