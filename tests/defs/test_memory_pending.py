"""The sensor that asks for consolidations: one run a space, after the sweep, not in a cooldown."""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from automemory_dagster.contract import (
    CONSOLIDATE_JOB,
    PENDING_SENSOR,
    PHASE2_POOL,
    SPACES_PARTITIONS,
    SWEEP_JOB,
)
from automemory_dagster.domain.thread import SpaceId
from tests.defs.shell import Shell, id_of
from tests.defs.ticks import Tick, earlier, tick


def look(shell: Shell, cursor: str = "") -> Tick:
    """One tick."""
    return tick(shell, PENDING_SENSOR, cursor)


@pytest.fixture
def swept(shell: Shell) -> Shell:
    """One session extracted, nothing consolidated."""
    shell.write(1)
    shell.sweep()
    return shell


class TestItAsks:
    def test_for_a_run_over_the_spaces_partition(self, swept: Shell) -> None:
        told = look(swept)

        assert [request.partition_key for request in told.requests] == [swept.space]
        assert swept.space in swept.partitions(SPACES_PARTITIONS)

    def test_for_a_run_a_space(self, tmp_path: Path) -> None:
        shell = _with_projects(tmp_path, 3)

        told = look(shell)

        partitions = {request.partition_key for request in told.requests}
        assert partitions == shell.partitions(SPACES_PARTITIONS)
        assert len(partitions) == 3
        assert len({request.run_key for request in told.requests}) == 3

    def test_for_no_more_runs_than_a_tick_has_time_for(self, tmp_path: Path) -> None:
        shell = _with_projects(tmp_path, 23)

        first = look(shell)
        for request in first.requests:
            shell.consolidate(partition=request.partition_key)
        second = look(shell, first.cursor)

        assert (len(first.requests), len(second.requests)) == (20, 3)

    def test_again_with_another_key_when_something_changed_since(self, swept: Shell) -> None:
        first = look(swept)
        swept.consolidate(partition=swept.space)
        assert look(swept, first.cursor).requests == ()
        swept.write(2, "Write commit messages in English.")
        swept.sweep()

        second = look(swept, first.cursor)

        assert second.run_key != first.run_key

    def test_again_for_the_same_change_only_after_its_wait_and_with_another_key(
        self, swept: Shell
    ) -> None:
        first = look(swept)

        soon = look(swept, first.cursor)
        second = look(swept, earlier(first.cursor, seconds=30))

        assert soon.requests == ()
        assert len(second.requests) == 1
        # The moment it was asked at is the whole difference.
        assert soon.cursor == first.cursor

    def test_for_a_space_that_is_left_over_with_a_key_of_its_own(self, tmp_path: Path) -> None:
        shell = _with_projects(tmp_path, 2)
        first = look(shell)
        left_over, done = first.requests
        shell.consolidate(partition=done.partition_key)

        second = look(shell, earlier(first.cursor, seconds=31))

        assert second.requests[0].partition_key == left_over.partition_key
        assert second.cursor != first.cursor


class TestItAsksForNothing:
    def test_when_nothing_is_pending(self, swept: Shell) -> None:
        swept.consolidate()

        told = look(swept)

        assert told.requests == ()
        assert told.skipped == "No space has changes to consolidate."

    def test_before_there_is_any_space(self, shell: Shell) -> None:
        assert look(shell).skipped == "No space has changes to consolidate."

    @pytest.mark.parametrize(
        ("job", "why"),
        [
            (SWEEP_JOB, "A sweep is under way; consolidation follows it."),
            (CONSOLIDATE_JOB, "A consolidation is under way."),
        ],
    )
    def test_while_a_run_is_under_way(self, swept: Shell, job: str, why: str) -> None:
        swept.put_run(job, dg.DagsterRunStatus.STARTED)

        told = look(swept)

        assert (told.requests, told.skipped) == ((), why)

    def test_when_runs_are_over(self, swept: Shell) -> None:
        for status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED):
            swept.put_run(SWEEP_JOB, status)

        assert len(look(swept).requests) == 1

    def test_while_a_failed_space_waits_for_its_next_try(self, swept: Shell) -> None:
        first = look(swept)
        _fail_once(swept)

        told = look(swept, first.cursor)

        assert told.requests == ()
        assert swept.automemory.store.space(SpaceId(swept.space)).has_pending_changes

    def test_in_a_cooldown(self, swept: Shell) -> None:
        swept.consolidate()
        swept.write(2, "Write commit messages in English.")
        swept.sweep()
        assert len(look(swept).requests) == 1

        swept.reopened(consolidation_cooldown_seconds=3_600)

        assert look(swept).requests == ()

    def test_when_the_store_is_no_database_any_more_and_says_so(self, swept: Shell) -> None:
        swept.ruin_state()

        told = look(swept)

        assert told.requests == ()
        assert "Could not look" in told.skipped
        assert "state.sqlite" in told.skipped


def test_a_failed_space_is_asked_for_again_once_its_wait_is_over(tmp_path: Path) -> None:
    shell = Shell(tmp_path, retry_seconds=0)
    shell.write(1)
    shell.sweep()
    first = look(shell)
    _fail_once(shell)

    second = look(shell, first.cursor)

    assert second.run_key.rsplit(":", 1)[0] != first.run_key.rsplit(":", 1)[0]


def test_a_withdrawn_consent_is_not_delayed_by_the_cooldown(swept: Shell) -> None:
    swept.consolidate()
    swept.reopened(consolidation_cooldown_seconds=3_600)
    swept.remove(id_of(1))
    swept.write(1, memory_mode="disabled", idle_seconds=1_800)
    swept.sweep()

    assert len(look(swept).requests) == 1


def test_the_cursor_stays_small_with_many_spaces(tmp_path: Path) -> None:
    assert len(look(_with_projects(tmp_path, 23)).cursor) < 300


def test_it_sets_the_limit_of_the_pool_before_the_first_consolidation(swept: Shell) -> None:
    swept.instance = swept.instance_on_disk()

    look(swept)

    limits = {
        limit.name: limit.limit for limit in swept.instance.event_log_storage.get_pool_limits()
    }
    assert limits[PHASE2_POOL] == 1


def _with_projects(folder: Path, count: int) -> Shell:
    """A deployment split by project, with one session extracted in each."""
    shell = Shell(folder, split_by_project=True)
    now = datetime.now(UTC)
    for number in range(1, count + 1):
        url = f"https://git.example.com/acme/project-{number:02}.git"
        shell.write(number, repository_url=url, now=now)
    shell.sweep()
    return shell


def _fail_once(shell: Shell) -> None:
    workspace = Path(shell.automemory.workspace.location(SpaceId(shell.space)))
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "outside").symlink_to("/etc/hostname")
    assert not shell.consolidate(partition=shell.space).success
