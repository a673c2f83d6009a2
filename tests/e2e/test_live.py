"""``automemory up`` for real: a guarded webserver, a daemon, sensors that end in a memory."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.builders import a_rollout, a_turn
from tests.deployment import COMMAND, DeploymentUnderTest

_LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  }
}"""
_STATUS = """query Status($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"""
_BACKFILL = """
mutation Backfill($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId }
  }
}"""
_MATERIALIZATIONS = """
query Log($asset: AssetKeyInput!) { assetOrError(assetKey: $asset) { ... on Asset {
  assetMaterializations(limit: 100) { partition metadataEntries { __typename label
    ... on TextMetadataEntry { text } ... on IntMetadataEntry { intValue }
    ... on MarkdownMetadataEntry { mdStr }
    ... on TableMetadataEntry { table { records } } } } } } }"""
_CHECKS = """
query Checks($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode {
  assetChecksOrError { ... on AssetChecks { checks { name
    executionForLatestMaterialization { status } } } } } } }"""
SELECTOR = {
    "repositoryLocationName": "automemory_dagster",
    "repositoryName": "__repository__",
}
T1, T2 = (f"0195b000-0000-7000-8000-{number:012x}" for number in (1, 2))


class Live:
    """A running ``automemory up``."""

    def __init__(self, address: str, process: "subprocess.Popen[str]") -> None:
        self.address = address
        self.process = process

    def graphql(self, query: str, **variables: Any) -> Any:
        """One GraphQL call, as another program makes it."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.address}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer
        return answer["data"]

    def launch(self, job: str, config: dict[str, Any]) -> str:
        """Launch a job and wait for its success; gives the run id."""
        params = {"selector": {**SELECTOR, "jobName": job}, "runConfigData": config}
        launched = self.graphql(_LAUNCH, params=params)["launchRun"]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        run_id = str(launched["run"]["runId"])
        wait_until(lambda: self.run_status(run_id) in ("SUCCESS", "FAILURE"), "the run ends")
        assert self.run_status(run_id) == "SUCCESS"
        return run_id

    def run_status(self, run_id: str) -> str:
        """Where a run stands."""
        return str(self.graphql(_STATUS, id=run_id)["runOrError"]["status"])

    def materializations(self, asset: str) -> list[dict[str, Any]]:
        """The newest materializations of an asset, newest first."""
        found = self.graphql(_MATERIALIZATIONS, asset={"path": [asset]})["assetOrError"]
        return list(found.get("assetMaterializations", []))


def wait_until(is_so: Callable[[], bool], what: str, *, seconds: float = 150) -> None:
    """Wait for something that happens by itself."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.5)


@contextmanager
def serving(deployment: DeploymentUnderTest, *arguments: str) -> Iterator[Live]:
    """``automemory up`` on a free port, stopped as by Ctrl-C."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, "up", "--port", str(port), *arguments],
        env=deployment.environment,
        cwd=deployment.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    live = Live(f"http://127.0.0.1:{port}", process)
    try:
        wait_until(lambda: process.poll() is not None or _answers(live.address), "it answers")
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        yield live
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        finally:
            process.kill()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/server_info", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> DeploymentUnderTest:
    """Two sessions, one of which forbids it, of a person who says yes at the start."""
    folder = tmp_path_factory.mktemp("live")
    codex_home = folder / "codex"
    turn = a_turn("Always use uv, never pip.", answer="Understood, done.")
    now = datetime.now(UTC)
    a_rollout(codex_home, thread_id=T1, turns=[turn], now=now)
    a_rollout(codex_home, thread_id=T2, turns=[turn], now=now, memory_mode="disabled")
    return DeploymentUnderTest(folder, codex_home)


@pytest.fixture(scope="module")
def live(deployment: DeploymentUnderTest) -> Iterator[Live]:
    """The deployment, served."""
    with serving(deployment, "--generate") as live:
        yield live


def test_sensors_turn_sessions_into_memory_by_themselves(
    live: Live, deployment: DeploymentUnderTest
) -> None:
    wait_until(lambda: bool(live.materializations("memory")), "the memory is published")

    [memory] = live.materializations("memory")
    metadata = {entry["label"]: entry for entry in memory["metadataEntries"]}
    assert metadata["version"]["intValue"] == 1
    assert metadata["summary"]["mdStr"].startswith("v1\n")
    rows = [json.loads(row) for row in metadata["extraction_log"]["table"]["records"]]
    assert {(row["thread"], row["reason"]) for row in rows} == {
        (T1, "extracted"),
        (T2, "memory_mode_disabled"),
    }
    assert "uv" in deployment.memory_files()["MEMORY.md"]
    [extracted] = live.materializations("stage1_output")
    labels = {entry["label"]: entry.get("text") for entry in extracted["metadataEntries"]}
    assert extracted["partition"] == T1
    assert (labels["outcome"], labels["reason"]) == ("extracted", "extracted")


def test_checks_ran_with_the_consolidation(live: Live) -> None:
    wait_until(lambda: bool(live.materializations("memory")), "the memory is published")

    expected = {
        "artifacts_valid": "SUCCEEDED",
        "no_secrets_in_artifacts": "SUCCEEDED",
        "no_thread_stuck": "SUCCEEDED",
    }

    # The checks are written a moment after the materialization.
    wait_until(lambda: _check_statuses(live) == expected, "all checks succeed", seconds=30)


def _check_statuses(live: Live) -> dict[str, str]:
    node = live.graphql(_CHECKS, asset={"path": ["memory"]})["assetNodeOrError"]
    return {
        check["name"]: (check["executionForLatestMaterialization"] or {}).get("status", "none")
        for check in node["assetChecksOrError"]["checks"]
    }


def test_a_graphql_launch_extracts_a_named_thread_again(live: Live) -> None:
    wait_until(lambda: bool(live.materializations("memory")), "the memory is published")
    before = len(live.materializations("stage1_output"))

    config = {"ops": {"extract_threads": {"config": {"thread_ids": [T1], "force": True}}}}
    live.launch("sweep", config)

    assert len(live.materializations("stage1_output")) == before + 1


def test_a_backfill_extracts_again_and_consent_holds(
    live: Live, deployment: DeploymentUnderTest
) -> None:
    wait_until(lambda: bool(live.materializations("memory")), "the memory is published")
    before = len(live.materializations("stage1_output"))

    params = {
        "assetSelection": [{"path": ["candidate_rollout"]}, {"path": ["stage1_output"]}],
        "partitionNames": [T1],
    }
    launched = live.graphql(_BACKFILL, params=params)["launchPartitionBackfill"]

    assert launched["__typename"] == "LaunchBackfillSuccess"
    wait_until(
        lambda: len(live.materializations("stage1_output")) > before, "the backfill extracts"
    )
    assert {found["partition"] for found in live.materializations("stage1_output")} == {T1}


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ({"Host": "evil.example"}, "POST"),
        ({"Origin": "https://evil.example"}, "POST"),
        ({"Origin": "null"}, "POST"),
        ({}, "GET"),
    ],
)
def test_a_web_page_cannot_drive_it(live: Live, headers: dict[str, str], method: str) -> None:
    path = "/graphql?query=mutation%7B__typename%7D" if method == "GET" else "/graphql"
    body = b'{"query": "{ __typename }"}' if method == "POST" else None
    request = urllib.request.Request(
        live.address + path, body, {"Content-Type": "application/json", **headers}, method=method
    )

    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)

    assert refused.value.code in (400, 403, 405)


def test_ctrl_c_stops_every_process(tmp_path: Path) -> None:
    deployment = DeploymentUnderTest(tmp_path)
    with serving(deployment) as live:
        children = _descendants(live.process.pid)
        assert len(children) >= 2

    assert live.process.returncode == 0
    wait_until(lambda: not any(map(_is_alive, children)), "the children end", seconds=15)


def test_another_address_needs_a_word(tmp_path: Path) -> None:
    result = DeploymentUnderTest(tmp_path).run("up", "--host", "0.0.0.0")

    assert result.returncode == 2
    assert "--allow-remote" in result.stderr
    assert not (tmp_path / "home").exists()


def test_consent_is_remembered_for_this_codex_home_only(tmp_path: Path) -> None:
    codex_home, other = tmp_path / "codex", tmp_path / "other"
    for home in (codex_home, other):
        a_rollout(home, now=datetime.now(UTC) - timedelta(hours=1))
    with serving(DeploymentUnderTest(tmp_path, codex_home), "--generate"):
        pass

    own = DeploymentUnderTest(tmp_path, codex_home).json("status")
    others = DeploymentUnderTest(tmp_path, other).json("status")

    assert (own["generation_on"], others["generation_on"]) == (True, False)


def _descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
