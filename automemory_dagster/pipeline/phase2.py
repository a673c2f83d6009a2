"""Phase 2: consolidate a space's stage-1 outputs into its memory files, one writer at a time.

The trap: a failure half-way that leaves half-new memory behind. Everything happens in a staging
copy; the swap, the store's transaction and the git baseline stand or fall together; until then
nothing that was published has changed.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from automemory_dagster.domain.errors import (
    InvalidArtifacts,
    LeaseLost,
    TransientError,
)
from automemory_dagster.domain.job import Claimed, FailureKind, LeasePolicy
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.domain.selection import SelectionPolicy, select_for_phase2
from automemory_dagster.domain.spend import Purpose, Work
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import SpaceId, ThreadId
from automemory_dagster.domain.validation import validate
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.pipeline.artifacts import kept_paths, sync_inputs
from automemory_dagster.pipeline.heartbeat import Heartbeat
from automemory_dagster.pipeline.phase2_result import (
    Consolidated,
    NothingChanged,
    Phase2Result,
    Skipped,
    SkippedNoConsent,
)
from automemory_dagster.ports import (
    Clock,
    Consolidator,
    FindSecrets,
    SpaceState,
    Staging,
    StateStore,
    Workspace,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase2World:
    """What phase 2 works with."""

    store: StateStore
    workspace: Workspace
    consolidator_for: Callable[[SpaceId], Consolidator]
    """Which consolidator a space gets: it may name another model."""
    redact: Redact
    find_secrets: FindSecrets
    clock: Clock
    leases: LeasePolicy
    selection: SelectionPolicy
    has_consent: Callable[[SpaceId], bool]
    """May this space's memory be made? Off means off; forgetting goes on all the same."""
    worker: str = ""
    run_id: str = ""

    def work(self, space_id: SpaceId) -> Work:
        """On whose account a space is consolidated."""
        return Work(purpose=Purpose.CONSOLIDATE, space_id=space_id, run_id=self.run_id)


def consolidate(space_id: SpaceId, world: Phase2World, *, is_forced: bool = False) -> Phase2Result:
    """Bring a space's memory up to date. Safe to call from many processes: one claims the space.

    ``is_forced``: even when nothing is pending or the space rests; a live lease still holds.

    Raises:
        TransientError, PermanentError: the job is marked failed; what was published stands.
        LeaseLost: another worker owns the space; nothing was written.
    """
    if not may_consolidate(world.store.space(space_id), world.has_consent):
        return Skipped(outcome=SkippedNoConsent())
    claim = world.store.claim_phase2(
        space_id,
        policy=world.leases,
        worker=world.worker,
        run_id=world.run_id,
        now=world.clock(),
        is_forced=is_forced,
    )
    if not isinstance(claim, Claimed):
        return Skipped(outcome=claim)

    heartbeat = Heartbeat(world.store, policy=world.leases, clock=world.clock)
    with heartbeat, heartbeat.keeping(claim):
        try:
            return _consolidate_claimed(space_id, claim, world)
        except LeaseLost:
            raise
        except Exception as error:
            # A fault of ours too: a job left running would block the space until its lease ends.
            _mark_failed(claim, error, world)
            raise


def may_consolidate(space: SpaceState, has_consent: Callable[[SpaceId], bool]) -> bool:
    """True with consent, or when something has to be forgotten, which needs none."""
    return has_consent(space.space_id) or space.is_forgetting


def _consolidate_claimed(
    space_id: SpaceId, claim: Claimed, world: Phase2World
) -> Consolidated | NothingChanged:
    published = world.store.publication(space_id)
    consolidator = world.consolidator_for(space_id)
    was_repaired = world.workspace.recover(published, space_id)  # 1. agree with the store
    selection = select_for_phase2(  # 2. select
        world.store.selectable_outputs(space_id), policy=world.selection, now=world.clock()
    )
    if published is None and not selection:
        # Codex pays for a whole run to record that nothing is known; an empty memory is no memory.
        world.store.finish_phase2(claim, None, selected={}, now=world.clock())
        return NothingChanged(version=0, selected=0)
    with world.workspace.stage(space_id) as staging:
        known = kept_paths(staging)
        sync_inputs(staging, selection, redact=world.redact)  # 3. sync the inputs
        diff = staging.diff()  # 4. diff with the baseline
        if not diff.has_changes and _is_current(published, consolidator, staging, known, world):
            world.store.finish_phase2(claim, None, selected=_versions(selection), now=world.clock())
            version = published.version if published else 0
            return NothingChanged(version=version, selected=len(selection))
        report = consolidator.consolidate(  # 5. consolidate
            staging,
            selection,
            diff,
            work=world.work(space_id),
            find_problems=lambda: _problems(staging, known, world),
        )
        files = _redacted_files(staging, world.redact)
        _refuse(_problems(staging, known, world))  # 6. validate
        # 7. still the owner
        claim = world.store.renew(claim, policy=world.leases, now=world.clock())
        diff = staging.diff()
        publication = _publish(
            space_id, claim, world, staging, selection, files, published, consolidator.version
        )
    return Consolidated(
        publication=publication,
        diff=diff,
        report=report,
        selected=len(selection),
        was_repaired=was_repaired,
    )


def _is_current(
    published: Publication | None,
    consolidator: Consolidator,
    staging: Staging,
    known: Collection[str],
    world: Phase2World,
) -> bool:
    """True when what stands was made by this very consolidator and is valid."""
    is_own = published is not None and published.consolidator == consolidator.version
    return is_own and not _problems(staging, known, world)


def _publish(
    space_id: SpaceId,
    claim: Claimed,
    world: Phase2World,
    staging: Staging,
    selection: tuple[SelectedOutput, ...],
    files: Mapping[str, RedactedText],
    published: Publication | None,
    consolidator: str,
) -> Publication:
    version = published.version + 1 if published else 1
    inputs = _versions(selection)
    with staging.publish(f"Memory version {version} of {space_id}") as commit:
        publication = Publication(
            space_id=space_id,
            version=version,
            published_at=world.clock(),
            files=files,
            consolidator=consolidator,
            commit=commit,
            run_id=world.run_id,
            inputs=inputs,
        )
        # Inside the swap: when the store refuses, the context puts the former workspace back.
        world.store.finish_phase2(claim, publication, selected=inputs, now=world.clock())
    return publication


def _redacted_files(staging: Staging, redact: Redact) -> Mapping[str, RedactedText]:
    """Every text file of the workspace, a person's own ones too, as it may be published."""
    files: dict[str, RedactedText] = {}
    for path in staging.paths():
        text = staging.read(path)
        if text is None:
            continue
        files[path] = redact(text)
        if files[path] != text:
            staging.write(path, files[path])
    return files


def _problems(staging: Staging, known: Collection[str], world: Phase2World) -> tuple[str, ...]:
    files = {path: text for path in staging.paths() if (text := staging.read(path)) is not None}
    return validate(files, staging.links(), find_secrets=world.find_secrets, known_paths=known)


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise InvalidArtifacts(
            "The consolidation left files that may not be published; nothing was changed. "
            + "; ".join(problems[:10])
        )


def _versions(selection: tuple[SelectedOutput, ...]) -> dict[ThreadId, int]:
    return {
        item.output.thread_id: int(item.output.source_updated_at.timestamp()) for item in selection
    }


def _mark_failed(claim: Claimed, error: Exception, world: Phase2World) -> None:
    kind = FailureKind.TRANSIENT if isinstance(error, TransientError) else FailureKind.PERMANENT
    world.store.fail(
        claim,
        kind=kind,
        error=world.redact(str(error) or type(error).__name__),
        policy=world.leases,
        now=world.clock(),
    )
