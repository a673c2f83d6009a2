"""Makes a workspace agree with the state store after a crash, a move or another machine's work.

The store is right about what was published, a person about everything else: their uncommitted
edits are put on top of whatever the store says.
"""

import os
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path

from automemory_dagster.adapters.workspace.folders import SpaceFolders
from automemory_dagster.adapters.workspace.publishing import (
    continue_history,
    share_unchanged,
    take_origin,
)
from automemory_dagster.adapters.workspace.repository import Repository
from automemory_dagster.adapters.workspace.safe_path import check_path_stays_inside
from automemory_dagster.adapters.workspace.scan import (
    LINK,
    PLAIN,
    Blob,
    blob_id_of,
    is_text,
    read_file,
)
from automemory_dagster.adapters.workspace.swap import (
    discard_former,
    place_file,
    put_former_back,
    swapped_in,
)
from automemory_dagster.domain.errors import InvalidArtifacts
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.workspace import Publication


def settle_swap(folders: SpaceFolders, published: Publication | None) -> bool:
    """Finish or undo a swap that was cut short; True when there was one. Lock held.

    Safe to be killed anywhere in it and called again.
    """
    if not folders.former.exists():
        return False
    if folders.workspace.exists() and published and _is_newer_right(folders, published):
        discard_former(folders)
    else:
        put_former_back(folders)
    return True


def agrees(workspace: Path, published: Publication) -> bool:
    """True when the workspace's baseline holds what was published."""
    return _is_commit(workspace, published) or _holds(workspace, published)


def rebuild(
    folders: SpaceFolders, published: Publication, tree: Path, *, at: datetime, redact: Redact
) -> None:
    """Make the workspace anew in ``tree`` from the published files, and swap it in. Lock held.

    History and a person's edits are kept; the edits are uncommitted, as they were.
    """
    origin, former = take_origin(folders.workspace, copy_to=tree)
    known: dict[bytes, Blob] = {}
    contents = _published_contents(published)
    baseline = {path: Blob(PLAIN, blob_id_of(content)) for path, content in contents.items()}
    if former:
        known = former.files_of(origin.baseline_commit)
        baseline |= _kept_files(former, known, baseline)
        former.close()
    repository = continue_history(folders.workspace, tree, origin, at=at, redact=redact)
    share_unchanged(folders.workspace, tree, origin, origin.found.files)
    new = {baseline[path].blob_id: content for path, content in contents.items()}
    message = f"Memory version {published.version}, rebuilt from the state store"
    commit_id = repository.commit(baseline, new, message, at=at)
    _lay_out(tree, contents, known=known, found=origin.found.files)
    repository.finish(tree, commit_id)
    repository.close()
    with swapped_in(folders, tree, check_unchanged=origin.check_unchanged):
        pass


def _lay_out(
    tree: Path,
    contents: Mapping[bytes, bytes],
    *,
    known: Mapping[bytes, Blob],
    found: Mapping[bytes, Blob],
) -> None:
    """Turn a copy of the workspace into the published files with a person's edits on top.

    ``known``: the old baseline; ``found``: what the copy holds. Without an old baseline nobody can
    tell a file that was deleted from one that never came here, so nothing counts as deleted.
    """
    root = os.fsencode(tree)
    edited = {path for path, blob in found.items() if known.get(path) != blob}
    for path in found.keys() - edited:
        place = os.path.join(root, path)
        if path not in contents and is_text(path) and is_text(read_file(place)):
            os.unlink(place)
    for path, content in contents.items():
        is_deleted = path in known and path not in found
        if is_deleted or _is_in_the_way(path, edited):
            continue
        if path not in found or found[path].blob_id != blob_id_of(content):
            place_file(root, path, content, is_executable=False)


def _is_newer_right(folders: SpaceFolders, published: Publication) -> bool:
    if _is_commit(folders.workspace, published):
        return True
    return not _is_commit(folders.former, published) and _holds(folders.workspace, published)


def _is_commit(workspace: Path, published: Publication) -> bool:
    repository = Repository.open(workspace)
    if repository is None:
        return False
    commit_id = repository.baseline_commit()
    repository.close()
    return commit_id is not None and commit_id.decode("ascii") == published.commit


def _holds(workspace: Path, published: Publication) -> bool:
    """By content: a rebuilt baseline has another commit id than the published one."""
    repository = Repository.open(workspace)
    if repository is None:
        return False
    try:
        files = repository.files_of(repository.baseline_commit())
        wanted = {
            path: blob_id_of(content) for path, content in _published_contents(published).items()
        }
        found = {path: blob.blob_id for path, blob in files.items()}
        if any(found.get(path) != blob_id for path, blob_id in wanted.items()):
            return False
        return set(_kept_files(repository, files, wanted)) | wanted.keys() == found.keys()
    finally:
        repository.close()


def _kept_files(
    repository: Repository, known: Mapping[bytes, Blob], published: Mapping[bytes, object]
) -> dict[bytes, Blob]:
    """The files of a baseline that are no text and so never reach the store."""
    kept: dict[bytes, Blob] = {}
    for path, blob in known.items():
        if path in published or blob.mode == LINK:
            continue
        try:
            if is_text(path) and is_text(repository.content(blob.blob_id)):
                continue
        except InvalidArtifacts:
            continue
        kept[path] = blob
    return kept


def _published_contents(published: Publication) -> dict[bytes, bytes]:
    contents: dict[bytes, bytes] = {}
    for path, text in published.files.items():
        check_path_stays_inside(path)
        contents[path.encode()] = text.encode()
    return contents


def _is_in_the_way(path: bytes, edited: Collection[bytes]) -> bool:
    """True when a person's file is there, in a folder's place above, or in a folder of that name.

    ``edited`` is short: a person's own edits.
    """
    return any(
        path == other or path.startswith(other + b"/") or other.startswith(path + b"/")
        for other in edited
    )
