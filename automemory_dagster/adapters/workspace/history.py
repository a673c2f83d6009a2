"""Forgets a workspace's history: what was once published and is no more must not linger in it.

The trap: a commit that nothing points to any more is still on the disk, in loose objects, packs,
reflogs and indexes. So nothing is taken out of the old git folder; a new one is made that never
held the old text, and the old one is deleted whole.
"""

import os
from datetime import datetime
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import FOLDER_MODE, flush_to_disk, remove_folder
from automemory_dagster.adapters.workspace.folders import SpaceFolders
from automemory_dagster.adapters.workspace.repository import Repository


def collapse_history(folders: SpaceFolders, scratch: Path, *, at: datetime) -> str | None:
    """Replace the git folder by one with a single commit of the baseline. Lock held.

    Killed in between, the workspace has no git folder; recovery makes one from the store.
    """
    if os.path.lexists(folders.put_aside):
        folders.discard(folders.put_aside)
    former = Repository.open(folders.workspace)
    if former is None:
        return None
    files = former.files_of(former.baseline_commit())
    contents = {blob.blob_id: former.content(blob.blob_id) for blob in files.values()}
    former.close()
    scratch.mkdir(mode=FOLDER_MODE)
    repository = Repository.create(scratch)
    commit_id = repository.commit(files, contents, "Memory, its history forgotten", at=at)
    repository.finish(folders.workspace, commit_id)
    repository.close()
    rubbish = folders.new_rubbish()
    (folders.workspace / ".git").rename(rubbish)
    (scratch / ".git").rename(folders.workspace / ".git")
    flush_to_disk(folders.workspace, folders.private)
    remove_folder(rubbish.parent)
    return commit_id.decode("ascii")
