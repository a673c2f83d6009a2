"""Writing the catalogue: threads in batches, and what their changes mean for memory."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from automemory_dagster.adapters.state.row import thread_values
from automemory_dagster.adapters.state.rule import new_space_row
from automemory_dagster.adapters.state.statement import (
    chunks,
    lock_outputs,
    lock_threads,
    raise_space_watermark,
    upsert,
)
from automemory_dagster.adapters.state.table import jobs, stage1_outputs, threads
from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.domain.job import JobKind
from automemory_dagster.domain.thread import MemoryMode, SpaceId, Thread, ThreadId


def save(connection: Connection, new: Sequence[Thread], *, look_at: datetime | None = None) -> None:
    """Insert or overwrite threads; their outputs and the spaces' watermarks follow."""
    by_id = {ThreadId(clean_text(thread.thread_id)): thread for thread in new}
    displaced = _displaced(connection, by_id)
    known = {row.thread_id: row for row in lock_threads(connection, {*by_id, *displaced})}
    outputs = lock_outputs(connection, by_id.keys())
    handled = _handled_watermarks(connection, by_id.keys() - known.keys())
    if displaced:
        _vanish(connection, displaced)
    rows = [
        thread_values(thread) | {"handled_watermark": handled.get(thread_id, 0), "look_at": look_at}
        for thread_id, thread in sorted(by_id.items())
    ]
    upsert(connection, threads, rows, keep=["handled_watermark"])
    changed: dict[SpaceId, bool] = {}
    for thread_id, old_space in outputs.items():
        # The output of a thread that was never seen was in nobody's memory yet.
        old_mode = known[thread_id].memory_mode if thread_id in known else None
        was_usable = old_mode == MemoryMode.ENABLED.value
        for space_id, is_forgetting in _effects(was_usable, old_space, by_id[thread_id]):
            changed[space_id] = changed.get(space_id, False) or is_forgetting
    _move_outputs(connection, {key: by_id[key].space_id for key in outputs}, outputs)
    for space_id, is_forgetting in sorted(changed.items()):
        raise_space_watermark(connection, new_space_row(space_id), is_forgetting=is_forgetting)


def mark_vanished(connection: Connection, thread_ids: Collection[ThreadId], now: datetime) -> None:
    """Note that the files of threads are gone."""
    known = lock_threads(connection, set(thread_ids))
    if known:
        _vanish(connection, {row.thread_id: now for row in known})


def _effects(was_usable: bool, old_space: SpaceId, new: Thread) -> Iterator[tuple[SpaceId, bool]]:
    """The spaces that gain (False) or lose (True) the output of a thread that is saved anew."""
    is_usable = new.memory_mode is MemoryMode.ENABLED
    has_moved = old_space != new.space_id
    if was_usable and (has_moved or not is_usable):
        yield old_space, True
    if is_usable and (has_moved or not was_usable):
        yield new.space_id, False


def _displaced(
    connection: Connection, by_id: Mapping[ThreadId, Thread]
) -> dict[ThreadId, datetime]:
    """Threads known at a path that holds another one now, and when that was written."""
    newcomers = {clean_text(item.rollout_path): item for item in by_id.values()}
    columns = (threads.c.thread_id, threads.c.source, threads.c.rollout_path)
    return {
        row.thread_id: newcomer.source_updated_at
        for chunk in chunks(newcomers)
        for row in connection.execute(select(*columns).where(threads.c.rollout_path.in_(chunk)))
        if (newcomer := newcomers[row.rollout_path]).thread_id != row.thread_id
        and newcomer.source == row.source
        # One that is saved in the same batch says itself where it is.
        and row.thread_id not in by_id
    }


def _vanish(connection: Connection, moments: Mapping[ThreadId, datetime]) -> None:
    connection.execute(
        update(threads)
        .where(threads.c.thread_id == bindparam("gone"), threads.c.vanished_at.is_(None))
        .values(vanished_at=bindparam("moment")),
        [{"gone": thread_id, "moment": moment} for thread_id, moment in sorted(moments.items())],
    )


def _handled_watermarks(
    connection: Connection, thread_ids: Collection[ThreadId]
) -> dict[ThreadId, int]:
    """What was handled of threads that had a job before they were in the catalogue."""
    return {
        row.key: row.last_success_watermark
        for chunk in chunks(sorted(thread_ids))
        for row in connection.execute(
            select(jobs.c.key, jobs.c.last_success_watermark).where(
                jobs.c.kind == JobKind.STAGE1.value, jobs.c.key.in_(chunk)
            )
        )
    }


def _move_outputs(
    connection: Connection,
    wanted: Mapping[ThreadId, SpaceId],
    found: Mapping[ThreadId, SpaceId],
) -> None:
    moves = [
        {"moved": thread_id, "target": space_id}
        for thread_id, space_id in wanted.items()
        if found[thread_id] != space_id
    ]
    if moves:
        connection.execute(
            update(stage1_outputs)
            .where(stage1_outputs.c.thread_id == bindparam("moved"))
            .values(space_id=bindparam("target"), selected_version=None),
            moves,
        )
