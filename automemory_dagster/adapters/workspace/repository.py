"""A workspace's git folder, read and written without git and without anybody's git settings.

The trap: a library that means well. A user's settings can rename the author, filter content, run
hooks or point the work tree elsewhere; so only objects and refs are touched here, and no setting is
read, not even the folder's own. The ordinary ``git`` reads all of it.
"""

import os
import stat
import struct
import zlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from dulwich.errors import ChecksumMismatch, FileFormatException, RefFormatError
from dulwich.index import Index, IndexEntry, index_entry_from_stat
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob as GitBlob
from dulwich.objects import Commit, ObjectID, ShaFile
from dulwich.refs import DiskRefsContainer, Ref, SymrefLoop

from automemory_dagster.adapters.workspace.disk import make_private
from automemory_dagster.adapters.workspace.git_folder import copy_git_folder, make_git_folder
from automemory_dagster.adapters.workspace.packing import pack_loose_objects
from automemory_dagster.adapters.workspace.scan import EXECUTABLE, LINK, PLAIN, Blob
from automemory_dagster.adapters.workspace.trees import make_trees
from automemory_dagster.domain.errors import InvalidArtifacts

AUTHOR = b"automemory <automemory@localhost>"
BASELINE_REF = Ref(b"refs/automemory/baseline")
"""Where the last published commit is remembered, so that a person may commit on top of it."""

_HEAD = Ref(b"HEAD")
_MAX_LOOSE_OBJECTS = 32
"""More new objects than this go into one pack, which is much faster and smaller."""

_UNREADABLE = (
    AssertionError,
    ChecksumMismatch,
    EOFError,
    FileFormatException,
    KeyError,
    RefFormatError,
    SymrefLoop,
    ValueError,
    struct.error,
    zlib.error,
)
"""What the library raises for a damaged git folder, beside ``OSError``."""


class Repository:
    """An open git folder whose baseline can be read."""

    def __init__(self, git_folder: Path) -> None:
        self._folder = git_folder
        self._objects = DiskObjectStore(git_folder / "objects")
        self._refs = DiskRefsContainer(git_folder)

    @classmethod
    def open(cls, workspace: Path) -> "Repository | None":
        """The repository of a workspace; None when there is none or its baseline is damaged."""
        git_folder = workspace / ".git"
        if git_folder.is_symlink() or not (git_folder / "objects").is_dir():
            return None
        repository = cls(git_folder)
        try:
            if repository.head() is None or not repository._is_whole():
                repository.close()
                return None
        except (OSError, *_UNREADABLE):
            repository.close()
            return None
        return repository

    @classmethod
    def create(cls, workspace: Path) -> "Repository":
        """A new repository without a commit."""
        git_folder = workspace / ".git"
        make_git_folder(git_folder)
        return cls(git_folder)

    @classmethod
    def copy(cls, source: Path, workspace: Path) -> "Repository":
        """A copy of another workspace's repository; object files are shared as hard links.

        Sharing them is safe: git and we replace an object file, and never write into one.
        """
        copy_git_folder(source / ".git", workspace / ".git")
        return cls(workspace / ".git")

    def close(self) -> None:
        """Let go of open pack files."""
        self._objects.close()

    def head(self) -> bytes | None:
        """The commit that is checked out, or None before the first."""
        return self._ref(_HEAD)

    def baseline_commit(self) -> bytes | None:
        """The last published commit; what is checked out when it is not recorded."""
        commit_id = self._ref(BASELINE_REF)
        return commit_id if commit_id and self.has(commit_id) else self.head()

    def files_of(self, commit_id: bytes | None) -> dict[bytes, Blob]:
        """Everything a commit holds, by path; empty for None. Other repositories are left out."""
        if commit_id is None:
            return {}
        commit = self._objects[ObjectID(commit_id)]
        if not isinstance(commit, Commit):
            raise ValueError("not a commit")
        found: dict[bytes, Blob] = {}
        for entry in self._objects.iter_tree_contents(commit.tree):
            if entry.path is None or entry.mode is None or entry.sha is None:
                continue
            kind = stat.S_IFMT(entry.mode)
            if kind == stat.S_IFLNK:
                found[entry.path] = Blob(LINK, entry.sha)
            elif kind == stat.S_IFREG:
                mode = EXECUTABLE if entry.mode & stat.S_IXUSR else PLAIN
                found[entry.path] = Blob(mode, entry.sha)
        return found

    def content(self, blob_id: bytes) -> bytes:
        """A blob's bytes.

        Raises:
            InvalidArtifacts: it is damaged.
        """
        try:
            return self._objects[ObjectID(blob_id)].as_raw_string()
        except _UNREADABLE as error:
            raise InvalidArtifacts(
                f"The git folder {self._folder} is damaged; nothing was changed. "
                "Move it away, and the next run makes a new one."
            ) from error

    def has(self, object_id: bytes) -> bool:
        """True when the object is there already."""
        return ObjectID(object_id) in self._objects

    def commit(
        self,
        files: Mapping[bytes, Blob],
        contents: Mapping[bytes, bytes],
        message: str,
        *,
        at: datetime,
    ) -> bytes:
        """Commit ``files`` on top of what is checked out; gives the new commit's id.

        ``contents``: by blob id, for those that are not there yet.
        """
        root, trees = make_trees(files)
        head = self.head()
        commit = Commit()
        commit.tree = root.id
        commit.parents = [ObjectID(head)] if head else []
        commit.author = commit.committer = AUTHOR
        commit.author_time = commit.commit_time = int(at.timestamp())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        text = message.encode("utf-8", "replace").replace(b"\0", b"").strip()
        commit.message = text + b"\n"
        blobs = [GitBlob.from_string(content) for content in contents.values()]
        self._add([*blobs, *trees, commit])
        self._refs[_HEAD] = commit.id
        return commit.id

    def finish(self, workspace: Path, baseline: bytes) -> None:
        """Make this commit the baseline, the index say what it holds, and the folder small.

        Only for a private copy. Afterwards only the owner can read it.
        """
        self._refs[BASELINE_REF] = ObjectID(baseline)
        self._write_index(workspace, self.files_of(baseline))
        pack_loose_objects(self._objects)
        make_private(self._folder)

    def _write_index(self, workspace: Path, files: Mapping[bytes, Blob]) -> None:
        (self._folder / "index").unlink(missing_ok=True)
        index = Index(self._folder / "index", read=False)
        root = os.fsencode(workspace)
        for path, blob in files.items():
            try:
                status = os.lstat(os.path.join(root, path))
                index[path] = index_entry_from_stat(status, blob.blob_id, mode=blob.mode)
            except (FileNotFoundError, NotADirectoryError):
                index[path] = IndexEntry(0, 0, 0, 0, blob.mode, 0, 0, 0, ObjectID(blob.blob_id))
        index.write()

    def _add(self, candidates: list[ShaFile]) -> None:
        # An object that is there already is left alone: the library would touch its time, and the
        # file is shared with the workspace that may have to be put back as it was.
        unique = {candidate.id: candidate for candidate in candidates}
        new = [item for object_id, item in unique.items() if object_id not in self._objects]
        if len(new) > _MAX_LOOSE_OBJECTS:
            self._objects.add_objects([(item, None) for item in new])
        else:
            for item in new:
                self._objects.add_object(item)

    def _is_whole(self) -> bool:
        return all(
            self.has(blob.blob_id) for blob in self.files_of(self.baseline_commit()).values()
        )

    def _ref(self, name: Ref) -> bytes | None:
        try:
            return self._refs[name]
        except KeyError:
            return None
