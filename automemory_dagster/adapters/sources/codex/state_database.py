"""What Codex's own thread index, ``state_5.sqlite``, says of threads: archived, title, memory mode,
cwd.

The trap: SQLite makes ``-wal`` and ``-shm`` files beside a database that it opens, even read-only.
The person's folder is never written: the database is read in place only where that makes no file,
else from a copy. Source: ``reference/rollout-format.md``, section 4.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from automemory_dagster.domain.thread import MemoryMode

_NAME = re.compile(r"state_(\d+)\.sqlite")
_COLUMNS = ("id", "title", "name", "archived", "memory_mode", "cwd")

NO_ROW = "none"
"""The digest of a thread that the index does not have."""
UNREAD = "unread"
"""The digest of every thread while there is an index and it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexWords:
    """What the index says of one thread; texts as they stand there, neither cleaned nor
    redacted."""

    title: str = ""
    """The name that a person gave, else the title."""
    is_archived: bool = False
    memory_mode: MemoryMode | None = None
    """None when the index has no such column or value."""
    cwd: str = ""

    @property
    def digest(self) -> str:
        """Changes when the title, the archived flag or the memory mode does."""
        words = json.dumps([self.title, self.is_archived, self.memory_mode])
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadIndex:
    """The index as one reading found it."""

    words: Mapping[str, IndexWords] = field(default_factory=dict)
    """By thread id in lower case; the last ones known while it cannot be read."""
    problem: str = ""
    """Why it could not be read; empty when it was, or when there is none."""

    def digest(self, thread_id: str) -> str:
        """What goes into a stamp's ``index_digest``."""
        if self.problem:
            return UNREAD
        words = self.words.get(thread_id)
        return words.digest if words else NO_ROW


def find_state_database(home: Path) -> Path | None:
    """The ``state_<number>.sqlite`` with the highest number, or None."""
    try:
        names = [match for name in os.listdir(home) if (match := _NAME.fullmatch(name))]
    except OSError:
        return None
    newest = max(names, key=lambda match: int(match.group(1)), default=None)
    return home / newest.group() if newest else None


class CachedThreadIndex:
    """The index of one home, read again only when its file or its WAL changed.

    What it said last stays in force while it cannot be read, so that a moment's trouble does not
    undo an opt-out that stands only there. Safe to share between threads.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._stamp: object = None
        self._index = ThreadIndex()

    def read(self) -> ThreadIndex:
        """What the index says now; never raises."""
        database = find_state_database(self._home)
        stamp = (database, _stamp_of(database))
        with self._lock:
            if stamp != self._stamp:
                fresh = read_thread_index(database)
                if fresh.problem:
                    fresh = replace(fresh, words=self._index.words)
                self._index, self._stamp = fresh, stamp
            return self._index


def read_thread_index(database: Path | None) -> ThreadIndex:
    """Read the whole ``threads`` table, a few columns of it; never raises, never writes beside it.

    Unknown and missing columns, rows without a file and files without a row are all normal.
    """
    if database is None:
        return ThreadIndex()
    try:
        return ThreadIndex(words=_read(database))
    except (sqlite3.Error, OSError) as error:
        return ThreadIndex(
            problem=f"Codex's {database.name} cannot be read ({error}); went on without it."
        )


def _stamp_of(database: Path | None) -> tuple[tuple[int, int] | None, ...]:
    """Size and mtime of the database and of its WAL: equal stamps mean equal words."""
    if database is None:
        return ()
    return _size_and_time(database), _size_and_time(database.with_name(f"{database.name}-wal"))


def _read(database: Path) -> dict[str, IndexWords]:
    wal = database.with_name(f"{database.name}-wal")
    shm = database.with_name(f"{database.name}-shm")
    if not wal.exists() or wal.stat().st_size == 0:
        # Everything is in the main file; ``immutable`` keeps SQLite from making -wal and -shm.
        options = "mode=ro&immutable=1"
    elif shm.exists():
        options = "mode=ro"
    else:
        return _read_copy(database)
    try:
        return _read_in_place(database, options)
    except sqlite3.DatabaseError:
        # Codex has locked it, its folder forbids using the WAL, or it was written to while it was
        # read as immutable: a copy tells those from a damaged file.
        return _read_copy(database)


def _read_copy(database: Path) -> dict[str, IndexWords]:
    with tempfile.TemporaryDirectory(prefix="automemory-index-") as folder:
        # The -shm file stays behind: it is only an index over the WAL, and SQLite makes it anew.
        for suffix in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{database}{suffix}", os.path.join(folder, f"copy{suffix}"))
        return _read_in_place(Path(folder) / "copy", "mode=rw")


def _read_in_place(database: Path, options: str) -> dict[str, IndexWords]:
    uri = f"{database.absolute().as_uri()}?{options}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=2.0)) as connection:
        # A title with broken UTF-8 must not cost the whole index.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return _read_words(connection)


def _read_words(connection: sqlite3.Connection) -> dict[str, IndexWords]:
    there = {str(row[1]) for row in connection.execute("PRAGMA table_info(threads)")}
    if "id" not in there:
        return {}
    columns = [column for column in _COLUMNS if column in there]
    # The names come from the constant above, never from the database.
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM threads")
    words = {}
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        words[str(values["id"]).lower()] = IndexWords(
            title=_text(values.get("name")).strip() or _text(values.get("title")),
            is_archived=values.get("archived") not in (None, 0, "0", ""),
            memory_mode=memory_mode_of(values.get("memory_mode")),
            cwd=_text(values.get("cwd")),
        )
    return words


def memory_mode_of(value: object) -> MemoryMode | None:
    """The memory mode that a word means; None when nothing is said.

    A word that this version does not know counts as ``DISABLED``: consent is never guessed.
    """
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return MemoryMode(value.strip().lower())
    except ValueError:
        return MemoryMode.DISABLED


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _size_and_time(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
