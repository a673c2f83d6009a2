"""Phase 1 in Dagster: the op that sweeps, extracts many threads and logs one materialization
each."""

from collections.abc import Iterator

import dagster as dg
from pydantic import Field

from automemory_dagster import contract
from automemory_dagster.defs import reporting
from automemory_dagster.defs.deployment import Deployment
from automemory_dagster.defs.partitions import partitions_of_run, register_candidates, threads
from automemory_dagster.defs.recovery import name_process
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.pipeline import phase1, sweep

Event = dg.AssetMaterialization | dg.AssetObservation


class ExtractConfig(dg.Config):
    """What to extract; nothing said means whatever is due.

    The descriptions are what the launchpad shows; it does not read docstrings.
    """

    thread_ids: list[str] = Field(default_factory=list, description="These threads only.")
    force: bool = Field(
        default=False,
        description=(
            "Waive the gates of timing (not idle, too old, up to date, in backoff, exhausted) for "
            "the threads named; for all that wait but those up to date when none is named. What "
            "consent forbids stays forbidden."
        ),
    )
    limit: int = Field(
        default=0,
        ge=0,
        description=(
            "At most this many threads, newest first, when none is named; 0: as many as the "
            "setting batch_threads says."
        ),
    )


@dg.multi_asset(
    name=contract.EXTRACT_OP,
    specs=[
        dg.AssetSpec(
            contract.CANDIDATE_ROLLOUT,
            skippable=True,
            group_name="phase1",
            description="A thread that may be extracted: its rollout as the last sweep saw it.",
            kinds={"file"},
        ),
        dg.AssetSpec(
            contract.STAGE1_OUTPUT,
            deps=[contract.CANDIDATE_ROLLOUT],
            skippable=True,
            group_name="phase1",
            description="What one thread taught, in the state store.",
            kinds={"table"},
        ),
    ],
    partitions_def=threads,
    pool=contract.PHASE1_POOL,
    # A run handles any set of threads; a backfill hands it ranges of up to this many.
    backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=25),
    description="Brings the catalogue up to date, then extracts what is due (or asked for).",
)
def extract_threads(
    context: dg.AssetExecutionContext,
    config: ExtractConfig,
    deployment: dg.ResourceParam[Deployment],
) -> Iterator[Event]:
    """Sweep and extract.

    A run over partitions re-extracts them even when they are up to date.
    """
    with reporting.failures_for_dagster():
        automemory = deployment.open()
        name_process(context)
        report = sweep.update_catalogue(automemory.sweep_world, run_id=context.run.run_id)
        context.log.info(reporting.catalogue_message(report))
        for problem in report.problems:
            context.log.warning(problem)
        asked = partitions_of_run(context)
        request = sweep.ExtractRequest(
            thread_ids=tuple(ThreadId(key) for key in (*asked, *config.thread_ids)),
            is_forced=config.force or bool(asked),
            limit=config.limit or automemory.settings.batch_threads,
        )
        chosen = sweep.choose_threads(automemory.sweep_world, request)
        candidates = register_candidates(
            context.instance,
            automemory,
            {*report.changed, *chosen},
            changed={*report.changed, *asked},
        )
        yield from map(reporting.candidate_materialization, candidates)
        world = automemory.phase1_world(run_id=context.run.run_id)
        results = []
        deployment.progress(0, len(chosen))
        for result in phase1.extract_batch(chosen, world, is_asked_for=request.is_forced):
            # Yielded, not logged: what ``log_event`` takes is kept until the op yields, seen by
            # nobody, and lost when the op fails.
            yield reporting.stage1_event(result)
            results.append(result)
            deployment.progress(len(results), len(chosen))
    reporting.report_batch(context, results, is_asked_for=bool(request.thread_ids))
