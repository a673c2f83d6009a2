"""The exam of the schedule: which threads a scheduled source looks at, and when."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from automemory_dagster.domain.job import FailureKind
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import Thread, ThreadId
from automemory_dagster.ports import StateStore, ThreadState
from tests.adapters.state.builders import (
    HOUR,
    NOON,
    POLICY,
    SECOND,
    a_thread,
    an_entry,
    an_id,
    an_output,
    claimed,
    newer,
)

SOURCE = "scheduled"


def mine(number: int = 1, user: str = "ann", **changes: object) -> Thread:
    return replace(a_thread(number), source=SOURCE, user_id=user, **changes)  # type: ignore[arg-type]


def ids(states: Iterable[ThreadState]) -> list[ThreadId]:
    return [state.thread.thread_id for state in states]


def waiting(store: StateStore, *, now: datetime = NOON, limit: int = 100) -> list[ThreadId]:
    return ids(store.waiting(SOURCE, now=now, limit=limit))


def test_user_and_goal_come_back(state_store: StateStore) -> None:
    state_store.save_threads([mine(goal_key="ab12")])

    [state] = state_store.thread_states(source=SOURCE)
    assert (state.thread.user_id, state.thread.goal_key) == ("ann", "ab12")


class TestWaiting:
    def test_the_longest_waiting_come_first(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1)], look_at=NOON)
        state_store.save_threads([mine(2), mine(3)], look_at=NOON - HOUR)

        assert waiting(state_store) == [an_id(2), an_id(3), an_id(1)]
        assert waiting(state_store, limit=2) == [an_id(2), an_id(3)]

    def test_a_time_to_come_and_a_parked_thread_do_not_wait(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1), mine(2), mine(3)], look_at=NOON)

        looks = {an_id(1): NOON + SECOND, an_id(2): None}
        state_store.record([an_entry(mine(1)), an_entry(mine(2))], looks=looks)

        assert waiting(state_store) == [an_id(3)]
        assert waiting(state_store, now=NOON + SECOND) == [an_id(3), an_id(1)]
        assert len(state_store.log()) == 2

    def test_a_source_without_a_schedule_has_nobody_waiting(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1)])

        assert waiting(state_store) == []

    def test_what_is_handled_waits_again_when_it_is_newer(self, state_store: StateStore) -> None:
        thread = mine(1)
        state_store.save_threads([thread], look_at=NOON)
        own = claimed(state_store, thread)
        state_store.finish_stage1(own, an_output(thread), entry=an_entry(thread), now=NOON)
        assert waiting(state_store) == []

        state_store.save_threads([newer(thread)], look_at=NOON)

        assert waiting(state_store) == [an_id(1)]

    def test_running_and_failed_jobs_do_not_wait(self, state_store: StateStore) -> None:
        running, failed = mine(1), mine(2)
        state_store.save_threads([running, failed, mine(3)], look_at=NOON)
        claimed(state_store, running)
        own = claimed(state_store, failed)
        error = RedactedText("it broke")

        state_store.fail(own, kind=FailureKind.PERMANENT, error=error, policy=POLICY, now=NOON)

        assert waiting(state_store) == [an_id(3)]
        assert waiting(state_store, now=NOON + HOUR) == [an_id(1), an_id(2), an_id(3)]


class TestUnparking:
    def test_a_user_s_threads_are_looked_at_now(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1), mine(2, "bob")])
        state_store.save_threads([mine(3)], look_at=NOON + HOUR)

        count = state_store.unpark(user_id="ann", now=NOON)

        assert count == 2
        assert waiting(state_store) == [an_id(1), an_id(3)]

    def test_named_threads_are_looked_at_now(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1), mine(2)])

        assert state_store.unpark(thread_ids=[an_id(2), an_id(9)], now=NOON) == 1

        assert waiting(state_store) == [an_id(2)]

    def test_who_waits_already_keeps_the_place(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1)], look_at=NOON - HOUR)

        assert state_store.unpark(user_id="ann", now=NOON) == 0

    def test_nobody_named_unparks_nobody(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1), a_thread(2)])

        assert state_store.unpark(now=NOON) == 0
        assert state_store.unpark(user_id="", now=NOON) == 0

    def test_what_is_handled_stays_so(self, state_store: StateStore) -> None:
        thread = mine(1)
        state_store.save_threads([thread], look_at=NOON)
        own = claimed(state_store, thread)
        state_store.finish_stage1(own, an_output(thread), entry=an_entry(thread), now=NOON)

        assert state_store.unpark(user_id="ann", now=NOON + HOUR) == 0


class TestTheCursor:
    def test_nothing_known_is_no_cursor(self, state_store: StateStore) -> None:
        assert state_store.newest_stamp(SOURCE) is None

    def test_it_is_the_last_by_time_and_id(self, state_store: StateStore) -> None:
        late = mine(1).stamp
        late = replace(late, mtime_ns=7)
        state_store.save_threads([mine(number, stamp=late) for number in (2, 3)])
        state_store.save_threads([mine(4), a_thread(99)])

        assert state_store.newest_stamp(SOURCE) == (7, an_id(3))

    def test_a_thread_that_is_gone_still_counts(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(5)])
        state_store.mark_vanished([an_id(5)], now=NOON)

        assert state_store.newest_stamp(SOURCE) == (5, an_id(5))


class TestUnhandled:
    def test_parked_ones_too_the_newest_first(self, state_store: StateStore) -> None:
        many = [mine(n, source_updated_at=NOON - n * SECOND) for n in range(1, 503)]
        state_store.save_threads(many)

        assert ids(state_store.unhandled(SOURCE)) == [thread.thread_id for thread in many]

    def test_of_one_user(self, state_store: StateStore) -> None:
        state_store.save_threads([mine(1), mine(2, "bob"), a_thread(3)])

        assert ids(state_store.unhandled(SOURCE, user_id="bob")) == [an_id(2)]


def test_the_log_of_one_user(state_store: StateStore) -> None:
    state_store.record([an_entry(mine(1), user_id="ann"), an_entry(mine(2), user_id="bob")])
    state_store.record([an_entry(a_thread(3))])

    assert [entry.thread_id for entry in state_store.log(user_id="bob")] == [an_id(2)]
    assert len(state_store.log()) == 3
