"""The exam of every ``JobLedger``: consolidation. What is pending, and whose turn it is."""

from dataclasses import replace
from datetime import timedelta

import pytest

from automemory_dagster.domain.errors import LeaseLost, PermanentError
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    JobKind,
    JobStatus,
    SkippedBackoff,
    SkippedCooldown,
    SkippedRunning,
    SkippedUpToDate,
)
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import MemoryMode, SpaceId, Thread
from automemory_dagster.ports import StateStore
from tests.adapters.state.builders import (
    HOUR,
    NOON,
    POLICY,
    SECOND,
    SPACE,
    a_publication,
    a_thread,
    an_entry,
    an_id,
    an_output,
    claim_space,
    claimed,
    claimed_space,
    extract,
    newer,
    watermark,
)

RESTING = replace(POLICY, cooldown=6 * HOUR)


def finish(store: StateStore, owned: Claimed, *, version: int | None = None) -> None:
    publication = None if version is None else a_publication(version)
    store.finish_phase2(owned, publication, selected={}, now=NOON)


def consolidated(store: StateStore, thread: Thread) -> None:
    """A space with one extracted thread, consolidated at noon."""
    extract(store, thread)
    finish(store, claimed_space(store), version=1)


class TestClaiming:
    def test_a_space_in_which_nothing_happened_is_up_to_date(self, state_store: StateStore) -> None:
        assert claim_space(state_store) == SkippedUpToDate(last_success_watermark=0)
        assert state_store.job(JobKind.CONSOLIDATE, SPACE) is None

    def test_a_new_output_can_be_consolidated_by_one_worker(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        first = claim_space(state_store)
        second = claim_space(state_store)

        assert isinstance(first, Claimed)
        assert (first.kind, first.key, first.attempt) == (JobKind.CONSOLIDATE, SPACE, 1)
        assert second == SkippedRunning(lease_until=NOON + POLICY.lease)

    def test_spaces_do_not_wait_for_each_other(self, state_store: StateStore) -> None:
        other = SpaceId("codex:other")
        extract(state_store, a_thread(1))
        extract(state_store, a_thread(2, space_id=other))

        claimed_space(state_store, SPACE)
        claimed_space(state_store, other)

    def test_a_forced_claim_needs_no_change(self, state_store: StateStore) -> None:
        assert isinstance(claim_space(state_store, is_forced=True), Claimed)
        assert isinstance(claim_space(state_store, is_forced=True), SkippedRunning)

    def test_a_lease_that_ended_can_be_taken_over(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        lost = claimed_space(state_store)

        holder = claimed_space(state_store, now=NOON + POLICY.lease)

        with pytest.raises(LeaseLost):
            finish(state_store, lost, version=1)
        assert state_store.publication(SPACE) is None
        finish(state_store, holder, version=1)

    def test_a_failure_rests_and_a_forced_claim_does_not_wait(
        self, state_store: StateStore
    ) -> None:
        extract(state_store, a_thread())
        self.fail(state_store)

        assert claim_space(state_store) == SkippedBackoff(
            retry_at=NOON + HOUR, last_error="no answer"
        )
        assert isinstance(claim_space(state_store, is_forced=True), Claimed)

    def test_a_failure_leaves_the_changes_pending(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        self.fail(state_store)

        assert state_store.space(SPACE).has_pending_changes
        assert isinstance(claim_space(state_store, now=NOON + HOUR), Claimed)

    def test_giving_it_back_leaves_the_changes_pending(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(1))
        owned = claimed_space(state_store)
        extract(state_store, a_thread(2))

        state_store.release(owned, now=NOON)

        job = state_store.job(JobKind.CONSOLIDATE, SPACE)
        assert job is not None
        assert (job.status, job.input_watermark, job.attempt) == (JobStatus.PENDING, 2, 1)

    def fail(self, store: StateStore) -> None:
        store.fail(
            claimed_space(store),
            kind=FailureKind.TRANSIENT,
            error=RedactedText("no answer"),
            policy=POLICY,
            now=NOON,
        )


class TestFinishing:
    def test_it_is_up_to_date_afterwards(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread())

        assert claim_space(state_store) == SkippedUpToDate(last_success_watermark=1)
        job = state_store.job(JobKind.CONSOLIDATE, SPACE)
        assert job is not None
        assert (job.status, job.lease_token, job.finished_at) == (JobStatus.DONE, None, NOON)

    def test_a_change_during_the_run_stays_pending(self, state_store: StateStore) -> None:
        extract(state_store, a_thread(1))
        owned = claimed_space(state_store)
        extract(state_store, a_thread(2))

        finish(state_store, owned, version=1)

        space = state_store.space(SPACE)
        assert space.has_pending_changes
        assert space.job is not None
        assert (space.job.status, space.job.last_success_watermark) == (JobStatus.PENDING, 1)
        assert isinstance(claim_space(state_store), Claimed)

    def test_a_renewed_lease_still_ends_at_the_watermark_of_its_claim(
        self, state_store: StateStore
    ) -> None:
        extract(state_store, a_thread(1))
        owned = claimed_space(state_store)
        extract(state_store, a_thread(2))

        renewed = state_store.renew(owned, policy=POLICY, now=NOON + SECOND)
        finish(state_store, renewed, version=1)

        assert state_store.space(SPACE).has_pending_changes

    def test_nothing_to_publish_is_a_success_too(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        finish(state_store, claimed_space(state_store))

        assert not state_store.space(SPACE).has_pending_changes
        assert state_store.publication(SPACE) is None

    def test_nobody_can_finish_twice(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        owned = claimed_space(state_store)
        finish(state_store, owned, version=1)

        with pytest.raises(LeaseLost):
            finish(state_store, owned, version=2)

        assert state_store.space(SPACE).version == 1

    @pytest.mark.parametrize("version", [0, 1, 3])
    def test_a_version_that_does_not_follow_is_refused_and_changes_nothing(
        self, state_store: StateStore, version: int
    ) -> None:
        consolidated(state_store, a_thread(1))
        extract(state_store, a_thread(2))
        owned = claimed_space(state_store)

        with pytest.raises(PermanentError):
            finish(state_store, owned, version=version)

        assert state_store.space(SPACE).version == 1
        finish(state_store, owned, version=2)

    def test_another_spaces_version_is_refused(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        foreign = a_publication(1, space_id=SpaceId("codex:other"))

        with pytest.raises(PermanentError):
            state_store.finish_phase2(claimed_space(state_store), foreign, selected={}, now=NOON)


class TestTheWatermark:
    def test_each_change_of_an_output_raises_it(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        assert watermark(state_store) == 1

        extract(state_store, newer(a_thread()), raw_memory=RedactedText("other words"))
        assert watermark(state_store) == 2

        extract(state_store, newer(a_thread(), 2 * HOUR), rollout_slug=None)
        assert watermark(state_store) == 3

    def test_the_same_texts_again_leave_it_alone_and_are_stored(
        self, state_store: StateStore
    ) -> None:
        extract(state_store, a_thread())

        extract(state_store, newer(a_thread()), generated_at=NOON + HOUR)

        assert watermark(state_store) == 1
        stored = state_store.output(an_id())
        assert stored is not None
        assert (stored.source_updated_at, stored.generated_at) == (NOON - HOUR, NOON + HOUR)

    def test_no_output_where_there_was_none_leaves_it_alone(self, state_store: StateStore) -> None:
        state_store.save_threads([a_thread()])
        owned = claimed(state_store, a_thread())

        state_store.finish_stage1(owned, None, entry=an_entry(a_thread()), now=NOON)

        assert watermark(state_store) == 0
        assert state_store.job(JobKind.CONSOLIDATE, SPACE) is None

    def test_an_output_that_is_taken_away_raises_it(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        self.take_away(state_store, newer(a_thread()))

        assert watermark(state_store) == 2
        assert state_store.output(an_id()) is None

    @pytest.mark.parametrize("mode", [MemoryMode.DISABLED, MemoryMode.POLLUTED])
    def test_consent_that_is_taken_back_raises_it_once(
        self, state_store: StateStore, mode: MemoryMode
    ) -> None:
        extract(state_store, a_thread())

        state_store.save_threads([a_thread(memory_mode=mode)])
        state_store.save_threads([a_thread(memory_mode=mode)])

        assert watermark(state_store) == 2
        assert state_store.selectable_outputs(SPACE) == []

    def test_consent_that_is_given_again_raises_it(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())
        state_store.save_threads([a_thread(memory_mode=MemoryMode.DISABLED)])

        state_store.save_threads([a_thread()])

        assert watermark(state_store) == 3
        assert len(state_store.selectable_outputs(SPACE)) == 1

    def test_a_thread_without_output_changes_nothing_in_memory(
        self, state_store: StateStore
    ) -> None:
        state_store.save_threads([a_thread()])

        state_store.save_threads([a_thread(memory_mode=MemoryMode.DISABLED)])

        assert watermark(state_store) == 0

    def test_saving_what_did_not_change_leaves_it_alone(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        state_store.save_threads([a_thread(), a_thread(2)])

        assert watermark(state_store) == 1

    def test_a_thread_that_changes_space_raises_both(self, state_store: StateStore) -> None:
        other = SpaceId("codex:shop")
        extract(state_store, a_thread())

        state_store.save_threads([a_thread().moved_to(other)])

        assert (watermark(state_store), watermark(state_store, other)) == (2, 1)
        assert state_store.space(SPACE).is_forgetting
        assert not state_store.space(other).is_forgetting

    def test_an_output_made_before_its_thread_moved_goes_where_the_thread_is(
        self, state_store: StateStore
    ) -> None:
        other = SpaceId("codex:shop")
        state_store.save_threads([a_thread()])
        owned = claimed(state_store, a_thread())
        state_store.save_threads([a_thread().moved_to(other)])

        state_store.finish_stage1(
            owned, an_output(a_thread()), entry=an_entry(a_thread()), now=NOON
        )

        assert (watermark(state_store), watermark(state_store, other)) == (0, 1)
        assert len(state_store.selectable_outputs(other)) == 1

    def test_a_person_can_raise_it(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread())

        state_store.request_consolidation(SPACE, now=NOON)

        assert isinstance(claim_space(state_store), Claimed)

    def take_away(self, store: StateStore, thread: Thread) -> None:
        owned = claimed(store, thread)
        store.finish_stage1(owned, None, entry=an_entry(thread), now=NOON)


class TestTheCooldown:
    def test_a_change_waits_until_it_is_over(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread(1))
        extract(state_store, a_thread(2))

        early = claim_space(state_store, policy=RESTING, now=NOON + 6 * HOUR - SECOND)
        late = claim_space(state_store, policy=RESTING, now=NOON + 6 * HOUR)

        assert early == SkippedCooldown(until=NOON + 6 * HOUR)
        assert isinstance(late, Claimed)

    def test_up_to_date_is_told_before_it(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread())

        assert isinstance(claim_space(state_store, policy=RESTING), SkippedUpToDate)

    def test_a_forced_claim_does_not_wait(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread())

        assert isinstance(claim_space(state_store, policy=RESTING, is_forced=True), Claimed)

    def test_it_counts_from_the_last_success_not_from_a_failure(
        self, state_store: StateStore
    ) -> None:
        consolidated(state_store, a_thread(1))
        extract(state_store, a_thread(2))
        owned = claimed_space(state_store, policy=POLICY, now=NOON + HOUR)
        state_store.fail(
            owned,
            kind=FailureKind.PERMANENT,
            error=RedactedText("broken"),
            policy=POLICY,
            now=NOON + 5 * HOUR,
        )

        outcome = claim_space(state_store, policy=RESTING, now=NOON + 6 * HOUR)

        assert isinstance(outcome, Claimed)

    def test_the_first_consolidation_has_none(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        assert isinstance(claim_space(state_store, policy=RESTING), Claimed)

    @pytest.mark.parametrize("mode", [MemoryMode.DISABLED, MemoryMode.POLLUTED])
    def test_forgetting_does_not_wait(self, state_store: StateStore, mode: MemoryMode) -> None:
        consolidated(state_store, a_thread())

        state_store.save_threads([a_thread(memory_mode=mode)])

        assert state_store.space(SPACE).is_forgetting
        assert isinstance(claim_space(state_store, policy=RESTING, now=NOON + SECOND), Claimed)

    def test_an_output_taken_away_does_not_wait(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread())
        owned = claimed(state_store, newer(a_thread()))
        state_store.finish_stage1(owned, None, entry=an_entry(a_thread()), now=NOON)

        assert isinstance(claim_space(state_store, policy=RESTING, now=NOON + SECOND), Claimed)

    def test_forgetting_is_over_when_it_was_consolidated(self, state_store: StateStore) -> None:
        consolidated(state_store, a_thread(1))
        state_store.save_threads([a_thread(1, memory_mode=MemoryMode.DISABLED)])
        finish(state_store, claimed_space(state_store), version=2)
        extract(state_store, a_thread(2))

        assert not state_store.space(SPACE).is_forgetting
        assert isinstance(
            claim_space(state_store, policy=RESTING, now=NOON + SECOND), SkippedCooldown
        )

    def test_what_is_forgotten_during_a_run_does_not_wait_either(
        self, state_store: StateStore
    ) -> None:
        extract(state_store, a_thread())
        owned = claimed_space(state_store)
        state_store.save_threads([a_thread(memory_mode=MemoryMode.DISABLED)])
        finish(state_store, owned, version=1)

        assert isinstance(claim_space(state_store, policy=RESTING, now=NOON + SECOND), Claimed)


def test_a_worker_that_crashes_again_and_again_is_counted(state_store: StateStore) -> None:
    extract(state_store, a_thread())
    for crash in range(5):
        claimed_space(state_store, now=NOON + crash * POLICY.lease + timedelta(seconds=crash))

    job = state_store.job(JobKind.CONSOLIDATE, SPACE)
    assert job is not None
    assert (job.attempt, job.retry_remaining) == (5, 0)
