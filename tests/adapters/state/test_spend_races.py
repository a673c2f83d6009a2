"""Reservations that meet on the real databases: a limit is reached and never passed."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from automemory_dagster.adapters.home import is_gone, own_process
from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.domain.spend import (
    LimitReached,
    MicroUsd,
    Period,
    Reserved,
    Scope,
    SpendLimit,
)
from tests.adapters.state.builders import NOON, SPACE
from tests.adapters.state.test_races import at_once
from tests.contracts.test_state_store_spend import WORK, a_call, a_limit

WORKERS = 8
CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


def take_until_full(store: SqlStateStore, amount: int, limits: list[SpendLimit]) -> int:
    """How much one worker gets, a call after another, before the limit stops it."""
    got = 0
    for _ in range(10_000):
        held = store.reserve(WORK, MicroUsd(amount), limits=limits, now=NOON)
        if isinstance(held, LimitReached):
            return got
        got += amount
        store.settle(held, a_call(amount))
    raise AssertionError("the limit never came")


@pytest.mark.parametrize("period", list(Period))
def test_many_threads_reach_a_limit_exactly(url: str, period: Period) -> None:
    limits = [a_limit(600, period), a_limit(400, period, Scope.SPACE, SPACE)]
    with open_state_store(url) as store:
        got = at_once([partial(take_until_full, store, 10, limits)] * WORKERS)

        assert sum(got) == 400
        assert list(store.taken(limits, now=NOON, run_id=WORK.run_id)) == [400, 400]


def test_what_is_set_aside_and_spent_never_passes_the_limit(url: str) -> None:
    limit = a_limit(200)

    def work(store: SqlStateStore, seed: int) -> int:
        chance, most = random.Random(seed), 0
        for _ in range(40):
            asked = chance.randint(1, 60)
            held = store.reserve(WORK, MicroUsd(asked), limits=[limit], now=NOON)
            most = max(most, *store.taken([limit], now=NOON))
            if isinstance(held, Reserved) and chance.random() < 0.1:
                store.settle(held, a_call(chance.randint(0, asked)))
            elif isinstance(held, Reserved):
                store.free(held)
        return most

    with open_state_store(url) as store:
        seen = at_once([partial(work, store, seed) for seed in range(WORKERS)])

        assert 100 < max(seen) <= 200


TAKER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from automemory_dagster.adapters.state import open_state_store
from tests.adapters.state.test_spend_races import take_until_full
from tests.contracts.test_state_store_spend import a_limit

with open_state_store(sys.argv[1]) as store, ThreadPoolExecutor(8) as pool:
    print("ready", flush=True)
    sys.stdin.readline()
    got = list(pool.map(lambda _: take_until_full(store, 7, [a_limit(1_400)]), range(8)))
print(json.dumps(sum(got)))
"""


def test_two_processes_reach_a_limit_exactly(url: str) -> None:
    takers = [start(TAKER, url) for _ in range(2)]
    for taker in takers:
        assert taker.stdout is not None
        assert taker.stdout.readline().strip() == "ready"

    for taker in takers:
        assert taker.stdin is not None
        taker.stdin.write("\n")
        taker.stdin.flush()
    got = [json.loads(taker.communicate(timeout=120)[0]) for taker in takers]

    assert sum(got) == 1_400
    with open_state_store(url) as store:
        assert list(store.taken([a_limit(0)], now=NOON)) == [1_400]


HOLDER = """
import sys
from automemory_dagster.adapters.home import own_process
from automemory_dagster.adapters.state import open_state_store
from automemory_dagster.domain.spend import MicroUsd
from tests.adapters.state.builders import NOON
from tests.contracts.test_state_store_spend import WORK

store = open_state_store(sys.argv[1], worker=own_process)
store.reserve(WORK, MicroUsd(90), limits=[], now=NOON, model="openai:gpt-5-mini")
print("ready", flush=True)
sys.stdin.readline()
"""


def test_what_a_killed_process_set_aside_counts_as_spent(url: str) -> None:
    holder = start(HOLDER, url)
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "ready"
    with open_state_store(url, worker=own_process) as store:
        own = store.reserve(WORK, MicroUsd(5), limits=[a_limit(95)], now=NOON)
        assert isinstance(own, Reserved)
        assert store.settle_abandoned(is_gone, now=NOON) == 0

        holder.kill()
        holder.communicate(timeout=60)

        assert store.settle_abandoned(is_gone, now=NOON) == 1
        assert store.spent_usd() == 0.00009
        refused = store.reserve(WORK, MicroUsd(1), limits=[a_limit(95)], now=NOON)
        assert isinstance(refused, LimitReached)
        store.free(own)
        other_run = replace(WORK, run_id="run-2")
        assert isinstance(
            store.reserve(other_run, MicroUsd(5), limits=[a_limit(95)], now=NOON), Reserved
        )


def test_abandoned_ones_are_booked_once_by_many(url: str) -> None:
    with open_state_store(url) as store:
        for _ in range(20):
            store.reserve(WORK, MicroUsd(3), limits=[], now=NOON)

        booked = at_once([partial(store.settle_abandoned, lambda _: True, now=NOON)] * WORKERS)

        assert sum(booked) == 20
        assert store.spent_usd() == 0.00006


def start(program: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
