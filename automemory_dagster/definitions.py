"""Everything Dagster loads, on one page."""

import dagster as dg

from automemory_dagster.defs.consolidation import consolidate, selectable_outputs
from automemory_dagster.defs.deployment import DEPLOYMENT, Deployment
from automemory_dagster.defs.extraction import extract_threads
from automemory_dagster.defs.jobs import (
    consolidate_job,
    housekeeping_job,
    housekeeping_schedule,
    sweep_job,
)
from automemory_dagster.defs.sensors import idle_rollouts, memory_pending

defs = dg.Definitions(
    assets=[extract_threads, selectable_outputs, consolidate],
    jobs=[sweep_job, consolidate_job, housekeeping_job],
    sensors=[idle_rollouts, memory_pending],
    schedules=[housekeeping_schedule],
    resources={DEPLOYMENT: Deployment()},
    # One process a run: the work inside is many threads, and a process a step would import
    # everything again.
    executor=dg.in_process_executor,
)
