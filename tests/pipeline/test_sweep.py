"""The sweep: what changed is catalogued, what is due is found, and nothing else costs anything."""

from datetime import timedelta

from automemory_dagster.domain.outcome import Outcome, Reason
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.pipeline.sweep import (
    ExtractRequest,
    choose_threads,
    find_due,
    look_for_due,
    update_catalogue,
)
from tests.fakes.rollouts import a_reading
from tests.pipeline.world import NOON, FakeWorld, a_thread, extract_all, grown


def _due(world: FakeWorld) -> list[str]:
    return [state.thread.thread_id for state in find_due(world.sweep, limit=100)]


def test_new_threads_are_catalogued_with_a_reason_each() -> None:
    world = FakeWorld(
        a_thread("due"),
        a_thread("fresh", age=timedelta(seconds=10)),
        a_thread("archived", is_archived=True),
    )

    report = update_catalogue(world.sweep, run_id="run-1")

    reasons = {entry.thread_id: entry.reason for entry in world.store.log()}
    assert reasons == {
        "due": Reason.DUE,
        "fresh": Reason.NOT_IDLE,
        "archived": Reason.ARCHIVED,
    }
    assert (report.listed, len(report.changed), report.due) == (3, 3, 1)


def test_a_second_sweep_finds_nothing_changed() -> None:
    world = FakeWorld(a_thread("t1"), a_thread("t2"))
    update_catalogue(world.sweep)

    report = update_catalogue(world.sweep)

    assert (report.listed, report.changed) == (2, ())


def test_a_look_opens_and_writes_nothing() -> None:
    world = FakeWorld(a_thread("t1"), a_thread("fresh", age=timedelta(seconds=10)))

    look = look_for_due(world.sweep, limit=100)

    assert len(look.identities) == 1
    assert look.waiting == 1
    assert world.source.read_ids == ()
    assert list(world.store.thread_states()) == []


def test_a_look_names_a_due_thread_by_version_and_attempt() -> None:
    world = FakeWorld(a_thread("t1"))
    update_catalogue(world.sweep)

    look = look_for_due(world.sweep, limit=100)

    assert look.identities == (f"t1:{int((NOON - timedelta(hours=1)).timestamp())}:0",)


def test_a_thread_that_was_busy_becomes_due_by_itself() -> None:
    world = FakeWorld(a_thread("t1", age=timedelta(seconds=10)))
    update_catalogue(world.sweep)
    assert _due(world) == []

    world.clock.pass_time(seconds=890)

    assert _due(world) == ["t1"]


def test_a_file_that_is_gone_is_logged_once_and_is_no_candidate() -> None:
    world = FakeWorld(a_thread("t1"))
    update_catalogue(world.sweep)
    world.source.remove(ThreadId("t1"))

    first, second = update_catalogue(world.sweep), update_catalogue(world.sweep)

    assert (first.vanished, second.vanished) == (("t1",), ())
    assert [entry.reason for entry in world.store.log()] == [Reason.VANISHED]
    assert _due(world) == []
    assert look_for_due(world.sweep, limit=100).identities == ()


def test_growth_makes_an_extracted_thread_due_again_and_no_other() -> None:
    world = FakeWorld(
        a_thread("t1"), a_thread("t2"), readings={"t1": a_reading("a"), "t2": a_reading("b")}
    )
    extract_all(world)
    world.clock.pass_time(hours=5)
    world.source.put(grown(a_thread("t1"), at=NOON + timedelta(hours=4)))

    report = update_catalogue(world.sweep)

    assert report.changed == ("t1",)
    assert _due(world) == ["t1"]


def test_force_without_names_hurries_what_waits_and_repeats_nothing() -> None:
    world = FakeWorld(
        a_thread("done"),
        a_thread("fresh", age=timedelta(seconds=10)),
        a_thread("old", age=timedelta(days=200)),
        a_thread("archived", is_archived=True),
        readings={"done": a_reading("a")},
    )
    extract_all(world)

    chosen = choose_threads(world.sweep, ExtractRequest(is_forced=True))

    assert chosen == ("fresh", "old")


def test_named_threads_are_taken_as_they_are_named() -> None:
    world = FakeWorld(a_thread("t1"), a_thread("t2"))
    named = (ThreadId("t2"), ThreadId("t1"))

    assert choose_threads(world.sweep, ExtractRequest(thread_ids=named, limit=1)) == named


def test_an_outcome_is_kept_when_an_unchanged_thread_is_seen_again() -> None:
    world = FakeWorld(a_thread("t1"), readings={"t1": a_reading("keep this")})
    extract_all(world)
    # A restore from backup: the same version under another inode looks changed.
    same = grown(a_thread("t1"), at=a_thread("t1").source_updated_at)
    world.source.put(same)

    update_catalogue(world.sweep)

    [entry] = world.store.log()
    assert (entry.outcome, entry.reason) == (Outcome.EXTRACTED, Reason.EXTRACTED)
