"""The exam of every ``OutputStore``: outputs, log, published memory, spaces."""

from dataclasses import replace
from datetime import timedelta

import pytest

from automemory_dagster.domain.job import JobKind
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.stage1 import SelectedOutput, Stage1Output
from automemory_dagster.domain.thread import MemoryMode, SpaceId, ThreadId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import SpaceState, StateStore
from tests.adapters.state.builders import (
    HOUR,
    NOON,
    SPACE,
    a_publication,
    a_thread,
    an_entry,
    an_id,
    an_output,
    claimed,
    claimed_space,
    extract,
    newer,
)

OTHER = SpaceId("codex:other")


class TestOutputs:
    def test_one_comes_back_as_it_was_stored(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread()])
        output = Stage1Output(
            thread_id=an_id(),
            space_id=SPACE,
            source_updated_at=NOON - 2 * HOUR,
            raw_memory=RedactedText("---\nmultiple\n\nlines with 'quotes' and 記憶\n"),
            rollout_summary=RedactedText("A summary.\n" * 500),
            rollout_slug=None,
            generated_at=NOON + timedelta(microseconds=123_457),
            extractor="offline/1",
        )

        owned = claimed(state_store, a_thread())
        state_store.finish_stage1(owned, output, entry=an_entry(a_thread()), now=NOON)

        assert state_store.output(an_id()) == output

    def test_usage_figures_survive_a_new_extraction(self, state_store: StateStore) -> None:
        used = NOON - HOUR
        extract(state_store, a_thread(), usage_count=4, last_usage=used)

        extract(state_store, newer(a_thread()), raw_memory=RedactedText("new"))

        stored = state_store.output(an_id())
        assert stored is not None
        assert (stored.raw_memory, stored.usage_count, stored.last_usage) == ("new", 4, used)

    def test_what_databases_refuse_is_replaced_in_its_texts(self, state_store: StateStore) -> None:
        dirty = RedactedText("a\x00b\udc80")
        extract(state_store, a_thread(), raw_memory=dirty, rollout_summary=dirty)

        stored = state_store.output(an_id())

        assert stored is not None
        assert (stored.raw_memory, stored.rollout_summary) == ("a\ufffdb\ufffd",) * 2

    def test_an_unknown_one_is_none(self, state_store: StateStore) -> None:
        assert state_store.output(an_id()) is None


class TestSelectableOutputs:
    def test_they_are_of_one_space_and_sorted_by_id(self, state_store: StateStore) -> None:
        for number in (3, 1, 2):
            extract(state_store, a_thread(number))
        extract(state_store, a_thread(4, space_id=OTHER))

        found = state_store.selectable_outputs(SPACE)

        assert list(found) == [
            SelectedOutput(output=an_output(a_thread(n)), thread=a_thread(n)) for n in (1, 2, 3)
        ]

    def test_ids_sort_by_code_point(self, state_store: StateStore) -> None:
        names = ["b", "B", "a-1", "a1", "A", "_", "é", "ab"]
        for number, name in enumerate(names):
            extract(state_store, a_thread(number, thread_id=ThreadId(name)))

        found = [item.output.thread_id for item in state_store.selectable_outputs(SPACE)]

        assert found == ["A", "B", "_", "a-1", "a1", "ab", "b", "é"]

    def test_the_thread_is_as_the_catalogue_knows_it_now(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(title="then"))

        state_store.save_threads([a_thread(title="now")])

        assert state_store.selectable_outputs(SPACE)[0].thread.title == "now"

    def test_threads_that_gave_no_consent_or_were_never_seen_are_left_out(
        self, state_store: StateStore
    ) -> None:
        extract(state_store, a_thread(1))
        state_store.save_threads([a_thread(1, memory_mode=MemoryMode.DISABLED)])
        extract(state_store, a_thread(2))
        state_store.save_threads([a_thread(2, memory_mode=MemoryMode.POLLUTED)])
        owned = claimed(state_store, a_thread(3))
        state_store.finish_stage1(
            owned, an_output(a_thread(3)), entry=an_entry(a_thread(3)), now=NOON
        )

        assert state_store.selectable_outputs(SPACE) == []

    def test_archived_threads_keep_what_they_taught(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        state_store.save_threads([a_thread(is_archived=True)])

        assert len(state_store.selectable_outputs(SPACE)) == 1


class TestTheLog:
    def test_an_entry_comes_back_as_it_was_written(self, state_store: StateStore) -> None:
        entry = LogEntry(
            thread_id=an_id(),
            space_id=SPACE,
            outcome=Outcome.FAILED,
            reason=Reason.TRANSIENT_FAILURE,
            logged_at=NOON + timedelta(microseconds=7),
            source_updated_at=NOON - 2 * HOUR,
            run_id="0a1b2c",
            detail=RedactedText("no answer within 30 s"),
            extractor="model/2",
            duration_seconds=1.234,
            input_tokens=12_345,
            output_tokens=678,
            usd=0.0125,
            numbers={"bytes_read": 5_000_000_000, "dropped_malformed": 1},
        )

        state_store.record([entry])

        assert list(state_store.log()) == [entry]

    def test_a_thread_has_one_entry_and_the_last_one_stays(self, state_store: StateStore) -> None:
        old = an_entry(a_thread(), reason=Reason.NOT_IDLE, outcome=Outcome.SKIPPED)
        new = an_entry(a_thread(), logged_at=NOON - HOUR)

        state_store.record([old])
        state_store.record([new, old, new])

        assert list(state_store.log()) == [new]

    def test_the_newest_come_first_then_by_id(self, state_store: StateStore) -> None:
        entries = [
            an_entry(a_thread(1), logged_at=NOON),
            an_entry(a_thread(2), logged_at=NOON + HOUR),
            an_entry(a_thread(3), logged_at=NOON),
        ]
        state_store.record(entries[::-1])

        assert [entry.thread_id for entry in state_store.log()] == [an_id(n) for n in (2, 1, 3)]
        assert [entry.thread_id for entry in state_store.log(limit=1)] == [an_id(2)]

    def test_it_can_be_asked_by_space_thread_and_moment(self, state_store: StateStore) -> None:
        state_store.record(
            [
                an_entry(a_thread(1), logged_at=NOON),
                an_entry(a_thread(2, space_id=OTHER), logged_at=NOON + HOUR),
                an_entry(a_thread(3), logged_at=NOON + 2 * HOUR),
            ]
        )

        def asked(**question: object) -> list[ThreadId]:
            return [entry.thread_id for entry in state_store.log(**question)]  # type: ignore[arg-type]

        assert asked(space_id=OTHER) == [an_id(2)]
        assert asked(thread_id=an_id(1)) == [an_id(1)]
        assert asked(since=NOON + HOUR) == [an_id(3), an_id(2)]
        assert asked(since=NOON + HOUR, space_id=SPACE) == [an_id(3)]

    def test_finishing_writes_it(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        assert list(state_store.log(thread_id=an_id())) == [an_entry(a_thread())]

    def test_no_entries_are_no_work(self, state_store: StateStore) -> None:
        state_store.record([])

        assert list(state_store.log()) == []

    def test_what_databases_refuse_is_replaced_in_detail_and_numbers(
        self, state_store: StateStore
    ) -> None:
        entry = an_entry(a_thread(), detail=RedactedText("a\x00"), numbers={"x\\u0000\ud800": 1})

        state_store.record([entry])

        found = state_store.log()[0]
        assert found.detail == "a\ufffd"
        assert found.numbers == {"x\\u0000\ufffd": 1}


class TestPublications:
    def publish(self, store: StateStore, publication: Publication) -> None:
        owned = claimed_space(store, publication.space_id, is_forced=True)
        store.finish_phase2(owned, publication, selected={}, now=NOON)

    def test_a_version_comes_back_as_it_was_published(self, state_store: StateStore) -> None:
        publication = Publication(
            space_id=SPACE,
            version=1,
            published_at=NOON + timedelta(microseconds=1),
            files={
                "MEMORY.md": RedactedText("# 記憶\n"),
                "memory_summary.md": RedactedText("v1\n"),
                "rollout_summaries/a.md": RedactedText(""),
                "rollout_summaries/b.md": RedactedText(""),
            },
            consolidator="offline/1",
            commit="5558f0adebcd9c47",
            run_id="run-2",
            inputs={an_id(1): 1_796_119_200, an_id(2): 1_796_119_201},
        )

        self.publish(state_store, publication)

        assert state_store.publication(SPACE) == publication
        assert state_store.publication(SPACE, 1) == publication

    def test_older_versions_stay(self, state_store: StateStore) -> None:
        first = a_publication(1)
        second = a_publication(2, files={"MEMORY.md": RedactedText("# Other\n")})
        self.publish(state_store, first)

        self.publish(state_store, second)

        assert state_store.publication(SPACE) == second
        assert state_store.publication(SPACE, 1) == first
        assert state_store.publication(SPACE, 3) is None
        assert state_store.publication(SPACE, 0) is None

    def test_spaces_may_hold_the_same_text(self, state_store: StateStore) -> None:
        self.publish(state_store, a_publication(1))

        self.publish(state_store, a_publication(1, space_id=OTHER))

        assert state_store.publication(OTHER) == a_publication(1, space_id=OTHER)

    def test_a_version_without_files_is_one(self, state_store: StateStore) -> None:
        self.publish(state_store, a_publication(1, files={}))

        assert state_store.publication(SPACE) == a_publication(1, files={})

    def test_what_databases_refuse_is_replaced_in_files(self, state_store: StateStore) -> None:
        self.publish(state_store, a_publication(1, files={"a.md": RedactedText("\x00\ud83d")}))

        found = state_store.publication(SPACE)
        assert found is not None
        assert found.files == {"a.md": "\ufffd\ufffd"}

    def test_an_unknown_space_has_none(self, state_store: StateStore) -> None:
        assert state_store.publication(SPACE) is None


class TestSpaces:
    def test_an_unknown_one_reads_as_empty(self, state_store: StateStore) -> None:
        assert state_store.space(SPACE) == SpaceState(
            space_id=SPACE, job=None, version=0, published_at=None, output_count=0
        )
        assert list(state_store.spaces()) == []

    def test_every_space_with_threads_outputs_or_memory_is_told_of(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread(1, space_id=SpaceId("c"))])
        owned = claimed(state_store, a_thread(2, space_id=SpaceId("b")))
        thread = a_thread(2, space_id=SpaceId("b"))
        state_store.finish_stage1(owned, an_output(thread), entry=an_entry(thread), now=NOON)
        published = claimed_space(state_store, SpaceId("a"), is_forced=True)
        state_store.finish_phase2(
            published, a_publication(1, space_id=SpaceId("a")), selected={}, now=NOON
        )

        found = state_store.spaces()

        assert [(s.space_id, s.version, s.output_count) for s in found] == [
            ("a", 1, 0),
            ("b", 0, 1),
            ("c", 0, 0),
        ]
        assert [state_store.space(s.space_id) for s in found] == list(found)

    def test_one_says_how_far_it_is(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(1))
        extract(state_store, a_thread(2))
        owned = claimed_space(state_store)
        state_store.finish_phase2(
            owned, a_publication(1, published_at=NOON + HOUR), selected={}, now=NOON
        )
        extract(state_store, a_thread(3))

        space = state_store.space(SPACE)

        assert (space.version, space.published_at, space.output_count) == (1, NOON + HOUR, 3)
        assert space.has_pending_changes
        assert space.job == state_store.job(JobKind.CONSOLIDATE, SPACE)


@pytest.mark.parametrize("selected", [{}, {an_id(1): 1_796_119_200, an_id(9): 1}])
def test_a_selection_changes_no_output(
    state_store: StateStore, selected: dict[ThreadId, int]
) -> None:
    extract(state_store, a_thread(1))

    state_store.finish_phase2(claimed_space(state_store), None, selected=selected, now=NOON)

    assert state_store.output(an_id(1)) == replace(an_output(a_thread(1)))
