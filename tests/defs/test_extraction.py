"""Phase 1 in Dagster: sweeps, partitions and ranges, over real rollouts and a real store."""

from pathlib import Path

import pytest

from automemory_dagster.contract import CANDIDATE_ROLLOUT, STAGE1_OUTPUT
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.pipeline import sweep
from tests.builders import a_turn
from tests.defs.shell import Shell, failure_of, id_of, made, seen

MONTHS = 200 * 86_400


class TestASweep:
    def test_it_logs_one_materialization_a_thread_with_what_became_of_it(
        self, shell: Shell
    ) -> None:
        threads = {shell.write(number) for number in (1, 2, 3)}

        result = shell.sweep()

        assert result.success
        outputs = made(result, STAGE1_OUTPUT)
        assert set(outputs) == set(made(result, CANDIDATE_ROLLOUT)) == threads
        told = outputs[id_of(1)]
        [file] = shell.codex_home.rglob(f"*{id_of(1)}*")
        assert (told["outcome"], told["reason"]) == ("extracted", "extracted")
        assert told["rollout_bytes"] == file.stat().st_size
        assert told["project"] == "git.example.com/acme/shop-api"
        assert told["transcript_tokens"] > 10
        assert 0 <= told["duration_seconds"] < 30
        report = told["transcript_report"]
        assert report["bytes_read"] == file.stat().st_size
        assert report["lines_read"] == file.read_bytes().count(b"\n")
        assert report["rows_kept"] >= 2

    def test_nothing_worth_keeping_is_a_materialization_too(self, shell: Shell) -> None:
        thread_id = shell.write(1, turns=[a_turn("hello", answer="Hello!")])

        result = shell.sweep()

        told = made(result, STAGE1_OUTPUT)[thread_id]
        assert (told["outcome"], told["reason"]) == ("no_output", "nothing_to_keep")

    def test_what_is_not_due_is_left_alone(self, shell: Shell) -> None:
        shell.write(1, idle_seconds=60)
        shell.write(2, memory_mode="disabled")
        shell.write(3, idle_seconds=MONTHS)
        shell.write(4, source="exec")

        result = shell.sweep()

        assert result.success
        assert made(result, STAGE1_OUTPUT) == seen(result, STAGE1_OUTPUT) == {}
        # One that only waits for its idle time is a candidate already.
        assert set(made(result, CANDIDATE_ROLLOUT)) == {id_of(1)}

    def test_a_second_one_has_nothing_to_do(self, shell: Shell) -> None:
        shell.write(1)
        shell.sweep()

        again = shell.sweep()

        assert again.success
        assert made(again, STAGE1_OUTPUT) == made(again, CANDIDATE_ROLLOUT) == {}

    def test_a_thread_that_was_written_on_is_told_of_and_extracted_again(
        self, shell: Shell
    ) -> None:
        shell.write(1, idle_seconds=7_200)
        shell.write(2, idle_seconds=7_200)
        before = made(shell.sweep(), CANDIDATE_ROLLOUT)[id_of(1)]["size_bytes"]
        turns = [a_turn("Always use uv."), a_turn("And always run the tests.")]
        shell.remove(id_of(1))
        shell.write(1, turns=turns, idle_seconds=3_600)

        again = shell.sweep()

        assert set(made(again, STAGE1_OUTPUT)) == {id_of(1)}
        assert made(again, CANDIDATE_ROLLOUT)[id_of(1)]["size_bytes"] > before

    def test_a_broken_rollout_is_an_observation_and_the_run_stays_green(self, shell: Shell) -> None:
        shell.write(1)
        broken = _break_after_listing(shell, 2)

        result = shell.sweep()

        assert result.success
        assert set(made(result, STAGE1_OUTPUT)) == {id_of(1)}
        told = seen(result, STAGE1_OUTPUT)[broken]
        assert (told["outcome"], told["reason"]) == ("failed", "unreadable")
        assert told["detail"] != "(none)"

    def test_its_limit_takes_the_newest(self, shell: Shell) -> None:
        for number in (1, 2, 3):
            shell.write(number, idle_seconds=3_600 * number)

        result = shell.sweep(limit=2)

        assert set(made(result, STAGE1_OUTPUT)) == {id_of(1), id_of(2)}

    def test_a_limit_below_zero_is_refused(self, shell: Shell) -> None:
        shell.write(1)

        result = shell.sweep(limit=-1)

        assert not result.success
        assert shell.automemory.store.output(ThreadId(id_of(1))) is None

    def test_forced_without_names_it_takes_what_only_waits(self, shell: Shell) -> None:
        for number in (1, 2):
            shell.write(number)
        shell.sweep()
        shell.write(3, idle_seconds=30)
        shell.write(4, idle_seconds=MONTHS)
        shell.write(5, memory_mode="disabled")

        result = shell.sweep(force=True)

        # Up to date is no waiting: to hurry is not to do it again.
        assert set(made(result, STAGE1_OUTPUT)) == {id_of(3), id_of(4)}


class TestNamedThreads:
    def test_they_are_extracted_again_only_by_force(self, shell: Shell) -> None:
        thread_id = shell.write(1)
        shell.sweep()

        asked = shell.sweep(thread_ids=[thread_id])
        forced = shell.sweep(thread_ids=[thread_id], force=True)

        assert asked.success
        assert seen(asked, STAGE1_OUTPUT)[thread_id]["reason"] == "up_to_date"
        assert set(made(forced, STAGE1_OUTPUT)) == {thread_id}

    def test_one_that_fails_fails_the_run_which_is_not_tried_again(self, shell: Shell) -> None:
        good, broken = shell.write(1), _break_after_listing(shell, 2)

        result = shell.sweep(thread_ids=[broken, good])

        assert not result.success
        data = failure_of(result).step_failure_data
        assert data.user_failure_data is not None
        assert "1 of 2 threads failed" in str(data.user_failure_data.description)
        assert broken in str(data.user_failure_data.description)
        assert not [event for event in result.all_events if event.is_step_up_for_retry]
        assert set(made(result, STAGE1_OUTPUT)) == {good}
        assert shell.automemory.store.output(ThreadId(good)) is not None

    def test_an_unknown_one_is_told_and_fails_the_run(self, shell: Shell) -> None:
        good = shell.write(1)

        result = shell.sweep(thread_ids=["019d0000-no-such-thread", good])

        told = str(failure_of(result).step_failure_data.user_failure_data.description)
        assert "no thread 019d0000-no-such-thread is known" in told
        assert set(made(result, STAGE1_OUTPUT)) == {good}
        assert "019d0000-no-such-thread" not in shell.partitions()

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"memory_mode": "disabled"}, "memory_mode_disabled"),
            ({"memory_mode": "polluted"}, "memory_mode_polluted"),
            ({"is_archived": True}, "archived"),
            ({"source": "exec"}, "source_kind"),
        ],
    )
    def test_force_never_waives_consent(
        self, shell: Shell, changes: dict[str, object], reason: str
    ) -> None:
        thread_id = shell.write(1, **changes)

        result = shell.sweep(thread_ids=[thread_id], force=True)

        assert result.success
        told = seen(result, STAGE1_OUTPUT)[thread_id]
        assert (told["outcome"], told["reason"]) == ("skipped", reason)
        assert f"| {reason} | no |" in told["gates"]
        assert made(result, STAGE1_OUTPUT) == made(result, CANDIDATE_ROLLOUT) == {}
        assert shell.automemory.store.output(ThreadId(thread_id)) is None

    def test_nothing_is_extracted_while_generation_is_off(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path, generate=False)
        thread_id = shell.write(1)

        swept = shell.sweep()
        forced = shell.sweep(thread_ids=[thread_id], force=True)

        assert made(swept, STAGE1_OUTPUT) == made(forced, STAGE1_OUTPUT) == {}
        assert seen(forced, STAGE1_OUTPUT)[thread_id]["reason"] == "generation_disabled"
        assert shell.partitions() == set()


class TestPartitions:
    def test_a_run_over_one_extracts_it_again_although_it_is_up_to_date(self, shell: Shell) -> None:
        for number in (1, 2):
            shell.write(number)
        shell.sweep()

        result = shell.sweep(partition=id_of(1))

        assert result.success
        told = made(result, STAGE1_OUTPUT)
        assert set(told) == set(made(result, CANDIDATE_ROLLOUT)) == {id_of(1)}
        assert "| up_to_date | waived |" in told[id_of(1)]["gates"]

    def test_a_run_over_a_range_extracts_all_of_it_again(self, shell: Shell) -> None:
        for number in (1, 2, 3, 4):
            # The set keeps the order in which they came: newest first.
            shell.write(number, idle_seconds=3_600 * number)
        shell.sweep()

        result = shell.sweep_range(id_of(2), id_of(3))

        assert result.success
        assert set(made(result, STAGE1_OUTPUT)) == {id_of(2), id_of(3)}

    def test_a_run_over_one_whose_thread_took_its_consent_back_makes_nothing(
        self, shell: Shell
    ) -> None:
        thread_id = shell.write(1)
        shell.sweep()
        shell.remove(thread_id)
        shell.write(1, memory_mode="disabled", idle_seconds=1_800)

        result = shell.sweep(partition=thread_id)

        assert result.success
        assert made(result, STAGE1_OUTPUT) == made(result, CANDIDATE_ROLLOUT) == {}
        assert seen(result, STAGE1_OUTPUT)[thread_id]["reason"] == "memory_mode_disabled"

    def test_a_run_over_one_that_fails_is_red(self, shell: Shell) -> None:
        thread_id = _break_after_listing(shell, 1)
        shell.instance.add_dynamic_partitions("threads", [thread_id])

        result = shell.sweep(partition=thread_id)

        assert not result.success
        assert seen(result, STAGE1_OUTPUT)[thread_id]["outcome"] == "failed"


def test_a_source_that_is_gone_fails_the_run_in_our_words_and_changes_nothing(
    shell: Shell,
) -> None:
    thread_id = shell.write(1)
    shell.sweep()
    shell.codex_home.rename(shell.codex_home.with_name("unmounted"))

    result = shell.sweep()

    data = failure_of(result).step_failure_data.user_failure_data
    assert data is not None
    assert "is not there" in str(data.description)
    assert shell.automemory.store.output(ThreadId(thread_id)) is not None


def _break_after_listing(shell: Shell, number: int) -> str:
    """A thread that the catalogue takes for readable, and whose file is garbage."""
    thread_id = shell.write(number)
    sweep.update_catalogue(shell.automemory.sweep_world)
    return shell.write_garbage_over(thread_id)
