"""What a place must not miss: columns of Dagster's schema, objects no branch reaches, old pages."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from sqlalchemy import JSON, LargeBinary, MetaData, String

from automemory_dagster.adapters.scan.dagster_storage import BODIES, NAMES, DagsterTexts
from automemory_dagster.adapters.scan.file_text import blocks, rewrite_file
from automemory_dagster.adapters.scan.git_objects import (
    DamagedObjects,
    is_object_file,
    object_texts,
)
from automemory_dagster.adapters.scan.sqlite_pages import rewrite_pages

_WORDS = """
    action_type asset_key backfill_id check_name concurrency_key daemon_id daemon_type
    dagster_event_type execution_status instigator_type job_name job_origin_id job_type key
    last_run_id mode name partition_set partitions_def_name repository_origin_id
    repository_selector_id run_id run_storage_id selector_id snapshot_id snapshot_type status
    step_key type
"""
_IDS = frozenset(_WORDS.split())
"""Columns that Dagster fills itself, with ids and words of its own."""


@pytest.mark.parametrize(
    "schema", [RunStorageSqlMetadata, SqlEventLogStorageMetadata, ScheduleStorageSqlMetadata]
)
def test_every_text_of_dagsters_schema_is_looked_at(schema: MetaData) -> None:
    missed = {
        f"{table.name}.{column.name}"
        for table in schema.tables.values()
        for column in table.columns
        if isinstance(column.type, String | LargeBinary | JSON)
        and column.name not in (*BODIES.get(table.name, ()), *NAMES.get(table.name, ()), *_IDS)
    }

    assert missed == set()


def test_a_damaged_database_is_told_and_not_taken_for_clean(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\x00" + b"\x07" * 5_000)

    [stored] = DagsterTexts(tmp_path, database_url=None).values()

    assert stored.where == "x.db"
    assert "could not be read" in stored.problem


def test_git_objects_are_read_loose_packed_and_unreachable(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    for number in range(3):
        (tmp_path / "a.md").write_text(f"version {number}\n" + "same line\n" * 40)
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "-q", "-m", f"message {number}")
    _git(tmp_path, "gc", "-q")
    (tmp_path / "a.md").write_text("never reached\n")
    _git(tmp_path, "add", ".")
    (tmp_path / "a.md").write_text("loose\n")
    _git(tmp_path, "commit", "-q", "-a", "-m", "last")

    files = [path for path in (tmp_path / ".git").rglob("*") if is_object_file(path)]
    told = "\n".join(text for path in files for text in object_texts(path))

    for words in ("version 0", "version 2", "message 1", "never reached", "loose", "a.md"):
        assert words in told


def test_a_damaged_object_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "objects" / "ab"
    folder.mkdir(parents=True)
    (folder / ("c" * 38)).write_bytes(b"no object")

    with pytest.raises(DamagedObjects):
        list(object_texts(folder / ("c" * 38)))


def test_old_pages_and_the_log_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES ('the old words')")
        connection.commit()
        connection.execute("UPDATE t SET a = 'new'")
        connection.commit()

        rewrite_pages(path)

        assert not [each for each in tmp_path.iterdir() if b"the old words" in each.read_bytes()]


def test_a_rewritten_file_keeps_its_other_bytes_and_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(b"\xff\xfe old \r\nend")
    path.chmod(0o640)

    rewrite_file(path, lambda text: str(text).replace("old", "new"))

    assert path.read_bytes() == b"\xff\xfe new \r\nend"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    assert "".join(blocks(path)).encode("utf-8", "surrogateescape") == path.read_bytes()


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "safe.directory=*"]
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True)
