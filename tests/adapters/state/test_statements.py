"""How many statements the sweep and the phases cost, which is what a database's time follows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

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


@contextmanager
def sent(store: SqlStateStore) -> Iterator[list[str]]:
    """The statements that a store sends meanwhile."""
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    engine = store.database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


def _look(store: SqlStateStore, number: int) -> None:
    store.possibly_due(SOURCE, now=NOON, idle_seconds=0, limit=500)


def _work(store: SqlStateStore, number: int) -> None:
    thread = a_thread(number, source_updated_at=NOON - number * SECOND)
    store.finish_stage1(claimed(store, thread), an_output(thread), entry=an_entry(thread), now=NOON)


@pytest.mark.parametrize(("act", "most"), [(_look, 3), (_work, 20)])
def test_a_look_and_a_claim_cost_the_same_whatever_else_is_there(
    sqlite_store: SqlStateStore, act: Callable[[SqlStateStore, int], None], most: int
) -> None:
    """A look is one transaction; a claim with its end is two transactions of a few each."""
    sqlite_store.save_threads([a_thread(1, source_updated_at=NOON - SECOND)])
    with sent(sqlite_store) as beside_one:
        act(sqlite_store, 1)
    sqlite_store.save_threads(
        [a_thread(n, source_updated_at=NOON - n * SECOND) for n in range(2, 1_000)]
    )
    with sent(sqlite_store) as beside_many:
        act(sqlite_store, 2)

    assert len(beside_many) <= len(beside_one) <= most


def test_threads_are_saved_and_known_in_batches(sqlite_store: SqlStateStore) -> None:
    many = [a_thread(n, source_updated_at=NOON - n * SECOND) for n in range(2_000)]

    with sent(sqlite_store) as saving:
        sqlite_store.save_threads(many)
    with sent(sqlite_store) as knowing:
        known = sqlite_store.known_rollouts(SOURCE)

    assert len(known) == 2_000
    assert len(saving) <= 2_000 / 20
    assert len(knowing) <= 3
