"""The two sensors: they look, cheaply, and ask for runs.

They open no rollout and write nothing but their cursor.
"""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.adapters.secrets import redact
from automemory_dagster.defs.deployment import Deployment
from automemory_dagster.defs.jobs import consolidate_job, sweep_job
from automemory_dagster.defs.partitions import register_spaces
from automemory_dagster.defs.pools import set_pool_limits
from automemory_dagster.defs.recovery import end_what_is_gone
from automemory_dagster.domain.errors import AutomemoryError
from automemory_dagster.pipeline import sweep
from automemory_dagster.ports import SpaceState
from automemory_dagster.wiring import Automemory, system_clock

_INTERVAL_SECONDS = 30
_LONGEST_WAIT_SECONDS = 3_600
_LONGEST_RUN = timedelta(hours=1)
_MOST_DOUBLINGS = 10
_MOST_RUNS_A_TICK = 20
"""A run asked for costs 0.14 s of a tick, and Dagster ends a tick after 60 s."""
_TOO_SOON = dg.SkipReason(
    "The last run for this very batch changed nothing; it is asked for again later."
)
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True)
class AskedBatch:
    """The sensor's cursor: which batch it asked for last, how often in a row and when.

    The moment makes each run key new. A batch that its run did not change (a crash before the first
    thread) is asked for again ever more slowly, so that a fault costs no run every tick.
    """

    batch: str = ""
    asked: int = 0
    asked_at: int = 0
    """Unix seconds."""

    @classmethod
    def of(cls, cursor: str | None) -> "AskedBatch":
        """Read a cursor; one that cannot be read starts anew."""
        try:
            said = json.loads(cursor or "{}")
            return cls(str(said["batch"]), int(said["asked"]), int(said["asked_at"]))
        except (ValueError, TypeError, KeyError):
            return cls()

    def next_for(self, batch: str, *, now: int) -> "AskedBatch | None":
        """The cursor once this batch is asked for, maybe again; None while it is too soon for
        that."""
        if batch != self.batch:
            return AskedBatch(batch, 1, now)
        # Bounded before the power is taken: a cursor may have counted for weeks.
        doublings = min(max(self.asked - 1, 0), _MOST_DOUBLINGS)
        wait = min(_INTERVAL_SECONDS * 2**doublings, _LONGEST_WAIT_SECONDS)
        is_soon = 0 <= now - self.asked_at < wait
        return None if is_soon else AskedBatch(batch, self.asked + 1, now)


@dg.sensor(
    name=contract.IDLE_SENSOR,
    job=sweep_job,
    minimum_interval_seconds=_INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Finds threads whose idle threshold has passed and asks for one run a batch.",
)
def idle_rollouts(
    context: dg.SensorEvaluationContext, deployment: dg.ResourceParam[Deployment]
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a sweep when there is something due, and none is under way."""
    try:
        automemory = deployment.open()
        if not automemory.choice.is_generation_on:
            return dg.SkipReason(
                f"Generation is off for {automemory.choice.codex_home}; "
                "`automemory up --generate` turns it on."
            )
        end_what_is_gone(context.instance, automemory)
        if _is_under_way(context.instance, contract.SWEEP_JOB):
            return dg.SkipReason("A sweep is under way.")
        look = sweep.look_for_due(automemory.sweep_world, limit=automemory.settings.batch_threads)
    except AutomemoryError as error:
        return dg.SkipReason(redact(f"Could not look: {error}"))
    if not look.identities:
        return dg.SkipReason(
            f"Nothing is due: {look.listed} rollout files, {look.waiting} not idle yet."
        )
    batch = contract.batch_run_key(look.identities, 0)
    if (asked := _asked_again(context, batch)) is None:
        return _TOO_SOON
    set_pool_limits(context.instance)
    run_key = contract.batch_run_key(look.identities, asked.asked_at)
    return dg.SensorResult(
        run_requests=[dg.RunRequest(run_key=run_key)],
        cursor=json.dumps(asdict(asked)),
    )


@dg.sensor(
    name=contract.PENDING_SENSOR,
    job=consolidate_job,
    minimum_interval_seconds=_INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for a consolidation of each space where something changed.",
)
def memory_pending(
    context: dg.SensorEvaluationContext, deployment: dg.ResourceParam[Deployment]
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a consolidation when something changed, nobody is at it, and phase 1 rests."""
    try:
        automemory = deployment.open()
        end_what_is_gone(context.instance, automemory)
        pending = [space for space in automemory.pending_spaces() if is_due(space, automemory)]
    except AutomemoryError as error:
        return dg.SkipReason(redact(f"Could not look: {error}"))
    if not pending:
        return dg.SkipReason("No space has changes to consolidate.")
    if _is_under_way(context.instance, contract.SWEEP_JOB):
        # One consolidation after the batch costs less than one a thread.
        return dg.SkipReason("A sweep is under way; consolidation follows it.")
    if _is_under_way(context.instance, contract.CONSOLIDATE_JOB):
        return dg.SkipReason("A consolidation is under way.")
    keys = {space.space_id: _run_key(space) for space in pending[:_MOST_RUNS_A_TICK]}
    if (asked := _asked_again(context, contract.batch_run_key(keys.values(), 0))) is None:
        return _TOO_SOON
    set_pool_limits(context.instance)
    register_spaces(context.instance, keys)
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(run_key=f"{key}:{asked.asked_at}", partition_key=space_id)
            for space_id, key in keys.items()
        ],
        cursor=json.dumps(asdict(asked)),
    )


def _asked_again(context: dg.SensorEvaluationContext, batch: str) -> AskedBatch | None:
    now = int(system_clock().timestamp())
    return AskedBatch.of(context.cursor).next_for(batch, now=now)


def is_due(space: SpaceState, automemory: Automemory) -> bool:
    """True when neither backoff nor cooldown holds a pending space back."""
    now = system_clock()
    if space.job is None:
        return False
    if space.job.retry_at is not None and space.job.retry_at > now:
        return False
    # Forgetting is not delayed by the cooldown.
    if space.published_at is None or space.is_forgetting:
        return True
    return space.published_at + automemory.leases.cooldown <= now


def _run_key(space: SpaceState) -> str:
    watermark, attempt = (space.job.input_watermark, space.job.attempt) if space.job else (0, 0)
    return contract.thread_run_key(space.space_id, watermark, attempt)


def _is_under_way(instance: dg.DagsterInstance, job_name: str) -> bool:
    # A host that was killed leaves its run "started" until run monitoring ends it; claims keep two
    # runs apart anyway, so a run of long ago holds nothing back.
    since = system_clock() - _LONGEST_RUN
    filters = dg.RunsFilter(job_name=job_name, statuses=_UNFINISHED, created_after=since)
    return bool(instance.get_run_ids(filters, limit=1))
