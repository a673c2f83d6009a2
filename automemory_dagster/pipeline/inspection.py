"""What a person asks of the deployment: how it stands, and why a thread has the outcome it has.

Reads only.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from automemory_dagster.domain.eligibility import EligibilityPolicy, Gate, evaluate, first_failure
from automemory_dagster.domain.job import Job
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import Thread, ThreadId
from automemory_dagster.ports import Clock, Origin, SpaceState, StateStore, ThreadState


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


def standing(store: StateStore, origins: Mapping[str, Origin], *, clock: Clock) -> Standing:
    """Count every thread of the sources that are read by outcome and reason as of now, those that
    are gone too."""
    now = clock()
    handled = _handled_outcomes(store)
    counts: Counter[tuple[Outcome, Reason]] = Counter()
    there = set()
    for state, gates in _judged(store.thread_states(), origins, now=now):
        there.add(state.thread.thread_id)
        if state.thread.source in origins:
            counts[_outcome(gates, handled.get(state.thread.thread_id))] += 1
    for thread_id, entry in handled.items():
        is_own = entry.space_id.partition("#")[0] in origins
        if is_own and entry.reason is Reason.VANISHED and thread_id not in there:
            counts[(entry.outcome, entry.reason)] += 1
    return Standing(
        threads=counts.total(),
        outcomes=dict(counts),
        spaces=tuple(store.spaces()),
        spent_usd=store.spent_usd(),
    )


def explain(
    store: StateStore, origins: Mapping[str, Origin], thread_id: ThreadId, *, clock: Clock
) -> Explanation | None:
    """Why a thread has its outcome; None when it was never seen.

    A thread of a source that is not read is told so: consent was not asked for it.
    """
    state = store.thread_state(thread_id)
    if state is None:
        return None
    [(_, gates)] = _judged([state], origins, now=clock())
    entries = store.log(thread_id=thread_id, limit=1)
    entry = entries[0] if entries else None
    outcome, reason = _outcome(gates, entry)
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


def _judged(
    states: Iterable[ThreadState], origins: Mapping[str, Origin], *, now: datetime
) -> Iterator[tuple[ThreadState, tuple[Gate, ...]]]:
    remaining = iter(states)
    while batch := list(islice(remaining, _JUDGE_AT_ONCE)):
        for source in dict.fromkeys(state.thread.source for state in batch):
            own = [state for state in batch if state.thread.source == source]
            if (origin := origins.get(source)) is None:
                yield from ((s, evaluate(s.thread, s.job, _NOT_READ, now=now)) for s in own)
            else:
                rulings = origin.gates.judge(own, now=now)
                yield from zip(own, (ruling.gates for ruling in rulings), strict=True)


_JUDGE_AT_ONCE = 500
_NOT_READ = EligibilityPolicy(is_generation_on=False)


def _handled_outcomes(store: StateStore) -> Mapping[ThreadId, LogEntry]:
    return {entry.thread_id: entry for entry in store.log(limit=1_000_000)}


def _outcome(gates: tuple[Gate, ...], entry: LogEntry | None) -> tuple[Outcome, Reason]:
    failure = first_failure(gates)
    if failure is None:
        return Outcome.SKIPPED, Reason.DUE
    if entry is None:
        return Outcome.SKIPPED, failure.reason
    is_handled = any(gate.reason is Reason.UP_TO_DATE and not gate.passes for gate in gates)
    if is_handled and failure.reason in _AFTER_HANDLING and entry.outcome in _HANDLED:
        return entry.outcome, entry.reason
    if entry.outcome is Outcome.FAILED and failure.reason in _AFTER_FAILURE:
        return Outcome.FAILED, failure.reason
    return Outcome.SKIPPED, failure.reason


_HANDLED = frozenset({Outcome.EXTRACTED, Outcome.NO_OUTPUT})
_AFTER_HANDLING = frozenset(
    # What stops a further extraction and takes nothing back of the one that was made.
    {Reason.UP_TO_DATE, Reason.GENERATION_DISABLED, Reason.NOT_IDLE, Reason.TOO_OLD}
)
_AFTER_FAILURE = frozenset({Reason.BACKOFF, Reason.EXHAUSTED})
