"""Makes a SQLite file hold what its rows say and nothing else.

The trap: a row that was overwritten or deleted lives on in free pages and in the write-ahead log.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from automemory_dagster.domain.errors import TransientError

_MAGIC = b"SQLite format 3\x00"
_WAIT_SECONDS = 30.0
COMPANIONS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""


def with_companions(path: Path) -> Iterator[Path]:
    """A database's file and those that may lie beside it."""
    yield path
    yield from (path.with_name(path.name + ending) for ending in COMPANIONS)


def is_sqlite(path: Path) -> bool:
    """True for a SQLite database; an empty file is none.

    Not for a file to which this process has a connection: closing the file drops its locks.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def sqlite_files(folder: Path) -> Iterator[Path]:
    """Every SQLite database below a folder, sorted; links are not followed."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and is_sqlite(path):
            yield path


def rewrite_pages(path: Path) -> None:
    """Write the file anew from its rows and fold the log into it. Idempotent.

    Raises:
        TransientError: somebody else is using it, or the disk is full.
    """
    try:
        with closing(
            sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        ) as connection:
            connection.execute("VACUUM")
            is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise TransientError(
            f"The old pages of {path} could not be removed ({error}). Run it again."
        ) from error
    if is_busy:
        raise TransientError(
            f"{path} is in use, so that its log still holds old pages. Stop what uses it, "
            "then run it again."
        )
