"""``automemory run`` over real rollouts: what a person sees, and what is on disk afterwards."""

import os
import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import a_rollout, a_turn, append_turn
from tests.deployment import COMMAND, DeploymentUnderTest


@pytest.fixture
def sample(tmp_path: Path) -> DeploymentUnderTest:
    """A deployment without a Codex home: it reads the bundled sample."""
    return DeploymentUnderTest(tmp_path)


@pytest.fixture
def deployment(tmp_path: Path) -> DeploymentUnderTest:
    """A deployment with two sessions of a person who said yes."""
    codex_home = tmp_path / "codex"
    for number, words in ((1, "Always use uv, never pip."), (2, "Always run `just test` first.")):
        turn = a_turn(words, answer="Understood, done.")
        a_rollout(codex_home, thread_id=_id(number), turns=[turn], now=datetime.now(UTC))
    return DeploymentUnderTest(tmp_path, codex_home, {"AUTOMEMORY_GENERATE": "1"})


def _id(number: int) -> str:
    return f"0195b000-0000-7000-8000-{number:012x}"


def test_the_sample_home_becomes_memory(sample: DeploymentUnderTest) -> None:
    result = sample.run("run")

    assert result.returncode == 0, result.stdout + result.stderr
    files = sample.memory_files()
    assert files["memory_summary.md"].startswith("v1\n")
    assert {"MEMORY.md", "memory_summary.md", "raw_memories.md"} <= set(files)
    assert any(path.startswith("rollout_summaries/") for path in files)
    status = sample.json("status")
    assert status["is_sample"] is True
    assert status["due"] == 0
    assert [space["version"] for space in status["spaces"]] == [1]


def test_a_second_pass_does_nothing_and_says_so(sample: DeploymentUnderTest) -> None:
    sample.run("run")
    before = sample.memory_files()

    result = sample.run("run")

    assert result.returncode == 0
    assert "Nothing to do" in result.stdout
    assert sample.memory_files() == before
    assert sample.json("status")["spaces"][0]["version"] == 1


def test_the_same_rollouts_give_the_same_bytes_in_a_new_home(
    deployment: DeploymentUnderTest,
) -> None:
    deployment.run("run")
    first = deployment.memory_files()
    shutil.rmtree(deployment.home)

    deployment.run("run")

    assert deployment.memory_files() == first


def test_an_appended_turn_extracts_that_thread_alone_and_publishes_again(
    deployment: DeploymentUnderTest,
) -> None:
    deployment.run("run")
    [path] = (deployment.codex_home or Path()).rglob(f"*{_id(1)}*")
    turn = a_turn("From now on write commit messages in English.", answer="I will.")
    idle = datetime.now(UTC) - timedelta(seconds=1_000)
    append_turn(path, turn, written_at=idle, thread_id=_id(1))

    report = deployment.json("run")

    assert report["outcomes"] == [{"outcome": "extracted", "reason": "extracted", "threads": 1}]
    assert len(report["published"]) == 1
    assert "commit messages in English" in deployment.memory_files()["MEMORY.md"]
    assert deployment.json("status")["spaces"][0]["version"] == 2


def test_generation_is_off_until_somebody_says_yes(deployment: DeploymentUnderTest) -> None:
    silent = DeploymentUnderTest(deployment.folder, deployment.codex_home)

    result = silent.run("run")

    assert result.returncode == 0
    assert "generation is off" in result.stdout
    assert not any((silent.home / "memories").iterdir())
    why = silent.json("why", _id(1))
    assert (why["outcome"], why["reason"]) == ("skipped", "generation_disabled")


def test_broken_rollouts_get_a_reason_and_the_rest_goes_on(
    deployment: DeploymentUnderTest,
) -> None:
    folder = (deployment.codex_home or Path()) / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True, exist_ok=True)
    broken = (b"", bytes(range(256)) * 50, b"not json at all\n" * 3)
    for number, content in enumerate(broken, start=10):
        path = folder / f"rollout-2026-03-01T10-00-00-{_id(number)}.jsonl"
        path.write_bytes(content)
        _make_idle(path)

    result = deployment.run("run")

    assert result.returncode in (0, 1), result.stderr
    counts = {
        (row["outcome"], row["reason"]): row["threads"]
        for row in deployment.json("status")["outcomes"]
    }
    assert counts[("extracted", "extracted")] == 2
    assert sum(counts.values()) == 5
    for number in (10, 11, 12):
        assert deployment.json("why", _id(number))["reason"] in ("unreadable", "empty")


def test_files_that_somebody_removed_come_back(sample: DeploymentUnderTest) -> None:
    sample.run("run")
    before = sample.memory_files()
    shutil.rmtree(sample.home / "memories")

    result = sample.run("run")

    assert result.returncode == 0
    assert "they are back" in result.stdout
    assert sample.memory_files() == before


def test_a_lost_database_is_told_and_nothing_is_made_anew(sample: DeploymentUnderTest) -> None:
    sample.run("run")
    before = sample.memory_files()
    for path in sample.home.glob("state.sqlite*"):
        path.unlink()

    result = sample.run("run")

    assert result.returncode == 1
    assert "is gone" in result.stderr
    assert sample.memory_files() == before
    assert not (sample.home / "state.sqlite").exists()


def test_the_sample_is_never_read_in_silence(sample: DeploymentUnderTest) -> None:
    assert "reading the bundled sample instead" in sample.run("run").stderr
    assert "reading the bundled sample instead" in sample.run("status").stdout


def test_off_means_off_also_for_what_waits_to_be_consolidated(
    deployment: DeploymentUnderTest,
) -> None:
    silent = DeploymentUnderTest(
        deployment.folder, deployment.codex_home, {"AUTOMEMORY_GENERATE": "0"}
    )
    deployment.run("run")
    [path] = (deployment.codex_home or Path()).rglob(f"*{_id(1)}*")
    path.unlink()

    result = silent.run("run")

    assert result.returncode == 0
    assert silent.json("status")["spaces"][0]["version"] == 1
    assert silent.json("why", _id(2))["outcome"] == "extracted"
    assert silent.json("why", _id(1))["reason"] == "vanished"


def test_terminal_escapes_reach_no_file(deployment: DeploymentUnderTest) -> None:
    turn = a_turn("Always say \x1b[31mred\x1b[0m in words.", answer="I will.")
    now = datetime.now(UTC)
    a_rollout(deployment.codex_home or Path(), thread_id=_id(3), turns=[turn], now=now)

    deployment.run("run")

    files = "".join(deployment.memory_files().values())
    assert "\x1b" not in files
    assert "Always say red in words" in files


def test_two_runs_at_once_on_a_new_home_both_end_well(deployment: DeploymentUnderTest) -> None:
    command = [*COMMAND, "run", "--json"]
    options = {"env": deployment.environment, "cwd": deployment.folder}
    both = [
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120)[1] for process in both]

    assert [process.returncode for process in both] == [0, 0], told
    assert deployment.json("status")["spaces"][0]["version"] == 1


def test_a_wrong_setting_stops_the_start_with_exit_code_2(tmp_path: Path) -> None:
    wrong = DeploymentUnderTest(tmp_path, settings={"AUTOMEMORY_IDLE_SECONDS": "tell-nobody"})

    result = wrong.run("run")

    assert result.returncode == 2
    assert "AUTOMEMORY_IDLE_SECONDS" in result.stderr
    assert "tell-nobody" not in result.stderr
    assert not wrong.home.exists()


def test_a_database_that_cannot_be_used_is_told_and_kept(sample: DeploymentUnderTest) -> None:
    sample.home.mkdir()
    (sample.home / "state.sqlite").write_bytes(b"this is no database, and it is mine" * 100)

    result = sample.run("status")

    assert result.returncode == 1
    assert "state.sqlite" in result.stderr
    assert "Traceback" not in result.stderr
    assert (sample.home / "state.sqlite").read_bytes().startswith(b"this is no database")


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("why",), ("why", "zzz"), ("log", "--limit", "0")]
)
def test_wrong_usage_is_exit_code_2(
    sample: DeploymentUnderTest, arguments: tuple[str, ...]
) -> None:
    result = sample.run(*arguments)

    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_the_four_commands_that_show_speak_json_and_tables(sample: DeploymentUnderTest) -> None:
    sample.run("run")
    [first, *_] = sample.json("log")

    why = sample.json("why", first["thread_id"])
    shown = sample.json("show")

    assert why["thread_id"] == first["thread_id"]
    assert why["gates"][0]["gate"] == "generation_disabled"
    assert shown["files"] == sample.memory_files()
    for arguments in (("status",), ("log",), ("show",), ("why", first["thread_id"])):
        result = sample.run(*arguments)
        assert result.returncode == 0
        assert result.stdout.strip()


def _make_idle(path: Path) -> None:
    moment = time.time() - 7_200
    os.utime(path, (moment, moment))
