"""The exam of every ``SpendLedger``: set aside, booked, given back, added up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from automemory_dagster.domain.spend import (
    LimitReached,
    MicroUsd,
    ModelCall,
    Period,
    Purpose,
    Reserved,
    Scope,
    SpendLimit,
    TokenUsage,
    Work,
)
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.ports import StateStore
from tests.adapters.state.builders import HOUR, NOON, SPACE, an_id

OTHER = SpaceId("codex:other")
MODEL = "openai:gpt-5-mini"
WORK = Work(
    purpose=Purpose.EXTRACT, space_id=SPACE, thread_id=an_id(), user_id="ann", run_id="run-1"
)
USAGE = TokenUsage(
    input_tokens=1_000, output_tokens=200, cache_read_tokens=300, cache_write_tokens=7, requests=1
)


def a_limit(
    amount: int, period: Period = Period.DAY, scope: Scope = Scope.DEPLOYMENT, scope_id: str = ""
) -> SpendLimit:
    return SpendLimit(scope=scope, scope_id=scope_id, period=period, micro_usd=MicroUsd(amount))


def a_call(amount: int, **changes: Any) -> ModelCall:
    call = ModelCall(
        work=WORK,
        called_at=NOON,
        model=MODEL,
        prompt_version="extract-1",
        usage=USAGE,
        micro_usd=MicroUsd(amount),
    )
    return replace(call, **changes)


def reserve(
    store: StateStore,
    amount: int,
    *limits: SpendLimit,
    work: Work = WORK,
    now: datetime = NOON,
) -> Reserved | LimitReached:
    return store.reserve(work, MicroUsd(amount), limits=limits, now=now, model=MODEL)


def reserved(store: StateStore, amount: int, **options: Any) -> Reserved:
    found = reserve(store, amount, **options)
    assert isinstance(found, Reserved)
    return found


def spend(store: StateStore, amount: int, *, at: datetime = NOON, work: Work = WORK) -> None:
    """One call from its reservation to its end."""
    store.settle(
        reserved(store, amount, work=work, now=at), a_call(amount, called_at=at, work=work)
    )


class TestReserving:
    def test_a_limit_may_be_reached_and_not_passed(self, state_store: StateStore) -> None:
        limit = a_limit(100)
        spend(state_store, 40)
        reserved(state_store, 50)

        assert reserve(state_store, 11, limit) == LimitReached(
            limit=limit, taken=MicroUsd(90), asked=MicroUsd(11)
        )
        assert isinstance(reserve(state_store, 10, limit), Reserved)

    def test_a_refused_reservation_takes_nothing(self, state_store: StateStore) -> None:
        reserve(state_store, 101, a_limit(100))

        assert isinstance(reserve(state_store, 100, a_limit(100)), Reserved)

    def test_a_reservation_says_whose_it_is(self, state_store: StateStore) -> None:
        found = reserved(state_store, 5)

        assert (found.work, found.micro_usd, found.reserved_at) == (WORK, 5, NOON)

    def test_a_limit_of_nothing_lets_only_free_calls_pass(self, state_store: StateStore) -> None:
        assert isinstance(reserve(state_store, 1, a_limit(0)), LimitReached)
        assert isinstance(reserve(state_store, 0, a_limit(0)), Reserved)

    @pytest.mark.parametrize(
        ("limit", "is_reached"),
        [
            (a_limit(10, scope=Scope.SPACE, scope_id=SPACE), True),
            (a_limit(10, scope=Scope.SPACE, scope_id=OTHER), False),
            (a_limit(10, scope=Scope.USER, scope_id="ann"), True),
            (a_limit(10, scope=Scope.USER, scope_id="bob"), False),
            (a_limit(10), True),
        ],
    )
    def test_each_scope_has_its_own_sum(
        self, state_store: StateStore, limit: SpendLimit, is_reached: bool
    ) -> None:
        spend(state_store, 8)
        spend(state_store, 8, work=replace(WORK, space_id=OTHER, user_id="bob"))

        outcome = reserve(state_store, 3, limit)

        assert isinstance(outcome, LimitReached) is is_reached

    def test_work_for_nobody_has_no_users_limit(self, state_store: StateStore) -> None:
        nobody = replace(WORK, user_id="")
        limit = a_limit(0, scope=Scope.USER, scope_id="")

        assert isinstance(reserve(state_store, 3, limit, work=nobody), Reserved)

    def test_every_limit_is_a_cap_and_the_one_that_is_reached_is_told(
        self, state_store: StateStore
    ) -> None:
        wide, narrow = a_limit(1_000), a_limit(9, scope=Scope.SPACE, scope_id=SPACE)

        outcome = reserve(state_store, 10, wide, narrow)

        assert isinstance(outcome, LimitReached)
        assert outcome.limit == narrow


class TestPeriods:
    def test_a_run_has_a_sum_of_its_own(self, state_store: StateStore) -> None:
        limit = a_limit(10, Period.RUN)
        spend(state_store, 10, at=NOON - 1_000 * HOUR)

        assert isinstance(reserve(state_store, 1, limit), LimitReached)
        other = replace(WORK, run_id="run-2")
        assert isinstance(reserve(state_store, 10, limit, work=other), Reserved)

    def test_a_run_may_have_a_limit_for_one_space(self, state_store: StateStore) -> None:
        limit = a_limit(10, Period.RUN, Scope.SPACE, SPACE)
        spend(state_store, 10, work=replace(WORK, space_id=OTHER))
        spend(state_store, 4)

        assert isinstance(reserve(state_store, 6, limit), Reserved)
        assert isinstance(reserve(state_store, 1, limit), LimitReached)

    def test_work_outside_a_run_is_a_run_of_its_own(self, state_store: StateStore) -> None:
        alone, limit = replace(WORK, run_id=""), a_limit(10, Period.RUN)
        spend(state_store, 10, work=alone)

        assert isinstance(reserve(state_store, 10, limit, work=alone), Reserved)
        assert isinstance(reserve(state_store, 11, limit, work=alone), LimitReached)

    def test_a_day_begins_at_midnight_utc(self, state_store: StateStore) -> None:
        midnight = datetime(2026, 12, 2, tzinfo=UTC)
        spend(state_store, 10, at=midnight - timedelta(microseconds=1))

        before, after = midnight - timedelta(seconds=1), midnight
        assert isinstance(reserve(state_store, 1, a_limit(10), now=before), LimitReached)
        assert isinstance(reserve(state_store, 10, a_limit(10), now=after), Reserved)

    def test_the_day_is_utcs_wherever_the_clock_is(self, state_store: StateStore) -> None:
        midnight = datetime(2026, 12, 2, tzinfo=UTC)
        spend(state_store, 10, at=midnight)

        # Half past midnight of 2 December in London is the evening of the 1st in New York.
        elsewhere = (midnight + HOUR / 2).astimezone(datetime.strptime("-0500", "%z").tzinfo)

        assert isinstance(reserve(state_store, 1, a_limit(10), now=elsewhere), LimitReached)

    def test_a_month_begins_with_its_first_day(self, state_store: StateStore) -> None:
        limit = a_limit(10, Period.MONTH)
        spend(state_store, 10, at=datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC))
        spend(state_store, 4, at=datetime(2026, 12, 1, tzinfo=UTC))

        late = datetime(2026, 12, 31, 23, 0, tzinfo=UTC)
        assert isinstance(reserve(state_store, 7, limit, now=late), LimitReached)
        assert isinstance(reserve(state_store, 6, limit, now=late), Reserved)

    def test_what_is_under_way_counts_on_both_sides_of_midnight(
        self, state_store: StateStore
    ) -> None:
        midnight = datetime(2026, 12, 2, tzinfo=UTC)
        reserved(state_store, 10, now=midnight - timedelta(minutes=1))

        assert isinstance(reserve(state_store, 1, a_limit(10), now=midnight), LimitReached)


class TestSettling:
    def test_the_true_cost_takes_the_place_of_what_was_set_aside(
        self, state_store: StateStore
    ) -> None:
        held = reserved(state_store, 100)

        state_store.settle(held, a_call(30))

        assert list(state_store.taken([a_limit(0)], now=NOON)) == [30]
        assert state_store.spent_usd() == 0.00003

    def test_more_than_was_set_aside_is_booked_too(self, state_store: StateStore) -> None:
        state_store.settle(reserved(state_store, 100), a_call(170))

        assert list(state_store.taken([a_limit(0)], now=NOON)) == [170]

    def test_settling_twice_books_once(self, state_store: StateStore) -> None:
        held = reserved(state_store, 100)

        state_store.settle(held, a_call(30))
        state_store.settle(held, a_call(30))

        assert state_store.spent_usd() == 0.00003

    def test_freeing_books_nothing(self, state_store: StateStore) -> None:
        held = reserved(state_store, 100)

        state_store.free(held)
        state_store.free(held)

        assert list(state_store.taken([a_limit(0)], now=NOON)) == [0]
        assert state_store.spent_usd() == 0.0

    def test_freeing_takes_nothing_back_that_was_booked(self, state_store: StateStore) -> None:
        held = reserved(state_store, 100)
        state_store.settle(held, a_call(30))

        state_store.free(held)

        assert state_store.spent_usd() == 0.00003

    def test_thousands_of_tiny_amounts_add_up_exactly(self, state_store: StateStore) -> None:
        for _ in range(100):
            spend(state_store, 1)

        assert state_store.spent_usd() == 0.0001


class TestAbandoned:
    def test_what_a_dead_worker_set_aside_counts_as_spent(self, state_store: StateStore) -> None:
        reserved(state_store, 60)

        assert state_store.settle_abandoned(lambda worker: True, now=NOON) == 1
        assert state_store.settle_abandoned(lambda worker: True, now=NOON) == 0

        (total,) = state_store.spend_totals()
        assert (total.model, total.spent.micro_usd, total.estimated_calls) == (MODEL, 60, 1)
        assert list(state_store.taken([a_limit(0)], now=NOON)) == [60]

    def test_a_living_workers_stays_set_aside(self, state_store: StateStore) -> None:
        reserved(state_store, 60)

        assert state_store.settle_abandoned(lambda worker: False, now=NOON) == 0

        assert state_store.spent_usd() == 0.0
        assert list(state_store.taken([a_limit(0)], now=NOON)) == [60]

    def test_one_that_is_older_than_any_call_is_abandoned_whoever_made_it(
        self, state_store: StateStore
    ) -> None:
        reserved(state_store, 60)
        too_late = NOON + 2 * HOUR

        early = state_store.settle_abandoned(lambda worker: False, now=too_late - HOUR / 60)
        late = state_store.settle_abandoned(lambda worker: False, now=too_late)

        assert (early, late) == (0, 1)

    def test_it_is_booked_on_the_day_of_its_reservation(self, state_store: StateStore) -> None:
        reserved(state_store, 60)

        state_store.settle_abandoned(lambda worker: True, now=NOON + 24 * HOUR)

        assert [total.day for total in state_store.spend_totals()] == ["2026-12-01"]

    def test_the_true_cost_of_one_that_comes_after_all_replaces_the_bound(
        self, state_store: StateStore
    ) -> None:
        held = reserved(state_store, 60)
        state_store.settle_abandoned(lambda worker: True, now=NOON)

        state_store.settle(held, a_call(20))

        (total,) = state_store.spend_totals()
        assert (total.spent.micro_usd, total.estimated_calls) == (20, 0)


class TestTotals:
    def test_calls_are_added_up_by_day_model_purpose_space_and_user(
        self, state_store: StateStore
    ) -> None:
        consolidation = replace(WORK, purpose=Purpose.CONSOLIDATE, thread_id=None)
        for _ in range(2):
            spend(state_store, 15)
        spend(state_store, 7, work=consolidation)
        spend(state_store, 5, work=replace(WORK, space_id=OTHER, user_id=""))
        spend(state_store, 3, at=NOON + 24 * HOUR)

        totals = [
            (t.day, t.purpose, t.space_id, t.user_id, t.spent.micro_usd, t.spent.usage.requests)
            for t in state_store.spend_totals()
        ]

        assert totals == [
            ("2026-12-01", Purpose.CONSOLIDATE, SPACE, "ann", 7, 1),
            ("2026-12-01", Purpose.EXTRACT, SPACE, "ann", 30, 2),
            ("2026-12-01", Purpose.EXTRACT, OTHER, "", 5, 1),
            ("2026-12-02", Purpose.EXTRACT, SPACE, "ann", 3, 1),
        ]

    def test_each_kind_of_token_is_added_up(self, state_store: StateStore) -> None:
        for _ in range(3):
            spend(state_store, 1)

        (total,) = state_store.spend_totals()

        assert total.spent.model == MODEL
        assert total.spent.usage == TokenUsage(
            input_tokens=3_000,
            output_tokens=600,
            cache_read_tokens=900,
            cache_write_tokens=21,
            requests=3,
        )

    def test_they_can_be_cut_by_moment_and_space(self, state_store: StateStore) -> None:
        spend(state_store, 1)
        spend(state_store, 2, at=NOON + HOUR)
        spend(state_store, 4, at=NOON + HOUR, work=replace(WORK, space_id=OTHER))

        def amounts(**options: Any) -> list[int]:
            return [total.spent.micro_usd for total in state_store.spend_totals(**options)]

        assert amounts(since=NOON + HOUR) == [2, 4]
        assert amounts(space_id=SPACE) == [3]
        assert amounts(since=NOON + HOUR, space_id=OTHER) == [4]
        assert state_store.spent_usd(since=NOON + HOUR) == 0.000006

    def test_nothing_was_spent_at_first(self, state_store: StateStore) -> None:
        assert state_store.spent_usd() == 0.0
        assert list(state_store.spend_totals()) == []
        assert list(state_store.taken([], now=NOON)) == []

    def test_what_is_taken_is_told_for_each_limit_in_its_order(
        self, state_store: StateStore
    ) -> None:
        spend(state_store, 5, at=NOON - 24 * 40 * HOUR)
        spend(state_store, 20)
        reserved(state_store, 300, work=replace(WORK, space_id=OTHER, run_id="run-2"))

        limits = [
            a_limit(0, Period.RUN),
            a_limit(0),
            a_limit(0, Period.MONTH, Scope.SPACE, SPACE),
            a_limit(0, Period.RUN, Scope.SPACE, OTHER),
        ]

        assert list(state_store.taken(limits, now=NOON, run_id="run-1")) == [25, 320, 20, 0]
        assert list(state_store.taken(limits, now=NOON)) == [0, 320, 20, 0]
