"""A thread: one piece of agent work with a stable id, and what is known of it without reading it
whole."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType

from automemory_dagster.domain.redaction import NO_TEXT, RedactedText

ThreadId = NewType("ThreadId", str)
"""The thread's own id; for Codex the UUID in the rollout's ``session_meta``."""

SpaceId = NewType("SpaceId", str)
"""One memory with one writer and one audience, such as ``codex:default``; never crossed by
itself."""


class SourceKind(StrEnum):
    """Who started the thread. Codex writes far more values; the reader folds them into these."""

    INTERACTIVE = "interactive"
    """A person in a client: ``cli``, ``vscode``, the custom sources ``atlas`` and ``chatgpt``, or
    none recorded."""
    EXEC = "exec"
    MCP = "mcp"
    SUBAGENT = "subagent"
    GUARDIAN_REVIEW = "guardian_review"
    INTERNAL = "internal"
    """Codex's own memory consolidation, or ours."""
    OTHER = "other"


class MemoryMode(StrEnum):
    """The thread's own consent. A rollout that never says it is ``ENABLED``."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    POLLUTED = "polluted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStamp:
    """What tells one state of a rollout file from another without reading it whole.

    Growth is no proof of append (files are rewound and replaced), so a prefix hash goes with size
    and time.
    """

    size_bytes: int
    mtime_ns: int
    prefix_sha256: str
    """Of the first 4 KiB (fewer when the file is smaller), hexadecimal."""
    index_digest: str = ""
    """Opaque; changes when what the source's own index says of the thread does (title, archived,
    memory mode), since that happens without the file. Empty when it was never asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """What the catalogue knows of one thread. All texts are redacted and free of NUL and lone
    surrogates."""

    thread_id: ThreadId
    source: str
    """Name of the source that lists it: ``codex``."""
    space_id: SpaceId
    rollout_path: str
    """Absolute path of the newest file of the thread."""
    stamp: RolloutStamp
    source_updated_at: datetime
    """UTC, whole seconds: the version of the rollout. The file's mtime."""
    created_at: datetime | None = None
    cwd: RedactedText = NO_TEXT
    repository: RedactedText = NO_TEXT
    """``host/owner/name`` without credentials, scheme or ``.git``; empty when unknown."""
    branch: RedactedText = NO_TEXT
    title: RedactedText = NO_TEXT
    """From the state database, else the first line of the first human request; at most 120
    characters."""
    source_kind: SourceKind = SourceKind.INTERACTIVE
    source_detail: RedactedText = NO_TEXT
    """The source as the rollout names it, for people."""
    memory_mode: MemoryMode = MemoryMode.ENABLED
    is_archived: bool = False
    forked_from: ThreadId | None = None
    has_human_request: bool = True
    user_id: str = ""
    """Whose it is; empty where there are no users."""
    goal_key: str = ""
    """What a later thread of the same space must share to supersede this one; empty: nothing
    supersedes it."""
    problem: RedactedText = NO_TEXT
    """Why the rollout cannot be read at all, as one sentence; empty when it can."""

    @property
    def project(self) -> str:
        """What memory is grouped by: the repository, else the working folder, else ``unknown``."""
        return self.repository or self.cwd or "unknown"

    def moved_to(self, space_id: SpaceId) -> "Thread":
        """The same thread in another space."""
        return replace(self, space_id=space_id)
