"""All memory workspaces of a deployment: one folder a space, each with its own git history."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from automemory_dagster.adapters import secrets
from automemory_dagster.adapters.workspace.disk import disk_errors
from automemory_dagster.adapters.workspace.folder_name import folder_name
from automemory_dagster.adapters.workspace.folders import SpaceFolders, StagingFolder
from automemory_dagster.adapters.workspace.history import collapse_history
from automemory_dagster.adapters.workspace.recovery import agrees, rebuild, settle_swap
from automemory_dagster.adapters.workspace.staging import GitStaging
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.ports import Clock

_LOCK_WAIT_SECONDS = 60.0
"""Ours: a swap takes a second and the store's transaction a few more."""


class GitWorkspaces:
    """``ports.Workspace`` over folders on one disk. Safe to share between threads and processes."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        redact: Redact = secrets.redact,
        lock_wait_seconds: float = _LOCK_WAIT_SECONDS,
    ) -> None:
        """``root``: holds all spaces' folders; made when needed. ``clock``: dates the commits.

        ``redact``: what a person wrote goes through it before it becomes history.
        """
        self._root = root.absolute()
        self._clock = clock
        self._redact = redact
        self._lock_wait_seconds = lock_wait_seconds

    def location(self, space_id: SpaceId) -> str:
        """Below the root, named after the space: see ``folder_name``."""
        return str(self._folders(space_id).workspace)

    def holds(self, space_id: SpaceId, paths: Collection[str]) -> bool:
        """Looks without the lock: a swap in progress may say no for a moment."""
        folder = self._folders(space_id).workspace
        return all((folder / path).is_file() for path in paths)

    @contextmanager
    def stage(self, space_id: SpaceId) -> Iterator[GitStaging]:
        """A copy on the same disk; first clears away what dead processes left.

        Raises:
            TransientError: another process is busy in these folders, a swap has to be recovered
            first, or the disk refused. InvalidArtifacts: the workspace is a link.
        """
        folders = self._folders(space_id)
        with folders.locked(), disk_errors(folders.workspace):
            folders.remove_leftovers()
            folders.check_usable()
            place = StagingFolder(folders)
            try:
                staging = GitStaging(folders, place.tree, clock=self._clock, redact=self._redact)
            except BaseException:
                place.remove()
                raise
        try:
            yield staging
        finally:
            staging.close()
            place.remove()

    def recover(self, published: Publication | None, space_id: SpaceId) -> bool:
        """As the port says; also takes in what another machine published since.

        Raises:
            TransientError: another process is busy in these folders, or the disk refused.
        """
        folders = self._folders(space_id)
        with folders.locked(), disk_errors(folders.workspace):
            folders.remove_leftovers()
            was_cut_short = settle_swap(folders, published)
            folders.check_usable()
            if published is None or agrees(folders.workspace, published):
                return was_cut_short
            place = StagingFolder(folders)
            try:
                rebuild(folders, published, place.tree, at=self._clock(), redact=self._redact)
            finally:
                place.remove()
            return True

    def rewrite_history(self, space_id: SpaceId) -> str | None:
        """Leave one commit without parents, of the baseline as it is; delete all older text.

        For forgetting: afterwards no object, log or copy under the root holds text that is not in
        the baseline or in the workspace itself. Uncommitted edits stay. Call with the space's
        lease held and the workspace recovered. Idempotent. Gives the new baseline's commit id, or
        None when there is no baseline.

        Raises:
            TransientError: a swap was cut short, or the disk refused.
        """
        folders = self._folders(space_id)
        with folders.locked(), disk_errors(folders.workspace):
            folders.remove_leftovers()
            folders.check_usable()
            place = StagingFolder(folders)
            try:
                return collapse_history(folders, place.tree, at=self._clock())
            finally:
                place.remove()

    def _folders(self, space_id: SpaceId) -> SpaceFolders:
        return SpaceFolders(self._root / folder_name(space_id), self._lock_wait_seconds)
