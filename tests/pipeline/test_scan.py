"""The scan over fakes: what is told, in which order it is mended, and who is kept away."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from automemory_dagster.adapters.secrets import secret_tools
from automemory_dagster.domain.errors import TransientError
from automemory_dagster.domain.job import Claimed, JobKind, JobStatus, LeasePolicy
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.pipeline import scan
from automemory_dagster.ports import StoredValue
from tests.adapters.state.builders import a_thread
from tests.fakes.state_store import FakeStateStore

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECRET = "DB_PASSWORD=" + "Tulip-" + "9f8a7"


@dataclass
class Shelf:
    """A place of texts by name; ``fixed`` ones cannot be changed."""

    texts: dict[str, object]
    log: list[str]
    fixed: frozenset[str] = frozenset()
    name: str = "shelf"
    old_pages: set[str] = field(default_factory=set)

    def values(self) -> Iterator[StoredValue]:
        for key, value in list(self.texts.items()):
            yield StoredValue(place=self.name, where=key, value=value, key=key)

    def rewrite(self, key: object, change: Callable[[object], object]) -> None:
        self.log.append(f"rewrite {key}")
        if isinstance(key, str) and key not in self.fixed:
            self.old_pages.add(key)
            self.texts[key] = change(self.texts[key])

    def scrub(self) -> None:
        self.log.append(f"scrub {self.name}")
        self.old_pages.clear()


def a_world(*places: Shelf, store: FakeStateStore | None = None) -> scan.ScanWorld:
    tools = secret_tools()
    return scan.ScanWorld(
        places=places,
        count=tools.count_values,
        redact=tools.redact,
        redact_values=tools.redact_values,
        store=store or FakeStateStore(),
        clock=lambda: NOON,
        leases=LeasePolicy(),
    )


def test_a_look_counts_by_place_and_kind_and_never_repeats_a_value() -> None:
    shelf = Shelf({"b": SECRET, "a": {"note": [SECRET]}, SECRET: "x", "c": "fine"}, [])
    shelf.texts[SECRET] = SECRET

    report = scan.look(a_world(shelf))

    assert report.total == 3
    assert [tally.where for tally in report.tallies] == [
        "DB_PASSWORD=[REDACTED:password]",
        "a",
        "b",
    ]
    assert "Tulip" not in repr(report)
    assert not report.is_clean


def test_what_could_not_be_read_is_not_clean() -> None:
    class Broken(Shelf):
        def values(self) -> Iterator[StoredValue]:
            yield StoredValue(place="shelf", where="x", value="", key=None, problem="is damaged")

    report = scan.look(a_world(Broken({}, [])))

    assert report.unreadable == ("shelf, x: is damaged",)
    assert not report.is_clean


def test_places_are_mended_in_order_and_scrubbed_even_when_they_are_clean() -> None:
    log: list[str] = []
    first = Shelf({"a": "fine"}, log, name="first")
    second = Shelf({"b": SECRET}, log, name="second")

    report = scan.fix(a_world(first, second))

    assert log == ["scrub first", "rewrite b", "scrub second"]
    assert second.texts == {"b": "DB_PASSWORD=[REDACTED:password]"}
    assert (report.before.total, report.after.total) == (1, 0)


def test_what_cannot_be_changed_is_left_and_told() -> None:
    shelf = Shelf({"a": SECRET}, [], fixed=frozenset({"a"}))

    report = scan.fix(a_world(shelf))

    assert report.after.tallies == report.before.tallies


def test_nothing_is_changed_while_somebody_consolidates() -> None:
    store = FakeStateStore()
    store.save_threads([a_thread()])
    space = SpaceId(a_thread().space_id)
    store.claim_phase2(space, policy=LeasePolicy(), worker="w", run_id="", now=NOON, is_forced=True)
    shelf = Shelf({"a": SECRET}, [])

    with pytest.raises(TransientError, match="another worker consolidates"):
        scan.fix(a_world(shelf, store=store))

    assert shelf.log == []


def test_a_space_is_held_meanwhile_and_as_it_was_afterwards() -> None:
    store = FakeStateStore()
    store.save_threads([a_thread()])
    space = SpaceId(a_thread().space_id)
    before = store.space(space)
    seen: list[JobStatus] = []

    class Watching(Shelf):
        def scrub(self) -> None:
            job = store.job(JobKind.CONSOLIDATE, space)
            assert job is not None
            seen.append(job.status)

    scan.fix(a_world(Watching({}, []), store=store))

    after = store.space(space)
    assert seen == [JobStatus.RUNNING]
    assert after.has_pending_changes == before.has_pending_changes
    claim = store.claim_phase2(
        space, policy=LeasePolicy(), worker="w", run_id="", now=NOON, is_forced=True
    )
    assert isinstance(claim, Claimed)


def test_a_killed_fix_holds_up_the_next_one_for_a_minute_at_most() -> None:
    store = FakeStateStore()
    store.save_threads([a_thread()])

    class Killed(Shelf):
        def scrub(self) -> None:
            job = store.job(JobKind.CONSOLIDATE, a_thread().space_id)
            assert job is not None
            assert job.lease_until is not None
            assert job.lease_until - NOON <= timedelta(minutes=1)

    scan.fix(a_world(Killed({}, []), store=store))
