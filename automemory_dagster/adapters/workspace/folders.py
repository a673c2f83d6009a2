"""Where one space's folders lie, and how folders are made, removed and told apart from leftovers.

Beside the workspace there is one hidden folder for everything that is not published: the lock, the
staging copies, the former workspace while a swap is under way, and rubbish on its way out. All of
it is on one file system, so that a rename is all it takes.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import FOLDER_MODE, disk_errors, remove_folder
from automemory_dagster.adapters.workspace.lock import FileLock, waiting_for
from automemory_dagster.domain.errors import InvalidArtifacts, TransientError

_STAGING = "staging-"
_RUBBISH = "rubbish-"


@dataclass(frozen=True, slots=True)
class SpaceFolders:
    """The folders of one space."""

    workspace: Path
    lock_wait_seconds: float

    @property
    def private(self) -> Path:
        """The hidden folder beside the workspace."""
        return self.workspace.parent / f".{self.workspace.name}"

    @property
    def former(self) -> Path:
        """The workspace as it was, while a swap is under way; there at no other time."""
        return self.private / "former"

    @property
    def put_aside(self) -> Path:
        """The last damaged thing that was found, kept for a person rather than lost."""
        return self.private / "put-aside"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes away from this space's folders. Makes the hidden one.

        Raises:
            TransientError: another process is busy here, or the disk refused.
        """
        with disk_errors(self.private):
            self.private.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with waiting_for(self.private / "lock", wait_seconds=self.lock_wait_seconds):
            yield

    def new_rubbish(self) -> Path:
        """A fresh name in the hidden folder, to rename something to before it is deleted."""
        return Path(tempfile.mkdtemp(prefix=_RUBBISH, dir=self.private)) / "it"

    def discard(self, folder: Path) -> None:
        """Take a folder out of sight at once, then delete it; what will not go is tried again.

        In two steps, so that nobody ever sees it half-deleted.
        """
        rubbish = self.new_rubbish()
        folder.rename(rubbish)
        remove_folder(rubbish.parent)

    def keep_aside(self, damaged: Path) -> None:
        """Move something unreadable out of the way; what was put aside before is deleted."""
        if os.path.lexists(self.put_aside):
            self.discard(self.put_aside)
        damaged.rename(self.put_aside)

    def check_usable(self) -> None:
        """Accept the workspace as it is.

        Raises:
            InvalidArtifacts: it is a link. TransientError: a swap was cut short.
        """
        if self.workspace.is_symlink():
            raise InvalidArtifacts(
                f"The memory folder {self.workspace} is a symbolic link; nothing was changed. "
                "Put a real folder in its place, or choose another home."
            )
        if self.former.exists():
            raise TransientError(
                f"A swap of {self.workspace} was cut short; recover it first. Nothing was changed."
            )

    def remove_leftovers(self) -> None:
        """Delete what dead processes left. Call with the lock held."""
        for entry in list(self.private.iterdir()):
            if entry.name.startswith(_RUBBISH) or (
                entry.name.startswith(_STAGING) and not _is_in_use(entry)
            ):
                remove_folder(entry)


class StagingFolder:
    """A folder that lives as long as its process: its lock tells others that it is in use."""

    def __init__(self, folders: SpaceFolders) -> None:
        """Make it. Call with the space's lock held, or a cleaner may take it for a leftover."""
        self._container = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folders.private))
        self._lock = FileLock.try_take(self._container / "lock")
        self.tree = self._container / "tree"

    def remove(self) -> None:
        """Delete it with all that is in it."""
        remove_folder(self._container)
        if self._lock:
            self._lock.close()


def _is_in_use(container: Path) -> bool:
    lock = FileLock.try_take(container / "lock")
    if lock:
        lock.close()
    return lock is None
