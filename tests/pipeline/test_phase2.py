"""Phase 2 over a fake store and a real git workspace: published or unchanged, never in between."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from automemory_dagster.adapters.offline.consolidator import OfflineConsolidator
from automemory_dagster.adapters.secrets import find_secrets, redact
from automemory_dagster.adapters.workspace import GitWorkspaces
from automemory_dagster.domain.errors import InvalidArtifacts, LeaseLost, StateUnavailable
from automemory_dagster.domain.job import Claimed, JobKind, JobStatus, LeasePolicy
from automemory_dagster.domain.outcome import LogEntry, Outcome, Reason
from automemory_dagster.domain.selection import SelectionPolicy
from automemory_dagster.domain.spend import Work
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import MemoryMode, ThreadId
from automemory_dagster.domain.workspace import Publication, WorkspaceDiff
from automemory_dagster.pipeline.phase2 import Phase2World, consolidate
from automemory_dagster.pipeline.phase2_result import Consolidated, NothingChanged, Skipped
from automemory_dagster.ports import ConsolidationReport, FindProblems, Staging
from tests.fakes.state_store import FakeStateStore
from tests.memories import a_memory, a_selected_output, a_task, a_thread_id
from tests.pipeline.world import NOON, SPACE, ManualClock

_SECRET = "ghp_" + "a1B2" * 9


class MeddlingConsolidator:
    """The offline consolidator, after which something else happens."""

    def __init__(self, version: str = "offline/1") -> None:
        self.version = version
        self.calls = 0

    def consolidate(
        self,
        staging: Staging,
        selection: Sequence[SelectedOutput],
        diff: WorkspaceDiff,
        *,
        work: Work,
        find_problems: FindProblems,
    ) -> ConsolidationReport:
        self.calls += 1
        report = OfflineConsolidator(redact=redact).rewrite(staging, selection)
        self.meddle(staging)
        return report

    def meddle(self, staging: Staging) -> None:
        """Leave it as it is."""


class RefusingStore(FakeStateStore):
    """Refuses to publish: the database goes away at the worst moment."""

    def finish_phase2(
        self,
        claim: Claimed,
        publication: Publication | None,
        *,
        selected: Mapping[ThreadId, int],
        now: object,
    ) -> None:
        raise StateUnavailable("the database is away; nothing was published")


class World:
    """One space with its store, workspace and clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = ManualClock()
        self.store = FakeStateStore()
        self.workspace = GitWorkspaces(folder, clock=self.clock)
        self.consolidator = MeddlingConsolidator()
        self.is_generation_on = True

    @property
    def phase2(self) -> Phase2World:
        """The world as phase 2 sees it."""
        return Phase2World(
            store=self.store,
            workspace=self.workspace,
            consolidator_for=lambda space_id: self.consolidator,
            redact=redact,
            find_secrets=find_secrets,
            clock=self.clock,
            leases=LeasePolicy(),
            selection=SelectionPolicy(),
            has_consent=lambda space_id: self.is_generation_on,
            run_id="run-1",
        )

    def add(self, number: int, *, preference: str) -> None:
        """Extract one more thread, a day younger than the one before."""
        memory = a_memory(a_task(preferences=(preference,)))
        selected = a_selected_output(number, raw_memory=memory)
        thread = replace(selected.thread, space_id=SPACE)
        output = replace(selected.output, space_id=SPACE)
        self.store.save_threads([thread])
        claim = self.store.claim_stage1(
            thread, policy=LeasePolicy(), worker="w", run_id="r", now=self.clock()
        )
        assert isinstance(claim, Claimed)
        entry = LogEntry(
            thread_id=thread.thread_id,
            space_id=SPACE,
            outcome=Outcome.EXTRACTED,
            reason=Reason.EXTRACTED,
            logged_at=self.clock(),
        )
        self.store.finish_stage1(claim, output, entry=entry, now=self.clock())

    def on_disk(self) -> dict[str, str]:
        """The workspace's files, without git's."""
        root = Path(self.workspace.location(SPACE))
        return {
            path.relative_to(root).as_posix(): path.read_text("utf-8")
            for path in sorted(root.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(root).parts
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A space with one extracted thread."""
    world = World(tmp_path / "memories")
    world.add(1, preference="Always use uv, never pip")
    return world


def test_the_first_consolidation_publishes_the_same_files_to_store_and_disk(world: World) -> None:
    result = consolidate(SPACE, world.phase2)

    assert isinstance(result, Consolidated)
    published = world.store.publication(SPACE)
    assert published is not None
    assert published.version == 1
    assert dict(published.files) == world.on_disk()
    assert "uv" in published.files["MEMORY.md"]
    assert published.commit
    assert published.run_id == "run-1"
    assert not world.store.space(SPACE).has_pending_changes


def test_nothing_pending_is_skipped_without_a_look(world: World) -> None:
    consolidate(SPACE, world.phase2)

    result = consolidate(SPACE, world.phase2)

    assert isinstance(result, Skipped)
    assert result.why == "nothing changed since the last consolidation"


def test_the_same_inputs_ask_no_consolidator_again(world: World) -> None:
    consolidate(SPACE, world.phase2)
    world.store.request_consolidation(SPACE, now=world.clock())

    result = consolidate(SPACE, world.phase2)

    assert result == NothingChanged(version=1, selected=1)
    assert world.consolidator.calls == 1


def test_a_newer_consolidator_consolidates_the_same_inputs_again(world: World) -> None:
    consolidate(SPACE, world.phase2)
    world.consolidator = MeddlingConsolidator("offline/2")

    result = consolidate(SPACE, world.phase2, is_forced=True)

    assert isinstance(result, Consolidated)
    assert (result.publication.version, result.publication.consolidator) == (2, "offline/2")


def test_an_empty_space_publishes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path / "memories")

    result = consolidate(SPACE, world.phase2, is_forced=True)

    assert result == NothingChanged(version=0, selected=0)
    assert not Path(world.workspace.location(SPACE)).exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("memory_summary.md", "v2\n\nnot our format\n"),
        ("surprise.sh", "echo hello\n"),
        ("MEMORY.md", "# Nothing of the kind\n"),
    ],
)
def test_files_that_may_not_be_published_change_nothing(world: World, path: str, text: str) -> None:
    consolidate(SPACE, world.phase2)
    before = world.on_disk()
    world.add(2, preference="Never commit on Fridays")
    world.consolidator.meddle = lambda staging: staging.write(path, redact(text))  # type: ignore[method-assign]

    with pytest.raises(InvalidArtifacts) as raised:
        consolidate(SPACE, world.phase2)

    assert path in str(raised.value)
    assert world.on_disk() == before
    assert world.store.space(SPACE).version == 1
    job = world.store.job(JobKind.CONSOLIDATE, SPACE)
    assert job is not None
    assert job.status is JobStatus.ERROR
    assert job.retry_at is not None
    assert job.retry_at > NOON


def test_a_secret_that_a_consolidator_writes_is_redacted_before_it_is_published(
    world: World,
) -> None:
    def leak(staging: Staging) -> None:
        text = staging.read("MEMORY.md") or ""
        staging.write("MEMORY.md", text.replace("uv", _SECRET))  # type: ignore[arg-type]

    world.consolidator.meddle = leak  # type: ignore[method-assign]

    consolidate(SPACE, world.phase2)

    assert _SECRET not in "".join(world.on_disk().values())
    assert "[REDACTED:" in world.on_disk()["MEMORY.md"]


def test_when_the_store_refuses_the_former_workspace_is_back(world: World) -> None:
    consolidate(SPACE, world.phase2)
    before, head = world.on_disk(), _head(world)
    world.add(2, preference="Never commit on Fridays")
    world.store.__class__ = RefusingStore

    with pytest.raises(StateUnavailable):
        consolidate(SPACE, world.phase2)

    assert (world.on_disk(), _head(world)) == (before, head)
    world.store.__class__ = FakeStateStore
    result = consolidate(SPACE, world.phase2, is_forced=True)
    assert isinstance(result, Consolidated)
    assert "Fridays" in world.on_disk()["MEMORY.md"]


def test_a_worker_that_lost_its_lease_publishes_nothing(world: World) -> None:
    def lose(staging: Staging) -> None:
        world.clock.pass_time(hours=2)
        stolen = world.store.claim_phase2(
            SPACE, policy=LeasePolicy(), worker="thief", run_id="r", now=world.clock()
        )
        assert isinstance(stolen, Claimed)

    world.consolidator.meddle = lose  # type: ignore[method-assign]

    with pytest.raises(LeaseLost):
        consolidate(SPACE, world.phase2)

    assert world.store.publication(SPACE) is None
    job = world.store.job(JobKind.CONSOLIDATE, SPACE)
    assert job is not None
    assert job.status is JobStatus.RUNNING


def test_off_means_off_for_phase_2_too(world: World) -> None:
    world.is_generation_on = False

    result = consolidate(SPACE, world.phase2, is_forced=True)

    assert isinstance(result, Skipped)
    assert result.why == "generation is off for its source; only forgetting goes on"
    assert world.store.publication(SPACE) is None


def test_forgetting_needs_no_consent(world: World) -> None:
    world.add(2, preference="Never commit on Fridays")
    consolidate(SPACE, world.phase2)
    world.is_generation_on = False
    [thread] = [
        state.thread
        for state in world.store.thread_states()
        if state.thread.thread_id == a_thread_id(2)
    ]
    world.store.save_threads([replace(thread, memory_mode=MemoryMode.DISABLED)])

    result = consolidate(SPACE, world.phase2)

    assert isinstance(result, Consolidated)
    assert "Fridays" not in "".join(world.on_disk().values())


def test_a_second_worker_is_told_who_is_at_it(world: World) -> None:
    world.store.claim_phase2(
        SPACE, policy=LeasePolicy(), worker="other", run_id="r", now=world.clock()
    )

    result = consolidate(SPACE, world.phase2)

    assert isinstance(result, Skipped)
    assert result.why == "another worker consolidates; its lease runs until 13:00:00 UTC"


def test_a_failure_rests_and_then_is_tried_again(world: World) -> None:
    world.consolidator.meddle = lambda staging: staging.write("x.sh", redact("x"))  # type: ignore[method-assign]
    with pytest.raises(InvalidArtifacts):
        consolidate(SPACE, world.phase2)
    world.consolidator = MeddlingConsolidator()

    resting = consolidate(SPACE, world.phase2)
    world.clock.now += timedelta(hours=1)
    after = consolidate(SPACE, world.phase2)

    assert isinstance(resting, Skipped)
    assert "next try at 2026-12-01 13:00:00 UTC" in resting.why
    assert isinstance(after, Consolidated)


def test_a_persons_own_file_is_kept_and_published(world: World) -> None:
    consolidate(SPACE, world.phase2)
    own = Path(world.workspace.location(SPACE)) / "notes.txt"
    own.write_text(f"my token is {_SECRET}\n", "utf-8")
    world.add(2, preference="Never commit on Fridays")

    result = consolidate(SPACE, world.phase2)

    assert isinstance(result, Consolidated)
    assert "[REDACTED:github_token]" in world.on_disk()["notes.txt"]
    assert _SECRET not in own.read_text("utf-8")
    assert _SECRET not in _all_git_text(Path(world.workspace.location(SPACE)))


def test_a_workspace_that_is_gone_is_rebuilt_from_the_store(world: World) -> None:
    consolidate(SPACE, world.phase2)
    before = world.on_disk()
    shutil.rmtree(world.workspace.location(SPACE))

    consolidate(SPACE, world.phase2, is_forced=True)

    assert world.on_disk() == before
    assert world.store.space(SPACE).version == 1


def _head(world: World) -> str:
    head = Path(world.workspace.location(SPACE)) / ".git" / "refs" / "heads"
    return "".join(path.read_text("utf-8") for path in sorted(head.iterdir()))


def _all_git_text(folder: Path) -> str:
    """Every object of a repository, as git itself shows it."""
    command = ["git", "-C", str(folder), "log", "--all", "-p", "--text"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Edits by hand" in shown
    return shown
