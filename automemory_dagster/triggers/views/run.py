"""The closing table of ``automemory run``."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.outcome import LogEntry, Outcome
from automemory_dagster.pipeline.pass_report import PassReport
from automemory_dagster.triggers.views.table import plural, print_json, table
from automemory_dagster.wiring import Automemory, system_clock


def show_pass(
    console: Console,
    automemory: Automemory,
    report: PassReport,
    *,
    started: datetime,
    as_json: bool,
) -> int:
    """Print what a pass did; gives the exit code: 1 when a thread or the consolidation failed."""
    entries = [
        entry
        for entry in automemory.store.log(since=started, limit=1_000_000)
        if entry.run_id in report.run_ids
    ]
    handled = [
        entry for entry in entries if entry.outcome in (Outcome.EXTRACTED, Outcome.NO_OUTPUT)
    ]
    failed = [entry for entry in entries if entry.outcome is Outcome.FAILED]
    seconds = (system_clock() - started).total_seconds()
    if as_json:
        print_json(console, _json(entries, report, seconds))
    else:
        _print(console, automemory, entries, report, seconds)
        for entry in failed:
            console.print(
                f"failed: {entry.thread_id}: {entry.detail}",
                style="red",
                markup=False,
                soft_wrap=True,
            )
        for problem in report.problems:
            console.print(
                redact(problem), style="red", markup=False, highlight=False, soft_wrap=True
            )
        for space_id in report.restored:
            place = automemory.workspace.location(space_id)
            console.print(
                f"The files in {place} were gone; they are back as they were published.",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        if not (handled or failed or report.published or report.restored or report.problems):
            console.print(_nothing(automemory), markup=False, highlight=False, soft_wrap=True)
    return 1 if failed or report.problems else 0


def _print(
    console: Console,
    automemory: Automemory,
    entries: Sequence[LogEntry],
    report: PassReport,
    seconds: float,
) -> None:
    counts = Counter((entry.outcome.value, entry.reason.value) for entry in entries)
    if counts:
        console.print(
            table(
                f"{plural(len(entries), 'thread')} looked at in {seconds:.1f} s",
                ("outcome", "reason", "threads"),
                [(outcome, reason, count) for (outcome, reason), count in sorted(counts.items())],
            )
        )
    for space_id in report.published:
        space = automemory.store.space(space_id)
        console.print(
            f"\nMemory version {space.version} of {space_id} is in "
            f"{automemory.workspace.location(space.space_id)}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _nothing(automemory: Automemory) -> str:
    if not automemory.choice.is_generation_on:
        return (
            f"Nothing was extracted: generation is off for {automemory.choice.codex_home}. "
            "Say yes with `automemory up --generate`, or set AUTOMEMORY_GENERATE=1 for one pass."
        )
    return "Nothing to do: every thread is up to date or waits, and the memory stands as it is."


def _json(entries: Sequence[LogEntry], report: PassReport, seconds: float) -> object:
    counts = Counter((entry.outcome.value, entry.reason.value) for entry in entries)
    return {
        "seconds": round(seconds, 3),
        "outcomes": [
            {"outcome": outcome, "reason": reason, "threads": count}
            for (outcome, reason), count in sorted(counts.items())
        ],
        "failed": [
            {"thread_id": entry.thread_id, "reason": entry.reason, "detail": entry.detail}
            for entry in entries
            if entry.outcome is Outcome.FAILED
        ],
        "published": list(report.published),
        "restored": list(report.restored),
        "problems": list(report.problems),
    }
