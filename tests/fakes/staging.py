"""A staging copy in memory, with a baseline beside it."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from automemory_dagster.domain.errors import InvalidArtifacts
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.workspace import ChangeKind, FileChange, WorkspaceDiff


class FakeStaging:
    """``files`` is what the workspace holds now, ``baseline`` what was published last."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        *,
        baseline: Mapping[str, str] | None = None,
        links: Sequence[str] = (),
    ) -> None:
        self._baseline = dict(baseline if baseline is not None else {})
        self._files = dict(files if files is not None else self._baseline)
        self._links = tuple(links)
        self._edited = tuple(change.path for change in self.diff().changes)

    @property
    def files(self) -> Mapping[str, str]:
        """Everything in the copy, by path."""
        return dict(self._files)

    def paths(self) -> Sequence[str]:
        return tuple(sorted(self._files))

    def read(self, path: str) -> str | None:
        return self._files.get(path)

    def write(self, path: str, text: RedactedText) -> None:
        if path.startswith("/") or {"", "..", ".git"} & set(path.split("/")):
            raise InvalidArtifacts(f"{path!r} is no place for memory files")
        self._files[path] = text

    def delete(self, path: str) -> None:
        self._files.pop(path, None)

    def diff(self) -> WorkspaceDiff:
        changes = []
        unified: list[str] = []
        for path in sorted(self._files.keys() | self._baseline.keys()):
            old, new = self._baseline.get(path), self._files.get(path)
            if old == new:
                continue
            kind = ChangeKind.MODIFIED
            if old is None or new is None:
                kind = ChangeKind.ADDED if old is None else ChangeKind.DELETED
            changes.append(FileChange(kind=kind, path=path))
            before, after = (old or "").splitlines(), (new or "").splitlines()
            unified += difflib.unified_diff(before, after, path, path, lineterm="")
        return WorkspaceDiff(changes=tuple(changes), unified="\n".join(unified))

    def baseline(self, path: str) -> str | None:
        return self._baseline.get(path)

    def edited_by_hand(self) -> Sequence[str]:
        return self._edited

    def links(self) -> Sequence[str]:
        return self._links

    @contextmanager
    def publish(self, message: str) -> Iterator[str]:
        former = self._baseline
        self._baseline = dict(self._files)
        try:
            yield "0" * 40
        except BaseException:
            self._baseline = former
            raise
