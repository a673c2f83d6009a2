"""The exam of every ``JobLedger``: extraction. Who may work on a thread, and what becomes of it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from automemory_dagster.domain.errors import LeaseLost
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    Job,
    JobKind,
    JobStatus,
    SkippedAtCapacity,
    SkippedBackoff,
    SkippedExhausted,
    SkippedRunning,
    SkippedUpToDate,
)
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import Thread
from automemory_dagster.ports import StateStore
from tests.adapters.state.builders import (
    HOUR,
    NOON,
    POLICY,
    SECOND,
    a_thread,
    an_entry,
    an_id,
    an_output,
    claim,
    claimed,
    extract,
    newer,
)

VERSION = 1_796_119_200  # 2026-12-01T10:00:00Z, the version of a_thread()
WRONG = RedactedText("it went wrong")


def job_of(store: StateStore, number: int = 1) -> Job:
    job = store.job(JobKind.STAGE1, an_id(number))
    assert job is not None
    return job


def finish(store: StateStore, owned: Claimed, thread: Thread) -> None:
    store.finish_stage1(owned, an_output(thread), entry=an_entry(thread), now=NOON)


def fail(
    store: StateStore, owned: Claimed, kind: FailureKind = FailureKind.PERMANENT, **options: object
) -> None:
    asked: dict[str, object] = {"policy": POLICY, "now": NOON, **options}
    store.fail(owned, kind=kind, error=WRONG, **asked)  # type: ignore[arg-type]


class TestClaiming:
    def test_only_one_of_two_workers_wins(self, state_store: StateStore) -> None:
        first = claim(state_store, a_thread())
        second = claim(state_store, a_thread())

        assert isinstance(first, Claimed)
        assert second == SkippedRunning(lease_until=NOON + POLICY.lease)

    def test_the_winner_is_told_what_it_holds(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        assert owned == Claimed(
            kind=JobKind.STAGE1,
            key=an_id(),
            token=owned.token,
            lease_until=NOON + POLICY.lease,
            input_watermark=VERSION,
            last_success_watermark=0,
            attempt=1,
        )

    def test_the_row_says_who_holds_it(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        assert job_of(state_store) == Job(
            kind=JobKind.STAGE1,
            key=an_id(),
            status=JobStatus.RUNNING,
            lease_token=owned.token,
            worker="worker-1",
            run_id="run-1",
            started_at=NOON,
            lease_until=NOON + POLICY.lease,
            retry_remaining=3,
            attempt=1,
            input_watermark=VERSION,
        )

    def test_two_threads_have_two_tokens(self, state_store: StateStore) -> None:
        one = claimed(state_store, a_thread(1))
        other = claimed(state_store, a_thread(2))

        assert one.token != other.token

    def test_a_forced_claim_waits_for_a_live_lease_too(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())

        outcome = claim(state_store, newer(a_thread()), is_forced=True)

        assert isinstance(outcome, SkippedRunning)

    def test_a_job_nobody_claimed_is_none(self, state_store: StateStore) -> None:
        assert state_store.job(JobKind.STAGE1, an_id()) is None

    def test_an_exact_lease_of_a_fraction_of_a_second_is_kept(
        self, state_store: StateStore
    ) -> None:
        policy = replace(POLICY, lease=timedelta(milliseconds=1_500))
        claimed(state_store, a_thread(), policy=policy)

        assert isinstance(
            claim(state_store, a_thread(), now=NOON + timedelta(milliseconds=1_499)),
            SkippedRunning,
        )
        assert isinstance(
            claim(state_store, a_thread(), now=NOON + timedelta(milliseconds=1_500)), Claimed
        )


class TestTheCap:
    def test_no_more_run_than_the_policy_allows(self, state_store: StateStore) -> None:
        policy = replace(POLICY, max_running=2)
        claimed(state_store, a_thread(1), policy=policy)
        second = claimed(state_store, a_thread(2), policy=policy)

        assert claim(state_store, a_thread(3), policy=policy) == SkippedAtCapacity(running=2)
        assert state_store.job(JobKind.STAGE1, an_id(3)) is None
        finish(state_store, second, a_thread(2))
        assert isinstance(claim(state_store, a_thread(3), policy=policy), Claimed)

    def test_a_forced_claim_keeps_to_it(self, state_store: StateStore) -> None:
        policy = replace(POLICY, max_running=1)
        claimed(state_store, a_thread(1), policy=policy)

        outcome = claim(state_store, a_thread(2), policy=policy, is_forced=True)

        assert outcome == SkippedAtCapacity(running=1)

    def test_leases_that_ended_and_the_jobs_own_do_not_count(self, state_store: StateStore) -> None:
        policy = replace(POLICY, max_running=1)
        claimed(state_store, a_thread(1), policy=policy)
        later = NOON + POLICY.lease

        assert isinstance(claim(state_store, a_thread(1), policy=policy, now=later), Claimed)

    def test_a_consolidation_takes_no_room(self, state_store: StateStore) -> None:
        policy = replace(POLICY, max_running=1)
        state_store.request_consolidation(a_thread().space_id, now=NOON)
        state_store.claim_phase2(a_thread().space_id, policy=policy, worker="", run_id="", now=NOON)

        assert isinstance(claim(state_store, a_thread(), policy=policy), Claimed)

    def test_backoff_is_told_before_the_cap(self, state_store: StateStore) -> None:
        policy = replace(POLICY, max_running=1)
        fail(state_store, claimed(state_store, a_thread(1), policy=policy))
        claimed(state_store, a_thread(2), policy=policy)

        assert isinstance(claim(state_store, a_thread(1), policy=policy), SkippedBackoff)


class TestFinishing:
    def test_it_is_up_to_date_afterwards(self, state_store: StateStore) -> None:
        finish(state_store, claimed(state_store, a_thread()), a_thread())

        assert claim(state_store, a_thread()) == SkippedUpToDate(last_success_watermark=VERSION)
        job = job_of(state_store)
        assert (job.status, job.lease_token, job.lease_until) == (JobStatus.DONE, None, None)
        assert (job.finished_at, job.last_success_watermark) == (NOON, VERSION)

    def test_newer_content_can_be_claimed(self, state_store: StateStore) -> None:
        finish(state_store, claimed(state_store, a_thread()), a_thread())

        owned = claimed(state_store, newer(a_thread()))

        assert owned.input_watermark == VERSION + 3_600
        assert owned.last_success_watermark == VERSION
        assert owned.attempt == 2

    def test_a_forced_claim_does_it_again(self, state_store: StateStore) -> None:
        finish(state_store, claimed(state_store, a_thread()), a_thread())

        assert isinstance(claim(state_store, a_thread(), is_forced=True), Claimed)

    def test_the_watermark_never_falls(self, state_store: StateStore) -> None:
        finish(state_store, claimed(state_store, newer(a_thread())), newer(a_thread()))

        finish(state_store, claimed(state_store, a_thread(), is_forced=True), a_thread())

        job = job_of(state_store)
        assert (job.input_watermark, job.last_success_watermark) == (VERSION + 3_600,) * 2

    def test_nobody_can_finish_twice(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())
        finish(state_store, owned, a_thread())

        with pytest.raises(LeaseLost):
            finish(state_store, owned, a_thread())

    def test_work_that_took_too_long_counts_when_nobody_took_over(
        self, state_store: StateStore
    ) -> None:
        owned = claimed(state_store, a_thread())

        state_store.finish_stage1(
            owned, an_output(a_thread()), entry=an_entry(a_thread()), now=NOON + 5 * POLICY.lease
        )

        assert state_store.output(an_id()) is not None


class TestALostLease:
    def lose(self, store: StateStore) -> tuple[Claimed, Claimed]:
        lost = claimed(store, a_thread())
        return lost, claimed(store, a_thread(), now=NOON + POLICY.lease)

    def test_cannot_store_an_output(self, state_store: StateStore) -> None:
        lost, _ = self.lose(state_store)

        with pytest.raises(LeaseLost):
            finish(state_store, lost, a_thread())

        assert state_store.output(an_id()) is None
        assert list(state_store.log()) == []

    def test_cannot_mark_a_failure(self, state_store: StateStore) -> None:
        lost, holder = self.lose(state_store)

        with pytest.raises(LeaseLost):
            fail(state_store, lost, entry=an_entry(a_thread()))

        assert job_of(state_store).lease_token == holder.token
        assert list(state_store.log()) == []

    def test_cannot_be_given_back(self, state_store: StateStore) -> None:
        lost, holder = self.lose(state_store)

        with pytest.raises(LeaseLost):
            state_store.release(lost, entry=an_entry(a_thread()), now=NOON)

        assert job_of(state_store).lease_token == holder.token
        assert list(state_store.log()) == []

    def test_cannot_be_renewed(self, state_store: StateStore) -> None:
        lost, holder = self.lose(state_store)

        with pytest.raises(LeaseLost):
            state_store.renew(lost, policy=POLICY, now=NOON + HOUR)

        assert job_of(state_store).lease_until == holder.lease_until

    def test_says_which_job_it_was(self, state_store: StateStore) -> None:
        lost, _ = self.lose(state_store)

        with pytest.raises(LeaseLost, match=an_id()):
            finish(state_store, lost, a_thread())

    def test_a_claim_of_a_job_that_is_not_there_is_lost_as_well(
        self, state_store: StateStore
    ) -> None:
        owned = claimed(state_store, a_thread(1))

        with pytest.raises(LeaseLost):
            fail(state_store, replace(owned, key=an_id(2)))


class TestRenewing:
    def test_the_lease_lasts_from_now_on(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        renewed = state_store.renew(owned, policy=POLICY, now=NOON + 4 * SECOND)

        assert renewed == replace(owned, lease_until=NOON + POLICY.lease + 4 * SECOND)
        assert isinstance(
            claim(state_store, a_thread(), now=NOON + POLICY.lease + 3 * SECOND), SkippedRunning
        )

    def test_a_clock_that_went_back_does_not_shorten_it(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        renewed = state_store.renew(owned, policy=POLICY, now=NOON - HOUR)

        assert renewed.lease_until == NOON + POLICY.lease
        assert job_of(state_store).lease_until == NOON + POLICY.lease

    def test_a_laptop_that_slept_goes_on_when_nobody_took_over(
        self, state_store: StateStore
    ) -> None:
        owned = claimed(state_store, a_thread())

        renewed = state_store.renew(owned, policy=POLICY, now=NOON + 8 * HOUR)

        assert renewed.lease_until == NOON + 8 * HOUR + POLICY.lease
        finish(state_store, renewed, a_thread())

    def test_a_finished_job_cannot_be_renewed(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())
        finish(state_store, owned, a_thread())

        with pytest.raises(LeaseLost):
            state_store.renew(owned, policy=POLICY, now=NOON)


class TestFailing:
    def test_a_permanent_failure_uses_an_attempt_and_waits(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        fail(state_store, owned, entry=an_entry(a_thread()))

        job = job_of(state_store)
        assert (job.status, job.retry_remaining, job.retry_at) == (
            JobStatus.ERROR,
            2,
            NOON + HOUR,
        )
        assert (job.last_error, job.finished_at, job.lease_token) == (WRONG, NOON, None)
        assert list(state_store.log()) == [an_entry(a_thread())]
        assert claim(state_store, a_thread()) == SkippedBackoff(
            retry_at=NOON + HOUR, last_error=WRONG
        )
        assert isinstance(claim(state_store, a_thread(), now=NOON + HOUR), Claimed)

    def test_the_third_permanent_failure_is_the_last(self, state_store: StateStore) -> None:
        for attempt in range(3):
            moment = NOON + attempt * HOUR
            fail(state_store, claimed(state_store, a_thread(), now=moment), now=moment)

        outcome = claim(state_store, a_thread(), now=NOON + timedelta(days=365))

        assert outcome == SkippedExhausted(last_error=WRONG)

    def test_transient_failures_use_no_attempt_and_double_the_wait_up_to_the_cap(
        self, state_store: StateStore
    ) -> None:
        waits = []
        moment = NOON
        for _ in range(7):
            fail(
                state_store,
                claimed(state_store, a_thread(), now=moment),
                FailureKind.TRANSIENT,
                now=moment,
            )
            retry_at = job_of(state_store).retry_at
            assert retry_at is not None
            waits.append((retry_at - moment) / HOUR)
            moment = retry_at

        assert waits == [1, 2, 4, 8, 16, 24, 24]
        assert job_of(state_store).retry_remaining == 3
        assert job_of(state_store).transient_failures == 7

    def test_a_server_that_says_when_is_believed_up_to_the_cap(
        self, state_store: StateStore
    ) -> None:
        transient = FailureKind.TRANSIENT
        fail(state_store, claimed(state_store, a_thread(1)), transient, retry_after_seconds=42)
        fail(state_store, claimed(state_store, a_thread(2)), transient, retry_after_seconds=0)
        fail(state_store, claimed(state_store, a_thread(3)), transient, retry_after_seconds=10**9)

        assert job_of(state_store, 1).retry_at == NOON + 42 * SECOND
        assert job_of(state_store, 2).retry_at == NOON
        assert job_of(state_store, 3).retry_at == NOON + POLICY.max_retry_delay

    def test_a_permanent_failure_ends_the_row_of_transient_ones(
        self, state_store: StateStore
    ) -> None:
        fail(state_store, claimed(state_store, a_thread()), FailureKind.TRANSIENT)

        fail(state_store, claimed(state_store, a_thread(), now=NOON + HOUR), now=NOON + HOUR)

        assert job_of(state_store).transient_failures == 0

    def test_a_success_ends_the_row_of_transient_ones(self, state_store: StateStore) -> None:
        fail(state_store, claimed(state_store, a_thread()), FailureKind.TRANSIENT)

        finish(state_store, claimed(state_store, a_thread(), now=NOON + HOUR), a_thread())

        job = job_of(state_store)
        assert (job.transient_failures, job.last_error, job.retry_at) == (0, "", None)

    def test_newer_content_renews_the_budget_and_ends_the_wait(
        self, state_store: StateStore
    ) -> None:
        for attempt in range(3):
            moment = NOON + attempt * HOUR
            fail(state_store, claimed(state_store, a_thread(), now=moment), now=moment)

        claimed(state_store, newer(a_thread()), now=NOON + 2 * HOUR)

        job = job_of(state_store)
        assert (job.retry_remaining, job.retry_at, job.transient_failures) == (3, None, 0)

    def test_a_forced_claim_skips_backoff_and_exhaustion(self, state_store: StateStore) -> None:
        fail(state_store, claimed(state_store, a_thread()))
        for _ in range(3):
            fail(state_store, claimed(state_store, a_thread(), is_forced=True))

        owned = claimed(state_store, a_thread(), is_forced=True)

        assert owned.attempt == 5
        assert job_of(state_store).retry_remaining == 0

    def test_a_failure_leaves_the_stored_output_alone(self, state_store: StateStore) -> None:
        extract(state_store, a_thread())

        fail(state_store, claimed(state_store, newer(a_thread())))

        assert state_store.output(an_id()) == an_output(a_thread())

    def test_what_databases_refuse_is_replaced_in_the_error(self, state_store: StateStore) -> None:
        state_store.fail(
            claimed(state_store, a_thread()),
            kind=FailureKind.PERMANENT,
            error=RedactedText("bad \x00 and \udfff"),
            policy=POLICY,
            now=NOON,
        )

        assert job_of(state_store).last_error == "bad \ufffd and \ufffd"


class TestCrashing:
    def test_each_crash_uses_an_attempt_and_the_third_is_the_last(
        self, state_store: StateStore
    ) -> None:
        remaining = []
        for crash in range(3):
            claimed(state_store, a_thread(), now=NOON + crash * POLICY.lease)
            remaining.append(job_of(state_store).retry_remaining)

        outcome = claim(state_store, a_thread(), now=NOON + 3 * POLICY.lease)

        assert remaining == [3, 2, 1]
        assert isinstance(outcome, SkippedExhausted)
        assert "lease" in outcome.last_error

    def test_the_last_crash_is_written_down(self, state_store: StateStore) -> None:
        for crash in range(4):
            claim(state_store, a_thread(), now=NOON + crash * POLICY.lease)

        job = job_of(state_store)
        assert (job.status, job.retry_remaining, job.attempt) == (JobStatus.ERROR, 0, 3)
        assert (job.lease_token, job.lease_until) == (None, None)
        assert job.finished_at == NOON + 3 * POLICY.lease
        assert isinstance(
            claim(state_store, a_thread(), now=NOON + timedelta(days=9)), SkippedExhausted
        )

    def test_newer_content_forgives_crashes(self, state_store: StateStore) -> None:
        for crash in range(3):
            claimed(state_store, a_thread(), now=NOON + crash * POLICY.lease)

        claimed(state_store, newer(a_thread()), now=NOON + 3 * POLICY.lease)

        assert job_of(state_store).retry_remaining == 3

    def test_a_crash_needs_no_wait(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())

        assert isinstance(claim(state_store, a_thread(), now=NOON + POLICY.lease), Claimed)

    def test_crashes_and_failures_use_the_same_budget(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())
        fail(state_store, claimed(state_store, a_thread(), now=NOON + HOUR), now=NOON + HOUR)

        assert job_of(state_store).retry_remaining == 1

    def test_a_forced_claim_goes_on_after_the_last_crash(self, state_store: StateStore) -> None:
        for crash in range(3):
            claimed(state_store, a_thread(), now=NOON + crash * POLICY.lease)

        outcome = claim(state_store, a_thread(), now=NOON + 3 * POLICY.lease, is_forced=True)

        assert isinstance(outcome, Claimed)


class TestWorkersThatAreGone:
    def test_their_leases_end_and_count_as_crashes(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())
        worker = job_of(state_store).worker

        ended = state_store.end_leases(lambda name: name == worker, now=NOON)
        again = claim(state_store, a_thread())

        assert ended == 1
        assert isinstance(again, Claimed)
        assert job_of(state_store).retry_remaining == 2

    def test_the_leases_of_others_stay(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())

        assert state_store.end_leases(lambda name: name == "nobody", now=NOON) == 0
        assert isinstance(claim(state_store, a_thread()), SkippedRunning)

    def test_what_ended_is_not_ended_twice(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())
        state_store.end_leases(lambda name: True, now=NOON)

        assert state_store.end_leases(lambda name: True, now=NOON) == 0


class TestReleasing:
    def test_the_job_is_as_if_it_had_never_been_claimed(self, state_store: StateStore) -> None:
        fail(state_store, claimed(state_store, a_thread()), FailureKind.TRANSIENT)
        before = job_of(state_store)

        owned = claimed(state_store, newer(a_thread()), is_forced=True)
        state_store.release(owned, now=NOON + 5 * SECOND)

        # Newer content had begun to renew it; the rest stands as it was, but for the count.
        assert job_of(state_store) == replace(
            before, attempt=2, retry_at=None, transient_failures=0
        )

    def test_a_new_job_is_pending_and_can_be_claimed(self, state_store: StateStore) -> None:
        owned = claimed(state_store, a_thread())

        state_store.release(owned, entry=an_entry(a_thread()), now=NOON)

        job = job_of(state_store)
        assert (job.status, job.input_watermark, job.retry_remaining) == (JobStatus.PENDING, 0, 3)
        assert list(state_store.log()) == [an_entry(a_thread())]
        assert claimed(state_store, a_thread()).attempt == 2

    def test_what_was_done_stays_done(self, state_store: StateStore) -> None:
        finish(state_store, claimed(state_store, a_thread()), a_thread())
        before = job_of(state_store)

        state_store.release(claimed(state_store, newer(a_thread())), now=NOON)

        assert job_of(state_store) == replace(before, attempt=2)

    def test_a_crash_before_it_stays_charged(self, state_store: StateStore) -> None:
        claimed(state_store, a_thread())

        state_store.release(claimed(state_store, a_thread(), now=NOON + HOUR), now=NOON + HOUR)

        job = job_of(state_store)
        assert (job.status, job.retry_remaining) == (JobStatus.ERROR, 2)
