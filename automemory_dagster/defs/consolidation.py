"""Phase 2 in Dagster: the singleton op that consolidates spaces; its materialization metadata is
the extraction log."""

from collections.abc import Iterator, Sequence

import dagster as dg
from pydantic import Field

from automemory_dagster import contract
from automemory_dagster.defs import memory_metadata, reporting
from automemory_dagster.defs.checks import CHECK_SPECS, check_memory
from automemory_dagster.defs.deployment import Deployment
from automemory_dagster.defs.partitions import partitions_of_run, spaces
from automemory_dagster.defs.recovery import name_process
from automemory_dagster.domain.errors import AutomemoryError, PermanentError
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.pipeline import phase2
from automemory_dagster.pipeline.phase2_result import Consolidated, NothingChanged, Skipped
from automemory_dagster.wiring import Automemory


class ConsolidateConfig(dg.Config):
    """What to consolidate; nothing said means every space with something pending."""

    space_ids: list[str] = Field(default_factory=list, description="These memory spaces only.")
    force: bool = Field(
        default=False,
        description="Consolidate even when nothing is pending or the space rests.",
    )


selectable_outputs = dg.AssetSpec(
    contract.SELECTABLE_OUTPUTS,
    # It stands between two partition sets that are no function of each other: with a partitioned
    # asset above it, Dagster refuses to run a partitioned one without a partition.
    deps=[contract.STAGE1_OUTPUT],
    group_name="phase2",
    description="All stage-1 outputs together, as the state store holds them for phase 2.",
    kinds={"table"},
)


@dg.multi_asset(
    name=contract.CONSOLIDATE_OP,
    specs=[
        dg.AssetSpec(
            contract.MEMORY,
            deps=[contract.SELECTABLE_OUTPUTS],
            skippable=True,
            group_name="phase2",
            description="The published memory of one space. Its metadata is the extraction log.",
            kinds={"markdown", "git"},
        )
    ],
    check_specs=CHECK_SPECS,
    partitions_def=spaces,
    pool=contract.PHASE2_POOL,
    backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=1),
    # The lease in the state store is the one singleton authority; the pool and the tag only save
    # wasted runs.
    op_tags={contract.SINGLETON_TAG: contract.CONSOLIDATE_JOB},
    description="Consolidates each space's stage-1 outputs into its memory files.",
)
def consolidate(
    context: dg.AssetExecutionContext,
    config: ConsolidateConfig,
    deployment: dg.ResourceParam[Deployment],
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckResult]:
    """Consolidate.

    A run over a partition does it even when nothing is pending.
    """
    with reporting.failures_for_dagster():
        automemory = deployment.open()
        name_process(context)
        asked = partitions_of_run(context)
        space_ids = _chosen(automemory, [*asked, *config.space_ids])
        if not space_ids:
            context.log.info("no space has anything to consolidate")
        is_forced = config.force or bool(asked)
        failures = []
        for space_id in space_ids:
            try:
                yield _consolidate_one(context, automemory, space_id, is_forced=is_forced)
            except AutomemoryError as error:
                # The other spaces have no part in it.
                context.log.error(automemory.secrets.redact(f"{space_id}: {error}"))
                failures.append((space_id, error))
        yield from check_memory(automemory)
        if failures:
            cause = reporting.cause_without_secrets(failures[0][1])
            raise reporting.consolidation_failure(failures, of=len(space_ids)) from cause


def _chosen(automemory: Automemory, named: Sequence[str]) -> Sequence[SpaceId]:
    """The spaces that are named, else those with something pending.

    Raises:
        PermanentError: a name is no space's.
    """
    if not named:
        return [space.space_id for space in automemory.pending_spaces()]
    known = automemory.store.spaces()
    ids = {space.space_id for space in known}
    if unknown := [name for name in named if name not in ids]:
        raise PermanentError(
            f"No memory space is called {', '.join(unknown)}; nothing was consolidated. "
            f"Known: {', '.join(sorted(ids)) or 'none yet'}."
        )
    return list(dict.fromkeys(map(SpaceId, named)))


def _consolidate_one(
    context: dg.AssetExecutionContext, automemory: Automemory, space_id: SpaceId, *, is_forced: bool
) -> dg.AssetMaterialization | dg.AssetObservation:
    since = automemory.store.space(space_id).published_at
    world = automemory.phase2_world(run_id=context.run.run_id)
    result = phase2.consolidate(space_id, world, is_forced=is_forced)
    match result:
        case Skipped():
            return _observation(space_id, f"skipped: {result.why}")
        case NothingChanged(version=version):
            return _observation(space_id, f"nothing changed; version {version} stands")
        case Consolidated(publication=publication):
            context.log.info(f"{space_id}: version {publication.version} published")
            metadata = memory_metadata.of_consolidation(automemory, result, since=since)
            return dg.AssetMaterialization(contract.MEMORY, partition=space_id, metadata=metadata)


def _observation(space_id: SpaceId, message: str) -> dg.AssetObservation:
    return dg.AssetObservation(contract.MEMORY, partition=space_id, description=message)
