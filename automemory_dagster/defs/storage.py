"""One ``dagster.yaml`` for both databases: Dagster's own storage follows
``AUTOMEMORY_DATABASE_URL``.

Plain YAML cannot fall back when a variable is unset, a class can. It imports Dagster's inner
modules, so the dependency is capped below the next minor version and a test opens both kinds.
"""

from pathlib import Path
from typing import Any, Self, cast

from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage

from automemory_dagster.adapters.home import prepare_home
from automemory_dagster.adapters.state import normalise_url
from automemory_dagster.adapters.workspace.lock import waiting_for
from automemory_dagster.settings import Settings

_WAIT_SECONDS = 60


class AutomemoryStorage(DagsterStorage, ConfigurableClass):
    """Never an instance of its own: configured, it turns into Dagster's SQLite or PostgreSQL
    storage."""

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """No configuration: the environment says it all."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: object
    ) -> Self:
        """The storage that the settings ask for.

        Built in every process, so it is safe to repeat.
        """
        settings = Settings.load()
        if settings.database_url is not None:
            url = normalise_url(settings.database_url.get_secret_value())
            return cast(Self, DagsterPostgresStorage(url, inst_data=inst_data))
        folder = _dagster_folder(settings)
        # Dagster makes its tables at the first opening, and two processes that do so at once fail.
        with waiting_for(folder / ".storage.lock", wait_seconds=_WAIT_SECONDS):
            return cast(Self, DagsterSqliteStorage.from_local(str(folder), inst_data=inst_data))


def _dagster_folder(settings: Settings) -> Path:
    return prepare_home(settings.home_folder).dagster
