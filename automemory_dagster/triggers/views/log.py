"""``automemory log``."""

from collections.abc import Sequence

from rich.console import Console

from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.triggers.views.table import iso, print_json, table
from automemory_dagster.wiring import Automemory


def show_log(
    console: Console, automemory: Automemory, entries: Sequence[LogEntry], *, as_json: bool
) -> None:
    """Print the extraction log, newest first."""
    titles = {
        state.thread.thread_id: state.thread.title
        for state in automemory.store.thread_states(
            thread_ids=[entry.thread_id for entry in entries]
        )
    }
    if as_json:
        print_json(console, [_json(entry, titles.get(entry.thread_id, "")) for entry in entries])
        return
    if not entries:
        console.print("Nothing was looked at yet. `automemory run` does a whole pass.")
        return
    console.print(
        table(
            "Extraction log",
            ("at (UTC)", "outcome", "thread", "title"),
            [
                (
                    f"{entry.logged_at:%m-%d %H:%M}",
                    _outcome(entry),
                    entry.thread_id,
                    titles.get(entry.thread_id, ""),
                )
                for entry in entries
            ],
        )
    )


def _outcome(entry: LogEntry) -> str:
    if entry.outcome.value == entry.reason.value:
        return entry.outcome.value
    return f"{entry.outcome}: {entry.reason}"


def _json(entry: LogEntry, title: str) -> object:
    return {
        "thread_id": entry.thread_id,
        "title": title,
        "space": entry.space_id,
        "outcome": entry.outcome,
        "reason": entry.reason,
        "detail": entry.detail,
        "logged_at": iso(entry.logged_at),
        "source_updated_at": iso(entry.source_updated_at),
        "run_id": entry.run_id,
        "extractor": entry.extractor,
        "duration_seconds": entry.duration_seconds,
        "input_tokens": entry.input_tokens,
        "usd": entry.usd,
        "transcript_report": dict(entry.numbers),
    }
