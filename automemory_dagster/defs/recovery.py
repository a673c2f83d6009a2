"""Ending what killed processes left behind: their runs in Dagster, their leases in the store.

Dagster's own launcher has no way to tell that a worker is gone, so a run would stay "started" for
hours and hold everything back. Each run is told which process works on it, as each lease is.
"""

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.adapters.home import is_gone, own_process
from automemory_dagster.wiring import Automemory, system_clock

_WORKED_ON = [
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_GONE = "The process that worked on this run was killed. What it had stored stays; the rest is due."


def name_process(context: dg.AssetExecutionContext) -> None:
    """Say on the run that this process works on it."""
    context.instance.add_run_tags(context.run.run_id, {contract.PROCESS_TAG: own_process()})


def end_what_is_gone(instance: dg.DagsterInstance, automemory: Automemory) -> int:
    """Fail the runs and end the leases of this machine's killed processes; gives how many leases.

    A lease that ends so counts as a crash, and what they had set aside for model calls as spent.
    Idempotent; safe from many processes.
    """
    for run in instance.get_runs(dg.RunsFilter(statuses=_WORKED_ON)):
        if is_gone(run.tags.get(contract.PROCESS_TAG, "")):
            instance.report_run_failed(run, _GONE)
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    automemory.store.settle_abandoned(is_gone, now=system_clock())
    return automemory.store.end_leases(is_gone, now=system_clock())
