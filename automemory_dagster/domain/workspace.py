"""The memory workspace's files as facts: what a consolidation starts from, changes and
publishes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import SpaceId, ThreadId


class ChangeKind(StrEnum):
    """How a file differs from the baseline.

    Labels are Codex's.
    """

    ADDED = "A"
    MODIFIED = "M"
    DELETED = "D"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One changed file; the path is relative to the workspace, with ``/``."""

    kind: ChangeKind
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceDiff:
    """What changed against the baseline, sorted by path."""

    changes: tuple[FileChange, ...]
    unified: str = ""
    """Unified diff with three lines of context, cut at 4 MiB with a mark."""

    @property
    def has_changes(self) -> bool:
        """True when any file differs."""
        return bool(self.changes)

    def count(self, kind: ChangeKind) -> int:
        """How many files differ in this way."""
        return sum(change.kind is kind for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One published version of a space's memory: everything needed to rebuild its workspace
    elsewhere."""

    space_id: SpaceId
    version: int
    """From 1, without gaps."""

    published_at: datetime
    files: Mapping[str, RedactedText]
    """Path to text: every file of the workspace but the git folder."""

    consolidator: str
    """Name and version of what made it, such as ``offline/1``."""

    commit: str = ""
    """The workspace's git commit that holds the same files."""

    run_id: str = ""
    inputs: Mapping[ThreadId, int] = field(default_factory=dict)
    """The stage-1 outputs it rests on: thread id to ``source_updated_at`` in Unix seconds."""
