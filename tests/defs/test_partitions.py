"""The live window: which threads have a partition, how many, and when a key is retired."""

from pathlib import Path

import dagster as dg

from automemory_dagster.contract import CANDIDATE_ROLLOUT, SPACES_PARTITIONS, STAGE1_OUTPUT
from automemory_dagster.domain.thread import ThreadId
from tests.defs.shell import Shell, id_of, made

DAY = 86_400


class TestRegistering:
    def test_only_candidates_get_a_partition(self, shell: Shell) -> None:
        shell.write(1)
        shell.write(2, idle_seconds=60)
        shell.write(3, memory_mode="disabled")
        shell.write(4, is_archived=True)
        shell.write(5, source="exec")
        shell.write(6, idle_seconds=200 * DAY)

        shell.sweep()

        assert shell.partitions() == {id_of(1), id_of(2)}

    def test_their_spaces_get_one_too(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path, split_by_project=True)
        for number, project in ((1, "api"), (2, "web"), (3, "web")):
            shell.write(number, repository_url=f"https://git.example.com/acme/{project}.git")
        shell.write(4, repository_url="https://git.example.com/acme/x.git", source="exec")

        shell.sweep()

        source = shell.automemory.choice.name
        assert shell.partitions(SPACES_PARTITIONS) == {
            f"{source}#git.example.com/acme/{project}" for project in ("api", "web")
        }

    def test_the_set_stays_under_its_limit_and_what_finds_no_room_is_extracted_all_the_same(
        self, tmp_path: Path
    ) -> None:
        shell = Shell(tmp_path, max_partitions=100)
        shell.instance.add_dynamic_partitions("threads", [f"old-{n}" for n in range(98)])
        for number in (1, 2, 3):
            shell.write(number, idle_seconds=3_600 * number)

        result = shell.sweep()

        assert len(shell.partitions()) == 100
        assert {id_of(1), id_of(2)} <= shell.partitions()
        assert set(made(result, CANDIDATE_ROLLOUT)) == {id_of(1), id_of(2)}
        assert set(made(result, STAGE1_OUTPUT)) == {id_of(1), id_of(2), id_of(3)}


class TestHousekeeping:
    def test_it_retires_the_keys_of_threads_that_left_the_window(self, shell: Shell) -> None:
        for number in (1, 2, 3, 4):
            shell.write(number, idle_seconds=2 * DAY)
        shell.sweep()
        shell.remove(id_of(1))
        shell.remove(id_of(2))
        shell.write(2, memory_mode="disabled", idle_seconds=1 * DAY)
        shell.remove(id_of(3))
        shell.write(3, idle_seconds=200 * DAY)
        shell.sweep()

        result = shell.housekeep()

        assert result.success
        assert shell.partitions() == {id_of(4)}

    def test_what_was_extracted_stays(self, shell: Shell) -> None:
        shell.write(1)
        shell.sweep()
        shell.reopened(max_rollout_age_days=1)
        shell.remove(id_of(1))
        shell.sweep()

        shell.housekeep()

        assert shell.partitions() == set()
        assert shell.automemory.store.output(ThreadId(id_of(1))) is not None
        made_before = shell.instance.fetch_materializations(
            dg.AssetKey(STAGE1_OUTPUT), limit=10
        ).records
        assert [record.partition_key for record in made_before] == [id_of(1)]

    def test_it_keeps_the_newest_when_there_are_more_than_fit(self, tmp_path: Path) -> None:
        shell = Shell(tmp_path, max_partitions=100)
        for number in range(1, 104):
            shell.write(number, idle_seconds=3_600 + number)
        shell.sweep()
        # The newest ones come last and find the set full.
        for number in (201, 202):
            shell.write(number, idle_seconds=3_000)
        shell.sweep()
        assert id_of(201) not in shell.partitions()

        shell.housekeep()

        newest = {201, 202, *range(1, 99)}
        assert shell.partitions() == {id_of(number) for number in newest}

    def test_it_leaves_the_set_alone_while_generation_is_off(self, shell: Shell) -> None:
        shell.write(1)
        shell.sweep()
        shell.reopened(generate=False)

        result = shell.housekeep()

        assert result.success
        assert shell.partitions() == {id_of(1)}
