"""The Dagster shell over a real deployment: a Codex home, a state store and an instance in memory.

Nothing of it reads the environment or leaves the folder it is given.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from automemory_dagster import contract
from automemory_dagster.adapters.state import SqlStateStore
from automemory_dagster.definitions import defs
from automemory_dagster.defs.deployment import DEPLOYMENT, Deployment
from automemory_dagster.settings import Settings
from automemory_dagster.wiring import Automemory, open_automemory
from tests.builders import a_rollout, a_turn

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def id_of(number: int) -> str:
    """The id of the thread with this number; from 2025, so that the file's name tells it."""
    return f"0195b000-0000-7000-8000-{number:012x}"


class Shell:
    """A deployment whose jobs run in this process."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.codex_home = folder / "codex"
        (self.codex_home / "sessions").mkdir(parents=True, exist_ok=True)
        self._settings = {
            "home": folder / "home",
            "codex_home": self.codex_home,
            "generate": True,
            **settings,
        }
        self._is_reopened = False
        self.automemory = self.reopened()
        self.instance = dg.DagsterInstance.ephemeral()

    def reopened(self, **settings: Any) -> Automemory:
        """The same home with other settings."""
        self._settings |= settings
        self.automemory = open_automemory(Settings(**self._settings))
        return self.automemory

    @property
    def space(self) -> str:
        """The only memory space."""
        return self.automemory.own_space

    @property
    def deployment(self) -> Deployment:
        """The resource."""
        return Deployment(self.reopened if self._is_reopened else lambda: self.automemory)

    def write(self, number: int, words: str = "Always use uv, never pip.", **changes: Any) -> str:
        """Write one session, idle for an hour unless told; gives its thread id."""
        turn = a_turn(words, answer="Understood, done.")
        placed = {"thread_id": id_of(number), "turns": [turn], "now": datetime.now(UTC)}
        a_rollout(self.codex_home, **(placed | changes))
        return id_of(number)

    def write_garbage_over(self, thread_id: str) -> str:
        """Ruin a session so that its file looks the same until it is read; gives the id."""
        path = self.file(thread_id)
        written = path.stat()
        path.write_bytes(b"\x00" * written.st_size)
        os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
        return thread_id

    def remove(self, thread_id: str) -> None:
        """Delete a session's file."""
        self.file(thread_id).unlink()

    def file(self, thread_id: str) -> Path:
        """The only file of a session."""
        [path] = self.codex_home.rglob(f"*{thread_id}*")
        return path

    def sweep(self, *, partition: str | None = None, **config: Any) -> dg.ExecuteInProcessResult:
        """Run the job ``sweep``; what fails is left for the test to look at."""
        return self._run(contract.SWEEP_JOB, contract.EXTRACT_OP, config, partition=partition)

    def sweep_range(self, first: str, last: str) -> dg.ExecuteInProcessResult:
        """Run it over a range of partitions, as a backfill does."""
        tags = {
            "dagster/asset_partition_range_start": first,
            "dagster/asset_partition_range_end": last,
        }
        return self._run(contract.SWEEP_JOB, contract.EXTRACT_OP, {}, tags=tags)

    def consolidate(
        self, *, partition: str | None = None, **config: Any
    ) -> dg.ExecuteInProcessResult:
        """Run the job ``consolidate_memory``."""
        return self._run(
            contract.CONSOLIDATE_JOB, contract.CONSOLIDATE_OP, config, partition=partition
        )

    def housekeep(self) -> dg.ExecuteInProcessResult:
        """Run the job ``housekeeping``."""
        return self._run(contract.HOUSEKEEPING_JOB, "", {})

    def put_run(self, job: str, status: dg.DagsterRunStatus) -> None:
        """A run of a job that is where this status says."""
        self.instance.create_run_for_job(job_def=defs.resolve_job_def(job), status=status)

    def ruin_state(self) -> None:
        """Put something else where the state database was."""
        store = self.automemory.store
        assert isinstance(store, SqlStateStore)
        store.close()
        for file in self.automemory.layout.folder.glob("state.sqlite*"):
            file.write_bytes(b"this is no database " * 400)

    def reopen_each_time(self) -> None:
        """From now on the deployment is opened anew whenever somebody asks for it."""
        self._is_reopened = True

    def instance_on_disk(self) -> dg.DagsterInstance:
        """An instance with pools, which one in memory does not have."""
        return dg.DagsterInstance.local_temp(str(self.codex_home.parent))

    def partitions(self, name: str = contract.THREADS_PARTITIONS) -> set[str]:
        """The keys of a partition set."""
        return set(self.instance.get_dynamic_partitions(name))

    def _run(
        self,
        job: str,
        op: str,
        config: Mapping[str, Any],
        *,
        partition: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        ops = {"ops": {op: {"config": dict(config)}}} if config else {}
        return defs.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            resources={DEPLOYMENT: self.deployment},
            run_config={**_QUIET, **ops},
            partition_key=partition,
            tags=dict(tags or {}),
            raise_on_error=False,
        )


def long_ago(**span: float) -> datetime:
    """A moment before now, by the parts of a ``timedelta``."""
    return datetime.now(UTC) - timedelta(**span)


Told = dict[str, Any]
"""Metadata of one event, label to plain value."""


def made(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Told]:
    """The materializations of an asset in a run, by partition."""
    return {
        str(event.partition): _told(event.step_materialization_data.materialization.metadata)
        for event in result.all_events
        if event.is_step_materialization and event.asset_key == dg.AssetKey(asset)
    }


def seen(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Told]:
    """The observations of an asset in a run, by partition; a description counts as metadata."""
    found = {}
    for event in result.all_events:
        if event.is_asset_observation and event.asset_key == dg.AssetKey(asset):
            observation = event.asset_observation_data.asset_observation
            told = _told(observation.metadata) | {"description": observation.description}
            found[str(observation.partition)] = told
    return found


def failure_of(result: dg.ExecuteInProcessResult) -> dg.DagsterEvent:
    """The only step failure of a run."""
    [failure] = [event for event in result.all_events if event.is_step_failure]
    return failure


def _told(metadata: Mapping[str, dg.MetadataValue]) -> Told:
    return {label: value.value for label, value in metadata.items()}
