"""Which outputs a consolidation reads."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.selection import (
    SelectionPolicy,
    compare_selection,
    select_for_phase2,
)
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import ThreadId
from tests.memories import NOON, a_selected_output, a_thread_id

ALL = SelectionPolicy(max_unused=None)


def numbers(selection: tuple[SelectedOutput, ...]) -> list[int]:
    return [int(item.output.thread_id[-12:], 16) for item in selection]


def days(count: float) -> timedelta:
    return timedelta(days=count)


def test_blank_outputs_are_left_out() -> None:
    outputs = [
        a_selected_output(1, raw_memory=" \n", rollout_summary="\t"),
        a_selected_output(2, raw_memory="", rollout_summary="a summary"),
    ]

    assert numbers(select_for_phase2(outputs, policy=ALL, now=NOON)) == [2]


def test_an_output_counts_as_unused_only_after_the_whole_window() -> None:
    outputs = [
        a_selected_output(1, age=days(90)),
        a_selected_output(2, age=days(90) + timedelta(seconds=1)),
    ]

    assert numbers(select_for_phase2(outputs, policy=SelectionPolicy(), now=NOON)) == [1]


def test_an_old_output_that_was_used_lately_stays() -> None:
    outputs = [a_selected_output(1, age=days(400), usage_count=1, used_ago=days(3))]

    assert numbers(select_for_phase2(outputs, policy=SelectionPolicy(), now=NOON)) == [1]


def test_an_output_used_long_ago_drops_out_though_its_source_was_updated_since() -> None:
    outputs = [a_selected_output(1, age=days(1), usage_count=9, used_ago=days(91))]

    assert select_for_phase2(outputs, policy=SelectionPolicy(), now=NOON) == ()


def test_without_a_window_nothing_is_too_old() -> None:
    outputs = [a_selected_output(1, age=days(4000))]

    assert numbers(select_for_phase2(outputs, policy=ALL, now=NOON)) == [1]


def test_the_most_used_then_the_latest_used_fill_the_room_and_stand_by_thread_id() -> None:
    outputs = [
        a_selected_output(1, age=days(1)),
        a_selected_output(2, age=days(50), usage_count=2, used_ago=days(9)),
        a_selected_output(3, age=days(2)),
        a_selected_output(4, age=days(60), usage_count=2, used_ago=days(8)),
    ]

    chosen = select_for_phase2(
        outputs, policy=SelectionPolicy(max_inputs=3, max_unused=None), now=NOON
    )

    assert numbers(chosen) == [1, 2, 4]


def test_the_higher_thread_id_wins_among_equals() -> None:
    outputs = [a_selected_output(number) for number in (1, 2, 3)]

    chosen = select_for_phase2(outputs, policy=SelectionPolicy(max_inputs=1), now=NOON)

    assert numbers(chosen) == [3]


def test_a_new_version_counts_as_added() -> None:
    selection = (a_selected_output(1), a_selected_output(2), a_selected_output(3))
    version = int((NOON - days(1)).timestamp())
    previous = {
        a_thread_id(1): version,
        a_thread_id(2): version - 60,
        a_thread_id(9): version,
    }

    change = compare_selection(previous, selection)

    assert change.added == (a_thread_id(2), a_thread_id(3))
    assert change.retained == (a_thread_id(1),)
    assert change.removed == (a_thread_id(9),)


@st.composite
def outputs(draw: st.DrawFn) -> list[SelectedOutput]:
    chosen = draw(st.sets(st.integers(1, 30), max_size=12))
    return [
        a_selected_output(
            number,
            age=timedelta(hours=draw(st.integers(0, 3000))),
            usage_count=draw(st.integers(0, 3)),
            used_ago=draw(st.none() | st.integers(0, 3000).map(lambda h: timedelta(hours=h))),
            raw_memory=draw(st.sampled_from(["", "text"])),
            rollout_summary=draw(st.sampled_from(["", "text"])),
        )
        for number in sorted(chosen)
    ]


@given(outputs(), st.integers(0, 8), st.randoms())
def test_the_order_of_the_outputs_changes_nothing(
    found: list[SelectedOutput], room: int, random: object
) -> None:
    policy = SelectionPolicy(max_inputs=room)
    shuffled = found.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    chosen = select_for_phase2(found, policy=policy, now=NOON)

    assert chosen == select_for_phase2(shuffled, policy=policy, now=NOON)
    assert len(chosen) <= room
    assert list(chosen) == sorted(chosen, key=lambda item: item.output.thread_id)


@given(outputs(), outputs())
def test_added_retained_and_removed_partition_the_two_selections(
    before: list[SelectedOutput], after: list[SelectedOutput]
) -> None:
    previous = {
        item.output.thread_id: int(item.output.source_updated_at.timestamp()) for item in before
    }

    change = compare_selection(previous, after)

    now = {item.output.thread_id for item in after}
    assert sorted([*change.added, *change.retained]) == sorted(now)
    assert set(change.retained) <= previous.keys()
    assert set(change.removed) == previous.keys() - now
    assert not set[ThreadId](change.removed) & set(change.added)
