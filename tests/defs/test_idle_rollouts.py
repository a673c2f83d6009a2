"""The sensor that asks for sweeps: quiet, cheap, and never twice with the same key."""

from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from automemory_dagster.contract import IDLE_SENSOR, PHASE1_POOL, PHASE2_POOL, SWEEP_JOB
from automemory_dagster.defs.sensors import AskedBatch
from automemory_dagster.pipeline import sweep
from tests.defs.opening import opened_below
from tests.defs.shell import Shell, id_of
from tests.defs.ticks import Tick, earlier, tick
from tests.postgres import PostgresServer


def look(shell: Shell, cursor: str = "") -> Tick:
    """One tick."""
    return tick(shell, IDLE_SENSOR, cursor)


class TestItAsksForNothing:
    def test_while_generation_is_off(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path, generate=False)
        shell.write(1)

        told = look(shell)

        assert told.requests == ()
        assert "Generation is off" in told.skipped
        assert str(shell.codex_home) in told.skipped

    def test_when_nothing_is_due(self, shell: Shell) -> None:
        shell.write(1)
        shell.sweep()
        shell.write(2, idle_seconds=60)

        told = look(shell)

        assert told.requests == ()
        assert told.skipped == "Nothing is due: 2 rollout files, 1 not idle yet."

    def test_for_what_consent_forbids(self, shell: Shell) -> None:
        shell.write(1, memory_mode="disabled")
        shell.write(2, source="exec")
        shell.sweep()

        assert look(shell).requests == ()

    @pytest.mark.parametrize(
        "status",
        [
            dg.DagsterRunStatus.NOT_STARTED,
            dg.DagsterRunStatus.STARTING,
            dg.DagsterRunStatus.STARTED,
            dg.DagsterRunStatus.CANCELING,
        ],
    )
    def test_while_a_sweep_is_under_way(self, shell: Shell, status: dg.DagsterRunStatus) -> None:
        shell.write(1)
        shell.put_run(SWEEP_JOB, status)

        told = look(shell)

        assert told.requests == ()
        assert told.skipped == "A sweep is under way."

    def test_when_the_source_is_gone_and_says_so(self, shell: Shell) -> None:
        shell.codex_home.rename(shell.codex_home.with_name("unmounted"))

        told = look(shell)

        assert "Could not look" in told.skipped
        assert f"{shell.codex_home} is not there" in told.skipped

    def test_when_the_store_is_no_database_any_more_and_says_so(self, shell: Shell) -> None:
        shell.write(1)
        shell.ruin_state()

        told = look(shell)

        assert told.requests == ()
        assert "Could not look" in told.skipped
        assert "state.sqlite" in told.skipped

    def test_when_postgresql_is_gone_and_says_so_without_the_password(
        self, tmp_path: Path, postgres_server: PostgresServer
    ) -> None:
        with postgres_server.database() as url:
            secret = make_url(url).set(password="hunter2-of-tests")
            shell = Shell(tmp_path, database_url=secret.render_as_string(hide_password=False))
            shell.write(1)
        # The block has dropped the database and ended every connection to it.

        told = look(shell)

        assert told.requests == ()
        assert "Could not look" in told.skipped
        assert "PostgreSQL" in told.skipped or str(secret.database) in told.skipped
        assert "hunter2" not in told.skipped

    def test_when_the_deployment_cannot_be_opened_and_says_so(self, shell: Shell) -> None:
        shell.ruin_state()
        shell.reopen_each_time()

        told = look(shell)

        assert "Could not look" in told.skipped
        assert "state.sqlite" in told.skipped


class TestItAsks:
    def test_for_one_run_a_batch(self, shell: Shell) -> None:
        for number in (1, 2, 3):
            shell.write(number)

        told = look(shell)

        assert len(told.requests) == 1
        assert told.requests[0].partition_key is None
        assert told.run_key.startswith("batch:")
        assert look(shell).run_key.rsplit(":", 1)[0] == told.run_key.rsplit(":", 1)[0]

    def test_for_what_was_idle_too_short_when_it_was_listed(self, shell: Shell) -> None:
        shell.reopened(idle_seconds=7_200)
        shell.write(1, idle_seconds=3_600)
        shell.sweep()
        assert look(shell).requests == ()
        shell.reopened(idle_seconds=900)

        assert len(look(shell).requests) == 1

    def test_for_a_sweep_when_a_file_is_gone(self, shell: Shell) -> None:
        shell.write(1)
        shell.sweep()
        shell.remove(id_of(1))

        assert len(look(shell).requests) == 1

    def test_the_same_batch_again_only_after_its_wait_and_with_another_key(
        self, shell: Shell
    ) -> None:
        shell.write(1)
        first = look(shell)

        soon = look(shell, first.cursor)
        second = look(shell, earlier(first.cursor, seconds=30))
        still_soon = look(shell, earlier(second.cursor, seconds=30))
        third = look(shell, earlier(second.cursor, seconds=60))

        assert soon.requests == still_soon.requests == ()
        assert "asked for again later" in soon.skipped
        assert soon.cursor == first.cursor
        assert len(second.requests) == len(third.requests) == 1

    def test_a_changed_batch_at_once(self, shell: Shell) -> None:
        shell.write(1)
        first = look(shell)
        shell.write(2)

        second = look(shell, first.cursor)

        assert second.run_key.rsplit(":", 1)[0] != first.run_key.rsplit(":", 1)[0]

    def test_a_failed_thread_again_with_another_key_once_its_wait_is_over(
        self, tmp_path: Path
    ) -> None:
        shell = Shell(tmp_path, retry_seconds=0)
        thread_id = shell.write(1)
        sweep.update_catalogue(shell.automemory.sweep_world)
        shell.write_garbage_over(thread_id)
        first = look(shell)
        shell.sweep()

        second = look(shell, first.cursor)

        assert second.run_key.rsplit(":", 1)[0] != first.run_key.rsplit(":", 1)[0]

    def test_with_the_limits_of_the_pools_in_place(self, shell: Shell) -> None:
        shell.instance = shell.instance_on_disk()
        shell.write(1)

        look(shell)

        limits = {
            limit.name: limit.limit for limit in shell.instance.event_log_storage.get_pool_limits()
        }
        assert limits == {PHASE1_POOL: 2, PHASE2_POOL: 1}


def test_a_tick_opens_no_rollout(shell: Shell) -> None:
    shell.write(1)
    shell.sweep()
    for number in range(2, 40):
        shell.write(number, is_compressed=number % 2 == 0)

    with opened_below(shell.codex_home) as opened:
        cold = look(shell)
        warm = look(shell, cold.cursor)
    with opened_below(shell.codex_home) as opened_by_a_sweep:
        shell.sweep()

    assert len(cold.requests) == 1
    assert warm.requests == ()
    assert opened == []
    # The control: the same watch sees what a sweep opens.
    assert len(set(opened_by_a_sweep)) == 38


def test_the_cursor_stays_small_over_many_ticks(shell: Shell) -> None:
    cursor, keys = "", set()
    for number in range(1, 60):
        shell.write(number)
        told = look(shell, cursor)
        cursor = told.cursor
        keys.add(told.run_key)
        assert len(cursor) < 300

    assert len(keys) == 59


@pytest.mark.parametrize("cursor", ["not json", "[]", "7", '{"other": 1}', '{"batch": null}'])
def test_a_cursor_that_cannot_be_read_starts_anew(shell: Shell, cursor: str) -> None:
    shell.write(1)

    assert len(look(shell, cursor).requests) == 1


class TestAskedBatch:
    @given(
        batches=st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
        steps=st.lists(st.integers(30, 4_000), min_size=60, max_size=60),
    )
    def test_no_two_askings_are_alike_whatever_batches_come_back(
        self, batches: list[str], steps: list[int]
    ) -> None:
        asked, now, keys = AskedBatch(), 1_800_000_000, []
        for batch, step in zip(batches, steps, strict=False):
            now += step
            if (following := asked.next_for(batch, now=now)) is not None:
                asked = following
                keys.append((asked.batch, asked.asked_at))

        assert len(keys) == len(set(keys))

    def test_its_waits_double_up_to_an_hour(self) -> None:
        asked, waits = AskedBatch().next_for("a", now=0), []
        for _ in range(10):
            assert asked is not None
            wait = next(
                seconds
                for seconds in range(0, 3_601, 30)
                if asked.next_for("a", now=asked.asked_at + seconds)
            )
            waits.append(wait)
            asked = asked.next_for("a", now=asked.asked_at + wait)

        assert waits == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]

    def test_a_clock_that_was_set_back_does_not_silence_it(self) -> None:
        asked = AskedBatch("a", 5, 2_000_000_000)

        assert asked.next_for("a", now=1_900_000_000) is not None

    def test_it_survives_years_of_asking(self) -> None:
        asked = AskedBatch("a", 10**9, 0)

        assert asked.next_for("a", now=3_600) == AskedBatch("a", 10**9 + 1, 3_600)
