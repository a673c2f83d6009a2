"""A transcript as turns: what the person said, what the agent did and answered.

Only rows of a person count as a person's words. Mail from other agents is left out: it is neither
the person's wish nor this thread's finding.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from automemory_dagster.adapters.offline.runs import Run, RunStatus, read_run, shell_commands
from automemory_dagster.domain.transcript import RowKind, Transcript, TranscriptRow

_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.M)
_COMMIT = re.compile(r"\bgit commit\b[^\n]*?\s-[a-z]*m\s*(?:\"([^\"\n]+)\"|'([^'\n]+)')")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Files that one patch changed."""

    position: int
    paths: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Turn:
    """One human turn. Texts are as the transcript holds them, in order."""

    number: int
    position: int = 0
    requests: list[str] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    """The agent's question with the person's answer."""
    finals: list[str] = field(default_factory=list)
    commentary: list[tuple[int, str]] = field(default_factory=list)
    """Position and words: weak evidence."""
    runs: list[Run] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    tool_calls: int = 0
    is_aborted: bool = False

    @property
    def request(self) -> str:
        """Everything the person said in this turn of their own accord."""
        return "\n".join(self.requests)

    @property
    def final(self) -> str:
        """The answer that ended the turn, or empty."""
        return self.finals[-1] if self.finals else ""

    @property
    def changed_files(self) -> tuple[str, ...]:
        """Every changed path once, in order."""
        return tuple(dict.fromkeys(path for change in self.changes for path in change.paths))


def read_turns(transcript: Transcript) -> tuple[Turn, ...]:
    """The turns that hold a person's words, in order; what comes before them is left out."""
    turns: dict[int, Turn] = {}
    outputs = _outputs_by_call(transcript.rows)
    for row in transcript.rows:
        turn = turns.setdefault(row.turn, Turn(number=row.turn, position=row.position))
        match row.kind:
            case RowKind.HUMAN if row.question:
                turn.answers.append((row.question, row.text))
            case RowKind.HUMAN:
                turn.requests.append(row.text)
            case RowKind.FINAL:
                turn.finals.append(row.text)
            case RowKind.COMMENTARY:
                turn.commentary.append((row.position, row.text))
            case RowKind.CONTEXT:
                turn.is_aborted = (
                    turn.is_aborted or "abort" in f"{row.author} {row.text[:40]}".lower()
                )
            case RowKind.TOOL_CALL:
                _read_call(turn, row, outputs.get(row.call_id, []))
            case RowKind.TOOL_OUTPUT | RowKind.OTHER_AGENT:
                pass
    return tuple(turn for turn in turns.values() if turn.requests or turn.answers)


def _outputs_by_call(rows: Iterable[TranscriptRow]) -> dict[str, list[TranscriptRow]]:
    outputs: dict[str, list[TranscriptRow]] = {}
    for row in rows:
        if row.kind is RowKind.TOOL_OUTPUT and row.call_id:
            outputs.setdefault(row.call_id, []).append(row)
    return outputs


def _read_call(turn: Turn, row: TranscriptRow, outputs: list[TranscriptRow]) -> None:
    turn.tool_calls += 1
    output = "\n".join(found.text for found in outputs)
    code = next((found.exit_code for found in outputs if found.exit_code is not None), None)
    paths = tuple(row.changed_files) or tuple(_PATCHED.findall(row.text))
    if paths:
        if code in (None, 0):
            turn.changes.append(Change(position=row.position, paths=paths))
        return
    for command in shell_commands(row.text, is_shell=row.is_shell):
        run = read_run(command, output, code, position=row.position, turn=row.turn)
        turn.runs.append(run)
        if run.status is not RunStatus.FAILED:
            turn.commits += ["".join(found) for found in _COMMIT.findall(command)]
