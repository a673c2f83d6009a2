"""What phase 1 stores for a thread, in Codex's three fields."""

from dataclasses import dataclass
from datetime import datetime

from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.spend import NOTHING_SPENT, Spent
from automemory_dagster.domain.thread import SpaceId, Thread, ThreadId


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedMemory:
    """An extractor's answer: what is worth remembering of one thread."""

    raw_memory: str
    """Front matter and task blocks: see ``domain/raw_memory``. Never blank."""
    rollout_summary: str
    rollout_slug: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOutput:
    """An extractor's answer: nothing in this thread is worth remembering."""

    why: str = "nothing worth keeping"


ParsedAnswer = ExtractedMemory | NoOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extractor made of one transcript, and what that cost."""

    answer: ParsedAnswer
    spent: Spent = NOTHING_SPENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage1Output:
    """The stored result of phase 1 for one version of one thread's rollout."""

    thread_id: ThreadId
    space_id: SpaceId
    source_updated_at: datetime
    raw_memory: RedactedText
    rollout_summary: RedactedText
    rollout_slug: RedactedText | None
    generated_at: datetime
    extractor: str
    """Name and version of what made it, such as ``offline/1``."""
    usage_count: int = 0
    last_usage: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedOutput:
    """A stage-1 output that phase 2 reads, with its thread as the catalogue knows it now."""

    output: Stage1Output
    thread: Thread
