"""What the sweep and the phases count on, on SQLite. A quiet machine is far faster."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from automemory_dagster.adapters.state import SqlStateStore
from tests.adapters.state.builders import (
    NOON,
    SECOND,
    SOURCE,
    a_thread,
    an_entry,
    an_output,
    claimed,
)

MANY = [a_thread(n, source_updated_at=NOON - n * SECOND) for n in range(10_000)]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    started = time.perf_counter()
    yield
    took = time.perf_counter() - started
    assert took < seconds, f"took {took:.3f} s"


def test_ten_thousand_threads_are_saved_known_and_not_due(sqlite_store: SqlStateStore) -> None:
    with at_most(2.0):
        sqlite_store.save_threads(MANY)
    with at_most(0.5):
        known = sqlite_store.known_rollouts(SOURCE)
    assert len(known) == 10_000

    everything = "UPDATE threads SET handled_watermark = source_updated_at"
    sqlite_store.database.write(lambda connection: connection.execute(text(everything)))
    sqlite_store.possibly_due(SOURCE, now=NOON, idle_seconds=0, limit=500)
    with at_most(0.02):
        due = sqlite_store.possibly_due(SOURCE, now=NOON, idle_seconds=0, limit=500)
    assert due == []


def test_a_claim_and_its_end_cost_milliseconds(sqlite_store: SqlStateStore) -> None:
    sqlite_store.save_threads(MANY[:200])

    with at_most(200 * 0.02):
        for thread in MANY[:200]:
            owned = claimed(sqlite_store, thread)
            sqlite_store.finish_stage1(owned, an_output(thread), entry=an_entry(thread), now=NOON)
