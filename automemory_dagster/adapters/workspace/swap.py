"""Puts a new folder in a workspace's place, and the former one back when the caller's part fails.

The trap: being killed in between. At every moment the former workspace is whole, in its place or
under ``former``; ``recovery`` tells from the two folders and the store which one is right.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import (
    FOLDER_MODE,
    disk_errors,
    flush_to_disk,
    flush_tree,
    remove_folder,
)
from automemory_dagster.adapters.workspace.folders import SpaceFolders
from automemory_dagster.adapters.workspace.repository import Repository
from automemory_dagster.adapters.workspace.scan import EXECUTABLE, read_file, scan, write_file


@contextmanager
def swapped_in(
    folders: SpaceFolders, tree: Path, *, check_unchanged: Callable[[Path], None]
) -> Iterator[None]:
    """Swap ``tree`` in for as long as it takes to decide: kept when left well, undone otherwise.

    Call with the space's lock held and no ``former`` there. ``check_unchanged`` gets the folder
    that is about to be replaced and raises when it is not what ``tree`` was made from; it is asked
    again when the folder is out of everybody's reach.

    Raises:
        TransientError: the disk refused; the workspace is as it was.
    """
    with disk_errors(folders.workspace):
        _swap(folders, tree, check_unchanged)
    try:
        yield
    except BaseException:
        with disk_errors(folders.workspace):
            put_former_back(folders)
        raise
    # The caller has committed: what cannot be deleted now must not undo that. It is tried again.
    with suppress(OSError):
        discard_former(folders)


def discard_former(folders: SpaceFolders) -> None:
    """Finish a swap: delete the former workspace, but keep its git folder if nobody can read it."""
    git_folder = folders.former / ".git"
    if os.path.lexists(git_folder) and not _is_readable(folders.former):
        folders.keep_aside(git_folder)
    folders.discard(folders.former)


def put_former_back(folders: SpaceFolders) -> None:
    """Undo a swap; what a person changed in the new workspace meanwhile is taken along."""
    if folders.workspace.exists():
        if os.path.lexists(folders.workspace / ".git") and not _is_readable(folders.workspace):
            # Nobody can tell its edits from its damage.
            folders.keep_aside(folders.workspace)
        else:
            _carry_edits(folders.workspace, onto=folders.former)
            folders.discard(folders.workspace)
    folders.former.rename(folders.workspace)
    # An empty folder stood in for the workspace that was not there; a person's own stays away too.
    with suppress(OSError):
        folders.workspace.rmdir()
    flush_to_disk(folders.workspace.parent, folders.private)


def place_file(root: bytes, path: bytes, content: bytes, *, is_executable: bool) -> None:
    """Write a file below ``root``, making folders; a file or link in a folder's place gives way."""
    parts = path.split(b"/")
    for count in range(1, len(parts)):
        folder = os.path.join(root, *parts[:count])
        if os.path.islink(folder) or not os.path.isdir(folder):
            with suppress(FileNotFoundError):
                os.unlink(folder)
            os.mkdir(folder, FOLDER_MODE)
    place = os.path.join(root, path)
    if os.path.isdir(place) and not os.path.islink(place):
        remove_folder(Path(os.fsdecode(place)))
    write_file(place, content, is_executable=is_executable)


def _swap(folders: SpaceFolders, tree: Path, check_unchanged: Callable[[Path], None]) -> None:
    folders.check_usable()
    folders.workspace.mkdir(mode=FOLDER_MODE, exist_ok=True)
    # Else a power cut could leave empty files, which would pass for a person's edits.
    flush_tree(tree)
    check_unchanged(folders.workspace)
    folders.workspace.rename(folders.former)
    try:
        check_unchanged(folders.former)
        tree.rename(folders.workspace)
        flush_to_disk(folders.workspace.parent, folders.private)
    except BaseException:
        put_former_back(folders)
        raise


def _carry_edits(source: Path, *, onto: Path) -> None:
    """Make in ``onto`` what a person changed in ``source`` since it was published. Idempotent."""
    repository = Repository.open(source)
    known = repository.files_of(repository.baseline_commit()) if repository else {}
    if repository:
        repository.close()
    found = scan(source).files
    root, target = os.fsencode(source), os.fsencode(onto)
    for path in sorted(known.keys() - found.keys()):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(os.path.join(target, path))
    for path in sorted(path for path, blob in found.items() if known.get(path) != blob):
        content = read_file(os.path.join(root, path))
        place_file(target, path, content, is_executable=found[path].mode == EXECUTABLE)


def _is_readable(workspace: Path) -> bool:
    repository = Repository.open(workspace)
    if repository:
        repository.close()
    return repository is not None
