"""A private copy of a workspace, changed freely and published at once or not at all."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from automemory_dagster.adapters.workspace.changes import changed_paths, changes
from automemory_dagster.adapters.workspace.disk import FOLDER_MODE, disk_errors
from automemory_dagster.adapters.workspace.folders import SpaceFolders
from automemory_dagster.adapters.workspace.publishing import (
    contents_for,
    continue_history,
    share_unchanged,
    take_origin,
)
from automemory_dagster.adapters.workspace.safe_path import check_new_path
from automemory_dagster.adapters.workspace.scan import (
    EXECUTABLE,
    LINK,
    PLAIN,
    Blob,
    blob_id_of,
    is_text,
    read_file,
    shown,
    write_file,
)
from automemory_dagster.adapters.workspace.swap import swapped_in
from automemory_dagster.adapters.workspace.unified import Side, render_diff
from automemory_dagster.domain.errors import InvalidArtifacts
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.domain.workspace import WorkspaceDiff
from automemory_dagster.ports import Clock


class GitStaging:
    """``ports.Staging`` over a copied folder.

    Files that are not text (no UTF-8, or with NUL) are carried along untouched, committed and shown
    in ``diff``; ``paths`` and ``read`` leave them out, since nobody can redact or validate them.
    """

    def __init__(self, folders: SpaceFolders, tree: Path, *, clock: Clock, redact: Redact) -> None:
        """Copy the workspace to ``tree``, a path that is not there yet.

        Call with the space's lock held.
        """
        self._folders = folders
        self._tree = tree
        self._root = os.fsencode(tree)
        self._clock = clock
        self._redact = redact
        self._origin, self._repository = take_origin(folders.workspace, copy_to=tree)
        self._files = dict(self._origin.found.files)
        self._texts = set(self._origin.found.texts)
        self._baseline: Mapping[bytes, Blob] = (
            self._repository.files_of(self._origin.baseline_commit) if self._repository else {}
        )
        self._edited = tuple(change.path for change in changes(self._baseline, self._files))

    def close(self) -> None:
        """Let go of open files; the copy itself is its maker's to delete."""
        if self._repository:
            self._repository.close()

    def paths(self) -> Sequence[str]:
        """Text files only."""
        return tuple(path.decode() for path in sorted(self._texts))

    def read(self, path: str) -> str | None:
        """None for a file that is no text, too."""
        key = _key(path)
        return self._content(key).decode() if key in self._texts else None

    def write(self, path: str, text: RedactedText) -> None:
        """A file that says the same already keeps its time; an executable one stays executable."""
        key = self._checked(path)
        content = _encoded(path, text)
        known = self._files.get(key)
        blob = Blob(known.mode if known else PLAIN, blob_id_of(content))
        if known == blob:
            return
        with disk_errors(self._tree):
            self._make_folders(path, key)
            write_file(self._place(key), content, is_executable=blob.mode == EXECUTABLE)
        self._files[key] = blob
        self._texts.add(key)

    def delete(self, path: str) -> None:
        """Also removes the folders that this leaves empty."""
        key = _key(path)
        if key not in self._files:
            return
        with disk_errors(self._tree):
            os.unlink(self._place(key))
            self._remove_empty_folders(key)
        del self._files[key]
        self._texts.discard(key)

    def diff(self) -> WorkspaceDiff:
        """Read from the copy each time; binary files are noted, not shown."""
        paths = changed_paths(self._baseline, self._files)
        unified = render_diff((path, self._old_side(path), self._new_side(path)) for path in paths)
        return WorkspaceDiff(changes=changes(self._baseline, self._files), unified=unified)

    def baseline(self, path: str) -> str | None:
        """None for what is no text, too."""
        blob = self._baseline.get(_key(path))
        if blob is None or blob.mode == LINK:
            return None
        content = self._old_content(blob)
        return content.decode() if is_text(content) else None

    def edited_by_hand(self) -> Sequence[str]:
        """Sorted; before the first publication every file that is there."""
        return self._edited

    def links(self) -> Sequence[str]:
        """Sockets, pipes and devices too: they cannot be published either, a person must look."""
        special = self._origin.found.links.keys() | self._origin.found.oddities
        return tuple(shown(path) for path in sorted(special))

    @contextmanager
    def publish(self, message: str) -> Iterator[str]:
        """Commits what a person edited first, as it was, then the copy, on top of all history.

        Raises:
            LeaseLost: somebody else published since the copy was taken. TransientError: a person
            edited the workspace since, or the disk refused. Nothing was changed.
        """
        folders, origin = self._folders, self._origin
        with folders.locked():
            with disk_errors(self._tree):
                origin.check_unchanged(folders.workspace)
                commit_id = self._commit(message, at=self._clock())
            with swapped_in(folders, self._tree, check_unchanged=origin.check_unchanged):
                yield commit_id.decode("ascii")

    def _commit(self, message: str, *, at: datetime) -> bytes:
        repository = continue_history(
            self._folders.workspace, self._tree, self._origin, at=at, redact=self._redact
        )
        share_unchanged(self._folders.workspace, self._tree, self._origin, self._files)
        contents = contents_for(repository, self._files, self._tree)
        commit_id = repository.commit(self._files, contents, message, at=at)
        repository.finish(self._tree, commit_id)
        repository.close()
        return commit_id

    def _checked(self, path: str) -> bytes:
        key = _key(path)
        # A person's own file may have a name that we would not choose.
        if key not in self._files:
            check_new_path(path)
        return key

    def _make_folders(self, path: str, key: bytes) -> None:
        parts = key.split(b"/")
        for count in range(1, len(parts) + 1):
            above = b"/".join(parts[:count])
            if above in self._origin.found.links or above in self._origin.found.oddities:
                raise InvalidArtifacts(
                    f"The path {path!r} leads over {shown(above)!r}, which is a link or no plain "
                    "file; no file was written."
                )
            if count == len(parts):
                break
            if above in self._files:
                raise InvalidArtifacts(
                    f"The path {path!r} needs a folder where the file {shown(above)!r} is; "
                    "no file was written."
                )
            if not os.path.isdir(self._place(above)):
                os.mkdir(self._place(above), FOLDER_MODE)
        if os.path.isdir(self._place(key)):
            raise InvalidArtifacts(f"The path {path!r} is a folder; no file was written.")

    def _remove_empty_folders(self, key: bytes) -> None:
        folder = key.rpartition(b"/")[0]
        while folder and not os.listdir(self._place(folder)):
            os.rmdir(self._place(folder))
            folder = folder.rpartition(b"/")[0]

    def _old_side(self, path: bytes) -> Side | None:
        blob = self._baseline.get(path)
        return Side(blob, lambda: self._old_content(blob)) if blob else None

    def _new_side(self, path: bytes) -> Side | None:
        blob = self._files.get(path)
        return Side(blob, lambda: self._content(path)) if blob else None

    def _old_content(self, blob: Blob) -> bytes:
        if self._repository is None:
            raise AssertionError("only a repository gives a baseline")
        return self._repository.content(blob.blob_id)

    def _content(self, key: bytes) -> bytes:
        with disk_errors(self._tree):
            return read_file(self._place(key))

    def _place(self, key: bytes) -> bytes:
        return os.path.join(self._root, key)


def _key(path: str) -> bytes:
    """The path's bytes; those of no file when it has none."""
    try:
        return path.encode()
    except UnicodeEncodeError:
        return b""


def _encoded(path: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArtifacts(
            f"The text for {path!r} holds half of a surrogate pair; no file was written."
        ) from error
    if b"\0" in content:
        raise InvalidArtifacts(f"The text for {path!r} holds a NUL; no file was written.")
    return content
