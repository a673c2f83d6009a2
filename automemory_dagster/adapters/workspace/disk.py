"""What is done to the disk, so that a refusal is told in words and a removal never goes astray."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from automemory_dagster.domain.errors import TransientError

FOLDER_MODE = 0o700
FILE_MODE = 0o600

_FLUSH_THREADS = 16


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Turn what the operating system refuses into an error that says so.

    Raises:
        TransientError: a full disk, missing rights and the like; a person has to look.
    """
    try:
        yield
    except OSError as error:
        where = os.fsdecode(error.filename) if error.filename else str(place)
        raise TransientError(
            f"The memory folder cannot be used ({error.strerror}: {where}); "
            "what was published is as it was."
        ) from error


def remove_folder(folder: Path) -> None:
    """Delete a folder as far as possible; never raises and never follows a link."""
    # A person's read-only folder must not stop a consolidation that has succeeded already.
    shutil.rmtree(folder, onerror=_open_up_and_retry)


def flush_to_disk(*places: str | Path) -> None:
    """Make these files' contents or folders' entries outlast a power cut."""
    for place in places:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def flush_tree(folder: Path) -> None:
    """Make a whole new folder outlast a power cut; hard links are taken to be flushed already.

    A thousand small files take about 0.1 s at once and up to 2 s one by one, since the disk joins
    what is asked for at the same time. One ``sync`` would wait for everybody else's files too.
    """
    places: list[str] = []
    for parent, _, names in os.walk(folder):
        files = (os.path.join(parent, name) for name in names)
        places.extend(place for place in files if os.lstat(place).st_nlink == 1)
        places.append(parent)
    with ThreadPoolExecutor(_FLUSH_THREADS) as pool:
        # Reading the results raises what a flush raised.
        list(pool.map(flush_to_disk, places))


def make_private(folder: Path) -> None:
    """Take all rights but the owner's from a folder and what is in it.

    Files that are hard links are left alone: the other name may not be ours to change.
    """
    for parent, _, names in os.walk(folder):
        os.chmod(parent, FOLDER_MODE)
        for name in names:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            if status.st_nlink == 1 and status.st_mode & 0o077:
                os.chmod(path, status.st_mode & 0o700)


def _open_up_and_retry(function: Callable[..., object], path: str, _error: object) -> None:
    with suppress(OSError):
        os.chmod(os.path.dirname(path), FOLDER_MODE)
        if function in (os.unlink, os.rmdir):
            function(path)
        elif not os.path.islink(path) and os.path.isdir(path):
            os.chmod(path, FOLDER_MODE)
            shutil.rmtree(path, ignore_errors=True)
