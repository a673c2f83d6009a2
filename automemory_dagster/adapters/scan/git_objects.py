"""Texts in git's object files, loose and packed, reachable or not, read without a repository.

The trap: following the branches. What no branch points to any more is still on the disk.
"""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from dulwich.errors import ChecksumMismatch, FileFormatException
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ShaFile, Tree

_LOOSE_FOLDER = re.compile(r"[0-9a-f]{2}")
_LOOSE_NAME = re.compile(r"[0-9a-f]{38}")
_DAMAGED = (
    AssertionError,
    ChecksumMismatch,
    EOFError,
    FileFormatException,
    KeyError,
    OSError,
    ValueError,
    zlib.error,
)


class DamagedObjects(Exception):
    """A file of objects cannot be read to its end."""


def is_object_file(path: Path) -> bool:
    """True for a loose object, a pack, and what stands beside a pack."""
    if path.suffix in (".pack", ".idx", ".rev", ".bitmap") and path.parent.name == "pack":
        return True
    return bool(_LOOSE_FOLDER.fullmatch(path.parent.name) and _LOOSE_NAME.fullmatch(path.name))


def object_texts(path: Path) -> Iterator[str]:
    """The text of each object in an object file; names, for a folder's object.

    Raises:
        DamagedObjects: it cannot be read to its end.
    """
    if path.suffix not in ("", ".pack"):
        return
    try:
        if path.suffix == ".pack":
            yield from _packed_texts(path)
        else:
            yield _text(ShaFile.from_path(str(path)))
    except _DAMAGED as error:
        raise DamagedObjects(type(error).__name__) from error


def _packed_texts(path: Path) -> Iterator[str]:
    """The texts of all packs of a folder, told for its first pack; the library opens all at once.

    A pack without its index is damaged.
    """
    if not path.with_suffix(".idx").is_file():
        raise EOFError("no index")
    if path != min(each for each in path.parent.glob("*.pack")):
        return
    store = DiskObjectStore(str(path.parent.parent))
    try:
        for pack in store.packs:
            yield from map(_text, pack.iterobjects())
    finally:
        store.close()


def _text(item: ShaFile) -> str:
    if isinstance(item, Tree):
        # The ids between the names are random bytes, which read like anything.
        content = b"\n".join(entry.path for entry in item.items() if entry.path)
    else:
        content = item.as_raw_string()
    return content.decode("utf-8", "surrogateescape")
