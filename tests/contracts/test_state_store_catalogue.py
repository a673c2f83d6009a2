"""The exam of every ``ThreadCatalogue``."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from automemory_dagster.domain.job import FailureKind, JobKind
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import (
    MemoryMode,
    RolloutStamp,
    SourceKind,
    SpaceId,
    Thread,
    ThreadId,
)
from automemory_dagster.ports import KnownRollout, StateStore, ThreadState
from tests.adapters.state.builders import (
    HOUR,
    NOON,
    POLICY,
    SECOND,
    SOURCE,
    a_thread,
    an_entry,
    an_id,
    an_output,
    claimed,
    extract,
    newer,
)


def ids(states: Sequence[ThreadState]) -> list[ThreadId]:
    return [state.thread.thread_id for state in states]


def due(store: StateStore, **changes: object) -> list[ThreadId]:
    asked: dict[str, object] = {"now": NOON, "idle_seconds": 900, "limit": 100, **changes}
    return ids(store.possibly_due(SOURCE, **asked))  # type: ignore[arg-type]


class TestSavingThreads:
    def test_a_thread_comes_back_as_it_was_saved(self, state_store: StateStore) -> None:
        thread = Thread(
            thread_id=an_id(7),
            source="codex:/home/dev/.codex",
            space_id=SpaceId("codex:/home/dev/.codex#shop"),
            rollout_path="/home/dev/.codex/sessions/café 試験.jsonl.zst",
            stamp=RolloutStamp(
                size_bytes=5_000_000_000,
                mtime_ns=1_796_126_400_123_456_789,
                prefix_sha256="0f" * 32,
                index_digest="00112233aabbccdd",
            ),
            source_updated_at=datetime(2026, 12, 1, 11, 59, 59, tzinfo=UTC),
            created_at=datetime(2026, 11, 30, 8, 15, 30, 123_457, tzinfo=UTC),
            cwd="/home/dev/projects/shop",
            repository="git.example.com/acme/shop",
            branch="feature/é",
            title="Fix the 'quoted' \"title\" 100% 🙂",
            source_kind=SourceKind.OTHER,
            source_detail="custom:somebody",
            memory_mode=MemoryMode.POLLUTED,
            is_archived=True,
            forked_from=an_id(3),
            has_human_request=False,
            problem="no line is a rollout item",
        )

        state_store.save_threads([thread])

        assert state_store.thread_state(an_id(7)) == ThreadState(thread=thread, job=None)

    def test_a_thread_with_only_what_it_must_have_comes_back_too(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1)])

        assert state_store.thread_state(an_id(1)) == ThreadState(thread=a_thread(1), job=None)

    def test_saving_again_overwrites(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1, title="old")])

        state_store.save_threads([a_thread(1, title="new", branch="main")])

        state = state_store.thread_state(an_id(1))
        assert state is not None
        assert (state.thread.title, state.thread.branch) == ("new", "main")

    def test_saving_nothing_does_nothing(self, state_store: StateStore) -> None:
        state_store.save_threads([])

        assert list(state_store.thread_states()) == []

    def test_the_last_of_two_in_one_batch_stays(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1, title="first"), a_thread(1, title="second")])

        state = state_store.thread_state(an_id(1))
        assert state is not None
        assert state.thread.title == "second"

    def test_an_unknown_thread_reads_as_none(self, state_store: StateStore) -> None:
        assert state_store.thread_state(an_id(1)) is None

    def test_what_databases_refuse_is_replaced_in_every_text(self, state_store: StateStore) -> None:
        dirty = "a\x00b\ud800c"
        thread = a_thread(1, title=dirty, cwd=dirty, branch=dirty, problem=dirty)

        state_store.save_threads([thread])

        state = state_store.thread_state(an_id(1))
        assert state is not None
        found = state.thread
        clean = "a\ufffdb\ufffdc"
        assert (found.title, found.cwd, found.branch, found.problem) == (clean,) * 4

    def test_more_threads_than_one_statement_takes_are_saved(self, state_store: StateStore) -> None:
        threads = [a_thread(number) for number in range(1, 1_203)]

        state_store.save_threads(threads)

        assert len(state_store.known_rollouts(SOURCE)) == 1_202

    def test_a_job_older_than_the_catalogue_counts_as_handling(
        self, state_store: StateStore
    ) -> None:
        owned = claimed(state_store, a_thread(1))
        state_store.finish_stage1(owned, None, entry=an_entry(a_thread(1)), now=NOON)

        state_store.save_threads([a_thread(1)])

        assert due(state_store) == []


class TestKnownRollouts:
    def test_they_are_of_one_source_and_by_path(self, state_store: StateStore) -> None:
        mine, other = a_thread(1), a_thread(2, source="cloud")
        state_store.save_threads([mine, other])

        known = state_store.known_rollouts(SOURCE)

        assert known == {
            mine.rollout_path: KnownRollout(thread_id=mine.thread_id, stamp=mine.stamp)
        }

    def test_a_thread_that_moved_loses_its_old_path(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1)])

        state_store.save_threads([a_thread(1, rollout_path="/archived/rollout-1.jsonl")])

        assert list(state_store.known_rollouts(SOURCE)) == ["/archived/rollout-1.jsonl"]

    def test_a_file_that_holds_another_thread_now_is_the_other_ones(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1)])
        newcomer = a_thread(2, rollout_path=a_thread(1).rollout_path)

        state_store.save_threads([newcomer])

        known = state_store.known_rollouts(SOURCE)
        assert {path: item.thread_id for path, item in known.items()} == {
            newcomer.rollout_path: newcomer.thread_id
        }
        assert ids(list(state_store.thread_states())) == [newcomer.thread_id]

    @pytest.mark.parametrize("is_mover_first", [True, False])
    def test_two_threads_may_swap_paths_in_one_batch(
        self, state_store: StateStore, is_mover_first: bool
    ) -> None:
        first, second = a_thread(1), a_thread(2)
        state_store.save_threads([first, second])
        swapped = [
            replace(first, rollout_path=second.rollout_path),
            replace(second, rollout_path=first.rollout_path),
        ]

        state_store.save_threads(swapped if is_mover_first else swapped[::-1])

        known = state_store.known_rollouts(SOURCE)
        assert known[first.rollout_path].thread_id == second.thread_id
        assert known[second.rollout_path].thread_id == first.thread_id

    def test_a_path_of_another_source_is_left_alone(self, state_store: StateStore) -> None:
        other = a_thread(2, source="cloud", rollout_path=a_thread(1).rollout_path)
        state_store.save_threads([other])

        state_store.save_threads([a_thread(1)])

        assert len(state_store.known_rollouts("cloud")) == 1


class TestVanishedThreads:
    def test_they_are_not_known_listed_or_due(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1), a_thread(2)])

        state_store.mark_vanished([an_id(1)], now=NOON)

        assert [item.thread_id for item in state_store.known_rollouts(SOURCE).values()] == [
            an_id(2)
        ]
        assert ids(list(state_store.thread_states())) == [an_id(2)]
        assert ids(list(state_store.thread_states(thread_ids=[an_id(1)]))) == []
        assert due(state_store) == [an_id(2)]

    def test_one_can_still_be_asked_for_and_keeps_its_output(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(1))

        state_store.mark_vanished([an_id(1)], now=NOON)

        assert state_store.thread_state(an_id(1)) is not None
        assert state_store.output(an_id(1)) is not None
        assert len(state_store.selectable_outputs(a_thread(1).space_id)) == 1

    def test_one_that_is_saved_again_is_back(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1)])
        state_store.mark_vanished([an_id(1)], now=NOON)

        state_store.save_threads([a_thread(1)])

        assert due(state_store) == [an_id(1)]

    def test_unknown_ids_and_none_at_all_do_nothing(self, state_store: StateStore) -> None:
        state_store.mark_vanished([an_id(9)], now=NOON)
        state_store.mark_vanished([], now=NOON)

        assert state_store.thread_state(an_id(9)) is None


class TestFindingThreads:
    def test_a_prefix_finds_in_any_case_and_in_order(self, state_store: StateStore) -> None:
        names = ["abC-2", "ABc-1", "abd", "b", "cloud:7"]
        state_store.save_threads(
            [a_thread(number, thread_id=ThreadId(name)) for number, name in enumerate(names)]
        )

        assert state_store.find_threads("aBc") == ["ABc-1", "abC-2"]
        assert state_store.find_threads("CLOUD:") == ["cloud:7"]
        assert state_store.find_threads("zzz") == []

    def test_marks_of_a_search_pattern_mean_themselves(self, state_store: StateStore) -> None:
        names = ["a%b", "axb", "a_b", "a\\b"]
        state_store.save_threads(
            [a_thread(number, thread_id=ThreadId(name)) for number, name in enumerate(names)]
        )

        assert state_store.find_threads("a%") == ["a%b"]
        assert state_store.find_threads("a_") == ["a_b"]
        assert state_store.find_threads("a\\") == ["a\\b"]

    def test_at_most_twenty_are_found(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(number) for number in range(1, 31)])

        found = state_store.find_threads("")

        assert found == [an_id(number) for number in range(1, 21)]


class TestListingThreads:
    def test_the_newest_come_first_and_ties_go_by_id(self, state_store: StateStore) -> None:
        old, new = NOON - 5 * HOUR, NOON - 3 * HOUR
        state_store.save_threads(
            [
                a_thread(3, source_updated_at=old),
                a_thread(2, source_updated_at=new),
                a_thread(1, source_updated_at=old),
                a_thread(4, source_updated_at=new),
            ]
        )

        assert ids(list(state_store.thread_states())) == [an_id(n) for n in (2, 4, 1, 3)]
        chosen = [an_id(3), an_id(1), an_id(4), an_id(99)]
        assert ids(list(state_store.thread_states(thread_ids=chosen))) == [
            an_id(n) for n in (4, 1, 3)
        ]
        assert list(state_store.thread_states(thread_ids=[])) == []

    def test_each_comes_with_its_job(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1), a_thread(2)])
        claimed(state_store, a_thread(2))

        states = {state.thread.thread_id: state.job for state in state_store.thread_states()}

        assert states[an_id(1)] is None
        assert states[an_id(2)] == state_store.job(JobKind.STAGE1, an_id(2))

    def test_many_pages_lose_and_double_none(self, state_store: StateStore) -> None:
        # 1,300 threads over 13 moments: pages of 500 end in the middle of a moment.
        threads = [
            a_thread(n, source_updated_at=NOON - (n % 13) * HOUR, source=("codex", "cloud")[n % 2])
            for n in range(1, 1_301)
        ]
        state_store.save_threads(threads)

        everything = ids(list(state_store.thread_states()))
        of_one_source = ids(list(state_store.thread_states(source="cloud")))

        expected = sorted(threads, key=lambda t: (-t.source_updated_at.timestamp(), t.thread_id))
        assert everything == [thread.thread_id for thread in expected]
        assert of_one_source == [t.thread_id for t in expected if t.source == "cloud"]

    def test_ids_and_source_are_both_asked_for(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1), a_thread(2, source="cloud")])

        states = list(state_store.thread_states(source="cloud", thread_ids=[an_id(1), an_id(2)]))

        assert ids(states) == [an_id(2)]


class TestPossiblyDue:
    def test_a_thread_is_due_from_the_second_on_in_which_it_is_idle(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1, source_updated_at=NOON)])

        assert due(state_store, now=NOON + 899 * SECOND) == []
        assert due(state_store, now=NOON + 900 * SECOND) == [an_id(1)]

    def test_the_newest_come_first_and_no_more_than_asked_for(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads(
            [a_thread(n, source_updated_at=NOON - n * HOUR) for n in (3, 1, 2)]
        )

        assert due(state_store) == [an_id(1), an_id(2), an_id(3)]
        assert due(state_store, limit=2) == [an_id(1), an_id(2)]

    @pytest.mark.parametrize(
        "thread",
        [
            a_thread(1, is_archived=True),
            a_thread(1, memory_mode=MemoryMode.DISABLED),
            a_thread(1, memory_mode=MemoryMode.POLLUTED),
            a_thread(1, problem="not JSONL"),
            a_thread(1, has_human_request=False),
            a_thread(1, source="cloud"),
        ],
        ids=["archived", "disabled", "polluted", "unreadable", "empty", "another source"],
    )
    def test_what_no_gate_lets_through_is_left_out(
        self, state_store: StateStore, thread: Thread
    ) -> None:
        state_store.save_threads([thread])

        assert due(state_store) == []

    def test_only_the_admitted_kinds_take_room_under_the_limit(
        self, state_store: StateStore
    ) -> None:
        others = [
            a_thread(n, source_kind=SourceKind.EXEC, source_updated_at=NOON - HOUR)
            for n in range(2, 12)
        ]
        state_store.save_threads([a_thread(1), *others])

        found = due(state_store, limit=5, admitted_kinds=[SourceKind.INTERACTIVE])

        assert found == [an_id(1)]

    def test_a_handled_version_is_not_due_and_a_newer_one_is(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(1))
        assert due(state_store) == []

        state_store.save_threads([newer(a_thread(1))])

        assert due(state_store) == [an_id(1)]

    def test_a_thread_in_which_nothing_was_found_is_handled_too(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1)])
        owned = claimed(state_store, a_thread(1))

        state_store.finish_stage1(owned, None, entry=an_entry(a_thread(1)), now=NOON)

        assert due(state_store) == []

    def test_a_running_job_is_not_due_until_its_lease_ends(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread(1)])
        claimed(state_store, a_thread(1))

        assert due(state_store, now=NOON + POLICY.lease - SECOND) == []
        assert due(state_store, now=NOON + POLICY.lease) == [an_id(1)]

    def test_a_failed_job_is_due_when_its_wait_is_over_or_the_thread_is_newer(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1)])
        self.fail(state_store, a_thread(1), FailureKind.TRANSIENT, NOON)

        assert due(state_store, now=NOON + HOUR - SECOND) == []
        assert due(state_store, now=NOON + HOUR) == [an_id(1)]
        state_store.save_threads([newer(a_thread(1))])
        assert due(state_store) == [an_id(1)]

    def test_an_exhausted_job_is_due_only_when_the_thread_is_newer(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1)])
        for attempt in range(3):
            moment = NOON + attempt * timedelta(days=2)
            self.fail(state_store, a_thread(1), FailureKind.PERMANENT, moment)

        assert due(state_store, now=NOON + timedelta(days=30)) == []
        state_store.save_threads([newer(a_thread(1))])
        assert due(state_store, now=NOON + timedelta(days=30)) == [an_id(1)]

    def fail(self, store: StateStore, thread: Thread, kind: FailureKind, now: datetime) -> None:
        owned = claimed(store, thread, now=now)
        store.fail(owned, kind=kind, error=RedactedText("broken"), policy=POLICY, now=now)


def test_an_output_follows_its_thread_into_another_space(state_store: StateStore) -> None:
    extract(state_store, a_thread(1))
    moved = a_thread(1).moved_to(SpaceId("codex:shop"))

    state_store.save_threads([moved])

    assert state_store.selectable_outputs(a_thread(1).space_id) == []
    found = state_store.selectable_outputs(SpaceId("codex:shop"))
    assert [item.output for item in found] == [an_output(moved)]
