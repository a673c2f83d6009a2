"""What only SQLite has: a file, its journal, one writer."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from automemory_dagster.adapters.state import SqlStateStore, open_state_store
from automemory_dagster.domain.errors import StateSchemaMismatch, StateUnavailable
from automemory_dagster.domain.job import JobKind
from tests.adapters.state.builders import a_thread, an_id, claimed, extract


@contextmanager
def write_lock_of(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program holds the file's write lock."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.rollback()
        other.close()


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 1),  # NORMAL
        ("busy_timeout", 30_000),
        ("foreign_keys", 1),
    ],
)
def test_every_connection_is_set_up(
    sqlite_store: SqlStateStore, pragma: str, value: object
) -> None:
    with sqlite_store.database.reading() as first, sqlite_store.database.reading() as second:
        found = [
            connection.execute(text(f"PRAGMA {pragma}")).scalar_one()
            for connection in (first, second)
        ]

    assert found == [value, value]


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    with open_state_store(f"sqlite:///{tmp_path}/state.sqlite") as store:
        store.save_threads([a_thread()])

        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}

    assert modes == dict.fromkeys(modes, 0o600)
    assert "state.sqlite" in modes


@pytest.mark.parametrize("name", ["with space", "per%20cent", "question?x=1", "hash#tag", "記憶"])
def test_any_folder_name_works(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    with open_state_store(f"sqlite:///{folder}/state.sqlite") as store:
        store.save_threads([a_thread()])

    assert (folder / "state.sqlite").stat().st_size > 0


def test_a_relative_path_is_of_the_folder_in_which_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_state_store("sqlite:///state.sqlite") as store:
        os.chdir("/")

        store.save_threads([a_thread()])

    assert (tmp_path / "state.sqlite").exists()


def test_a_locked_file_is_unavailable_for_writers_and_not_for_readers(sqlite_url: str) -> None:
    with open_state_store(sqlite_url, wait_seconds=0.1) as store:
        store.save_threads([a_thread()])
        with write_lock_of(path_of(sqlite_url)):
            with pytest.raises(StateUnavailable, match="locked"):
                store.save_threads([a_thread(2)])
            assert store.thread_state(an_id()) is not None

        store.save_threads([a_thread(2)])
        assert store.thread_state(an_id(2)) is not None


def test_a_new_file_that_is_locked_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE x (y)").connection.close()

    with write_lock_of(path), pytest.raises(StateUnavailable, match="locked"):
        open_state_store(f"sqlite:///{path}", wait_seconds=0.1)


def test_a_writer_waits_for_another_one(sqlite_url: str) -> None:
    with open_state_store(sqlite_url) as store:
        with write_lock_of(path_of(sqlite_url)):
            waiting = threading.Thread(target=store.save_threads, args=([a_thread()],))
            waiting.start()
            waiting.join(timeout=0.2)
            assert waiting.is_alive()
        waiting.join(timeout=10)

        assert store.thread_state(an_id()) is not None


def test_a_file_that_was_deleted_is_gone_and_not_made_anew(sqlite_url: str) -> None:
    with open_state_store(sqlite_url) as store:
        path_of(sqlite_url).unlink()

        with pytest.raises(StateUnavailable, match="gone"):
            store.save_threads([a_thread()])
        with pytest.raises(StateUnavailable, match="gone"):
            store.thread_state(an_id())

    assert not path_of(sqlite_url).exists()


def test_a_file_that_was_put_back_from_a_copy_is_read_anew(sqlite_url: str) -> None:
    path = path_of(sqlite_url)
    with open_state_store(sqlite_url) as store:
        extract(store, a_thread(1))
    copy = path.with_name("copy.sqlite")
    copy.write_bytes(path.read_bytes())
    with open_state_store(sqlite_url) as store:
        extract(store, a_thread(2))
        store.close()

        copy.replace(path)

        assert store.output(an_id(1)) is not None
        assert store.output(an_id(2)) is None


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"\x00" * 4096])
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.sqlite"
    path.write_bytes(content)

    with pytest.raises(StateUnavailable):
        open_state_store(f"sqlite:///{path}")

    assert path.read_bytes() == content


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state_5.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE threads (id TEXT)")
    other.execute("INSERT INTO threads VALUES ('precious')")
    other.commit()

    with pytest.raises(StateSchemaMismatch, match="another program"):
        open_state_store(f"sqlite:///{path}")

    assert other.execute("SELECT * FROM threads").fetchall() == [("precious",)]
    other.close()


@pytest.mark.parametrize("place", ["missing/state.sqlite", "."])
def test_a_place_where_no_file_can_be_is_unavailable(tmp_path: Path, place: str) -> None:
    with pytest.raises(StateUnavailable, match="cannot be opened"):
        open_state_store(f"sqlite:///{tmp_path}/{place}")


def test_a_process_that_ends_leaves_everything_in_the_one_file(tmp_path: Path) -> None:
    program = (
        "import sys; from automemory_dagster.adapters.state import open_state_store; "
        "from tests.adapters.state.builders import a_thread; "
        "store = open_state_store(sys.argv[1]); store.save_threads([a_thread()])"
    )
    url = f"sqlite:///{tmp_path}/state.sqlite"

    checkout = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", program, url], check=True, cwd=checkout)

    assert [path.name for path in tmp_path.iterdir()] == ["state.sqlite"]


def test_what_was_half_written_when_a_process_died_is_not_there(sqlite_url: str) -> None:
    class Killed(BaseException):
        pass

    with open_state_store(sqlite_url) as store:
        claimed(store, a_thread())

        def dies(connection):  # type: ignore[no-untyped-def]
            connection.execute(text("DELETE FROM jobs"))
            raise Killed

        with pytest.raises(Killed):
            store.database.write(dies)

        with store.database.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM jobs")).scalar_one() == 1


def test_a_second_store_on_the_same_file_does_not_cost_the_first_its_locks(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'state.sqlite'}"
    first = open_state_store(url)
    first.record([])
    list(first.thread_states())
    open_state_store(url)
    # Another process that ends in order takes itself for the last one when our locks are gone.
    script = (
        "from automemory_dagster.adapters.state import open_state_store\n"
        "from automemory_dagster.domain.thread import SpaceId\n"
        "from datetime import UTC, datetime\n"
        f"store = open_state_store({url!r})\n"
        "store.request_consolidation(SpaceId('s'), now=datetime.now(UTC))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

    assert first.job(JobKind.CONSOLIDATE, "s") is not None
    assert (tmp_path / "state.sqlite-wal").exists()
