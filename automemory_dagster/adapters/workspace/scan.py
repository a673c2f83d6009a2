"""What is in a workspace folder, read whole in one walk, and copied on the way when asked.

The trap: following a link. A link to a file elsewhere would bring that file into memory, a link to
a folder would let a write leave the workspace; so links are listed by their own name only. Nor is
a hard link a copy: an editor that writes in place would change both, after one was validated.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import FILE_MODE, FOLDER_MODE

GIT_FOLDER = b".git"
PLAIN = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120000


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content and kind, as git tells them apart."""

    mode: int
    blob_id: bytes
    """40 hexadecimal digits: git's SHA-1 of the content."""


@dataclass(slots=True)
class Scan:
    """The content of a folder; paths are bytes relative to it, with ``/``."""

    files: dict[bytes, Blob] = field(default_factory=dict)
    texts: set[bytes] = field(default_factory=set)
    """Files whose name and content are UTF-8 without NUL."""
    links: dict[bytes, Blob] = field(default_factory=dict)
    """Symbolic links, as git records them."""
    oddities: set[bytes] = field(default_factory=set)
    """Sockets, pipes and devices, which nobody can copy."""
    carried: dict[bytes, Blob] = field(default_factory=dict)
    """Files in git folders further down: copied, never tracked."""

    @property
    def tracked(self) -> Mapping[bytes, Blob]:
        """Everything that git tracks."""
        return {**self.files, **self.links}


def blob_id_of(content: bytes) -> bytes:
    """Git's id of a content."""
    # SHA-1 names an object here, it protects nothing.
    digest = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest().encode("ascii")


def is_text(content: bytes) -> bool:
    """True for UTF-8 without NUL."""
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def shown(path: bytes) -> str:
    """A path for people; bytes that are no UTF-8 become escapes."""
    return path.decode("utf-8", "backslashreplace")


def is_git_part(name: bytes) -> bool:
    """True for a name that git itself never tracks."""
    return name.lower() == GIT_FOLDER


def scan(folder: Path, *, copy_to: Path | None = None) -> Scan:
    """Read a folder without its own git folder; an absent one reads as empty.

    With ``copy_to``, a new folder, every file and every folder is copied there: private to the
    owner, with the same times; links and oddities are not.

    Raises:
        OSError: something cannot be read or written.
    """
    found = Scan()
    if copy_to is not None:
        os.mkdir(copy_to, FOLDER_MODE)
    if not folder.is_dir():
        return found
    source, target = os.fsencode(folder), os.fsencode(copy_to) if copy_to else None
    pending = [(b"", False)]
    while pending:
        below, is_carried = pending.pop()
        with os.scandir(os.path.join(source, below)) as entries:
            for entry in entries:
                path = below + entry.name
                if path == GIT_FOLDER:
                    continue
                carries = is_carried or is_git_part(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if target is not None:
                        os.mkdir(os.path.join(target, path), FOLDER_MODE)
                    pending.append((path + b"/", carries))
                elif entry.is_file(follow_symlinks=False):
                    copy = os.path.join(target, path) if target is not None else None
                    _note_file(found, path, entry.path, copy, is_carried=carries)
                elif not carries:
                    _note_special(found, path, entry)
    return found


def _note_file(
    found: Scan, path: bytes, source: bytes, copy: bytes | None, *, is_carried: bool
) -> None:
    content, status = _read(source)
    is_executable = bool(status.st_mode & stat.S_IXUSR)
    blob = Blob(EXECUTABLE if is_executable else PLAIN, blob_id_of(content))
    if copy is not None:
        write_file(copy, content, is_executable=is_executable)
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    if is_carried:
        found.carried[path] = blob
        return
    found.files[path] = blob
    if is_text(content) and is_text(path):
        found.texts.add(path)


def _note_special(found: Scan, path: bytes, entry: "os.DirEntry[bytes]") -> None:
    if entry.is_symlink():
        found.links[path] = Blob(LINK, blob_id_of(os.readlink(entry.path)))
    else:
        found.oddities.add(path)


def read_file(path: bytes) -> bytes:
    """A regular file's bytes; never through a link in the last place."""
    return _read(path)[0]


def write_file(path: bytes, content: bytes, *, is_executable: bool = False) -> None:
    """Write a private file; one that is there gives way, a link's target is never touched."""
    mode = FOLDER_MODE if is_executable else FILE_MODE
    # Always a new inode: the old one may be a hard link, read-only, or open in an editor.
    with suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, mode), "wb") as file:
        file.write(content)


def _read(path: bytes) -> tuple[bytes, os.stat_result]:
    # Without O_NONBLOCK, a file swapped for a pipe since it was listed would hang us.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is no plain file", path)
        return file.read(), status
