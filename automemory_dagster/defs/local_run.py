"""One whole pass through Dagster's own jobs, in this process: what ``automemory run`` does.

It uses the same instance as the web UI, so that the runs and their metadata are seen there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from automemory_dagster import contract
from automemory_dagster.adapters.home import DAGSTER_YAML, write_dagster_files
from automemory_dagster.defs.deployment import DEPLOYMENT, Deployment
from automemory_dagster.defs.partitions import register_spaces
from automemory_dagster.defs.pools import set_pool_limits
from automemory_dagster.defs.recovery import end_what_is_gone
from automemory_dagster.domain.errors import StateUnavailable
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.pipeline import sweep
from automemory_dagster.pipeline.pass_report import PassReport
from automemory_dagster.ports import Progress
from automemory_dagster.wiring import Automemory

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""The closing table tells what happened; the console log would tell it again, line by line."""


def run_pass(definitions: dg.Definitions, automemory: Automemory, progress: Progress) -> PassReport:
    """Sweep until nothing is due any more, then consolidate every space with something pending.

    Raises:
        StateUnavailable: Dagster's own storage cannot be used; what was stored until then stays.
    """
    resources = {DEPLOYMENT: Deployment(lambda: automemory, progress)}
    try:
        with _instance(automemory) as instance:
            set_pool_limits(instance)
            end_what_is_gone(instance, automemory)
            run_ids, problems = _sweep_all(definitions, automemory, instance, resources)
            phase2 = _consolidate_all(definitions, automemory, instance, resources)
    except (SQLAlchemyError, OSError) as error:
        raise StateUnavailable(
            f"Dagster's own storage below {automemory.layout.dagster} cannot be used now; what was "
            f"extracted and published until then stays. It says: {_first_line(error)}"
        ) from error
    return replace(
        phase2,
        run_ids=(*run_ids, *phase2.run_ids),
        problems=(*problems, *phase2.problems),
    )


def _first_line(error: Exception) -> str:
    # The database's own words; SQLAlchemy adds the statement, which may hold anything.
    cause = getattr(error, "orig", None) or error
    return (str(cause).splitlines() or [type(cause).__name__])[0]


@contextmanager
def _instance(automemory: Automemory) -> Iterator[dg.DagsterInstance]:
    folder = write_dagster_files(automemory.layout)
    with dg.DagsterInstance.from_config(str(folder), DAGSTER_YAML) as instance:
        yield instance


def _sweep_all(
    definitions: dg.Definitions,
    automemory: Automemory,
    instance: dg.DagsterInstance,
    resources: Mapping[str, object],
) -> tuple[list[str], list[str]]:
    run_ids: list[str] = []
    before: tuple[str, ...] = ()
    while True:
        result = definitions.resolve_job_def(contract.SWEEP_JOB).execute_in_process(
            instance=instance, resources=resources, run_config=_QUIET, raise_on_error=False
        )
        run_ids.append(result.run_id)
        if not result.success:
            return run_ids, [_why(result)]
        due = tuple(
            state.thread.thread_id
            for state in sweep.find_due(
                automemory.sweep_world, limit=automemory.settings.batch_threads
            )
        )
        # The same threads are due as before: somebody else is at them, and looking on would never
        # end.
        if not due or due == before:
            return run_ids, []
        before = due


def _consolidate_all(
    definitions: dg.Definitions,
    automemory: Automemory,
    instance: dg.DagsterInstance,
    resources: Mapping[str, object],
) -> PassReport:
    run_ids: list[str] = []
    published: list[SpaceId] = []
    restored: list[SpaceId] = []
    problems: list[str] = []
    pending = automemory.pending_spaces()
    register_spaces(instance, [space.space_id for space in pending])
    for space in pending:
        result = definitions.resolve_job_def(contract.CONSOLIDATE_JOB).execute_in_process(
            instance=instance,
            resources=resources,
            run_config=_QUIET,
            partition_key=space.space_id,
            raise_on_error=False,
        )
        run_ids.append(result.run_id)
        if not result.success:
            problems.append(f"Consolidation of {space.space_id} failed: {_why(result)}")
        elif automemory.store.space(space.space_id).version > space.version:
            published.append(space.space_id)
        elif not space.has_pending_changes:
            restored.append(space.space_id)
    return PassReport(
        run_ids=tuple(run_ids),
        published=tuple(published),
        restored=tuple(restored),
        problems=tuple(problems),
    )


def _why(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure and (data := event.step_failure_data) is not None:
            if data.user_failure_data is not None and data.user_failure_data.description:
                return data.user_failure_data.description
            error = data.error
            # Dagster wraps what went wrong in what it was doing.
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return error.message.strip()
    return f"run {result.run_id} failed; the web UI shows why"
