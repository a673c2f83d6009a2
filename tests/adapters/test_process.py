"""Telling a process that is gone from one that is not, or cannot be judged."""

import subprocess
import sys

import pytest

from automemory_dagster.adapters.home import is_gone, own_process

_SAY = "from automemory_dagster.adapters.home import own_process; print(own_process(), flush=True)"


def test_this_process_is_not_gone() -> None:
    assert not is_gone(own_process())


def test_a_process_is_gone_once_it_has_ended() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"{_SAY}; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        before = is_gone(name)
        child.kill()

    assert (before, is_gone(name)) == (False, True)


def test_a_number_that_was_given_out_again_is_another_process() -> None:
    host, namespace, pid, _ = own_process().split("|")

    assert is_gone("|".join((host, namespace, pid, "1")))


@pytest.mark.parametrize("name", ["", "worker-1", "other-host|pid:[1]|1|1", "a|b|c|d", "host:123"])
def test_what_cannot_be_judged_from_here_counts_as_alive(name: str) -> None:
    assert not is_gone(name)


def test_another_namespace_cannot_be_judged() -> None:
    host, _, pid, _ = own_process().split("|")

    assert not is_gone("|".join((host, "pid:[1]", pid, "1")))
