"""How one set of files differs from another: by content and kind, renames told as two changes."""

from collections.abc import Mapping

from automemory_dagster.adapters.workspace.scan import Blob, shown
from automemory_dagster.domain.workspace import ChangeKind, FileChange


def changed_paths(old: Mapping[bytes, Blob], new: Mapping[bytes, Blob]) -> list[bytes]:
    """Paths that are in one only or not the same in both, sorted."""
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def changes(old: Mapping[bytes, Blob], new: Mapping[bytes, Blob]) -> tuple[FileChange, ...]:
    """The changed files, sorted by path."""
    return tuple(
        FileChange(kind=_kind(path in old, path in new), path=shown(path))
        for path in changed_paths(old, new)
    )


def _kind(was_there: bool, is_there: bool) -> ChangeKind:
    if was_there and is_there:
        return ChangeKind.MODIFIED
    return ChangeKind.DELETED if was_there else ChangeKind.ADDED
