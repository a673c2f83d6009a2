"""The scan: which secrets stand in what is already stored, and their removal.

The trap: a report that repeats what it found. Only kinds, places and numbers leave this module;
where a place's own name holds a secret, the name is redacted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from automemory_dagster.domain.errors import LeaseLost, TransientError
from automemory_dagster.domain.job import Claimed, LeasePolicy
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.pipeline.heartbeat import Heartbeat
from automemory_dagster.pipeline.phase2_result import Skipped
from automemory_dagster.ports import Clock, StateStore, StoredTexts, StoredValue

_LEASE = timedelta(seconds=60)
"""Short, and renewed: a scan that was killed holds up the next one for no longer."""

CountSecrets = Callable[[object], Mapping[str, int]]
"""Secrets in a JSON-like value by kind; empty when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanWorld:
    """What a scan works with."""

    places: Sequence[StoredTexts]
    """In the order in which they are mended: what others are rebuilt from goes first."""
    count: CountSecrets
    redact: Redact
    redact_values: Callable[[object], object]
    """Leaves nothing that ``count`` counts."""
    store: StateStore
    clock: Clock
    leases: LeasePolicy
    worker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Tally:
    """How many secrets of one kind stand in one place."""

    place: str
    where: RedactedText
    kind: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What a scan found, sorted by place, where and kind."""

    tallies: tuple[Tally, ...]
    looked_at: int
    """Texts and values."""
    unreadable: tuple[RedactedText, ...]
    """What nobody can vouch for, one sentence each."""

    @property
    def total(self) -> int:
        """Secrets found."""
        return sum(tally.count for tally in self.tallies)

    @property
    def is_clean(self) -> bool:
        """True when everything was read and no secret found."""
        return not self.tallies and not self.unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class FixReport:
    """What was there before a removal, and what a second look found after it."""

    before: ScanReport
    after: ScanReport


def look(world: ScanWorld) -> ScanReport:
    """Look through every place; changes nothing."""
    counts: Counter[tuple[str, str, str]] = Counter()
    unreadable: set[str] = set()
    looked_at = 0
    for place in world.places:
        for stored in place.values():
            looked_at += 1
            if stored.problem:
                unreadable.add(f"{stored.place}, {stored.where}: {stored.problem}")
            for kind, count in world.count(stored.value).items():
                counts[stored.place, stored.where, kind] += count
    return ScanReport(
        tallies=tuple(
            Tally(place=place, where=world.redact(where), kind=kind, count=count)
            for (place, where, kind), count in sorted(counts.items())
        ),
        looked_at=looked_at,
        unreadable=tuple(world.redact(sentence) for sentence in sorted(unreadable)),
    )


def fix(world: ScanWorld) -> FixReport:
    """Redact every place, with every space's lease held. Idempotent; a killed one is run again.

    Raises:
        TransientError: a consolidation is under way, or a place is in use; run it again later.
    """
    before = look(world)
    with _every_space_held(world):
        for place in world.places:
            for key in _keys_to_rewrite(world, place.values()):
                place.rewrite(key, world.redact_values)
            # Also when nothing was found: a removal that was killed left clean rows and old pages.
            place.scrub()
    return FixReport(before=before, after=look(world))


def _keys_to_rewrite(world: ScanWorld, values: Iterator[StoredValue]) -> list[object]:
    return [stored.key for stored in values if world.count(stored.value)]


@contextmanager
def _every_space_held(world: ScanWorld) -> Iterator[None]:
    policy = replace(world.leases, lease=_LEASE)
    with (
        Heartbeat(world.store, policy=policy, clock=world.clock) as heartbeat,
        ExitStack() as stack,
    ):
        for space in world.store.spaces():
            claim = world.store.claim_phase2(
                space.space_id,
                policy=policy,
                worker=world.worker,
                run_id="",
                now=world.clock(),
                is_forced=True,
            )
            if not isinstance(claim, Claimed):
                raise TransientError(
                    f"{space.space_id}: {Skipped(outcome=claim).why}. Nothing was changed; "
                    "run it again afterwards."
                )
            stack.callback(_give_back, world, claim)
            stack.enter_context(heartbeat.keeping(claim))
        yield


def _give_back(world: ScanWorld, claim: Claimed) -> None:
    with suppress(LeaseLost):
        world.store.release(claim, now=world.clock())
