"""The memory workspaces: the files a person sees, git's history of them, and what lies hidden.

A secret in the history cannot be changed there: the history is collapsed to one commit of what the
state store says was published, which is redacted before.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from automemory_dagster.adapters.scan.file_text import blocks, files_below, rewrite_file
from automemory_dagster.adapters.scan.git_objects import (
    DamagedObjects,
    is_object_file,
    object_texts,
)
from automemory_dagster.adapters.scan.rows import Change
from automemory_dagster.adapters.workspace.disk import disk_errors
from automemory_dagster.adapters.workspace.workspaces import GitWorkspaces
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.ports import OutputStore, StoredValue

FILES, HISTORY = "memory files", "git history"


class MemoryFolders:
    """``StoredTexts`` over every folder below the one that holds the workspaces."""

    def __init__(self, folder: Path, *, workspaces: GitWorkspaces, store: OutputStore) -> None:
        """``store``: knows the spaces and what was published; redacted before this is rewritten."""
        self._folder = folder
        self._workspaces = workspaces
        self._store = store
        self._to_collapse: set[str] = set()

    def values(self) -> Iterator[StoredValue]:
        """By path; the names of files too. A file of git's is told by its workspace."""
        for path in files_below(self._folder):
            below = path.relative_to(self._folder)
            workspace = below.parts[0].removeprefix(".")
            is_hidden = len(below.parts) > 1 and (
                below.parts[0] != workspace or ".git" in below.parts
            )
            place, where = (HISTORY, workspace) if is_hidden else (FILES, str(below))
            key: object = workspace if is_hidden else path
            texts: Callable[[Path], Iterator[str]] = (
                object_texts if is_hidden and is_object_file(path) else blocks
            )
            name = str(Path(*below.parts[1:]))
            yield StoredValue(place=place, where=where, value=name, key=key if is_hidden else None)
            try:
                for text in texts(path):
                    yield StoredValue(place=place, where=where, value=text, key=key)
            except (OSError, DamagedObjects) as error:
                problem = f"{below.name} could not be read ({type(error).__name__})"
                yield StoredValue(place=place, where=where, value="", key=None, problem=problem)

    def rewrite(self, key: object, change: Change) -> None:
        """A file at once; a history is noted, and collapsed by ``scrub``."""
        if isinstance(key, str):
            self._to_collapse.add(key)
        elif isinstance(key, Path) and key.exists():
            with disk_errors(key):
                rewrite_file(key, change)

    def scrub(self) -> None:
        """Make each noted workspace agree with the store and forget its history.

        A folder that is no space's is left as it is.
        """
        for space in self._store.spaces():
            name = Path(self._workspaces.location(space.space_id)).name
            if name in self._to_collapse:
                self._collapse(space.space_id)
        self._to_collapse.clear()

    def _collapse(self, space_id: SpaceId) -> None:
        published = self._store.publication(space_id)
        # Without its commit it is compared by its text: the commit is what holds the secret.
        self._workspaces.recover(replace(published, commit="") if published else None, space_id)
        self._workspaces.rewrite_history(space_id)
