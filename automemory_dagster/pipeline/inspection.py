"""What a person asks of the deployment: how it stands, and why a thread has the outcome it has.

Reads only.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from automemory_dagster.domain.eligibility import EligibilityPolicy, Gate, evaluate, first_failure
from automemory_dagster.domain.job import Job
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import Thread, ThreadId
from automemory_dagster.ports import Clock, SpaceState, StateStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a deployment stands."""

    threads: int
    outcomes: Mapping[tuple[Outcome, Reason], int]
    """Every thread counted once, by what became of it or holds it back now."""

    spaces: tuple[SpaceState, ...]
    spent_usd: float

    @property
    def due(self) -> int:
        """Threads that wait for the next sweep."""
        return self.outcomes.get((Outcome.SKIPPED, Reason.DUE), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything known of one thread and its outcome."""

    thread: Thread
    outcome: Outcome
    reason: Reason
    gates: tuple[Gate, ...]
    job: Job | None
    entry: LogEntry | None
    output: Stage1Output | None


def standing(store: StateStore, policy: EligibilityPolicy, *, clock: Clock) -> Standing:
    """Count every thread by outcome and reason as of now."""
    now = clock()
    handled = _handled_outcomes(store)
    counts: Counter[tuple[Outcome, Reason]] = Counter()
    for state in store.thread_states():
        failure = first_failure(evaluate(state.thread, state.job, policy, now=now))
        counts[_outcome(failure, handled.get(state.thread.thread_id))] += 1
    return Standing(
        threads=counts.total(),
        outcomes=dict(counts),
        spaces=tuple(store.spaces()),
        spent_usd=store.spent_usd(),
    )


def explain(
    store: StateStore, policy: EligibilityPolicy, thread_id: ThreadId, *, clock: Clock
) -> Explanation | None:
    """Why a thread has its outcome; None when it was never seen."""
    state = store.thread_state(thread_id)
    if state is None:
        return None
    gates = evaluate(state.thread, state.job, policy, now=clock())
    entries = store.log(thread_id=thread_id, limit=1)
    entry = entries[0] if entries else None
    outcome, reason = _outcome(first_failure(gates), entry)
    if entry is not None and entry.reason is Reason.VANISHED:
        outcome, reason = entry.outcome, entry.reason
    return Explanation(
        thread=state.thread,
        outcome=outcome,
        reason=reason,
        gates=gates,
        job=state.job,
        entry=entry,
        output=store.output(thread_id),
    )


def _handled_outcomes(store: StateStore) -> Mapping[ThreadId, LogEntry]:
    return {entry.thread_id: entry for entry in store.log(limit=1_000_000)}


def _outcome(failure: Gate | None, entry: LogEntry | None) -> tuple[Outcome, Reason]:
    if failure is None:
        return Outcome.SKIPPED, Reason.DUE
    if entry is not None and failure.reason is Reason.UP_TO_DATE:
        return entry.outcome, entry.reason
    if entry is not None and entry.outcome is Outcome.FAILED and failure.reason in _AFTER_FAILURE:
        return Outcome.FAILED, failure.reason
    return Outcome.SKIPPED, failure.reason


_AFTER_FAILURE = frozenset({Reason.BACKOFF, Reason.EXHAUSTED})
