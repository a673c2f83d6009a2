"""Codex's own index: found, read without a trace beside it, and survived in any state."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from automemory_dagster.adapters.sources.codex.state_database import (
    CachedThreadIndex,
    IndexWords,
    find_state_database,
    memory_mode_of,
    read_thread_index,
)
from automemory_dagster.domain.thread import MemoryMode
from tests.builders import thread_id

ONE = thread_id(1)
COLUMNS = "id TEXT PRIMARY KEY, title TEXT, archived INTEGER, memory_mode TEXT, cwd TEXT"
ROW = (ONE, "Fix the parser", 1, "polluted", "/home/dev/projects/shop-api")


def a_database(
    home: Path, *, columns: str = COLUMNS, row: tuple[object, ...] = ROW, number: int = 5
) -> Path:
    path = home / f"state_{number}.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE threads ({columns})")
        connection.execute(f"INSERT INTO threads VALUES ({', '.join('?' * len(row))})", row)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestFinding:
    def test_the_highest_number_counts_as_a_number(self, tmp_path: Path) -> None:
        for name in ("state_5.sqlite", "state_10.sqlite", "state_9.sqlite", "state_11.sqlite.bak"):
            (tmp_path / name).touch()

        assert find_state_database(tmp_path) == tmp_path / "state_10.sqlite"

    def test_a_home_without_one_has_none(self, tmp_path: Path) -> None:
        assert find_state_database(tmp_path) is None
        assert find_state_database(tmp_path / "nowhere") is None
        assert read_thread_index(None).words == {}


class TestReading:
    def test_a_row_gives_title_archived_memory_mode_and_cwd(self, tmp_path: Path) -> None:
        index = read_thread_index(a_database(tmp_path))

        assert index.problem == ""
        assert index.words == {
            ONE: IndexWords(
                title="Fix the parser",
                is_archived=True,
                memory_mode=MemoryMode.POLLUTED,
                cwd="/home/dev/projects/shop-api",
            )
        }

    def test_the_name_that_a_person_gave_goes_before_the_title(self, tmp_path: Path) -> None:
        path = a_database(
            tmp_path, columns="id TEXT, title TEXT, name TEXT", row=(ONE, "long title", "Parser")
        )

        assert read_thread_index(path).words[ONE].title == "Parser"

    def test_missing_columns_say_nothing(self, tmp_path: Path) -> None:
        path = a_database(tmp_path, columns="id TEXT", row=(ONE.upper(),))

        assert read_thread_index(path).words == {ONE: IndexWords()}

    def test_a_database_without_the_table_says_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "state_5.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE other (x)")

        assert read_thread_index(path) == read_thread_index(None)

    def test_broken_utf8_in_one_title_costs_no_other_row(self, tmp_path: Path) -> None:
        path = a_database(tmp_path)
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "INSERT INTO threads (id, title) VALUES (?, CAST(x'63616ce9' AS TEXT))",
                (thread_id(2),),
            )

        assert read_thread_index(path).words[thread_id(2)].title == "cal\ufffd"

    @pytest.mark.parametrize(
        "content", [b"", b"no database at all", b"SQLite format 3\0" + b"x" * 99]
    )
    def test_a_damaged_database_is_a_problem_and_no_error(
        self, tmp_path: Path, content: bytes
    ) -> None:
        path = tmp_path / "state_5.sqlite"
        path.write_bytes(content)

        index = read_thread_index(path)

        assert index.words == {}
        # SQLite takes an empty file for a new database.
        assert bool(index.problem) == bool(content)


class TestLeavingNoTrace:
    def test_reading_a_closed_database_makes_no_file(self, tmp_path: Path) -> None:
        path = a_database(tmp_path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        before = contents(tmp_path)

        read_thread_index(path)

        assert contents(tmp_path) == before
        assert set(before) == {"state_5.sqlite"}

    def test_rows_that_stand_only_in_the_wal_of_a_running_codex_are_read(
        self, tmp_path: Path
    ) -> None:
        path = a_database(tmp_path)
        with contextlib.closing(sqlite3.connect(path)) as running:
            running.execute("PRAGMA journal_mode = WAL")
            running.execute("UPDATE threads SET memory_mode = 'disabled'")
            running.commit()
            names = set(os.listdir(tmp_path))

            words = read_thread_index(path).words[ONE]

            assert words.memory_mode is MemoryMode.DISABLED
            assert set(os.listdir(tmp_path)) == names

    def test_a_wal_without_its_shared_memory_is_read_from_a_copy(self, tmp_path: Path) -> None:
        (tmp_path / "live").mkdir()
        copied = tmp_path / "copied"
        copied.mkdir()
        path = a_database(tmp_path / "live")
        with contextlib.closing(sqlite3.connect(path)) as running:
            running.execute("PRAGMA journal_mode = WAL")
            running.execute("UPDATE threads SET title = 'only in the wal'")
            running.commit()
            for name in ("state_5.sqlite", "state_5.sqlite-wal"):
                shutil.copyfile(tmp_path / "live" / name, copied / name)
        before = contents(copied)

        index = read_thread_index(copied / "state_5.sqlite")

        assert index.words[ONE].title == "only in the wal"
        assert contents(copied) == before

    def test_a_database_locked_for_one_process_is_read_from_a_copy(self, tmp_path: Path) -> None:
        path = a_database(tmp_path)
        with contextlib.closing(sqlite3.connect(path)) as running:
            running.execute("PRAGMA journal_mode = WAL")
            running.execute("PRAGMA locking_mode = EXCLUSIVE")
            running.execute("UPDATE threads SET title = 'locked'")
            running.commit()
            names = set(os.listdir(tmp_path))

            index = read_thread_index(path)

            assert index.words[ONE].title == "locked"
            assert set(os.listdir(tmp_path)) == names


class TestDigest:
    def test_it_follows_title_archived_and_memory_mode_only(self) -> None:
        words = IndexWords(title="t", is_archived=False, memory_mode=MemoryMode.ENABLED, cwd="/a")

        digests = {
            words.digest,
            IndexWords(title="u", memory_mode=MemoryMode.ENABLED).digest,
            IndexWords(title="t", is_archived=True, memory_mode=MemoryMode.ENABLED).digest,
            IndexWords(title="t", memory_mode=MemoryMode.DISABLED).digest,
        }

        assert len(digests) == 4
        assert (
            IndexWords(title="t", memory_mode=MemoryMode.ENABLED, cwd="/b").digest == words.digest
        )

    def test_a_thread_without_a_row_has_one_too(self, tmp_path: Path) -> None:
        assert read_thread_index(None).digest(ONE) == "none"
        assert read_thread_index(a_database(tmp_path)).digest(thread_id(2)) == "none"


class TestCache:
    def test_a_change_of_the_database_is_noticed(self, tmp_path: Path) -> None:
        path = a_database(tmp_path)
        index = CachedThreadIndex(tmp_path)
        first = index.read()
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE threads SET title = 'another'")
        os.utime(path, ns=(1, 1))

        assert first.words[ONE].title == "Fix the parser"
        assert index.read().words[ONE].title == "another"
        assert index.read() is index.read()

    def test_the_last_words_stay_while_it_cannot_be_read(self, tmp_path: Path) -> None:
        path = a_database(tmp_path)
        index = CachedThreadIndex(tmp_path)
        index.read()
        path.write_bytes(b"torn")

        torn = index.read()

        assert torn.words[ONE].memory_mode is MemoryMode.POLLUTED
        assert torn.digest(ONE) == "unread"
        assert "state_5.sqlite cannot be read" in torn.problem


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ("enabled", MemoryMode.ENABLED),
        (" Disabled ", MemoryMode.DISABLED),
        ("polluted", MemoryMode.POLLUTED),
        ("paused-by-2031", MemoryMode.DISABLED),
        ("", None),
        (None, None),
        (1, None),
    ],
)
def test_an_unknown_memory_mode_is_no_consent(said: object, mode: MemoryMode | None) -> None:
    assert memory_mode_of(said) is mode
