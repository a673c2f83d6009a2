"""The two dynamic partition sets: the live window of threads, and the memory spaces.

The trap: a partition a thread for ever. Keys are cheap to add and dear to carry, so only candidates
are registered and housekeeping retires those that left the window; the state store remembers every
thread.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import dagster as dg
from sqlalchemy.exc import IntegrityError

from automemory_dagster import contract
from automemory_dagster.domain.thread import SpaceId, ThreadId
from automemory_dagster.ports import ThreadState
from automemory_dagster.wiring import Automemory, system_clock

threads = dg.DynamicPartitionsDefinition(name=contract.THREADS_PARTITIONS)
spaces = dg.DynamicPartitionsDefinition(name=contract.SPACES_PARTITIONS)


def register_candidates(
    instance: dg.DagsterInstance,
    automemory: Automemory,
    thread_ids: Collection[ThreadId],
    *,
    changed: Collection[str],
) -> list[ThreadState]:
    """Add the candidates among these threads, and their spaces, to the partition sets.

    Gives those to tell of: the ones that are new in the set, and of those that were there the ones
    in ``changed``. The set stays under ``max_partitions``: what finds no room is extracted all the
    same, and only misses its partition until housekeeping moves the window.
    """
    candidates = list(
        candidates_among(automemory.store.thread_states(thread_ids=thread_ids), automemory)
    )
    present = set(instance.get_dynamic_partitions(contract.THREADS_PARTITIONS))
    room = max(0, automemory.settings.max_partitions - len(present))
    new = [state for state in candidates if state.thread.thread_id not in present][:room]
    if new:
        keys = [state.thread.thread_id for state in new]
        _add(instance, contract.THREADS_PARTITIONS, keys)
    register_spaces(instance, {state.thread.space_id for state in candidates})
    known = (state for state in candidates if state.thread.thread_id in present)
    return [*new, *(state for state in known if state.thread.thread_id in changed)]


def register_spaces(instance: dg.DagsterInstance, space_ids: Iterable[SpaceId]) -> None:
    """Add spaces to their partition set. Idempotent."""
    present = set(instance.get_dynamic_partitions(contract.SPACES_PARTITIONS))
    if new := sorted(set(space_ids) - present):
        _add(instance, contract.SPACES_PARTITIONS, new)


def partitions_of_run(context: dg.AssetExecutionContext) -> tuple[str, ...]:
    """The partitions a run was launched for; empty for a run without any.

    A materialised partition comes as a key, a backfill's part as a range, and Dagster tells the two
    apart.
    """
    is_partitioned = context.has_partition_key or context.has_partition_key_range
    return tuple(context.partition_keys) if is_partitioned else ()


def candidates_among(
    states: Iterable[ThreadState], automemory: Automemory
) -> Iterator[ThreadState]:
    """The threads inside the live window, in the order given; judged a page at a time."""
    remaining = iter(states)
    while page := list(islice(remaining, _JUDGE_AT_ONCE)):
        kept = set()
        for name, origin in automemory.origins.items():
            own = [state for state in page if state.thread.source == name]
            rulings = origin.gates.judge(own, now=system_clock())
            kept |= {
                state.thread.thread_id
                for state, ruling in zip(own, rulings, strict=True)
                if ruling.is_candidate
            }
        yield from (state for state in page if state.thread.thread_id in kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMove:
    """The keys that the window gained and lost."""

    added: Sequence[str] = ()
    retired: Sequence[str] = ()


def move_window(instance: dg.DagsterInstance, automemory: Automemory) -> WindowMove:
    """Make the partition set the live window: the newest ``max_partitions`` candidates.

    What leaves it keeps its events and stored outputs. While generation is off nothing is a
    candidate, and the set is left as it is: it would be empty when generation is on again.
    """
    if not automemory.eligibility.is_generation_on:
        return WindowMove()
    present = instance.get_dynamic_partitions(contract.THREADS_PARTITIONS)
    newest_first = (
        state.thread.thread_id
        for state in candidates_among(
            automemory.store.thread_states(source=automemory.choice.name), automemory
        )
    )
    window = list(islice(newest_first, automemory.settings.max_partitions))
    retired, added = sorted(set(present) - set(window)), sorted(set(window) - set(present))
    for key in retired:
        instance.delete_dynamic_partition(contract.THREADS_PARTITIONS, key)
    if added:
        _add(instance, contract.THREADS_PARTITIONS, added)
    return WindowMove(added=added, retired=retired)


def _add(instance: dg.DagsterInstance, name: str, keys: Sequence[str]) -> None:
    """Add keys that another process may be adding at the same moment."""
    for _ in range(_MOST_TRIES):
        try:
            instance.add_dynamic_partitions(name, keys)
            return
        except IntegrityError:
            # Dagster looks first and writes then; the other one wrote in between.
            present = set(instance.get_dynamic_partitions(name))
            keys = [key for key in keys if key not in present]
            if not keys:
                return


_MOST_TRIES = 5
_JUDGE_AT_ONCE = 500
