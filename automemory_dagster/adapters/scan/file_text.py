"""A file's bytes as text and back, whatever they are, and written so that a kill harms nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

from automemory_dagster.adapters.scan.rows import Change

_BLOCK_BYTES = 32 << 20
"""A log of any size is read in blocks that end at a line's end."""


def blocks(path: Path) -> Iterator[str]:
    """The file's text; bytes that are no UTF-8 become lone surrogates.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield (block + file.readline()).decode("utf-8", "surrogateescape")


def rewrite_file(path: Path, change: Change) -> None:
    """Change a text file, in one step; a binary one stays, since a changed byte may break it.

    Raises:
        OSError: it cannot be read or written; it is as it was.
    """
    status = path.lstat()
    draft = path.with_name(f".{path.name[:60]}.{os.getpid()}.new")
    is_changed = False
    try:
        with open(draft, "wb", opener=_private) as target:
            for old in blocks(path):
                if "\0" in old:
                    return
                new = str(change(old))
                is_changed |= new != old
                target.write(new.encode("utf-8", "surrogateescape"))
            os.fchmod(target.fileno(), status.st_mode & 0o7777)
            os.fsync(target.fileno())
        if is_changed:
            os.utime(draft, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def files_below(folder: Path) -> Iterator[Path]:
    """Every plain file below a folder, sorted; links are not followed."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_EXCL | os.O_NOFOLLOW, 0o600)
