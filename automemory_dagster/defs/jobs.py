"""The jobs that sensors, people and GraphQL launch."""

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.defs import reporting
from automemory_dagster.defs.consolidation import consolidate
from automemory_dagster.defs.deployment import Deployment
from automemory_dagster.defs.extraction import extract_threads
from automemory_dagster.defs.partitions import move_window

sweep_job = dg.define_asset_job(
    contract.SWEEP_JOB,
    selection=dg.AssetSelection.assets(extract_threads),
    description=(
        "Looks over all threads and extracts those that are due. Launch it by hand with "
        "`force`, `thread_ids` or `limit` under `ops: extract_threads: config`."
    ),
)

consolidate_job = dg.define_asset_job(
    contract.CONSOLIDATE_JOB,
    selection=dg.AssetSelection.assets(consolidate),
    tags={contract.SINGLETON_TAG: contract.CONSOLIDATE_JOB},
    description="Consolidates every space with something pending, or the partition's space.",
)


@dg.op(description="Makes the partition set the newest candidates again; history stays.")
def retire_old_partitions(
    context: dg.OpExecutionContext, deployment: dg.ResourceParam[Deployment]
) -> None:
    """Take the partition keys of threads that left the live window out of the set."""
    with reporting.failures_for_dagster():
        move = move_window(context.instance, deployment.open())
    context.log.info(
        f"{len(move.retired)} partition keys retired, {len(move.added)} added; history stays"
    )


@dg.job(
    name=contract.HOUSEKEEPING_JOB,
    description="Keeps the partition set to the live window of threads.",
)
def housekeeping_job() -> None:
    """Housekeeping."""
    retire_old_partitions()


housekeeping_schedule = dg.ScheduleDefinition(
    name=contract.HOUSEKEEPING_SCHEDULE,
    job=housekeeping_job,
    cron_schedule="17 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every night, when a sweep is least likely to wait for it.",
)
