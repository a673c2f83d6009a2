"""What is done to the disk, so that a refusal is told in words and a removal never goes astray."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from automemory_dagster.domain.errors import TransientError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


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


def flush_to_disk(*folders: Path) -> None:
    """Make the entries of these folders outlast a power cut."""
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
