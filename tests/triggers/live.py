"""A real server on throw-away Dagster definitions, and a look at which processes are left of it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

_DEFINITIONS = """
import time
import dagster as dg

@dg.asset
def small() -> None: ...

@dg.op
def nap() -> None:
    time.sleep(600)

@dg.op
def deaf_nap() -> None:
    for _ in range(600):
        try:
            time.sleep(60)
        except BaseException:
            pass

@dg.job(executor_def=dg.in_process_executor)
def long_job() -> None:
    nap()

@dg.job(executor_def=dg.in_process_executor)
def deaf_job() -> None:
    deaf_nap()

small_job = dg.define_asset_job("small_job", ["small"])

@dg.sensor(
    job=small_job, minimum_interval_seconds=5, default_status=dg.DefaultSensorStatus.RUNNING
)
def once(context: dg.SensorEvaluationContext) -> dg.RunRequest:
    return dg.RunRequest(run_key="once")

defs = dg.Definitions(assets=[small], jobs=[small_job, long_job, deaf_job], sensors=[once])
"""

_SERVE = """
import os, sys
from pathlib import Path
from automemory_dagster.triggers.server import serve
home = Path(sys.argv[1])
sys.exit(serve(host=sys.argv[2], port=int(sys.argv[3]), dagster_home=home,
               workspace_file=home / "workspace.yaml", log_folder=home / "logs", env=os.environ,
               on_ready=lambda address: print(address, flush=True)))
"""


@dataclass(frozen=True, slots=True)
class Live:
    """A server that has said it is ready."""

    process: subprocess.Popen[str]
    address: str
    home: Path

    @property
    def host(self) -> str:
        return self.address.removeprefix("http://")

    def graphql(
        self, query: str, variables: Mapping[str, Any] | None = None, **headers: str
    ) -> dict[str, Any]:
        answer = httpx.post(
            f"{self.address}/graphql",
            json={"query": query, "variables": variables},
            headers=headers,
            timeout=20,
        )
        answer.raise_for_status()
        data: dict[str, Any] = answer.json()["data"]
        return data

    def launch(self, job: str) -> str:
        """Launch a job by GraphQL and wait until it is in progress; gives the run's id."""
        selector = {
            "repositoryLocationName": "tiny",
            "repositoryName": "__repository__",
            "jobName": job,
        }
        launched = self.graphql(
            "mutation($p: ExecutionParams!) { launchRun(executionParams: $p) "
            "{ __typename ... on LaunchRunSuccess { run { runId } } } }",
            {"p": {"selector": selector}},
        )
        run_id: str = launched["launchRun"]["run"]["runId"]
        wait_until(lambda: self.status(run_id) == "STARTED" and self.is_in_step(run_id))
        return run_id

    def status(self, run_id: str) -> str:
        query = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
        status: str = self.graphql(query, {"id": run_id})["runOrError"]["status"]
        return status

    def is_in_step(self, run_id: str) -> bool:
        query = "query($id: ID!) { runOrError(runId: $id) { ... on Run { stepStats { status } } } }"
        steps = self.graphql(query, {"id": run_id})["runOrError"]["stepStats"]
        return any(step["status"] == "IN_PROGRESS" for step in steps)

    def child(self, words: str) -> int:
        """The process whose command line holds these words, among those the server started."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if int(parent) == self.process.pid and words in line:
                return int(folder.name)
        raise AssertionError(f"no child process with {words}")

    def signal(self, number: signal.Signals) -> float:
        """Send a signal and wait for the end; gives the seconds it took."""
        before = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(30)
        return time.monotonic() - before


def make_home(folder: Path) -> Path:
    """A Dagster home with the throw-away definitions beside its instance file."""
    (folder / "logs").mkdir(parents=True)
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n", "utf-8")
    (folder / "tiny_definitions.py").write_text(_DEFINITIONS, "utf-8")
    location = {"relative_path": "tiny_definitions.py", "location_name": "tiny"}
    workspace = {"load_from": [{"python_file": location}]}
    (folder / "workspace.yaml").write_text(json.dumps(workspace), "utf-8")
    return folder


def begin(home: Path, *, host: str = "127.0.0.1", port: int = 0) -> subprocess.Popen[str]:
    """Start a server and look no further."""
    return subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(home), host, str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
    )


@contextmanager
def live_server(home: Path) -> Iterator[Live]:
    """A server that is ready; killed with all of its own when the context ends."""
    process = begin(home)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise AssertionError(f"the server did not start: {process.communicate()[1]}")
        yield Live(process, address, home)
    finally:
        process.kill()
        process.communicate()
        wait_until(lambda: not processes_of(home), seconds=15)


def processes_of(home: Path) -> list[str]:
    """The command lines of every process that runs for a home, found by their environment."""
    mark = f"DAGSTER_HOME={home.resolve()}\0".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            if mark in (folder / "environ").read_bytes() + b"\0":
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def wait_until(is_so: Any, seconds: float = 90.0) -> None:
    """Wait for something to become true.

    Raises:
        AssertionError: it did not in time.
    """
    give_up = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > give_up:
            raise AssertionError("it did not become true in time")
        time.sleep(0.1)
