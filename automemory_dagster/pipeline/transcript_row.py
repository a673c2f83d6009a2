"""One row of the transcript: an item's values redacted, and cut where they are too long.

The trap: cutting before redacting leaves half a secret at the cut, which no pattern knows. Values
are redacted whole, then cut, and what was cut is redacted once more.
"""

from collections.abc import Mapping
from dataclasses import replace

from automemory_dagster.domain.cut import cut_middle, utf8_bytes
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    ItemBody,
    OtherAgentMessage,
    RolloutItem,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.tokens import bytes_that_fit, estimate_tokens
from automemory_dagster.domain.transcript import RowKind, TranscriptRow

ROW_TOKENS = 24
"""Estimated tokens of a row's label, numbers and punctuation when it is serialised."""

MOST_BYTES: Mapping[RowKind, int] = {
    RowKind.HUMAN: 32 << 10,
    RowKind.FINAL: 16 << 10,
    RowKind.OTHER_AGENT: 8 << 10,
    RowKind.COMMENTARY: 8 << 10,
    RowKind.CONTEXT: 4 << 10,
    RowKind.TOOL_CALL: 8 << 10,
    RowKind.TOOL_OUTPUT: 8 << 10,
}
"""The most of one row's text, whatever the budget. Codex: 8,000 for tool outputs, 10,000 else."""

_MOST_FILES = 50
_SHARES = (1.0, 0.8, 0.5, 0.25)


def row_of(item: RolloutItem, redact: Redact, call_names: Mapping[str, str]) -> TranscriptRow:
    """The item as a row, redacted and not cut.

    ``call_names``: short names for call ids, since an id of 24 random characters is noise to a
    model and looks like a key to a scanner.
    """
    row = TranscriptRow(
        position=item.position,
        turn=item.turn,
        kind=kind_of(item.body),
        tier=item.tier,
        text=redact(_text_of(item.body)),
    )
    match item.body:
        case HumanRequest(question=question):
            return replace(row, question=redact(question))
        case OtherAgentMessage(author=author) | HarnessContext(label=author):
            return replace(row, author=redact(author))
        case ToolCall(call_id=call_id, tool=tool, is_shell=is_shell, changed_files=files):
            return replace(
                row,
                tool=redact(tool[:120]),
                call_id=call_names.get(call_id, ""),
                is_shell=is_shell,
                changed_files=tuple(redact(path) for path in files[:_MOST_FILES]),
            )
        case ToolOutput(call_id=call_id, exit_code=exit_code):
            return replace(row, call_id=call_names.get(call_id, ""), exit_code=exit_code)
        case AgentMessage():
            return row


def kind_of(body: ItemBody) -> RowKind:
    """What a row of this item is called."""
    match body:
        case HumanRequest():
            return RowKind.HUMAN
        case AgentMessage(is_final=is_final):
            return RowKind.FINAL if is_final else RowKind.COMMENTARY
        case OtherAgentMessage():
            return RowKind.OTHER_AGENT
        case HarnessContext():
            return RowKind.CONTEXT
        case ToolCall():
            return RowKind.TOOL_CALL
        case ToolOutput():
            return RowKind.TOOL_OUTPUT


def row_tokens(row: TranscriptRow) -> int:
    """Estimated tokens of a row with everything in it."""
    return ROW_TOKENS + estimate_tokens(row.text) + _tokens_beside_text(row)


def fitted(row: TranscriptRow, redact: Redact, *, allowed_tokens: int) -> TranscriptRow | None:
    """The row, its text cut in the middle as far as needed; None when not even that helps."""
    most = MOST_BYTES[row.kind]
    size = utf8_bytes(row.text)
    if size <= most and row_tokens(row) <= allowed_tokens:
        return row
    room = allowed_tokens - ROW_TOKENS - _tokens_beside_text(row)
    for share in _SHARES:
        wanted = min(most, int(bytes_that_fit(row.text, room) * share))
        shorter = replace(row, text=_cut(row.text, wanted, redact))
        if shorter.text and row_tokens(shorter) <= allowed_tokens:
            return shorter
    return None


def _cut(text: str, most_bytes: int, redact: Redact) -> RedactedText:
    return redact(cut_middle(text, most_bytes))


def _text_of(body: ItemBody) -> str:
    return body.command if isinstance(body, ToolCall) else body.text


def _tokens_beside_text(row: TranscriptRow) -> int:
    beside = [row.question, row.author, row.tool, *row.changed_files]
    return sum(estimate_tokens(text) + 2 for text in beside if text)
