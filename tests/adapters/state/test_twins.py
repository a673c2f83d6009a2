"""The fake beside SQLite: whatever is done to both, they answer alike.

The phases are tested over the fake, so each difference would be a test that lies.
"""

import itertools
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.domain.errors import AutomemoryError
from automemory_dagster.domain.job import Claimed, FailureKind, JobKind, LeasePolicy, LeaseToken
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import MemoryMode, SpaceId
from automemory_dagster.ports import StateStore
from tests.adapters.state.builders import (
    NOON,
    SOURCE,
    a_publication,
    a_thread,
    an_entry,
    an_output,
)
from tests.fakes.state_store import FakeStateStore

POLICY = LeasePolicy(
    lease=timedelta(seconds=60),
    retry_delay=timedelta(seconds=30),
    max_retry_delay=timedelta(seconds=120),
    retry_budget=2,
    max_running=2,
    cooldown=timedelta(seconds=300),
)
SPACES = (SpaceId("one"), SpaceId("two"))
NUMBERS = st.sampled_from([1, 2, 3])
NO_TOKEN = LeaseToken("")

Pair = tuple[Claimed, Claimed]


class Twins(RuleBasedStateMachine):
    """Each rule is done to both stores; answers, errors and all that can be read must agree."""

    template: ClassVar[Path]
    numbers: ClassVar[Any] = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        path = self.template.with_name(f"twin-{next(self.numbers)}.sqlite")
        shutil.copyfile(self.template, path)
        self.sql: SqlStateStore = open_state_store(f"sqlite:///{path}")
        self.fake = FakeStateStore()
        self.now: datetime = NOON
        self.threads = {number: a_thread(number, space_id=SPACES[0]) for number in (1, 2, 3)}
        self.held: list[Pair] = []

    def teardown(self) -> None:
        self.sql.close()

    @rule(seconds=st.sampled_from([1, 29, 30, 60, 300]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(
        number=NUMBERS,
        seconds=st.sampled_from([0, 1]),
        mode=st.sampled_from([*MemoryMode, MemoryMode.ENABLED]),
        space=st.sampled_from(SPACES),
        path=st.sampled_from(["/a", "/b", "/c"]),
        is_archived=st.booleans(),
    )
    def a_thread_is_saved(
        self,
        number: int,
        seconds: int,
        mode: MemoryMode,
        space: SpaceId,
        path: str,
        is_archived: bool,
    ) -> None:
        old = self.threads[number]
        self.threads[number] = replace(
            old,
            source_updated_at=old.source_updated_at + timedelta(seconds=seconds),
            memory_mode=mode,
            space_id=space,
            rollout_path=path,
            is_archived=is_archived,
        )
        self.both(lambda store: store.save_threads([self.threads[number]]))

    @rule(number=NUMBERS)
    def a_thread_vanishes(self, number: int) -> None:
        thread_id = self.threads[number].thread_id
        self.both(lambda store: store.mark_vanished([thread_id], now=self.now))

    @rule(number=NUMBERS, is_forced=st.booleans())
    def claim(self, number: int, is_forced: bool) -> None:
        self.hold(
            lambda store: store.claim_stage1(
                self.threads[number],
                policy=POLICY,
                worker="w",
                run_id="r",
                now=self.now,
                is_forced=is_forced,
            )
        )

    @rule(space=st.sampled_from(SPACES), is_forced=st.booleans())
    def claim_space(self, space: SpaceId, is_forced: bool) -> None:
        self.hold(
            lambda store: store.claim_phase2(
                space, policy=POLICY, worker="w", run_id="r", now=self.now, is_forced=is_forced
            )
        )

    @precondition(lambda self: self.held)
    @rule(data=st.data(), words=st.sampled_from([None, "one", "two"]), usd=st.sampled_from([0, 1]))
    def finish(self, data: st.DataObject, words: str | None, usd: int) -> None:
        pair = self.pick(data)
        if pair[0].kind is JobKind.CONSOLIDATE:
            self.finish_space(pair, words)
            return
        thread = next(item for item in self.threads.values() if item.thread_id == pair[0].key)
        output = None if words is None else an_output(thread, raw_memory=RedactedText(words))
        entry = an_entry(thread, usd=float(usd), logged_at=self.now)
        self.both_holders(
            pair, lambda store, owned: store.finish_stage1(owned, output, entry=entry, now=self.now)
        )

    @precondition(lambda self: self.held)
    @rule(
        data=st.data(),
        kind=st.sampled_from(list(FailureKind)),
        wait=st.sampled_from([None, 0, 45, 9_999]),
    )
    def fail(self, data: st.DataObject, kind: FailureKind, wait: int | None) -> None:
        self.both_holders(
            self.pick(data),
            lambda store, owned: store.fail(
                owned,
                kind=kind,
                error=RedactedText("it went wrong"),
                policy=POLICY,
                now=self.now,
                retry_after_seconds=wait,
            ),
        )

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.both_holders(self.pick(data), lambda store, owned: store.release(owned, now=self.now))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        pair = self.pick(data)
        renewed = self.both_holders(
            pair, lambda store, owned: store.renew(owned, policy=POLICY, now=self.now)
        )
        if all(isinstance(outcome, Claimed) for outcome in renewed):
            self.held.append(renewed)  # type: ignore[arg-type]

    @rule(space=st.sampled_from(SPACES))
    def a_person_asks(self, space: SpaceId) -> None:
        self.both(lambda store: store.request_consolidation(space, now=self.now))

    @invariant()
    def everything_reads_alike(self) -> None:
        ids = [thread.thread_id for thread in self.threads.values()]
        for read in (
            lambda store: [plain(store.job(JobKind.STAGE1, key)) for key in ids],
            lambda store: [plain(store.job(JobKind.CONSOLIDATE, key)) for key in SPACES],
            lambda store: [store.output(key) for key in ids],
            lambda store: [store.selectable_outputs(key) for key in SPACES],
            lambda store: [
                (space.space_id, space.version, space.output_count, space.is_forgetting)
                for space in store.spaces()
            ],
            lambda store: [store.publication(key) for key in SPACES],
            lambda store: dict(store.known_rollouts(SOURCE)),
            lambda store: [state.thread for state in store.thread_states()],
            lambda store: [
                state.thread
                for state in store.possibly_due(SOURCE, now=self.now, idle_seconds=60, limit=2)
            ],
            lambda store: list(store.log()),
            lambda store: store.spent_usd(),
        ):
            assert read(self.sql) == read(self.fake)

    def finish_space(self, pair: Pair, words: str | None) -> None:
        space = SpaceId(pair[0].key)
        version = self.fake.space(space).version + 1
        publication = None
        if words is not None:
            files = {"MEMORY.md": RedactedText(words)}
            publication = a_publication(version, space_id=space, files=files)
        self.both_holders(
            pair,
            lambda store, owned: store.finish_phase2(owned, publication, selected={}, now=self.now),
        )

    def pick(self, data: st.DataObject) -> Pair:
        return self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))

    def hold(self, work: Callable[[StateStore], object]) -> None:
        first, second = self.both(work)
        if isinstance(first, Claimed) and isinstance(second, Claimed):
            self.held.append((first, second))

    def both(self, work: Callable[[StateStore], object]) -> tuple[object, object]:
        first, second = tried(work, self.sql), tried(work, self.fake)
        assert plain(first) == plain(second)
        return first, second

    def both_holders(
        self, pair: Pair, work: Callable[[StateStore, Claimed], object]
    ) -> tuple[object, object]:
        first = tried(lambda store: work(store, pair[0]), self.sql)
        second = tried(lambda store: work(store, pair[1]), self.fake)
        assert plain(first) == plain(second)
        return first, second


def tried(work: Callable[[StateStore], object], store: StateStore) -> object:
    """What came of it: the answer, or the kind of error."""
    try:
        return work(store)
    except AutomemoryError as error:
        return type(error)


def plain(outcome: Any) -> object:
    """Without the token, which is made by chance."""
    if isinstance(outcome, Claimed):
        return replace(outcome, token=NO_TOKEN)
    if hasattr(outcome, "lease_token"):
        has_token = outcome.lease_token is not None
        return replace(outcome, lease_token=None), has_token
    return outcome


def test_the_fake_answers_as_sqlite_does() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Twins.template = Path(folder) / "template.sqlite"
        open_state_store(f"sqlite:///{Twins.template}").close()
        Twins.TestCase.settings = settings(
            max_examples=15,
            stateful_step_count=25,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        Twins.TestCase("runTest").runTest()
