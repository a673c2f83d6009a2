"""Phase 1 over fakes: outcomes, and what is left in the store."""

import threading
from datetime import timedelta

import pytest

from automemory_dagster.domain.errors import PermanentError, TransientError
from automemory_dagster.domain.job import Claimed, JobKind, JobStatus, LeasePolicy
from automemory_dagster.domain.outcome import Outcome, Reason
from automemory_dagster.domain.rollout import ReadReport
from automemory_dagster.domain.thread import MemoryMode, ThreadId
from automemory_dagster.domain.transcript import Transcript
from automemory_dagster.pipeline.phase1_world import Phase1Result
from automemory_dagster.pipeline.sweep import find_due, update_catalogue
from tests.fakes.extractor import FakeExtractor
from tests.fakes.rollouts import a_reading
from tests.pipeline.world import NOON, SPACE, FakeWorld, a_thread, extract_all, grown

T1 = ThreadId("t1")


def _outcomes(results: list[Phase1Result]) -> dict[str, tuple[Outcome, Reason]]:
    return {
        result.entry.thread_id: (result.entry.outcome, result.entry.reason) for result in results
    }


def test_an_extracted_thread_has_an_output_a_done_job_and_a_log_row() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("always use uv")})

    extract_all(world)

    output = world.store.output(T1)
    assert output is not None
    assert output.raw_memory == "remember: always use uv"
    assert output.extractor == "fake/1"
    assert output.source_updated_at == a_thread("t1").source_updated_at
    job = world.store.job(JobKind.STAGE1, "t1")
    assert job is not None
    assert (job.status, job.run_id) == (JobStatus.DONE, "run-1")
    [entry] = world.store.log()
    assert (entry.outcome, entry.run_id) == (Outcome.EXTRACTED, "run-1")
    assert entry.numbers["lines_read"] == 1


def test_nothing_to_keep_is_a_success_without_output() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("hello there")})

    results = extract_all(world)

    assert _outcomes(results) == {"t1": (Outcome.NO_OUTPUT, Reason.NOTHING_TO_KEEP)}
    assert world.store.output(T1) is None
    assert extract_all(world) == []


def test_an_output_is_taken_away_when_the_newer_version_holds_nothing() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("always use uv")})
    extract_all(world)
    world.source._readings[T1] = a_reading("hello again")
    world.clock.pass_time(hours=5)
    world.source.put(grown(a_thread("t1"), at=NOON + timedelta(hours=4)))

    extract_all(world)

    assert world.store.output(T1) is None
    assert world.store.space(SPACE).has_pending_changes


@pytest.mark.parametrize(
    ("error", "reason", "retry_remaining"),
    [
        (TransientError("the disk is away"), Reason.TRANSIENT_FAILURE, 3),
        (PermanentError("it cannot be done"), Reason.PERMANENT_FAILURE, 2),
        (KeyError("a fault of ours"), Reason.PERMANENT_FAILURE, 2),
    ],
)
def test_a_failure_is_marked_and_the_other_threads_go_on(
    error: Exception, reason: Reason, retry_remaining: int
) -> None:
    world = FakeWorld(
        a_thread("t1"), a_thread("t2"), readings={"t1": error, "t2": a_reading("use uv")}
    )

    results = extract_all(world)

    assert _outcomes(results) == {
        "t1": (Outcome.FAILED, reason),
        "t2": (Outcome.EXTRACTED, Reason.EXTRACTED),
    }
    job = world.store.job(JobKind.STAGE1, "t1")
    assert job is not None
    assert (job.status, job.retry_remaining) == (JobStatus.ERROR, retry_remaining)
    assert extract_all(world) == []


def test_a_rollout_that_is_gone_fails_as_unreadable() -> None:
    world = FakeWorld(a_thread("t1"))

    assert _outcomes(extract_all(world)) == {"t1": (Outcome.FAILED, Reason.UNREADABLE)}


def test_generation_off_reads_nothing_even_when_a_person_asks() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("use uv")}, is_generation_on=False)

    results = extract_all(world, "t1", is_asked_for=True)

    assert _outcomes(results) == {"t1": (Outcome.SKIPPED, Reason.GENERATION_DISABLED)}
    assert world.source.read_ids == ()
    assert world.store.job(JobKind.STAGE1, "t1") is None


def test_a_person_who_asks_gets_an_up_to_date_thread_extracted_again() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("use uv")})
    extract_all(world)
    world.source._readings[T1] = a_reading("use pip")

    extract_all(world, "t1", is_asked_for=True)

    output = world.store.output(T1)
    assert output is not None
    assert output.raw_memory == "remember: use pip"


def test_a_named_thread_that_is_up_to_date_is_left_alone_without_force() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("use uv")})
    extract_all(world)

    results = extract_all(world, "t1")

    assert _outcomes(results) == {"t1": (Outcome.SKIPPED, Reason.UP_TO_DATE)}
    [entry] = world.store.log()
    assert entry.outcome is Outcome.EXTRACTED


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (MemoryMode.DISABLED, Reason.MEMORY_MODE_DISABLED),
        (MemoryMode.POLLUTED, Reason.MEMORY_MODE_POLLUTED),
    ],
)
def test_consent_taken_back_inside_the_rollout_removes_what_was_extracted(
    mode: MemoryMode, reason: Reason
) -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("use uv")})
    extract_all(world)
    world.source._readings[T1] = a_reading("use uv", memory_mode=mode)

    results = extract_all(world, "t1", is_asked_for=True)

    assert _outcomes(results) == {"t1": (Outcome.SKIPPED, reason)}
    assert world.store.output(T1) is None


@pytest.mark.parametrize(
    ("is_refused", "outcome"), [(True, Outcome.SKIPPED), (False, Outcome.EXTRACTED)]
)
def test_external_context_is_refused_only_when_the_setting_says_so(
    is_refused: bool, outcome: Outcome
) -> None:
    report = ReadReport(bytes_read=1, lines_read=1, lines_kept=1, external_context={"fetch": 1})
    world = FakeWorld(
        a_thread("t1"),
        readings={"t1": a_reading("use uv", report=report)},
        is_external_context_refused=is_refused,
    )

    [result] = extract_all(world)

    assert result.entry.outcome is outcome


def test_secrets_reach_neither_output_nor_log() -> None:
    secret = "ghp_" + "a1B2" * 9
    world = FakeWorld(
        a_thread("t1"),
        a_thread("t2"),
        readings={
            "t1": a_reading(f"my token is {secret}"),
            "t2": PermanentError(f"refused {secret}"),
        },
    )

    extract_all(world)

    stored = f"{world.store.output(T1)} {world.store.log()} {world.store.job(JobKind.STAGE1, 't2')}"
    assert secret not in stored
    assert "[REDACTED:" in stored


def test_a_stolen_lease_cannot_store_an_output() -> None:
    def steal(transcript: Transcript) -> None:
        world.clock.pass_time(hours=2)
        stolen = world.store.claim_stage1(
            a_thread("t1"),
            policy=LeasePolicy(),
            worker="thief",
            run_id="run-2",
            now=world.clock(),
        )
        assert isinstance(stolen, Claimed)

    world = FakeWorld(
        a_thread("t1"), readings={"t1": a_reading("use uv")}, extractor=FakeExtractor(steal)
    )

    results = extract_all(world)

    assert _outcomes(results) == {"t1": (Outcome.SKIPPED, Reason.LEASE_LOST)}
    assert world.store.output(T1) is None


def test_as_many_threads_at_once_as_the_world_says() -> None:
    names = [f"t{number}" for number in range(8)]
    barrier = threading.Barrier(8, timeout=10)
    world = FakeWorld(
        *map(a_thread, names),
        readings={name: a_reading("use uv") for name in names},
        extractor=FakeExtractor(lambda transcript: barrier.wait() and None),
    )

    results = extract_all(world)

    assert {result.entry.outcome for result in results} == {Outcome.EXTRACTED}


def test_the_global_cap_leaves_the_rest_due() -> None:
    world = FakeWorld(
        a_thread("t1"), readings={"t1": a_reading("use uv")}, leases=LeasePolicy(max_running=1)
    )
    update_catalogue(world.sweep)
    other = a_thread("other")
    world.store.save_threads([other])
    world.store.claim_stage1(other, policy=LeasePolicy(), worker="w", run_id="r", now=world.clock())

    results = extract_all(world, "t1")

    assert _outcomes(results) == {"t1": (Outcome.SKIPPED, Reason.AT_CAPACITY)}
    assert [state.thread.thread_id for state in find_due(world.sweep, limit=10)] == ["t1"]


def test_an_unknown_thread_is_told_and_stops_nothing() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("use uv")})

    results = extract_all(world, "nobody", "t1")

    assert _outcomes(results) == {
        "nobody": (Outcome.FAILED, Reason.VANISHED),
        "t1": (Outcome.EXTRACTED, Reason.EXTRACTED),
    }
