"""Stage-1 outputs: stored under the lease of their thread, read by anybody."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, delete, select, update

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import output_of, output_values, thread_of
from automemory_dagster.adapters.state.statement import lock_threads, upsert
from automemory_dagster.adapters.state.table import stage1_outputs, threads
from automemory_dagster.adapters.state.text import clean_text
from automemory_dagster.domain.stage1 import SelectedOutput, Stage1Output
from automemory_dagster.domain.thread import MemoryMode, SpaceId, ThreadId

_PREFIX = "output_"


class SqlOutputs:
    """The outputs' part of the ``OutputStore`` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def output(self, thread_id: ThreadId) -> Stage1Output | None:
        """Whatever the thread's memory mode says now."""
        query = select(stage1_outputs).where(stage1_outputs.c.thread_id == thread_id)
        with self._database.reading() as connection:
            found = connection.execute(query).mappings().one_or_none()
        return None if found is None else output_of(found)

    def selectable_outputs(self, space_id: SpaceId) -> Sequence[SelectedOutput]:
        """Vanished and archived threads too: their files are gone, what they taught is not."""
        columns = [column.label(_PREFIX + column.name) for column in stage1_outputs.c]
        query = (
            select(*threads.c, *columns)
            .join_from(stage1_outputs, threads, threads.c.thread_id == stage1_outputs.c.thread_id)
            .where(
                stage1_outputs.c.space_id == space_id,
                threads.c.memory_mode == MemoryMode.ENABLED.value,
            )
            .order_by(stage1_outputs.c.thread_id)
        )
        with self._database.reading() as connection:
            return [
                SelectedOutput(output=output_of(row._mapping, _PREFIX), thread=thread_of(row))
                for row in connection.execute(query)
            ]


def store_output(
    connection: Connection, thread_id: ThreadId, new: Stage1Output | None, handled: int
) -> dict[SpaceId, bool]:
    """Store or delete a thread's output; the spaces that changed, and if by a forgetting."""
    known = lock_threads(connection, [thread_id])
    if known:
        connection.execute(
            update(threads)
            .where(threads.c.thread_id == thread_id)
            .values(handled_watermark=handled)
        )
        new = replace(new, space_id=known[0].space_id) if new is not None else None
    is_same_thread = stage1_outputs.c.thread_id == thread_id
    found = (
        connection.execute(select(stage1_outputs).where(is_same_thread).with_for_update())
        .mappings()
        .one_or_none()
    )
    old = None if found is None else output_of(found)
    if new is not None:
        upsert(
            connection,
            stage1_outputs,
            [output_values(new) | {"thread_id": thread_id}],
            keep=["usage_count", "last_usage"],
        )
    elif old is not None:
        connection.execute(delete(stage1_outputs).where(is_same_thread))
    return dict(_effects(old, new))


def _effects(old: Stage1Output | None, new: Stage1Output | None) -> Iterator[tuple[SpaceId, bool]]:
    """The spaces that lose (True) or gain or see changed (False) an output."""
    if old is not None and (new is None or old.space_id != new.space_id):
        yield old.space_id, True
    if new is not None and (old is None or _seen_by_memory(old) != _seen_by_memory(new)):
        yield new.space_id, False


def _seen_by_memory(output: Stage1Output) -> tuple[str, ...]:
    slug = output.rollout_slug
    return (
        output.space_id,
        clean_text(output.raw_memory),
        clean_text(output.rollout_summary),
        "" if slug is None else f"={clean_text(slug)}",
    )
