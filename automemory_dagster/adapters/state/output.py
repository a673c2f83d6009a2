"""Stage-1 outputs as they are read."""

from collections.abc import Sequence

from sqlalchemy import select

from automemory_dagster.adapters.state.engine import Database
from automemory_dagster.adapters.state.row import output_of, thread_of
from automemory_dagster.adapters.state.table import stage1_outputs, threads
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
