"""Child processes and what a server claims, without Dagster."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from automemory_dagster.triggers.claims import CannotServe, claimed_address, claimed_home
from automemory_dagster.triggers.processes import (
    MAX_LOG_BYTES,
    Child,
    Crew,
    crew,
    put_long_log_aside,
)

_SLEEPER = """
import subprocess, sys, time
{deaf}
print("up", subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"]).pid, flush=True)
time.sleep(99)
"""
_DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture
def members(tmp_path: Path) -> Iterator[Crew]:
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    with crew(tmp_path, {**os.environ, "PYTHONPATH": paths}) as found:
        yield found


def started(members: Crew, text: str) -> Child:
    """A child that runs this text and has said that it is up."""
    (members.log_folder / "a_test_child.py").write_text(text, "utf-8")
    child = members.start("child", "a_test_child", ())
    give_up = time.monotonic() + 20
    while not child.last_lines() and time.monotonic() < give_up:
        time.sleep(0.05)
    return child


def test_a_group_ends_whole_when_it_is_asked(members: Crew) -> None:
    child = started(members, _SLEEPER.format(deaf=""))
    assert not child.is_gone

    members.end(grace_seconds=10, is_impatient=lambda: False)

    assert child.is_gone
    assert child.how_it_ended == "killed by SIGTERM"


def test_a_group_that_does_not_listen_is_killed_after_the_grace(members: Crew) -> None:
    child = started(members, _SLEEPER.format(deaf=_DEAF))
    before = time.monotonic()

    members.end(grace_seconds=0.5, is_impatient=lambda: False)

    assert child.is_gone
    assert child.how_it_ended == "killed by SIGKILL"
    assert time.monotonic() - before >= 0.5


def test_impatience_cuts_the_grace_short(members: Crew) -> None:
    child = started(members, _SLEEPER.format(deaf=_DEAF))
    before = time.monotonic()

    members.end(grace_seconds=60, is_impatient=lambda: True)

    assert child.is_gone
    assert time.monotonic() - before < 10


def test_a_dead_child_is_named_with_its_last_words_only(members: Crew) -> None:
    (members.log_folder / "child.log").write_text("from an earlier start\n", "utf-8")
    child = started(members, "print('\\x1b[31mred\\x1b[0m words', flush=True); raise SystemExit(7)")
    child.process.wait(20)

    dead = members.first_dead()

    assert dead is child
    assert child.how_it_ended == "exit code 7"
    assert child.last_lines() == "red words"


def test_a_group_ends_when_the_lifeline_breaks(members: Crew, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    orphan = Crew(log_folder=tmp_path, env=members.env, lifeline=reading)
    child = started(orphan, _SLEEPER.format(deaf=""))

    os.close(reading)
    os.close(writing)

    give_up = time.monotonic() + 10
    while not child.is_gone and time.monotonic() < give_up:
        time.sleep(0.05)
    assert child.is_gone


def test_long_logs_are_put_aside_and_three_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    for number in range(6):
        log.write_bytes(str(number).encode() * (MAX_LOG_BYTES + 1))
        put_long_log_aside(log)
    log.write_text("short", "utf-8")

    put_long_log_aside(log)

    firsts = {path.name: path.read_bytes()[:1] for path in tmp_path.iterdir()}
    assert firsts == {"web.log": b"s", "web.log.1": b"5", "web.log.2": b"4", "web.log.3": b"3"}


def test_a_port_in_use_is_refused_by_its_option() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with (
            pytest.raises(CannotServe, match=rf"{port} on 127.0.0.1 is in use.*--port"),
            claimed_address("127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_a_host_that_is_not_here_is_refused_by_its_option(host: str) -> None:
    with pytest.raises(CannotServe, match="--host"), claimed_address(host, 0):
        pass


def test_localhost_means_the_address_that_is_printed() -> None:
    with claimed_address("localhost", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_home_has_one_server_at_a_time(tmp_path: Path) -> None:
    with (
        claimed_home(tmp_path),
        pytest.raises(CannotServe, match=f"process {os.getpid()}"),
        claimed_home(tmp_path),
    ):
        pass

    with claimed_home(tmp_path):
        pass
