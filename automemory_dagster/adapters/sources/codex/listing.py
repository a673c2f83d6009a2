"""The rollout files of a Codex home, found by a walk that opens none of them."""

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.domain.errors import TransientError

ROLLOUT_SUFFIXES = (".jsonl", ".jsonl.zst", ".json")
"""``.json`` is generation A: one document a file."""

_TOP_FOLDERS = (("sessions", False), ("archived_sessions", True))


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
                    self._note_misnamed(entry)
                elif entry.is_symlink() and entry.is_dir():
                    self._problems.append(
                        f"The linked folder {entry.path!a} is not followed; left out."
                    )
                elif entry.name.endswith(ROLLOUT_SUFFIXES) and not entry.name.startswith("."):
                    self._add_file(entry, real_top, is_archived)

    def _note_misnamed(self, folder: "os.DirEntry[str]") -> None:
        if folder.name.endswith(ROLLOUT_SUFFIXES):
            self._problems.append(
                f"{folder.path!a} is a folder though it is named like a rollout; what is in it is "
                "read."
            )

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
        except OSError as error:
            # A file is gone between the listing and the stat: the next look has the last word.
            if entry.is_symlink():
                self._problems.append(
                    f"The link {entry.path!a} leads nowhere ({error.strerror}); left out."
                )
            return
        if not stat.S_ISREG(found.st_mode):
            # A pipe that is named like a rollout would block whoever opens it.
            self._problems.append(f"{entry.path!a} is {_kind_of(found.st_mode)}; left out.")
            return
        self._files.append(
            RolloutFile(
                path=entry.path,
                size_bytes=found.st_size,
                mtime_ns=found.st_mtime_ns,
                ctime_ns=found.st_ctime_ns,
                is_archived=is_archived,
            )
        )


def _kind_of(mode: int) -> str:
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "no plain file")


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)
