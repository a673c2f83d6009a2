"""Transcripts written as a conversation, for tests of the offline extractor."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.rollout import ReadReport, Tier
from automemory_dagster.domain.transcript import (
    RowKind,
    Transcript,
    TranscriptReport,
    TranscriptRow,
)


@dataclass(frozen=True)
class User:
    """A person's words; they begin a turn."""

    text: str
    question: str = ""


@dataclass(frozen=True)
class Final:
    """The answer that ends a turn."""

    text: str


@dataclass(frozen=True)
class Note:
    """Commentary of the agent."""

    text: str


@dataclass(frozen=True)
class Other:
    """Mail from another agent."""

    text: str


@dataclass(frozen=True)
class Ran:
    """A shell command with what it printed."""

    command: str
    output: str = ""
    exit_code: int | None = 0


@dataclass(frozen=True)
class Tool:
    """A use of another tool with what it answered."""

    name: str
    arguments: str
    output: str


@dataclass(frozen=True)
class Patched:
    """A patch to these files that went in."""

    paths: tuple[str, ...]


class Aborted:
    """The person stopped the turn."""


Said = User | Final | Note | Other | Ran | Tool | Patched | Aborted


def a_talk(
    *said: Said,
    cwd: str = "/home/dev/projects/garden",
    repository: str = "",
    title: str = "",
    updated_at: str = "2026-11-20T10:00:00Z",
) -> Transcript:
    """A transcript of what was said and done, in order."""
    positions = count(1)
    turn = 0
    rows: list[TranscriptRow] = []
    for piece in said:
        turn += isinstance(piece, User)
        rows += _rows(piece, turn, positions)
    return Transcript(
        thread_id="019d0000-0000-7000-8000-000000000001",
        cwd=redact(cwd),
        repository=redact(repository),
        branch=redact("main"),
        title=redact(title),
        updated_at=updated_at,
        rows=tuple(rows),
        report=TranscriptReport(reading=ReadReport(), rows_kept=len(rows), rows_cut=0),
    )


def _rows(piece: Said, turn: int, positions: Iterable[int]) -> list[TranscriptRow]:
    place = iter(positions)

    def row(kind: RowKind, tier: Tier, text: str, **more: Any) -> TranscriptRow:
        return TranscriptRow(
            position=next(place), turn=turn, kind=kind, tier=tier, text=redact(text), **more
        )

    call_id = f"call_{turn}_{id(piece)}"
    match piece:
        case User(text, question):
            return [row(RowKind.HUMAN, Tier.HUMAN, text, question=redact(question))]
        case Final(text):
            return [row(RowKind.FINAL, Tier.FINAL, text)]
        case Note(text):
            return [row(RowKind.COMMENTARY, Tier.COMMENTARY, text)]
        case Other(text):
            return [row(RowKind.OTHER_AGENT, Tier.OTHER_AGENT, text, author=redact("helper"))]
        case Aborted():
            author = redact("turn_aborted")
            return [row(RowKind.CONTEXT, Tier.CONTEXT, "The user interrupted.", author=author)]
        case Ran(command, output, code):
            call = row(RowKind.TOOL_CALL, Tier.TOOL, command, call_id=call_id, is_shell=True)
            return [
                call,
                row(RowKind.TOOL_OUTPUT, Tier.TOOL, output, call_id=call_id, exit_code=code),
            ]
        case Tool(name, arguments, output):
            call = row(RowKind.TOOL_CALL, Tier.TOOL, arguments, call_id=call_id, tool=name)
            return [call, row(RowKind.TOOL_OUTPUT, Tier.TOOL, output, call_id=call_id)]
        case Patched(paths):
            files = tuple(redact(path) for path in paths)
            patch = "".join(f"*** Update File: {path}\n" for path in paths)
            call = row(RowKind.TOOL_CALL, Tier.TOOL, patch, call_id=call_id, changed_files=files)
            return [call, row(RowKind.TOOL_OUTPUT, Tier.TOOL, "Success", call_id=call_id)]
