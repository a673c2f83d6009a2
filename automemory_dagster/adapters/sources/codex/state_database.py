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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    """By thread id in lower case."""
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


def read_thread_index(database: Path | None) -> ThreadIndex:
    """Read the whole ``threads`` table, four columns of it; never raises, never writes beside it.

    Unknown and missing columns, rows without a file and files without a row are all normal.
    """
    if database is None:
        return ThreadIndex()
    try:
        with _opened(database) as connection:
            return ThreadIndex(words=_read_words(connection))
    except (sqlite3.Error, OSError) as error:
        return ThreadIndex(
            problem=f"Codex's {database.name} cannot be read ({error}); went on without it."
        )


def index_stamp(database: Path | None) -> tuple[tuple[int, int] | None, ...]:
    """Size and mtime of the database and of its WAL: equal stamps mean equal words."""
    return tuple(_size_and_time(path) for path in (database, _beside(database, "-wal")))


@contextlib.contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    wal, shm = _beside(database, "-wal"), _beside(database, "-shm")
    has_wal = wal is not None and wal.exists() and wal.stat().st_size > 0
    if not has_wal:
        # Everything is in the main file; ``immutable`` keeps SQLite from making -wal and -shm.
        yield from _connection(database, "mode=ro&immutable=1")
    elif shm is not None and shm.exists() and os.access(database.parent, os.W_OK):
        yield from _connection(database, "mode=ro")
    else:
        yield from _connection_to_copy(database)


def _connection(database: Path, options: str) -> Iterator[sqlite3.Connection]:
    uri = f"{database.absolute().as_uri()}?{options}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=2.0)) as connection:
        # A title with broken UTF-8 must not cost the whole index.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield connection


def _connection_to_copy(database: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="automemory-index-") as folder:
        # The -shm file is left behind: it is only an index over the WAL, and SQLite makes it anew.
        for suffix in ("", "-wal"):
            source = f"{database}{suffix}"
            if os.path.exists(source):
                shutil.copyfile(source, os.path.join(folder, f"{database.name}{suffix}"))
        yield from _connection(Path(folder) / database.name, "mode=rw")


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
            is_archived=bool(values.get("archived")),
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


def _beside(database: Path | None, suffix: str) -> Path | None:
    return database.with_name(database.name + suffix) if database else None


def _size_and_time(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if found else None
