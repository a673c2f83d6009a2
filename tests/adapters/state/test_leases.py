"""Any number of workers, any clock: two of them never hold the same job alive."""

import itertools
import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from automemory_dagster.adapters.state import open_state_store
from automemory_dagster.domain.errors import LeaseLost
from automemory_dagster.domain.job import Claimed, FailureKind, JobKind, LeasePolicy
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import Thread
from automemory_dagster.ports import StateStore
from tests.adapters.state.builders import NOON, a_thread, an_entry, an_output
from tests.fakes.state_store import FakeStateStore

POLICY = LeasePolicy(
    lease=timedelta(seconds=60), retry_delay=timedelta(seconds=30), retry_budget=3, max_running=2
)
WORKERS = ("ann", "ben", "cho")
NUMBERS = st.sampled_from([1, 2, 3])
KINDS = st.sampled_from(list(FailureKind))


class Leases(RuleBasedStateMachine):
    """Three workers, three threads, room for two at once."""

    store: StateStore

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = NOON
        self.held: dict[tuple[str, str], Claimed] = {}
        self.threads: dict[int, Thread] = {number: a_thread(number) for number in (1, 2, 3)}
        self.highest: dict[str, tuple[int, int]] = {}
        self.tokens: set[str] = set()

    @rule(seconds=st.sampled_from([1, 29, 30, 59, 60, 61, 3_600]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(number=NUMBERS)
    def a_thread_grows(self, number: int) -> None:
        thread = self.threads[number]
        self.threads[number] = a_thread(
            number, source_updated_at=thread.source_updated_at + timedelta(seconds=1)
        )
        self.store.save_threads([self.threads[number]])

    @rule(worker=st.sampled_from(WORKERS), number=NUMBERS, is_forced=st.booleans())
    def claim(self, worker: str, number: int, is_forced: bool) -> None:
        live_before = self.live(self.now)
        thread = self.threads[number]
        outcome = self.store.claim_stage1(
            thread,
            policy=POLICY,
            worker=worker,
            run_id="",
            now=self.now,
            is_forced=is_forced,
        )
        if isinstance(outcome, Claimed):
            assert thread.thread_id not in live_before, "two live leases on one job"
            assert len(live_before) < POLICY.max_running, "more than the cap"
            assert outcome.token not in self.tokens
            self.tokens.add(outcome.token)
            self.held[worker, thread.thread_id] = outcome

    @precondition(lambda self: self.held)
    @rule(data=st.data(), has_output=st.booleans())
    def finish(self, data: st.DataObject, has_output: bool) -> None:
        owned, is_mine = self.pick(data)
        thread = a_thread(1, thread_id=owned.key)
        output = an_output(thread) if has_output else None
        self.ends(
            is_mine,
            lambda: self.store.finish_stage1(owned, output, entry=an_entry(thread), now=self.now),
        )

    @precondition(lambda self: self.held)
    @rule(data=st.data(), kind=KINDS)
    def fail(self, data: st.DataObject, kind: FailureKind) -> None:
        owned, is_mine = self.pick(data)
        error = RedactedText("it went wrong")
        self.ends(
            is_mine,
            lambda: self.store.fail(owned, kind=kind, error=error, policy=POLICY, now=self.now),
        )

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        owned, is_mine = self.pick(data)
        self.ends(is_mine, lambda: self.store.release(owned, now=self.now))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        owned = self.held[key]
        try:
            self.held[key] = self.store.renew(owned, policy=POLICY, now=self.now)
        except LeaseLost:
            assert not self.is_holder(owned)
            del self.held[key]

    @invariant()
    def watermarks_never_fall(self) -> None:
        for number in self.threads:
            job = self.store.job(JobKind.STAGE1, a_thread(number).thread_id)
            if job is None:
                continue
            before = self.highest.get(job.key, (0, 0))
            found = (job.last_success_watermark, job.attempt)
            assert found[0] >= before[0]
            assert found[1] >= before[1]
            assert 0 <= job.retry_remaining <= POLICY.retry_budget
            self.highest[job.key] = found

    def pick(self, data: st.DataObject) -> tuple[Claimed, bool]:
        key = data.draw(st.sampled_from(sorted(self.held)))
        owned = self.held.pop(key)
        return owned, self.is_holder(owned)

    def is_holder(self, owned: Claimed) -> bool:
        job = self.store.job(JobKind.STAGE1, owned.key)
        return job is not None and job.lease_token == owned.token

    def ends(self, is_mine: bool, end: Callable[[], None]) -> None:
        if is_mine:
            end()
        else:
            with pytest.raises(LeaseLost):
                end()

    def live(self, now: datetime) -> set[str]:
        """Threads that somebody holds by what the workers themselves were told."""
        return {
            owned.key
            for owned in self.held.values()
            if owned.lease_until > now and self.is_holder(owned)
        }


class FakeLeases(Leases):
    def __init__(self) -> None:
        super().__init__()
        self.store = FakeStateStore()


class SqliteLeases(Leases):
    _template: Path
    _numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        path = self._template.with_name(f"{next(self._numbers)}.sqlite")
        shutil.copyfile(self._template, path)
        self.opened = open_state_store(f"sqlite:///{path}")
        self.store = self.opened

    def teardown(self) -> None:
        self.opened.close()


SETTINGS = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_the_fake_never_sees_two_live_leases() -> None:
    FakeLeases.TestCase.settings = SETTINGS
    FakeLeases.TestCase("runTest").runTest()


def test_sqlite_never_sees_two_live_leases() -> None:
    with tempfile.TemporaryDirectory() as folder:
        SqliteLeases._template = Path(folder) / "template.sqlite"
        open_state_store(f"sqlite:///{SqliteLeases._template}").close()
        SqliteLeases.TestCase.settings = SETTINGS
        SqliteLeases.TestCase("runTest").runTest()
