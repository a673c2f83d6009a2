"""``automemory run`` killed in the middle: the next one takes over at once and finishes."""

import os
import signal
import sqlite3
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.builders import a_rollout, a_turn
from tests.deployment import COMMAND, DeploymentUnderTest

_THREADS = 40


@pytest.fixture
def deployment(tmp_path: Path) -> DeploymentUnderTest:
    """Forty sessions, one at a time, so that there is a middle."""
    codex_home = tmp_path / "codex"
    for number in range(1, _THREADS + 1):
        turns = [
            a_turn(f"Always run check-{number}-{turn} first.", answer=f"Done, part {turn}.")
            for turn in range(15)
        ]
        thread_id = f"0195b000-0000-7000-8000-{number:012x}"
        a_rollout(codex_home, thread_id=thread_id, turns=turns, now=datetime.now(UTC))
    settings = {"AUTOMEMORY_GENERATE": "1", "AUTOMEMORY_PHASE1_CONCURRENCY": "1"}
    return DeploymentUnderTest(tmp_path, codex_home, settings)


@pytest.mark.parametrize("kind", ["memory_stage1", "memory_consolidate_global"])
def test_the_next_run_takes_over_at_once(deployment: DeploymentUnderTest, kind: str) -> None:
    # Two kills: Dagster gives phase 1 two places, and a place that is never given back would
    # be missed by the third run only.
    kills = 2 if kind == "memory_stage1" else 1
    for _ in range(kills):
        _kill_while_running(deployment, kind)

    report = deployment.json("run")

    assert report["problems"] == []
    assert len(report["published"]) == 1
    status = deployment.json("status")
    assert status["outcomes"] == [
        {"outcome": "extracted", "reason": "extracted", "threads": _THREADS}
    ]
    assert [space["pending"] for space in status["spaces"]] == [False]


def _kill_while_running(deployment: DeploymentUnderTest, kind: str) -> None:
    """SIGKILL at a moment at which a job of this kind is claimed; stopped first, to be sure."""
    process = subprocess.Popen(
        [*COMMAND, "run"],
        env=deployment.environment,
        cwd=deployment.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None:
            if _is_claimed(deployment, kind):
                process.send_signal(signal.SIGSTOP)
                if _is_claimed(deployment, kind):
                    return
                process.send_signal(signal.SIGCONT)
            time.sleep(0.002)
    finally:
        process.kill()
        process.wait()
    pytest.fail(f"the run ended before a {kind} job was seen")


def _is_claimed(deployment: DeploymentUnderTest, kind: str) -> bool:
    path = deployment.home / "state.sqlite"
    if not os.path.exists(path):
        return False
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        query = "SELECT count(*) FROM jobs WHERE kind = ? AND status = 'running'"
        return bool(connection.execute(query, (kind,)).fetchone()[0])
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
