"""The file of a SQLite store: made once, private, with a write-ahead log.

Two traps. Switching the journal needs the file for itself and does not wait for it as other
statements do, so two processes that start together can see "database is locked" at once. And a file
that SQLite has open must not be opened and closed beside it: the close drops every lock that this
process holds on the file, another process then takes itself for the last one and deletes the log,
and this one reads a "malformed" database from there on.
"""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from automemory_dagster.domain.errors import StateUnavailable

_PAUSE_SECONDS = 0.02


def prepare_sqlite_file(path: Path, *, label: str, wait_seconds: float) -> None:
    """Make the file when it is not there. Idempotent; its folder must be there.

    Raises:
        StateUnavailable: it cannot be made or opened, is locked, or is no SQLite file.
    """
    try:
        _make_private_file(path)
        _switch_to_write_ahead_log(path, wait_seconds)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StateUnavailable(
            f"The state store ({label}) cannot be opened; nothing was changed. It says: {reason}"
        ) from error


def _make_private_file(path: Path) -> None:
    # Memory is private: the file is its owner's alone, and the log files beside it follow it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def file_identity(path: Path) -> tuple[int, int] | None:
    """What tells the file from another one at the same path; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _switch_to_write_ahead_log(path: Path, wait_seconds: float) -> None:
    give_up_at = time.monotonic() + wait_seconds
    connection = sqlite3.connect(path, timeout=wait_seconds, isolation_level=None)
    try:
        while True:
            try:
                # Kept in the file: it is switched once in its life, and asked for ever after.
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() >= give_up_at:
                    raise
                time.sleep(_PAUSE_SECONDS)
    finally:
        connection.close()
