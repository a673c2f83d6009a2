"""The transcript: a thread's evidence as an extractor sees it, redacted, tiered and cut to a
budget.

The trap: redacting or cutting after serialisation, which leaves secrets behind quotes and hands a
model broken JSON. Here field values are redacted and cut as values; whoever serialises them
afterwards cannot break either promise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from automemory_dagster.domain.redaction import NO_TEXT, RedactedText
from automemory_dagster.domain.rollout import ReadReport, Tier


class RowKind(StrEnum):
    """What a row of the transcript is; the value is its label for a model."""

    HUMAN = "human user"
    FINAL = "assistant final"
    OTHER_AGENT = "other agent"
    COMMENTARY = "assistant commentary"
    CONTEXT = "harness context"
    TOOL_CALL = "tool call"
    TOOL_OUTPUT = "tool output"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRow:
    """One piece of evidence.

    Texts are redacted, and cut with a mark where the budget asked for it.
    """

    position: int
    turn: int
    kind: RowKind
    tier: Tier
    text: RedactedText
    """The words; for a tool call the command line or the arguments; for a tool output what it
    said."""

    question: RedactedText = NO_TEXT
    """Human rows only: the agent's question that the words answer."""

    author: RedactedText = NO_TEXT
    """Other-agent and context rows: who or what speaks."""

    tool: str = ""
    call_id: str = ""
    is_shell: bool = False
    exit_code: int | None = None
    changed_files: tuple[RedactedText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReport:
    """What the transcript holds and what it left out, beside what the reading already did."""

    reading: ReadReport
    rows_kept: int
    rows_cut: int
    """Kept, but shortened."""

    rows_omitted: Mapping[str, int] = field(default_factory=dict)
    """Rows that found no room, by label of their kind."""

    estimated_tokens: int = 0
    budget_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The rows in file order with the facts of the thread that an extractor may use."""

    thread_id: str
    cwd: RedactedText
    repository: RedactedText
    branch: RedactedText
    title: RedactedText
    updated_at: str
    """RFC 3339, UTC."""

    rows: tuple[TranscriptRow, ...]
    report: TranscriptReport
