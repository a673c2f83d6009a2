"""What the phases did, in Dagster's words: materializations, observations, failures.

Nothing here decides anything. Metadata is readable by everybody who reaches the port, so it holds
only what went through ``redact`` and numbers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.errors import AutomemoryError
from automemory_dagster.domain.outcome import LogEntry, Outcome
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.pipeline.phase1_world import Phase1Result
from automemory_dagster.pipeline.sweep import CatalogueReport
from automemory_dagster.ports import ThreadState

Metadata = Mapping[str, dg.MetadataValue]


@contextmanager
def failures_for_dagster() -> Iterator[None]:
    """Turn our errors into Dagster failures that it does not retry: the job row is the one retry
    authority.

    Dagster stores an error with all its causes, so one that holds a secret goes without them, be it
    ours or not.
    """
    try:
        yield
    except Exception as error:
        words, cause = redact(str(error)), cause_without_secrets(error)
        if isinstance(error, AutomemoryError):
            raise dg.Failure(description=words, allow_retries=False) from cause
        if cause is not None:
            raise
        description = f"unexpected {type(error).__name__}: {words}"
        raise dg.Failure(description=description, allow_retries=False) from None


def cause_without_secrets(error: Exception) -> Exception | None:
    """The error, to be named as a cause, unless it or one of its own causes holds a secret."""
    is_clean = all(redact(str(each)) == str(each) for each in _chain(error))
    return error if is_clean else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            pending += [each.__cause__, each.__context__]


def catalogue_message(report: CatalogueReport) -> str:
    """One line on what the sweep saw."""
    return (
        f"{report.listed} rollout files listed, {len(report.changed)} threads new or changed "
        f"({report.due} due), {len(report.vanished)} vanished"
    )


def candidate_materialization(state: ThreadState) -> dg.AssetMaterialization:
    """A candidate as the catalogue knows it."""
    thread = state.thread
    return dg.AssetMaterialization(
        contract.CANDIDATE_ROLLOUT,
        partition=thread.thread_id,
        metadata={
            "title": dg.MetadataValue.text(thread.title or "(none)"),
            "project": dg.MetadataValue.text(thread.project),
            "branch": dg.MetadataValue.text(thread.branch or "(none)"),
            "rollout": dg.MetadataValue.path(thread.rollout_path),
            "size_bytes": dg.MetadataValue.int(thread.stamp.size_bytes),
            "source_updated_at": dg.MetadataValue.timestamp(thread.source_updated_at),
        },
    )


def stage1_event(result: Phase1Result) -> dg.AssetMaterialization | dg.AssetObservation:
    """A materialization of a thread that was extracted or found to hold nothing worth keeping; an
    observation of one that was skipped or failed: seen, with the reason, and not made."""
    is_made = result.entry.outcome in (Outcome.EXTRACTED, Outcome.NO_OUTPUT)
    kind = dg.AssetMaterialization if is_made else dg.AssetObservation
    return kind(
        contract.STAGE1_OUTPUT,
        partition=result.entry.thread_id,
        metadata=_entry_metadata(result),
    )


def report_batch(
    context: dg.AssetExecutionContext, results: Sequence[Phase1Result], *, is_asked_for: bool
) -> None:
    """Say how the batch went, and fail the run when threads that a person named failed.

    A sweep's own run stays green for a broken rollout: the thread's outcome tells it, and the rest
    is done.
    """
    counts = Counter(f"{result.entry.outcome}: {result.entry.reason}" for result in results)
    lines = [f"{count} × {label}" for label, count in sorted(counts.items())]
    context.log.info("; ".join(lines) or "no thread is due")
    failed = [result.entry for result in results if result.entry.outcome is Outcome.FAILED]
    for entry in failed:
        context.log.warning(f"{entry.thread_id}: {entry.reason}: {entry.detail}")
    if failed and is_asked_for:
        raise dg.Failure(
            description=(
                f"{len(failed)} of {len(results)} threads failed; the others are done and stored. "
                + "; ".join(f"{entry.thread_id}: {entry.detail}" for entry in failed[:5])
            ),
            allow_retries=False,
        )


def consolidation_failure(
    failures: Sequence[tuple[SpaceId, AutomemoryError]], *, of: int
) -> dg.Failure:
    """The failure of a run in which spaces could not be consolidated; what they published
    stands."""
    told = "; ".join(f"{space_id}: {error}" for space_id, error in failures[:5])
    others = f"{len(failures)} of {of} spaces failed; the others are done. " if of > 1 else ""
    return dg.Failure(description=redact(others + told), allow_retries=False)


def log_table(entries: Sequence[LogEntry], titles: Mapping[str, str]) -> dg.TableMetadataValue:
    """The extraction log as a table: a row a thread."""
    columns = [
        dg.TableColumn("title", "string"),
        dg.TableColumn("outcome", "string"),
        dg.TableColumn("reason", "string"),
        dg.TableColumn("extractor", "string"),
        dg.TableColumn("input_tokens", "int", description="estimated"),
        dg.TableColumn("usd", "float"),
        dg.TableColumn("seconds", "float"),
        dg.TableColumn("at", "string", description="UTC"),
        dg.TableColumn("thread", "string"),
    ]
    return dg.MetadataValue.table(
        records=[
            dg.TableRecord(
                {
                    "title": titles.get(entry.thread_id, ""),
                    "outcome": entry.outcome.value,
                    "reason": entry.reason.value,
                    "extractor": entry.extractor,
                    "input_tokens": entry.input_tokens,
                    "usd": entry.usd,
                    "seconds": entry.duration_seconds,
                    "at": f"{entry.logged_at:%Y-%m-%d %H:%M:%S}",
                    "thread": entry.thread_id,
                }
            )
            for entry in entries
        ],
        schema=dg.TableSchema(columns=columns),
    )


def _entry_metadata(result: Phase1Result) -> Metadata:
    entry, thread = result.entry, result.thread
    metadata: dict[str, dg.MetadataValue] = {
        "outcome": dg.MetadataValue.text(entry.outcome.value),
        "reason": dg.MetadataValue.text(entry.reason.value),
        "detail": dg.MetadataValue.text(entry.detail or "(none)"),
        "extractor": dg.MetadataValue.text(entry.extractor or "(none)"),
        "duration_seconds": dg.MetadataValue.float(entry.duration_seconds),
        "transcript_tokens": dg.MetadataValue.int(entry.input_tokens),
        "usd": dg.MetadataValue.float(entry.usd),
    }
    if thread is not None:
        metadata["title"] = dg.MetadataValue.text(thread.title or "(none)")
        metadata["project"] = dg.MetadataValue.text(thread.project)
        metadata["rollout_bytes"] = dg.MetadataValue.int(thread.stamp.size_bytes)
    if entry.numbers:
        metadata["transcript_report"] = dg.MetadataValue.json(dict(entry.numbers))
    if any(not gate.passes or gate.is_waived for gate in result.gates):
        metadata["gates"] = dg.MetadataValue.md(_gates_markdown(result))
    return metadata


def _gates_markdown(result: Phase1Result) -> str:
    rows = [
        f"| {gate.reason} | {'waived' if gate.is_waived else 'yes' if gate.passes else 'no'} "
        f"| {gate.found} | {gate.wanted} |"
        for gate in result.gates
    ]
    return "\n".join(["| gate | passes | found | wanted |", "| --- | --- | --- | --- |", *rows])
