"""A lock on a file: held by one process at a time, gone with it whatever kills it.

The lease in the state store says who may consolidate. This lock only keeps two processes, one of
which is stale, from touching the same folders in the same moment. It needs POSIX ``flock``.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import FILE_MODE, disk_errors
from automemory_dagster.domain.errors import TransientError

_PAUSE_SECONDS = 0.02


class FileLock:
    """One taken lock. It is free again when closed, or when the process is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def try_take(cls, path: Path) -> "FileLock | None":
        """The lock, or None when somebody holds it. Makes the file when it is not there."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def close(self) -> None:
        """Give it back."""
        os.close(self._descriptor)


@contextmanager
def waiting_for(path: Path, *, wait_seconds: float) -> Iterator[None]:
    """Hold the lock, after waiting at most ``wait_seconds`` for it.

    Raises:
        TransientError: somebody else holds it all that time.
    """
    until = time.monotonic() + wait_seconds
    while (lock := _try_take(path)) is None:
        if time.monotonic() >= until:
            raise TransientError(
                f"Another process has been working on {path.parent} for {wait_seconds:g} seconds; "
                "nothing was changed. The next run tries again."
            )
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        lock.close()


def _try_take(path: Path) -> FileLock | None:
    with disk_errors(path):
        return FileLock.try_take(path)
