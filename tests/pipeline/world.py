"""Phase worlds over fakes, with a clock that moves when it is told to."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.eligibility import EligibilityPolicy
from automemory_dagster.domain.errors import AutomemoryError
from automemory_dagster.domain.job import LeasePolicy
from automemory_dagster.domain.rollout import Reading
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.pipeline.gates import PolicyGates
from automemory_dagster.pipeline.phase1 import extract_batch
from automemory_dagster.pipeline.phase1_world import Phase1Result, Phase1World
from automemory_dagster.pipeline.sweep import SweepWorld, find_due, update_catalogue
from automemory_dagster.ports import Origin
from tests.fakes.extractor import FakeExtractor
from tests.fakes.rollouts import FakeSource
from tests.fakes.state_store import FakeStateStore

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SPACE = SpaceId("codex:test")


class ManualClock:
    """A clock that stands still."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **span: float) -> None:
        """Move on by a ``timedelta`` of these parts."""
        self.now += timedelta(**span)


def a_thread(name: str = "t1", *, age: timedelta = timedelta(hours=1), **changes: object) -> Thread:
    """A thread that is due at noon."""
    updated = NOON - age
    thread = Thread(
        thread_id=ThreadId(name),
        source="codex",
        space_id=SPACE,
        rollout_path=f"{name}.jsonl",
        stamp=RolloutStamp(
            size_bytes=100, mtime_ns=int(updated.timestamp() * 1e9), prefix_sha256="0"
        ),
        source_updated_at=updated,
        title=name,
        cwd="/home/dev/shop",
    )
    return replace(thread, **changes)  # type: ignore[arg-type]


def grown(thread: Thread, *, at: datetime) -> Thread:
    """The thread after somebody wrote more of it."""
    stamp = replace(thread.stamp, size_bytes=200, mtime_ns=int(at.timestamp() * 1e9))
    return replace(thread, stamp=stamp, source_updated_at=at)


class FakeWorld:
    """Everything phase 1 and the sweep need, sharing one store and one clock."""

    def __init__(
        self,
        *threads: Thread,
        readings: dict[str, Reading | AutomemoryError | Exception] | None = None,
        is_generation_on: bool = True,
        extractor: FakeExtractor | None = None,
        leases: LeasePolicy | None = None,
        is_external_context_refused: bool = False,
    ) -> None:
        self.clock = ManualClock()
        self.store = FakeStateStore()
        by_id = {ThreadId(key): value for key, value in (readings or {}).items()}
        self.source = FakeSource(threads, by_id)
        policy = EligibilityPolicy(is_generation_on=is_generation_on)
        gates = PolicyGates(
            catalogue=self.store,
            source=self.source.name,
            policy=policy,
            is_external_context_refused=is_external_context_refused,
        )
        origin = Origin(source=self.source, gates=gates, idle=policy.idle)
        self.sweep = SweepWorld(origin=origin, store=self.store, clock=self.clock, redact=redact)
        chosen = extractor or FakeExtractor()
        self.phase1 = Phase1World(
            origins={origin.name: origin},
            store=self.store,
            extractor_for=lambda thread: chosen,
            redact=redact,
            clock=self.clock,
            leases=leases or LeasePolicy(),
            budget_tokens=10_000,
            run_id="run-1",
        )


def extract_all(world: FakeWorld, *names: str, is_asked_for: bool = False) -> list[Phase1Result]:
    """Sweep, then extract the named threads, else the due ones; by thread id."""
    update_catalogue(world.sweep)
    ids = [ThreadId(name) for name in names] or [
        state.thread.thread_id for state in find_due(world.sweep, limit=100)
    ]
    results = extract_batch(ids, world.phase1, is_asked_for=is_asked_for)
    return sorted(results, key=lambda result: result.entry.thread_id)
