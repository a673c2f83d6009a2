"""Phase 1: extract from each thread what is worth remembering, many threads at once.

One thread's failure never stops the others: it is marked on its job, logged with its reason, and
the batch goes on.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress

from automemory_dagster.domain.eligibility import Gate, Ruling
from automemory_dagster.domain.errors import (
    AutomemoryError,
    BudgetReached,
    ContextOverflow,
    LeaseLost,
    PermanentError,
    RolloutUnreadable,
    TransientError,
)
from automemory_dagster.domain.job import Claimed, FailureKind
from automemory_dagster.domain.outcome import Outcome, Reason
from automemory_dagster.domain.plain_text import plain
from automemory_dagster.domain.rollout import Reading
from automemory_dagster.domain.stage1 import (
    ExtractedMemory,
    Extraction,
    NoOutput,
    ParsedAnswer,
    Stage1Output,
)
from automemory_dagster.domain.thread import MemoryMode, Thread, ThreadId
from automemory_dagster.domain.transcript import TranscriptReport
from automemory_dagster.pipeline.heartbeat import Heartbeat
from automemory_dagster.pipeline.phase1_log import reason_of_skip
from automemory_dagster.pipeline.phase1_world import Phase1Result, Phase1World
from automemory_dagster.pipeline.transcript import build_transcript
from automemory_dagster.ports import Extractor, RolloutSource

_MOST_SHORTENINGS = 3
"""How often a transcript that is too long for the model is made shorter before it has to wait."""


def extract_batch(
    thread_ids: Sequence[ThreadId], world: Phase1World, *, is_asked_for: bool = False
) -> Iterator[Phase1Result]:
    """Extract many threads, ``world.concurrency`` at once; one result a thread, as they finish.

    ``is_asked_for``: a person named these threads, so the gates of timing are waived; those of
    consent hold.
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
    """Turn one thread's rollout into its stage-1 output.

    Safe to call from many processes: one claims the job, the others skip.
    """
    state = world.store.thread_state(thread_id)
    if state is None:
        return Phase1Result(thread=None, entry=world.writer.unknown(thread_id))

    if (origin := world.origins.get(state.thread.source)) is None:
        detail = f"its source, {state.thread.source}, is not read"
        return _skipped(state.thread, world, Reason.GENERATION_DISABLED, detail=detail)

    now = world.clock()
    [ruling] = origin.gates.judge([state], now=now, is_asked_for=is_asked_for)
    gates = ruling.gates
    if (failure := ruling.failure) is not None:
        return _skipped(state.thread, world, failure.reason, detail=failure.found, gates=gates)

    claim = world.store.claim_stage1(
        state.thread,
        policy=world.leases,
        worker=world.worker,
        run_id=world.run_id,
        now=world.clock(),
        is_forced=is_asked_for,
    )
    if not isinstance(claim, Claimed):
        reason, detail = reason_of_skip(claim)
        return _skipped(state.thread, world, reason, detail=detail, gates=gates)

    with heartbeat.keeping(claim):
        return _extract_claimed(state.thread, claim, world, origin.source, ruling)


def _extract_claimed(
    thread: Thread, claim: Claimed, world: Phase1World, source: RolloutSource, ruling: Ruling
) -> Phase1Result:
    started, gates = time.monotonic(), ruling.gates
    try:
        reading = source.read(thread)
        if (refusal := _refusal(reading, ruling)) is not None:
            return _refused(thread, claim, world, refusal)
        extractor = world.extractor_for(thread)
        extraction, report = _extract_what_fits(reading, thread, extractor, world)
        output = _redacted_output(extraction.answer, thread, extractor.version, world)
        entry = world.writer.entry(
            thread,
            Outcome.EXTRACTED if output else Outcome.NO_OUTPUT,
            Reason.EXTRACTED if output else Reason.NOTHING_TO_KEEP,
            detail=extraction.answer.why if isinstance(extraction.answer, NoOutput) else "",
            started=started,
            report=report,
            extractor=extractor.version,
            spent=extraction.spent,
        )
        world.store.finish_stage1(claim, output, entry=entry, now=world.clock())
        return Phase1Result(thread=thread, entry=entry, report=report, gates=gates)
    except BudgetReached as error:
        entry = world.writer.entry(thread, Outcome.SKIPPED, Reason.BUDGET, detail=str(error))
        with suppress(LeaseLost):
            world.store.release(claim, entry=entry, now=world.clock())
        return Phase1Result(thread=thread, entry=entry, gates=gates)
    except LeaseLost as error:
        entry = world.writer.entry(
            thread, Outcome.SKIPPED, Reason.LEASE_LOST, detail=str(error), started=started
        )
        return Phase1Result(thread=thread, entry=entry, gates=gates)
    except AutomemoryError as error:
        return _failed(thread, claim, world, error, started)
    except Exception as error:  # noqa: BLE001
        # A fault of ours in one thread must not cost the others; the job keeps what happened.
        unexpected = PermanentError(f"unexpected {type(error).__name__}: {error}")
        return _failed(thread, claim, world, unexpected, started)


def _refusal(reading: Reading, ruling: Ruling) -> tuple[Reason, str] | None:
    """What only the whole record tells: the catalogue's word may be older than the last one."""
    if reading.memory_mode is MemoryMode.DISABLED:
        return Reason.MEMORY_MODE_DISABLED, "the rollout says memory mode disabled"
    if reading.memory_mode is MemoryMode.POLLUTED:
        return Reason.MEMORY_MODE_POLLUTED, "the rollout says memory mode polluted"
    touched = reading.report.external_context
    if ruling.is_external_context_refused and touched:
        return Reason.EXTERNAL_CONTEXT, f"external context: {', '.join(sorted(touched))}"
    return None


def _extract_what_fits(
    reading: Reading, thread: Thread, extractor: Extractor, world: Phase1World
) -> tuple[Extraction, TranscriptReport]:
    """Extract; when the model finds the transcript too long, shorten it and ask again."""
    budget = world.budget_tokens
    for is_last in (*(False,) * _MOST_SHORTENINGS, True):
        transcript = build_transcript(reading, thread, redact=world.redact, budget_tokens=budget)
        try:
            return extractor.extract(transcript, world.work(thread)), transcript.report
        except ContextOverflow as error:
            used = transcript.report.estimated_tokens
            budget = used - max(error.overshoot_tokens or 0, used // 4)
            if is_last or budget <= 0:
                raise
    raise AssertionError("the last round returns or raises")


def _redacted_output(
    answer: ParsedAnswer, thread: Thread, extractor: str, world: Phase1World
) -> Stage1Output | None:
    if not isinstance(answer, ExtractedMemory):
        return None
    return Stage1Output(
        thread_id=thread.thread_id,
        space_id=thread.space_id,
        source_updated_at=thread.source_updated_at,
        raw_memory=world.redact(plain(answer.raw_memory)),
        rollout_summary=world.redact(plain(answer.rollout_summary)),
        rollout_slug=world.redact(plain(answer.rollout_slug)) if answer.rollout_slug else None,
        generated_at=world.clock(),
        extractor=extractor,
    )


def _refused(
    thread: Thread, claim: Claimed, world: Phase1World, refusal: tuple[Reason, str]
) -> Phase1Result:
    """Consent is taken back: what was extracted before goes too, so the job ends without output."""
    reason, detail = refusal
    entry = world.writer.entry(thread, Outcome.SKIPPED, reason, detail=detail)
    with suppress(LeaseLost):
        world.store.finish_stage1(claim, None, entry=entry, now=world.clock())
    return Phase1Result(thread=thread, entry=entry)


def _failed(
    thread: Thread, claim: Claimed, world: Phase1World, error: AutomemoryError, started: float
) -> Phase1Result:
    is_transient = isinstance(error, TransientError)
    wait = error.retry_after_seconds if isinstance(error, TransientError) else None
    reason = Reason.TRANSIENT_FAILURE if is_transient else Reason.PERMANENT_FAILURE
    if isinstance(error, RolloutUnreadable):
        reason = Reason.UNREADABLE
    entry = world.writer.entry(thread, Outcome.FAILED, reason, detail=str(error), started=started)
    with suppress(LeaseLost):
        world.store.fail(
            claim,
            kind=FailureKind.TRANSIENT if is_transient else FailureKind.PERMANENT,
            error=entry.detail,
            policy=world.leases,
            now=world.clock(),
            retry_after_seconds=wait,
            entry=entry,
        )
    return Phase1Result(thread=thread, entry=entry)


_NOT_LOGGED = frozenset(
    # The thread's logged outcome is the other worker's to write, or stays that of its handling.
    {Reason.RUNNING_ELSEWHERE, Reason.AT_CAPACITY, Reason.UP_TO_DATE}
)


def _skipped(
    thread: Thread,
    world: Phase1World,
    reason: Reason,
    *,
    detail: str,
    gates: tuple[Gate, ...] = (),
) -> Phase1Result:
    entry = world.writer.entry(thread, Outcome.SKIPPED, reason, detail=detail)
    if reason not in _NOT_LOGGED:
        world.store.record([entry])
    return Phase1Result(thread=thread, entry=entry, gates=gates)
