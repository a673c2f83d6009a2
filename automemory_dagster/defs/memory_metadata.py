"""The metadata of a ``memory`` materialization: the extraction log since the last one, totals, and
the summary to read."""

import math
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any

import dagster as dg

from automemory_dagster.defs.reporting import Metadata, log_table
from automemory_dagster.domain.outcome import LogEntry
from automemory_dagster.domain.workspace import ChangeKind
from automemory_dagster.pipeline.phase2_result import Consolidated
from automemory_dagster.wiring import Automemory

_MOST_ROWS = 500


def of_consolidation(
    automemory: Automemory, result: Consolidated, *, since: datetime | None
) -> Metadata:
    """Everything a person wants to know of one consolidation; ``since``: when the one before it was
    published."""
    publication, diff, report = result.publication, result.diff, result.report
    entries = automemory.store.log(space_id=publication.space_id, since=since, limit=_MOST_ROWS)
    titles: dict[str, str] = {
        state.thread.thread_id: state.thread.title
        for state in automemory.store.thread_states(
            thread_ids=[entry.thread_id for entry in entries]
        )
    }
    return {
        "version": dg.MetadataValue.int(publication.version),
        "summary": dg.MetadataValue.md(publication.files.get("memory_summary.md", "")),
        "extraction_log": log_table(entries, titles),
        "outcomes": _outcomes(entries),
        "threads": dg.MetadataValue.int(result.selected),
        "files_added": dg.MetadataValue.int(diff.count(ChangeKind.ADDED)),
        "files_modified": dg.MetadataValue.int(diff.count(ChangeKind.MODIFIED)),
        "files_deleted": dg.MetadataValue.int(diff.count(ChangeKind.DELETED)),
        "statements_in": dg.MetadataValue.int(report.statements_in),
        "statements_out": dg.MetadataValue.int(report.statements_out),
        "merged": dg.MetadataValue.int(report.merged),
        "superseded": dg.MetadataValue.int(report.superseded),
        "kept_by_hand": dg.MetadataValue.int(report.kept_by_hand),
        "input_tokens": dg.MetadataValue.int(sum(entry.input_tokens for entry in entries)),
        "usd": dg.MetadataValue.float(math.fsum(entry.usd for entry in entries)),
        "consolidator": dg.MetadataValue.text(publication.consolidator),
        "commit": dg.MetadataValue.text(publication.commit),
        "workspace": dg.MetadataValue.path(automemory.workspace.location(publication.space_id)),
        "was_repaired": dg.MetadataValue.bool(result.was_repaired),
    }


def _outcomes(entries: Sequence[LogEntry]) -> dg.TableMetadataValue:
    """A row an outcome and reason: how many threads, and what they took."""
    # Half a second to import: only the run that publishes a memory pays for it.
    import pandas as pd

    facts = {
        "outcome": [entry.outcome.value for entry in entries],
        "reason": [entry.reason.value for entry in entries],
        "input_tokens": [entry.input_tokens for entry in entries],
        "usd": [entry.usd for entry in entries],
        "seconds": [entry.duration_seconds for entry in entries],
    }
    frame = pd.DataFrame(facts)
    totals = frame.groupby(["outcome", "reason"], as_index=False).agg(
        threads=("usd", "size"),
        input_tokens=("input_tokens", "sum"),
        usd=("usd", "sum"),
        seconds=("seconds", "sum"),
    )
    kinds = {"outcome": "string", "reason": "string", "usd": "float", "seconds": "float"}
    columns = [dg.TableColumn(name, kinds.get(name, "int")) for name in totals.columns]
    return dg.MetadataValue.table(
        records=[_record(row) for row in totals.round(3).to_dict("records")],
        schema=dg.TableSchema(columns=columns),
    )


def _record(row: Mapping[Hashable, Any]) -> dg.TableRecord:
    return dg.TableRecord({str(name): value for name, value in row.items()})
