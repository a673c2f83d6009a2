"""Workers that meet on the real databases. A fake cannot prove a transaction."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from automemory_dagster.adapters.state import SqlStateStore
from automemory_dagster.domain.errors import LeaseLost
from automemory_dagster.domain.job import (
    Claimed,
    JobKind,
    JobStatus,
    SkippedAtCapacity,
    SkippedRunning,
    SkippedUpToDate,
)
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import MemoryMode, SpaceId
from tests.adapters.state.builders import (
    NOON,
    POLICY,
    SOURCE,
    SPACE,
    a_publication,
    a_thread,
    an_entry,
    an_output,
    claim,
    claim_space,
    claimed,
    claimed_space,
    extract,
    newer,
    watermark,
)

WORKERS = 8
ROUNDS = 25
UNCAPPED = replace(POLICY, max_running=10_000)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> SqlStateStore:
    found: SqlStateStore = request.getfixturevalue(f"{request.param}_store")
    return found


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run all at the same moment, each in a thread of its own; results in order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def kinds(outcomes: Sequence[object]) -> Counter[type]:
    return Counter(type(outcome) for outcome in outcomes)


def finishes(store: SqlStateStore, owned: Claimed, output: Stage1Output | None) -> bool:
    """True when the end of the work could be stored."""
    entry = an_entry(a_thread(1, thread_id=owned.key))
    try:
        store.finish_stage1(owned, output, entry=entry, now=NOON)
    except LeaseLost:
        return False
    return True


def renews(store: SqlStateStore, owned: Claimed) -> bool:
    """True when the lease could be made longer."""
    try:
        store.renew(owned, policy=POLICY, now=NOON)
    except LeaseLost:
        return False
    return True


def test_one_of_many_workers_wins_a_thread(store: SqlStateStore) -> None:
    for round_number in range(ROUNDS):
        thread = a_thread(round_number)

        outcomes = at_once([partial(claim, store, thread, policy=UNCAPPED)] * WORKERS)

        assert kinds(outcomes) == {Claimed: 1, SkippedRunning: WORKERS - 1}


def test_one_of_many_workers_takes_over_a_lease_that_ended(store: SqlStateStore) -> None:
    for round_number in range(ROUNDS):
        thread = a_thread(round_number)
        claimed(store, thread, policy=UNCAPPED)
        later = NOON + POLICY.lease

        outcomes = at_once([partial(claim, store, thread, policy=UNCAPPED, now=later)] * WORKERS)

        assert kinds(outcomes) == {Claimed: 1, SkippedRunning: WORKERS - 1}
        job = store.job(JobKind.STAGE1, thread.thread_id)
        assert job is not None
        assert job.retry_remaining == 2


def test_the_cap_holds_exactly(store: SqlStateStore) -> None:
    policy = replace(POLICY, max_running=3)
    for round_number in range(ROUNDS):
        threads = [a_thread(round_number * WORKERS + n) for n in range(WORKERS)]

        outcomes = at_once([partial(claim, store, thread, policy=policy) for thread in threads])

        assert kinds(outcomes) == {Claimed: 3, SkippedAtCapacity: WORKERS - 3}
        for thread, outcome in zip(threads, outcomes, strict=True):
            if isinstance(outcome, Claimed):
                store.finish_stage1(outcome, None, entry=an_entry(thread), now=NOON)


def test_one_of_many_workers_wins_a_space_nobody_knew(store: SqlStateStore) -> None:
    for round_number in range(ROUNDS):
        space = SpaceId(f"codex:{round_number}")

        outcomes = at_once([partial(claim_space, store, space, is_forced=True)] * WORKERS)

        assert kinds(outcomes) == {Claimed: 1, SkippedRunning: WORKERS - 1}


def test_whoever_is_late_either_finishes_or_has_lost(store: SqlStateStore) -> None:
    for round_number in range(ROUNDS):
        thread = a_thread(round_number)
        late = claimed(store, thread, policy=UNCAPPED)
        later = NOON + POLICY.lease

        finished, taken = at_once(
            [
                partial(finishes, store, late, an_output(thread)),
                partial(claim, store, thread, policy=UNCAPPED, now=later),
            ]
        )

        assert isinstance(taken, SkippedUpToDate if finished else Claimed)
        assert (store.output(thread.thread_id) is not None) is finished


def test_no_change_of_a_space_is_lost_and_nobody_waits_in_a_ring(store: SqlStateStore) -> None:
    """Extraction, withdrawn consent, consolidation and a person, all on one space."""
    for round_number in range(ROUNDS):
        space = SpaceId(f"codex:{round_number}")
        threads = [a_thread(100 * round_number + n, space_id=space) for n in range(6)]
        for thread in threads[:4]:
            extract(store, thread)
        owned = claimed_space(store, space)
        again = [claimed(store, newer(thread)) for thread in threads[:2]]
        store.save_threads(threads)
        before = watermark(store, space)

        withdrawn = [replace(t, memory_mode=MemoryMode.DISABLED) for t in threads[3:1:-1]]
        at_once(
            [
                partial(finishes, store, again[0], None),
                partial(finishes, store, again[1], an_output(threads[1], raw_memory="other")),
                partial(store.save_threads, withdrawn),
                partial(store.save_threads, threads[2:4]),
                partial(store.request_consolidation, space, now=NOON),
                partial(
                    store.finish_phase2,
                    owned,
                    a_publication(1, space_id=space),
                    selected={thread.thread_id: 1 for thread in threads[3::-1]},
                    now=NOON,
                ),
            ]
        )

        # Two extractions, a person, consent taken back; and given again when that came second.
        assert watermark(store, space) - before in (4, 5)
        state = store.space(space)
        assert state.has_pending_changes
        assert state.is_forgetting
        assert state.version == 1


def test_saving_the_same_threads_in_any_order_at_once_works(store: SqlStateStore) -> None:
    for round_number in range(5):
        threads = [a_thread(1_000 * round_number + n) for n in range(300)]

        at_once(
            [
                partial(store.save_threads, threads),
                partial(store.save_threads, threads[::-1]),
                partial(store.mark_vanished, [t.thread_id for t in threads[::3]], now=NOON),
                partial(store.record, [an_entry(thread) for thread in threads]),
                partial(store.record, [an_entry(thread) for thread in threads[::-1]]),
            ]
        )

    assert len(store.log(limit=10_000)) == 1_500


WORKER = """
import json, sys
from dataclasses import replace
from automemory_dagster.adapters.state import open_state_store
from automemory_dagster.adapters.state.statement import count_live_leases
from automemory_dagster.domain.job import Claimed, SkippedAtCapacity
from tests.adapters.state.builders import POLICY, NOON, a_thread, an_entry, an_output

url, count, cap = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
policy = replace(POLICY, max_running=cap)
won, full, most = [], 0, 0
with open_state_store(url) as store:
    for _ in range(200):
        is_done = True
        for number in range(count):
            thread = a_thread(number)
            outcome = store.claim_stage1(
                thread, policy=policy, worker="", run_id="", now=NOON
            )
            full += isinstance(outcome, SkippedAtCapacity)
            is_done &= not isinstance(outcome, SkippedAtCapacity)
            if isinstance(outcome, Claimed):
                with store.database.reading() as connection:
                    most = max(most, count_live_leases(connection, now=NOON))
                store.finish_stage1(
                    outcome, an_output(thread), entry=an_entry(thread), now=NOON
                )
                won.append(number)
        if is_done:
            break
print(json.dumps({"won": won, "full": full, "most": most}))
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_many_processes_handle_each_thread_once_under_the_cap(
    request: pytest.FixtureRequest, kind: str
) -> None:
    """The database is new: the processes also race to make its tables."""
    url = request.getfixturevalue("postgres_url" if kind == "postgres" else "new_sqlite_url")
    count, cap = 60, 2

    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, url, str(count), str(cap)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        for _ in range(4)
    ]
    said = [json.loads(worker.communicate(timeout=120)[0]) for worker in workers]

    assert [worker.returncode for worker in workers] == [0] * 4
    assert sorted(number for one in said for number in one["won"]) == list(range(count))
    assert max(one["most"] for one in said) <= cap


@pytest.fixture
def new_sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/new.sqlite"


def test_a_job_that_many_renew_and_finish_ends_once(store: SqlStateStore) -> None:
    for round_number in range(ROUNDS):
        thread = a_thread(round_number)
        store.save_threads([thread])
        owned = claimed(store, thread)
        finish, renew = partial(finishes, store, owned, None), partial(renews, store, owned)

        ends = at_once([finish, renew, finish, renew, finish])

        assert sum(ends[::2]) == 1
        job = store.job(JobKind.STAGE1, thread.thread_id)
        assert job is not None
        assert (job.status, job.lease_token) == (JobStatus.DONE, None)
        assert store.possibly_due(SOURCE, now=NOON, idle_seconds=0, limit=9) == []


def test_versions_have_no_gaps_when_many_publish(store: SqlStateStore) -> None:
    def publish_next() -> None:
        for _ in range(5):
            owned = claim_space(store, is_forced=True)
            while not isinstance(owned, Claimed):
                owned = claim_space(store, is_forced=True)
            version = store.space(SPACE).version + 1
            store.finish_phase2(owned, a_publication(version), selected={}, now=NOON)

    at_once([publish_next] * 4)

    assert store.space(SPACE).version == 20
    assert all(store.publication(SPACE, version) is not None for version in range(1, 21))
