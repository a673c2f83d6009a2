"""Facts for tests of the state store; every field has a default, a test names what matters."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from automemory_dagster.domain.job import Claimed, JobKind, LeasePolicy
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.stage1 import Stage1Output
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import StateStore

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
SPACE = SpaceId("codex:default")
SOURCE = "codex"

POLICY = LeasePolicy(
    lease=timedelta(minutes=10),
    retry_delay=HOUR,
    max_retry_delay=timedelta(hours=24),
    retry_budget=3,
    max_running=16,
    cooldown=timedelta(0),
)


def an_id(number: int = 1) -> ThreadId:
    """The id of the thread with this number; ids sort like numbers."""
    return ThreadId(f"019d0000-0000-7000-8000-{number:012x}")


def a_thread(number: int = 1, **changes: Any) -> Thread:
    """A thread last written two hours before noon."""
    thread = Thread(
        thread_id=an_id(number),
        source=SOURCE,
        space_id=SPACE,
        rollout_path=f"/home/dev/.codex/sessions/rollout-{number}.jsonl",
        stamp=RolloutStamp(size_bytes=2_000 + number, mtime_ns=number, prefix_sha256="ab" * 32),
        source_updated_at=NOON - 2 * HOUR,
        title=f"Thread {number}",
    )
    return replace(thread, **changes)


def newer(thread: Thread, by: timedelta = HOUR) -> Thread:
    """The same thread, written to again."""
    return replace(thread, source_updated_at=thread.source_updated_at + by)


def an_output(thread: Thread, **changes: Any) -> Stage1Output:
    """What was extracted of a thread's present version."""
    output = Stage1Output(
        thread_id=thread.thread_id,
        space_id=thread.space_id,
        source_updated_at=thread.source_updated_at,
        raw_memory=RedactedText("raw memory"),
        rollout_summary=RedactedText("rollout summary"),
        rollout_slug=RedactedText("rollout-slug"),
        generated_at=NOON,
        extractor="offline/1",
    )
    return replace(output, **changes)


def an_entry(thread: Thread, **changes: Any) -> LogEntry:
    """A log row of a thread that was extracted at noon."""
    entry = LogEntry(
        thread_id=thread.thread_id,
        space_id=thread.space_id,
        outcome=Outcome.EXTRACTED,
        reason=Reason.EXTRACTED,
        logged_at=NOON,
        source_updated_at=thread.source_updated_at,
    )
    return replace(entry, **changes)


def a_publication(version: int = 1, **changes: Any) -> Publication:
    """A version with one file."""
    publication = Publication(
        space_id=SPACE,
        version=version,
        published_at=NOON,
        files={"MEMORY.md": RedactedText("# Memory\n")},
        consolidator="offline/1",
    )
    return replace(publication, **changes)


def claim(
    store: StateStore,
    thread: Thread,
    *,
    now: datetime = NOON,
    policy: LeasePolicy = POLICY,
    is_forced: bool = False,
) -> Any:
    """Try to own a thread's extraction."""
    return store.claim_stage1(
        thread, policy=policy, worker="worker-1", run_id="run-1", now=now, is_forced=is_forced
    )


def claimed(store: StateStore, thread: Thread, **options: Any) -> Claimed:
    """Own a thread's extraction."""
    outcome = claim(store, thread, **options)
    assert isinstance(outcome, Claimed), outcome
    return outcome


def claim_space(
    store: StateStore,
    space_id: SpaceId = SPACE,
    *,
    now: datetime = NOON,
    policy: LeasePolicy = POLICY,
    is_forced: bool = False,
) -> Any:
    """Try to own a space's consolidation."""
    return store.claim_phase2(
        space_id, policy=policy, worker="worker-1", run_id="run-2", now=now, is_forced=is_forced
    )


def claimed_space(store: StateStore, space_id: SpaceId = SPACE, **options: Any) -> Claimed:
    """Own a space's consolidation."""
    outcome = claim_space(store, space_id, **options)
    assert isinstance(outcome, Claimed), outcome
    return outcome


def extract(store: StateStore, thread: Thread, *, now: datetime = NOON, **texts: Any) -> None:
    """Save a thread and store an output of it."""
    store.save_threads([thread])
    owned = claimed(store, thread, now=now)
    store.finish_stage1(owned, an_output(thread, **texts), entry=an_entry(thread), now=now)


def watermark(store: StateStore, space_id: SpaceId = SPACE) -> int:
    """How often a space has changed."""
    job = store.job(JobKind.CONSOLIDATE, space_id)
    return job.input_watermark if job else 0
