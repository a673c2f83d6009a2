"""The sweep: bring the catalogue up to date with a source and find the threads that are due.

The trap: reading what did not change. A look costs one ``stat`` a file and one indexed query; only
changed files are opened, and only the gates of changed or unhandled threads are evaluated.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TypeVar

from automemory_dagster import contract
from automemory_dagster.domain.eligibility import Ruling
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.ports import Clock, Origin, StateStore, ThreadState

T = TypeVar("T")

_SAVE_EVERY = 200
_JUDGE_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepWorld:
    """What a sweep works with."""

    origin: Origin
    store: StateStore
    clock: Clock
    redact: Redact


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueReport:
    """What bringing the catalogue up to date did."""

    listed: int
    """Rollout files seen."""

    changed: tuple[ThreadId, ...]
    """Threads that were new or had changed, in the order they were read."""

    vanished: tuple[ThreadId, ...]
    due: int
    """Threads among the changed ones that pass every gate."""
    problems: tuple[str, ...] = ()
    """What could not be listed, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueLook:
    """What a cheap look found, for a sensor that decides whether a run is worth its cost."""

    identities: tuple[str, ...]
    """One a due thread or a changed and idle file, with its version and attempt: the members of a
    batch's run key."""

    listed: int
    waiting: int
    """Changed files that are not idle yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractRequest:
    """Which threads somebody wants extracted."""

    thread_ids: tuple[ThreadId, ...] = ()
    """Empty: whatever is due."""

    is_forced: bool = False
    limit: int = 500


def update_catalogue(world: SweepWorld, *, run_id: str = "") -> CatalogueReport:
    """Read what changed into the catalogue and log each changed thread's outcome.

    Idempotent.
        Raises:
            TransientError: the source cannot be listed; nothing was changed.
    """
    now = world.clock()
    changes = world.origin.source.look(world.store)
    changed: list[ThreadId] = []
    due = 0
    for batch in _batches(changes.changed, _SAVE_EVERY):
        world.store.save_threads(batch)
        changed += [thread.thread_id for thread in batch]
        due += _log_gates(world, [thread.thread_id for thread in batch], run_id=run_id, now=now)
    if changes.vanished:
        world.store.mark_vanished(changes.vanished, now=now)
        world.store.record(
            [
                _entry_of_vanished(state, run_id=run_id, now=now, redact=world.redact)
                for state in map(world.store.thread_state, changes.vanished)
                if state is not None
            ]
        )
    return CatalogueReport(
        listed=changes.listed_count,
        changed=tuple(changed),
        vanished=changes.vanished,
        due=due,
        problems=changes.problems,
    )


def look_for_due(world: SweepWorld, *, limit: int) -> DueLook:
    """Tell whether a sweep would find work, without opening a rollout or writing anything.

    Raises:
        TransientError: the source cannot be listed.
    """
    now = world.clock()
    changes = world.origin.source.look(world.store)
    latest_idle_ns = int((now - world.origin.idle).timestamp() * 1e9)
    idle = [file for file in changes.changed_files if file.mtime_ns <= latest_idle_ns]
    identities = [
        f"{file.path}:{file.size_bytes}:{file.mtime_ns}:{file.index_digest}"
        for file in idle[:limit]
    ]
    identities += [
        contract.thread_run_key(
            state.thread.thread_id,
            int(state.thread.source_updated_at.timestamp()),
            state.job.attempt if state.job else 0,
        )
        for state in find_due(world, limit=limit)
    ]
    identities += [f"vanished:{thread_id}" for thread_id in changes.vanished]
    return DueLook(
        identities=tuple(identities),
        listed=changes.listed_count,
        waiting=len(changes.changed_files) - len(idle),
    )


def find_due(world: SweepWorld, *, limit: int) -> tuple[ThreadState, ...]:
    """Threads that pass every gate now, newest first; at most ``limit``."""
    now = world.clock()
    possible = world.origin.gates.possibly_due(now=now, limit=limit)
    rulings = world.origin.gates.judge(possible, now=now)
    return tuple(
        state for state, ruling in zip(possible, rulings, strict=True) if ruling.failure is None
    )


def choose_threads(world: SweepWorld, request: ExtractRequest) -> tuple[ThreadId, ...]:
    """The threads that a request means, newest first unless they are named.

    At most ``limit`` when they are not named. Forced without names: threads that only wait (not
    idle, too old, in backoff, exhausted) are taken too; what is up to date is not, since a wish to
    hurry is no wish to do it again.
    """
    if request.thread_ids:
        return request.thread_ids
    if not request.is_forced:
        return tuple(state.thread.thread_id for state in find_due(world, limit=request.limit))
    return tuple(islice(_waiting(world), request.limit))


def _waiting(world: SweepWorld) -> Iterator[ThreadId]:
    now = world.clock()
    for states in _batches(world.store.thread_states(source=world.origin.name), _JUDGE_AT_ONCE):
        rulings = world.origin.gates.judge(states, now=now, is_asked_for=True)
        for state, ruling in zip(states, rulings, strict=True):
            if _only_waits(ruling):
                yield state.thread.thread_id


def _only_waits(ruling: Ruling) -> bool:
    return all(
        gate.passes and not (gate.is_waived and gate.reason is Reason.UP_TO_DATE)
        for gate in ruling.gates
    )


def _log_gates(
    world: SweepWorld, thread_ids: Collection[ThreadId], *, run_id: str, now: datetime
) -> int:
    states = list(world.store.thread_states(thread_ids=thread_ids))
    rulings = world.origin.gates.judge(states, now=now)
    gated = [(state, ruling.failure) for state, ruling in zip(states, rulings, strict=True)]
    world.store.record(
        [
            LogEntry(
                thread_id=state.thread.thread_id,
                space_id=state.thread.space_id,
                outcome=Outcome.SKIPPED,
                reason=failure.reason if failure else Reason.DUE,
                logged_at=now,
                source_updated_at=state.thread.source_updated_at,
                user_id=state.thread.user_id,
                run_id=run_id,
                detail=world.redact(failure.found if failure else "passes every gate"),
            )
            for state, failure in gated
            # An unchanged version that was handled before keeps the outcome of its handling.
            if not (failure and failure.reason is Reason.UP_TO_DATE)
        ]
    )
    return sum(failure is None for _, failure in gated)


def _entry_of_vanished(
    state: ThreadState, *, run_id: str, now: datetime, redact: Redact
) -> LogEntry:
    return LogEntry(
        thread_id=state.thread.thread_id,
        space_id=state.thread.space_id,
        outcome=Outcome.SKIPPED,
        reason=Reason.VANISHED,
        logged_at=now,
        source_updated_at=state.thread.source_updated_at,
        user_id=state.thread.user_id,
        run_id=run_id,
        detail=redact("its rollout is gone; what was extracted from it stays"),
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
