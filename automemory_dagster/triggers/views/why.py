"""``automemory why THREAD``."""

from rich.console import Console

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.job import Job
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.pipeline.inspection import Explanation
from automemory_dagster.triggers.views.table import iso, moment, print_json, table
from automemory_dagster.wiring import Automemory


def show_why(
    console: Console, automemory: Automemory, explanation: Explanation, *, as_json: bool
) -> None:
    """Print all that decided a thread's outcome."""
    if as_json:
        print_json(console, _json(automemory, explanation))
        return
    thread, entry = explanation.thread, explanation.entry
    facts: list[tuple[str, object]] = [
        ("thread", thread.thread_id),
        ("title", thread.title or "(none)"),
        ("outcome", f"{explanation.outcome}: {explanation.reason}"),
        ("detail", entry.detail if entry and entry.detail else "(none)"),
        ("project", thread.project),
        ("rollout", thread.rollout_path),
        ("size", f"{thread.stamp.size_bytes} bytes"),
        ("last written", f"{moment(thread.source_updated_at)} UTC"),
        ("space", thread.space_id),
        ("last run", _run_link(automemory, entry, explanation.job)),
    ]
    for name, value in facts:
        line = redact(f"{name:<13} {value}")
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print()
    console.print(
        table(
            "Gates, in the order in which they decide",
            ("gate", "passes", "found", "wanted"),
            [
                (gate.reason, "yes" if gate.passes else "no", gate.found, gate.wanted)
                for gate in explanation.gates
            ],
        )
    )
    if explanation.job is not None:
        console.print()
        console.print(table("Job", ("field", "value"), _job_rows(explanation.job)))
    if entry is not None and entry.numbers:
        console.print()
        console.print(table("Transcript report", ("what", "number"), sorted(entry.numbers.items())))
    if explanation.output is not None:
        console.print("\nRaw memory", style="bold")
        console.print(redact(explanation.output.raw_memory), highlight=False, markup=False)


def _job_rows(job: Job) -> list[tuple[str, object]]:
    return [
        ("status", job.status.value),
        ("tries left", job.retry_remaining),
        ("claims so far", job.attempt),
        ("last error", job.last_error or "(none)"),
        ("next try (UTC)", moment(job.retry_at) if job.retry_at else "(no wait)"),
        ("lease until (UTC)", moment(job.lease_until) if job.lease_until else "(no lease)"),
        ("finished (UTC)", moment(job.finished_at)),
        ("newest version seen", job.input_watermark),
        ("newest version handled", job.last_success_watermark),
    ]


def _run_link(automemory: Automemory, entry: LogEntry | None, job: Job | None) -> str:
    run_id = (job.run_id if job else "") or (entry.run_id if entry else "")
    if not run_id:
        return "(none)"
    address = automemory.layout.read_address()
    if address is None:
        return f"{run_id} (`automemory up` shows it in the browser)"
    return f"{address}/runs/{run_id}"


def _json(automemory: Automemory, explanation: Explanation) -> object:
    thread, entry, job, output = (
        explanation.thread,
        explanation.entry,
        explanation.job,
        explanation.output,
    )
    return {
        "thread_id": thread.thread_id,
        "title": thread.title,
        "outcome": explanation.outcome,
        "reason": explanation.reason,
        "detail": entry.detail if entry else "",
        "project": thread.project,
        "rollout_path": thread.rollout_path,
        "size_bytes": thread.stamp.size_bytes,
        "source_updated_at": iso(thread.source_updated_at),
        "space": thread.space_id,
        "run": _run_link(automemory, entry, job),
        "gates": [
            {
                "gate": gate.reason,
                "passes": gate.passes,
                "found": gate.found,
                "wanted": gate.wanted,
            }
            for gate in explanation.gates
        ],
        "job": dict(_job_rows(job)) if job else None,
        "transcript_report": dict(entry.numbers) if entry else {},
        "raw_memory": output.raw_memory if output else None,
        "rollout_summary": output.rollout_summary if output else None,
    }
