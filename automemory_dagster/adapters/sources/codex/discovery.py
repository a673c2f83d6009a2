"""The rollout files of a Codex home: found by a walk, grouped by thread, compared with what is
known.

The trap: opening files to learn that nothing changed. A look at an unchanged home costs one
``stat`` a file; only a file without a thread id in its name is opened to be grouped, and only when
it is new.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.adapters.sources.codex.state_database import UNREAD
from automemory_dagster.domain.errors import TransientError
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.ports import KnownRollout

ROLLOUT_SUFFIXES = (".jsonl", ".jsonl.zst", ".json")
"""``.json`` is generation A: one document a file."""

_TOP_FOLDERS = (("sessions", False), ("archived_sessions", True))
_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutFile:
    """One file that may be a rollout, as ``stat`` tells."""

    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    is_archived: bool
    """Lies in ``archived_sessions/``."""

    @property
    def is_compressed(self) -> bool:
        """True for a ``.zst`` file."""
        return self.path.endswith(".zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a walk found, by path."""

    files: tuple[RolloutFile, ...]
    problems: tuple[str, ...]
    """What was left out and why, one sentence each."""
    unlisted_folders: tuple[str, ...]
    """Folders that could not be listed: what is known to lie in them did not vanish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFiles:
    """The files of one thread, newest first: the first one is the thread's rollout.

    A ``.zst`` file beside its plain twin is left out: both hold the same records.
    """

    thread_id: ThreadId
    files: tuple[RolloutFile, ...]

    @property
    def newest(self) -> RolloutFile:
        """The file with the newest mtime; at a draw not archived, then plain, then by path."""
        return self.files[0]


Scan = Callable[[str], Iterable["os.DirEntry[str]"]]


def list_rollouts(home: Path, *, scan: Scan = os.scandir) -> Listing:
    """Walk ``sessions/`` and ``archived_sessions/``.

    The two folders themselves may be links, since people move them to another disk; below them a
    linked folder is not followed, and a linked file only when it lies in the same folder.

    Raises:
        TransientError: the home itself is no folder or cannot be listed.
    """
    if not home.is_dir():
        raise TransientError(
            f"The Codex home {home} is not there; the catalogue was left as it is."
        )
    walk = _Walk(scan)
    for name, is_archived in _TOP_FOLDERS:
        top = home / name
        if top.is_dir():
            walk.add(str(top), is_archived)
    return walk.listing()


def thread_id_in_name(path: str) -> ThreadId | None:
    """The first UUID in the file's name, in lower case; with two of them the second names a
    page."""
    found = _UUID.search(os.path.basename(path).lower())
    return ThreadId(found.group()) if found else None


def group_by_thread(
    files: Iterable[RolloutFile], *, id_of: Callable[[RolloutFile], ThreadId]
) -> tuple[ThreadFiles, ...]:
    """One entry a thread, in the order of the threads' first files.

    ``id_of`` is asked for files that have no UUID in their name.
    """
    groups: dict[ThreadId, list[RolloutFile]] = {}
    for file in files:
        groups.setdefault(thread_id_in_name(file.path) or id_of(file), []).append(file)
    return tuple(
        ThreadFiles(thread_id=thread_id, files=_newest_first(group))
        for thread_id, group in groups.items()
    )


def has_changed(group: ThreadFiles, known: KnownRollout | None, *, index_digest: str) -> bool:
    """Whether a thread is new, grown, rewritten, moved, or spoken of differently by the index.

    ``known``: what is remembered under the path of the group's newest file. Size and time are both
    compared, since a file can grow with its time unchanged. A file that could not be opened has no
    prefix hash and counts as changed until it can.
    """
    if known is None or known.thread_id != group.thread_id:
        return True
    stamp, newest = known.stamp, group.newest
    if (stamp.size_bytes, stamp.mtime_ns) != (newest.size_bytes, newest.mtime_ns):
        return True
    if not stamp.prefix_sha256:
        return True
    # An unreadable index says nothing new; a stamp without a digest has nothing to compare.
    return index_digest != UNREAD and stamp.index_digest not in ("", index_digest)


def vanished_threads(
    known: Mapping[str, KnownRollout], groups: Iterable[ThreadFiles], listing: Listing
) -> tuple[ThreadId, ...]:
    """Known threads none of whose files is there any more, ascending."""
    present = {group.thread_id for group in groups}
    hidden = tuple(f"{folder}{os.sep}" for folder in listing.unlisted_folders)
    gone = {
        remembered.thread_id
        for path, remembered in known.items()
        if remembered.thread_id not in present and not path.startswith(hidden)
    }
    return tuple(sorted(gone))


def _newest_first(files: list[RolloutFile]) -> tuple[RolloutFile, ...]:
    if len(files) == 1:
        return tuple(files)
    plain = {os.path.basename(file.path) for file in files if not file.is_compressed}
    kept = [
        file
        for file in files
        if not file.is_compressed or os.path.basename(file.path).removesuffix(".zst") not in plain
    ]
    return tuple(
        sorted(
            kept, key=lambda file: (-file.mtime_ns, file.is_archived, file.is_compressed, file.path)
        )
    )


class _Walk:
    """The state of one walk; a folder that cannot be listed is noted and passed over."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._files: list[RolloutFile] = []
        self._problems: list[str] = []
        self._unlisted: list[str] = []

    def listing(self) -> Listing:
        """What was found so far."""
        return Listing(
            files=tuple(sorted(self._files, key=lambda file: file.path)),
            problems=tuple(self._problems),
            unlisted_folders=tuple(self._unlisted),
        )

    def add(self, top: str, is_archived: bool) -> None:
        """Walk one of the two folders."""
        real_top = os.path.realpath(top)
        folders = [top]
        while folders:
            folder = folders.pop()
            try:
                entries = list(self._scan(folder))
            except OSError as error:
                self._unlisted.append(folder)
                self._problems.append(f"The folder {folder!a} cannot be listed ({error.strerror}).")
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name.endswith(ROLLOUT_SUFFIXES) and not entry.name.startswith("."):
                    self._add_file(entry, real_top, is_archived)

    def _add_file(self, entry: "os.DirEntry[str]", real_top: str, is_archived: bool) -> None:
        try:
            entry.path.encode()
            if entry.is_symlink() and not _lies_in(os.path.realpath(entry.path), real_top):
                self._problems.append(f"The link {entry.path!a} leads out of its folder; left out.")
                return
            found = entry.stat()
        except UnicodeEncodeError:
            self._problems.append(f"The name of {entry.path!a} is not UTF-8; the file is left out.")
            return
        except OSError:
            # Gone between the listing and the stat: the next look has the last word.
            return
        # A pipe that is named like a rollout would block whoever opens it.
        if stat.S_ISREG(found.st_mode):
            self._files.append(
                RolloutFile(
                    path=entry.path,
                    size_bytes=found.st_size,
                    mtime_ns=found.st_mtime_ns,
                    ctime_ns=found.st_ctime_ns,
                    is_archived=is_archived,
                )
            )


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)
