"""The log of tasks for the control plane's people: one row a task, written with ours."""

from collections.abc import Sequence

from sqlalchemy import Connection

from automemory_dagster.adapters.control_plane.table import auto_memory_log
from automemory_dagster.adapters.state.row import Values
from automemory_dagster.adapters.state.statement import upsert
from automemory_dagster.domain.cloud import project_of, task_of
from automemory_dagster.domain.outcome import LogEntry


def write_task_log(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Overwrite the rows of these tasks; the memory that was made of one stays named."""
    rows = [_values(entry) for entry in sorted(entries, key=lambda entry: entry.thread_id)]
    upsert(connection, auto_memory_log, rows, keep=["memory_id"])


def _values(entry: LogEntry) -> Values:
    return {
        "task_id": task_of(entry.thread_id),
        "user_id": entry.user_id,
        "project_id": project_of(entry.space_id) or "",
        "outcome": entry.outcome.value,
        "reason": entry.reason.value,
        "run_id": entry.run_id,
        "attempted_at": entry.logged_at,
        "memory_id": None,
        "extractor": entry.extractor,
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
        "micro_usd": round(entry.usd * 1_000_000),
    }
