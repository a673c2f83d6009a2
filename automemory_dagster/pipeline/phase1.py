"""Phase 1: extract from each thread what is worth remembering, many threads at once.

One thread's failure never stops the others: it is marked on its job, logged with its reason, and the batch goes on.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field

from automemory_dagster.domain.eligibility import EligibilityPolicy, Gate, evaluate, first_failure
from automemory_dagster.domain.errors import (
    AutomemoryError,
    LeaseLost,
    PermanentError,
    RolloutUnreadable,
    TransientError,
)
from automemory_dagster.domain.job import (
    Claimed,
    FailureKind,
    LeasePolicy,
    SkippedAtCapacity,
    SkippedBackoff,
    SkippedExhausted,
    SkippedRunning,
    SkippedUpToDate,
    Stage1ClaimOutcome,
)
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.redaction import NO_TEXT, Redact
from automemory_dagster.domain.rollout import Reading
from automemory_dagster.domain.stage1 import ExtractedMemory, ParsedAnswer, Stage1Output
from automemory_dagster.domain.thread import MemoryMode, SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import Transcript, TranscriptReport
from automemory_dagster.pipeline.heartbeat import Heartbeat
from automemory_dagster.pipeline.transcript import build_transcript
from automemory_dagster.ports import Clock, Extractor, RolloutSource, StateStore, ThreadState


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase1World:
    """What phase 1 works with."""

    source: RolloutSource
    store: StateStore
    extractor: Extractor
    redact: Redact
    clock: Clock
    eligibility: EligibilityPolicy
    leases: LeasePolicy
    budget_tokens: int
    concurrency: int = 8
    is_external_context_refused: bool = False
    worker: str = ""
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase1Result:
    """What became of one thread: its log row, with what only this run knows."""

    thread: Thread | None
    """None when no such thread is known."""
    entry: LogEntry
    report: TranscriptReport | None = None
    gates: tuple[Gate, ...] = field(default=())


def extract_batch(
    thread_ids: Sequence[ThreadId], world: Phase1World, *, is_asked_for: bool = False
) -> Iterator[Phase1Result]:
    """Extract many threads, ``world.concurrency`` at once; results come as they finish, one a thread id.

    ``is_asked_for``: a person named these threads, so the gates of timing are waived; those of consent hold.
    """
    with (
        Heartbeat(world.store, policy=world.leases, clock=world.clock) as heartbeat,
        ThreadPoolExecutor(world.concurrency, thread_name_prefix="extract") as pool,
    ):
        futures = [
            pool.submit(extract, thread_id, world, heartbeat, is_asked_for=is_asked_for)
            for thread_id in dict.fromkeys(thread_ids)
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            # The consumer stopped early (a cancelled run): what has not begun stays due.
            for future in futures:
                future.cancel()


def extract(
    thread_id: ThreadId, world: Phase1World, heartbeat: Heartbeat, *, is_asked_for: bool = False
) -> Phase1Result:
    """Turn one thread's rollout into its stage-1 output. Safe to call from many processes: one claims the job."""
    state = world.store.thread_state(thread_id)
    if state is None:
        return _unknown_thread(thread_id, world)

    gates = evaluate(
        state.thread, state.job, world.eligibility, now=world.clock(), is_asked_for=is_asked_for
    )
    if (failure := first_failure(gates)) is not None:
        return _skipped(state, world, failure.reason, detail=failure.found, gates=gates)

    claim = world.store.claim_stage1(
        state.thread,
        policy=world.leases,
        worker=world.worker,
        run_id=world.run_id,
        now=world.clock(),
        is_forced=is_asked_for,
    )
    if not isinstance(claim, Claimed):
        reason, detail = _reason_of_skip(claim)
        return _skipped(state, world, reason, detail=detail, gates=gates)

    with heartbeat.keeping(claim):
        return _extract_claimed(state, claim, world, gates)


def _extract_claimed(
    state: ThreadState, claim: Claimed, world: Phase1World, gates: tuple[Gate, ...]
) -> Phase1Result:
    thread, started = state.thread, time.monotonic()
    try:
        reading = world.source.read(thread)                                      # 1. read
        if (refusal := _refusal(reading, world)) is not None:                    # 2. consent said inside
            return _refused(state, claim, world, refusal, started)
        transcript = build_transcript(                                           # 3. filter, redact, cut
            reading, thread, redact=world.redact, budget_tokens=world.budget_tokens
        )
        answer = world.extractor.extract(transcript)                             # 4. extract
        output = _redacted_output(answer, thread, world)                         # 5. redact again
        entry = _entry_of_answer(output, transcript, state, world, started)
        world.store.finish_stage1(claim, output, entry=entry, now=world.clock())  # 6. store
        return Phase1Result(thread=thread, entry=entry, report=transcript.report, gates=gates)
    except LeaseLost as error:
        entry = _entry(state, world, Outcome.SKIPPED, Reason.LEASE_LOST, str(error), started)
        return Phase1Result(thread=thread, entry=entry, gates=gates)
    except AutomemoryError as error:
        return _failed(state, claim, world, error, started)
    except Exception as error:  # noqa: BLE001
        # A fault of ours in one thread must not cost the others; the job keeps what happened.
        unexpected = PermanentError(f"unexpected {type(error).__name__}: {error}")
        return _failed(state, claim, world, unexpected, started)


def _refusal(reading: Reading, world: Phase1World) -> tuple[Reason, str] | None:
    """What only the whole record tells: the catalogue's word may be older than the file's last one."""
    if reading.memory_mode is MemoryMode.DISABLED:
        return Reason.MEMORY_MODE_DISABLED, "the rollout says memory mode disabled"
    if reading.memory_mode is MemoryMode.POLLUTED:
        return Reason.MEMORY_MODE_POLLUTED, "the rollout says memory mode polluted"
    touched = reading.report.external_context
    if world.is_external_context_refused and touched:
        return Reason.EXTERNAL_CONTEXT, f"external context: {', '.join(sorted(touched))}"
    return None


def _redacted_output(
    answer: ParsedAnswer, thread: Thread, world: Phase1World
) -> Stage1Output | None:
    if not isinstance(answer, ExtractedMemory):
        return None
    return Stage1Output(
        thread_id=thread.thread_id,
        space_id=thread.space_id,
        source_updated_at=thread.source_updated_at,
        raw_memory=world.redact(answer.raw_memory),
        rollout_summary=world.redact(answer.rollout_summary),
        rollout_slug=world.redact(answer.rollout_slug) if answer.rollout_slug else None,
        generated_at=world.clock(),
        extractor=world.extractor.version,
    )


def _entry_of_answer(
    output: Stage1Output | None,
    transcript: Transcript,
    state: ThreadState,
    world: Phase1World,
    started: float,
) -> LogEntry:
    reading, report = transcript.report.reading, transcript.report
    numbers = {
        "bytes_read": reading.bytes_read,
        "lines_read": reading.lines_read,
        "lines_kept": reading.lines_kept,
        "rows_kept": report.rows_kept,
        "rows_cut": report.rows_cut,
        **{f"dropped_{reason}": count for reason, count in sorted(reading.dropped_lines.items())},
        **{f"unknown_type_{name}": count for name, count in sorted(reading.unknown_types.items())},
        **{f"omitted_{label}": count for label, count in sorted(report.rows_omitted.items())},
    }
    return LogEntry(
        thread_id=state.thread.thread_id,
        space_id=state.thread.space_id,
        outcome=Outcome.EXTRACTED if output else Outcome.NO_OUTPUT,
        reason=Reason.EXTRACTED if output else Reason.NOTHING_TO_KEEP,
        logged_at=world.clock(),
        source_updated_at=state.thread.source_updated_at,
        run_id=world.run_id,
        detail=NO_TEXT,
        extractor=world.extractor.version,
        duration_seconds=round(time.monotonic() - started, 3),
        input_tokens=report.estimated_tokens,
        numbers=numbers,
    )


def _refused(
    state: ThreadState,
    claim: Claimed,
    world: Phase1World,
    refusal: tuple[Reason, str],
    started: float,
) -> Phase1Result:
    """Consent is taken back: what was extracted before goes too, so the job ends without an output."""
    reason, detail = refusal
    entry = _entry(state, world, Outcome.SKIPPED, reason, detail, started)
    with suppress(LeaseLost):
        world.store.finish_stage1(claim, None, entry=entry, now=world.clock())
    return Phase1Result(thread=state.thread, entry=entry)


def _failed(
    state: ThreadState, claim: Claimed, world: Phase1World, error: AutomemoryError, started: float
) -> Phase1Result:
    is_transient = isinstance(error, TransientError)
    kind = FailureKind.TRANSIENT if is_transient else FailureKind.PERMANENT
    reason = Reason.TRANSIENT_FAILURE if is_transient else Reason.PERMANENT_FAILURE
    if isinstance(error, RolloutUnreadable):
        reason = Reason.UNREADABLE
    entry = _entry(state, world, Outcome.FAILED, reason, str(error), started)
    with suppress(LeaseLost):
        world.store.fail(
            claim,
            kind=kind,
            error=entry.detail,
            policy=world.leases,
            now=world.clock(),
            entry=entry,
        )
    return Phase1Result(thread=state.thread, entry=entry)


def _skipped(
    state: ThreadState,
    world: Phase1World,
    reason: Reason,
    *,
    detail: str,
    gates: tuple[Gate, ...],
) -> Phase1Result:
    entry = _entry(state, world, Outcome.SKIPPED, reason, detail, time.monotonic())
    if reason not in _TRANSIENT_SKIPS:
        world.store.record([entry])
    return Phase1Result(thread=state.thread, entry=entry, gates=gates)


_TRANSIENT_SKIPS = frozenset(
    # The thread's logged outcome is the other worker's to write, or stays that of its handling.
    {Reason.RUNNING_ELSEWHERE, Reason.AT_CAPACITY, Reason.UP_TO_DATE}
)


def _reason_of_skip(outcome: Stage1ClaimOutcome) -> tuple[Reason, str]:
    match outcome:
        case SkippedUpToDate():
            return Reason.UP_TO_DATE, "another worker handled this version meanwhile"
        case SkippedRunning(lease_until=until):
            return Reason.RUNNING_ELSEWHERE, f"another worker holds the lease until {until:%H:%M:%S} UTC"
        case SkippedAtCapacity(running=running):
            return Reason.AT_CAPACITY, f"{running} extractions run already; it stays due"
        case SkippedBackoff(retry_at=at, last_error=error):
            return Reason.BACKOFF, f"failed before ({error}); next try at {at:%Y-%m-%d %H:%M:%S} UTC"
        case SkippedExhausted(last_error=error):
            return Reason.EXHAUSTED, f"no tries left after: {error}"
        case Claimed():
            raise AssertionError("a claim is no skip")


def _unknown_thread(thread_id: ThreadId, world: Phase1World) -> Phase1Result:
    detail = f"no thread {thread_id} is known; a sweep lists what the source holds"
    return Phase1Result(
        thread=None,
        entry=LogEntry(
            thread_id=thread_id,
            space_id=SpaceId(""),
            outcome=Outcome.FAILED,
            reason=Reason.VANISHED,
            logged_at=world.clock(),
            run_id=world.run_id,
            detail=world.redact(detail),
        ),
    )


def _entry(
    state: ThreadState,
    world: Phase1World,
    outcome: Outcome,
    reason: Reason,
    detail: str,
    started: float,
) -> LogEntry:
    return LogEntry(
        thread_id=state.thread.thread_id,
        space_id=state.thread.space_id,
        outcome=outcome,
        reason=reason,
        logged_at=world.clock(),
        source_updated_at=state.thread.source_updated_at,
        run_id=world.run_id,
        detail=world.redact(detail),
        extractor=world.extractor.version,
        duration_seconds=round(time.monotonic() - started, 3),
    )
