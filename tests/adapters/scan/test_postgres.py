"""The scan's places on a real PostgreSQL: the state store's and Dagster's, in one database."""

import random
from pathlib import Path

import dagster as dg
import pytest
from dagster_postgres import DagsterPostgresStorage
from sqlalchemy import create_engine, text

from automemory_dagster.adapters.scan import DagsterTexts, StateTexts
from automemory_dagster.adapters.secrets import secret_tools
from automemory_dagster.adapters.state import SqlStateStore, normalise_url, open_state_store
from automemory_dagster.ports import StoredTexts
from tests.adapters.secrets.families import FAMILIES

_TOKEN = next(family for family in FAMILIES if family.name == "github_classic")
_TOOLS = secret_tools()


def _found(place: StoredTexts) -> dict[str, dict[str, int]]:
    return {
        stored.where: dict(counts)
        for stored in place.values()
        if (counts := _TOOLS.count_values(stored.value))
    }


def _mend(place: StoredTexts) -> None:
    keys = [stored.key for stored in place.values() if _TOOLS.count_values(stored.value)]
    for key in keys:
        place.rewrite(key, _TOOLS.redact_values)
    place.scrub()


@pytest.fixture
def token() -> str:
    return _TOKEN.make(random.Random("postgres"))


def test_published_texts_move_to_their_new_hash(postgres_store: SqlStateStore, token: str) -> None:
    with postgres_store.database.engine.begin() as connection:
        for statement in (
            "INSERT INTO automemory.memory_versions VALUES ('s', 1, 0, 'offline/1', '', '', '{}')",
            "INSERT INTO automemory.memory_contents VALUES ('s', 'old', 'key: ' || :token)",
            "INSERT INTO automemory.memory_files VALUES ('s', 1, 'MEMORY.md', 'old')",
        ):
            connection.execute(text(statement), {"token": token} if ":token" in statement else {})
    place = StateTexts(postgres_store.database, sqlite_file=None)
    assert _found(place) == {"memory_contents.text": {"github_token": 1}}

    _mend(place)

    assert _found(place) == {}
    published = postgres_store.publication("s")  # type: ignore[arg-type]
    assert published is not None
    assert published.files == {"MEMORY.md": "key: [REDACTED:github_token]"}


def test_events_of_dagster_stay_readable(postgres_url: str, tmp_path: Path, token: str) -> None:
    open_state_store(postgres_url).close()
    url = normalise_url(postgres_url)
    metadata = {"title": dg.MetadataValue.text(f'say "{token}"')}
    with dg.DagsterInstance.ephemeral() as plain:
        storage = DagsterPostgresStorage(url)
        storage.register_instance(plain)
        plain._event_storage = storage.event_log_storage
        plain.report_runless_asset_event(dg.AssetMaterialization("memory", metadata=metadata))
        place = DagsterTexts(tmp_path, database_url=postgres_url)
        assert _found(place) == {
            "event_logs.event": {"github_token": 1},
            "asset_keys.last_materialization": {"github_token": 1},
        }

        _mend(place)

        assert _found(place) == {}
        [event] = plain.fetch_materializations(dg.AssetKey("memory"), limit=1).records
        assert event.asset_materialization is not None
        title = event.asset_materialization.metadata["title"]
        assert title.value == 'say "[REDACTED:github_token]"'


def test_tables_of_others_in_the_same_database_are_left_alone(
    postgres_url: str, tmp_path: Path, token: str
) -> None:
    engine = create_engine(normalise_url(postgres_url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE theirs (id int, note text)"))
        connection.execute(text("INSERT INTO theirs VALUES (1, :note)"), {"note": token})
    place = DagsterTexts(tmp_path, database_url=postgres_url)

    _mend(place)

    assert _found(place) == {}
    with engine.begin() as connection:
        assert connection.execute(text("SELECT note FROM theirs")).scalar_one() == token
    engine.dispose()
