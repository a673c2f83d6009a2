"""What a publish commits, and the proof that it rests on what is there.

Two commits at most: a person's edits as they were, so that nothing they wrote is ever lost from
history, and then the new memory. Only a secret in their text becomes a marker: history is read by
others, and outlives the file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from automemory_dagster.adapters.workspace.repository import Repository
from automemory_dagster.adapters.workspace.scan import (
    LINK,
    Blob,
    Scan,
    blob_id_of,
    is_text,
    read_file,
    scan,
)
from automemory_dagster.domain.errors import LeaseLost, TransientError
from automemory_dagster.domain.redaction import Redact

HAND_MESSAGE = "Edits by hand"

_SPARE_NAME = b".git/spare"


@dataclass(frozen=True, slots=True)
class Origin:
    """The workspace as it was when something was made from it."""

    found: Scan
    head: bytes | None
    baseline_commit: bytes | None

    def check_unchanged(self, folder: Path) -> None:
        """Accept a folder that still is what it was.

        Raises:
            LeaseLost: somebody else published. TransientError: a person edited it.
        """
        repository = Repository.open(folder)
        commits: tuple[bytes | None, bytes | None] = (None, None)
        if repository:
            commits = (repository.baseline_commit(), repository.head())
            repository.close()
        if repository and commits[0] != self.baseline_commit:
            raise LeaseLost(
                "Somebody else published this memory since the copy was taken; nothing was changed."
            )
        if commits[1] != self.head or scan(folder) != self.found:
            raise edited_meanwhile()


def take_origin(workspace: Path, *, copy_to: Path) -> tuple[Origin, Repository | None]:
    """Copy a workspace's files to a new folder, and say what they and its history were.

    The repository, None without a readable one, is the caller's to close.
    """
    found = scan(workspace, copy_to=copy_to)
    repository = Repository.open(workspace)
    head = repository.head() if repository else None
    baseline_commit = repository.baseline_commit() if repository else None
    return Origin(found, head, baseline_commit), repository


def continue_history(
    workspace: Path, tree: Path, origin: Origin, *, at: datetime, redact: Redact
) -> Repository:
    """Give ``tree`` a git folder whose history ends with the workspace as a person left it.

    Raises:
        TransientError: the workspace is not what it was at its origin.
    """
    if origin.head is None:
        repository = Repository.create(tree)
    else:
        repository = Repository.copy(workspace, tree)
    by_hand = origin.found.tracked
    if by_hand != repository.files_of(origin.head):
        contents = contents_for(repository, by_hand, workspace)
        files, redacted = _without_secrets(by_hand, contents, redact)
        if files != repository.files_of(origin.head):
            repository.commit(files, redacted, HAND_MESSAGE, at=at)
    return repository


def _without_secrets(
    files: Mapping[bytes, Blob], contents: Mapping[bytes, bytes], redact: Redact
) -> tuple[dict[bytes, Blob], dict[bytes, bytes]]:
    """The files and their new contents as history may hold them; what is no text stays as it is."""
    clean = {blob_id: _redacted(content, redact) for blob_id, content in contents.items()}
    renamed = {blob_id: blob_id_of(content) for blob_id, content in clean.items()}
    kept = {
        path: Blob(blob.mode, renamed.get(blob.blob_id, blob.blob_id))
        for path, blob in files.items()
    }
    return kept, {renamed[blob_id]: content for blob_id, content in clean.items()}


def _redacted(content: bytes, redact: Redact) -> bytes:
    if not is_text(content):
        return content
    return redact(content.decode()).encode()


def share_unchanged(
    workspace: Path, tree: Path, origin: Origin, files: Mapping[bytes, Blob]
) -> None:
    """Let ``tree`` hold the workspace's own files, as hard links, where nothing is to change.

    Safe because the two are never both alive: once swapped, the workspace's file is the person's
    again, and undone, it is the same file still. It spares flushing and deleting a thousand copies,
    which took a busy disk three seconds. Files that others may read stay private copies.
    """
    source, target = os.fsencode(workspace), os.fsencode(tree)
    for path, blob in files.items():
        if origin.found.files.get(path) != blob:
            continue
        original, copy = os.path.join(source, path), os.path.join(target, path)
        if os.lstat(original).st_mode & 0o077:
            continue
        spare = os.path.join(target, _SPARE_NAME)
        try:
            os.link(original, spare, follow_symlinks=False)
        except OSError:
            # No hard links here, or too many; the copy serves as well.
            continue
        os.replace(spare, copy)


def edited_meanwhile() -> TransientError:
    """The error for a workspace that a person edited while something was made from it."""
    return TransientError(
        "The memory folder was edited while memory was being consolidated; nothing was published, "
        "the edits are where they were, and the next run takes them in."
    )


def contents_for(
    repository: Repository, files: Mapping[bytes, Blob], folder: Path
) -> dict[bytes, bytes]:
    """The contents in ``folder`` that the repository does not hold yet, by blob id.

    Raises:
        TransientError: a file is not what ``files`` says.
    """
    root = os.fsencode(folder)
    contents: dict[bytes, bytes] = {}
    for path, blob in files.items():
        if blob.blob_id in contents or repository.has(blob.blob_id):
            continue
        place = os.path.join(root, path)
        content = os.readlink(place) if blob.mode == LINK else read_file(place)
        if blob_id_of(content) != blob.blob_id:
            raise edited_meanwhile()
        contents[blob.blob_id] = content
    return contents
