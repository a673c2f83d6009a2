"""The composition root: settings in, ready phases out. The only real clock is here."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from automemory_dagster.adapters.home import HomeLayout, own_process, prepare_home
from automemory_dagster.adapters.offline.consolidator import OfflineConsolidator
from automemory_dagster.adapters.offline.extractor import OfflineExtractor
from automemory_dagster.adapters.secrets import SecretTools, secret_tools
from automemory_dagster.adapters.state import open_state_store, store_location_label
from automemory_dagster.adapters.workspace import GitWorkspaces
from automemory_dagster.domain.artifacts import MEMORY, MEMORY_SUMMARY
from automemory_dagster.domain.eligibility import EligibilityPolicy
from automemory_dagster.domain.errors import StateUnavailable
from automemory_dagster.domain.job import LeasePolicy
from automemory_dagster.domain.selection import SelectionPolicy
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.origins import SourceChoice, choose_source, codex_origin
from automemory_dagster.pipeline.phase1_world import Phase1World
from automemory_dagster.pipeline.phase2 import Phase2World, may_consolidate
from automemory_dagster.pipeline.sweep import SweepWorld
from automemory_dagster.policies import eligibility_policy, lease_policy, selection_policy
from automemory_dagster.ports import Origin, SpaceState, StateStore, Workspace
from automemory_dagster.settings import Settings


def system_clock() -> datetime:
    """The present moment, UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Automemory:
    """The deployment, put together. Share one a process: it holds database connections."""

    settings: Settings
    layout: HomeLayout
    choice: SourceChoice
    store: StateStore
    workspace: Workspace
    eligibility: EligibilityPolicy
    leases: LeasePolicy
    sweep_world: SweepWorld
    selection: SelectionPolicy
    secrets: SecretTools
    """The one redactor of the deployment: whatever is stored, shown or written goes through it."""

    @property
    def origins(self) -> Mapping[str, Origin]:
        """The sources that are read, by name."""
        return {self.sweep_world.origin.name: self.sweep_world.origin}

    @property
    def own_space(self) -> SpaceId:
        """The space of this source; its common beginning when the source is split by project."""
        return SpaceId(self.choice.name)

    def has_consent(self, space_id: SpaceId) -> bool:
        """True for the spaces of the source that is read, while its generation is on."""
        is_own = space_id == self.choice.name or space_id.startswith(f"{self.choice.name}#")
        return is_own and self.choice.is_generation_on

    def pending_spaces(self) -> tuple[SpaceState, ...]:
        """Spaces with something to consolidate, or whose files somebody removed, that may be."""
        return tuple(
            space
            for space in self.store.spaces()
            if (space.has_pending_changes or self._has_lost_files(space))
            and may_consolidate(space, self.has_consent)
        )

    def _has_lost_files(self, space: SpaceState) -> bool:
        return space.version > 0 and not self.workspace.holds(
            space.space_id, (MEMORY, MEMORY_SUMMARY)
        )

    @property
    def database_label(self) -> str:
        """Where the state is, without a password."""
        return store_location_label(state_url(self.settings, self.layout))

    def phase1_world(self, *, run_id: str = "") -> Phase1World:
        """Phase 1, ready to run in this process."""
        offline = OfflineExtractor()
        return Phase1World(
            origins=self.origins,
            store=self.store,
            extractor_for=lambda thread: offline,
            redact=self.secrets.redact,
            clock=system_clock,
            leases=self.leases,
            budget_tokens=self.settings.transcript_budget_tokens,
            concurrency=self.settings.phase1_concurrency,
            worker=own_process(),
            run_id=run_id,
        )

    def phase2_world(self, *, run_id: str = "") -> Phase2World:
        """Phase 2, ready to run in this process."""
        offline = OfflineConsolidator(redact=self.secrets.redact)
        return Phase2World(
            store=self.store,
            workspace=self.workspace,
            consolidator_for=lambda space_id: offline,
            redact=self.secrets.redact,
            find_secrets=self.secrets.find,
            clock=system_clock,
            leases=self.leases,
            selection=self.selection,
            has_consent=self.has_consent,
            worker=own_process(),
            run_id=run_id,
        )


def prepared_home() -> tuple[Settings, HomeLayout]:
    """The settings and the home they name, with its folders made.

    Raises:
        SettingsError: a setting is wrong or the home cannot be used.
    """
    settings = Settings.load()
    return settings, prepare_home(settings.home_folder)


def open_automemory(settings: Settings | None = None) -> Automemory:
    """Put the deployment together: home prepared, database migrated, source chosen.

    Raises:
        SettingsError: a setting is wrong or the home cannot be used.
        StateUnavailable, StateSchemaMismatch: the database cannot be used; nothing was changed.
    """
    settings = settings or Settings.load()
    layout = prepare_home(settings.home_folder)
    choice = choose_source(settings, layout)
    _refuse_lost_database(settings, layout)
    store = open_state_store(state_url(settings, layout), worker=own_process)
    eligibility = eligibility_policy(
        settings, is_sample=choice.is_sample, is_generation_on=choice.is_generation_on
    )
    secrets = secret_tools(
        plain_markers=settings.plain_markers, redact_personal=settings.redact_personal
    )
    return Automemory(
        settings=settings,
        layout=layout,
        choice=choice,
        store=store,
        workspace=GitWorkspaces(layout.memories, clock=system_clock, redact=secrets.redact),
        eligibility=eligibility,
        leases=lease_policy(settings),
        selection=selection_policy(settings, is_sample=choice.is_sample),
        sweep_world=SweepWorld(
            origin=codex_origin(settings, choice, store, policy=eligibility, redact=secrets.redact),
            store=store,
            clock=system_clock,
            redact=secrets.redact,
        ),
        secrets=secrets,
    )


def shared_automemory() -> Automemory:
    """The process's own deployment; the first call reads the environment and opens the database.

    Safe from many threads: sensors look side by side, and one deployment serves them all.
    """
    with _SHARING:
        return _opened_once()


_SHARING = threading.Lock()


def _refuse_lost_database(settings: Settings, layout: HomeLayout) -> None:
    if settings.database_url is None and layout.has_lost_database():
        raise StateUnavailable(
            f"The state database {layout.state_database} is gone, but this home holds memory that "
            "was made with it. Nothing was changed. Put the database back; or, to begin anew, move "
            f"{layout.memories} away. If it is on PostgreSQL, set AUTOMEMORY_DATABASE_URL."
        )


@cache
def _opened_once() -> Automemory:
    return open_automemory()


def state_url(settings: Settings, layout: HomeLayout) -> str:
    """The SQLAlchemy URL of the state store."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    return f"sqlite:///{layout.state_database}"
