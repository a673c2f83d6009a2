"""One row of the transcript: an item's values redacted, and cut where they are too long.

The trap: cutting before redacting leaves half a secret at the cut, which no pattern knows. Values
are redacted whole, then cut, and what was cut is redacted once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from automemory_dagster.domain.cut import cut_middle, utf8_bytes
from automemory_dagster.domain.redaction import NO_TEXT, Redact, RedactedText
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    ItemBody,
    OtherAgentMessage,
    RolloutItem,
    Tier,
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

TIER_OF: Mapping[RowKind, Tier] = {
    RowKind.HUMAN: Tier.HUMAN,
    RowKind.FINAL: Tier.FINAL,
    RowKind.OTHER_AGENT: Tier.OTHER_AGENT,
    RowKind.COMMENTARY: Tier.COMMENTARY,
    RowKind.CONTEXT: Tier.CONTEXT,
    RowKind.TOOL_CALL: Tier.TOOL,
    RowKind.TOOL_OUTPUT: Tier.TOOL,
}

_KINDS: Mapping[type, RowKind] = {
    HumanRequest: RowKind.HUMAN,
    OtherAgentMessage: RowKind.OTHER_AGENT,
    HarnessContext: RowKind.CONTEXT,
    ToolCall: RowKind.TOOL_CALL,
    ToolOutput: RowKind.TOOL_OUTPUT,
}
_MOST_LABEL = 120
_MOST_FILES = 50
_SHARES = (1.0, 0.8, 0.5, 0.25)


@dataclass(frozen=True, slots=True)
class PricedRow:
    """A row and its estimated tokens."""

    row: TranscriptRow
    tokens: int


class RowMaker:
    """Makes rows of the items of one transcript."""

    def __init__(self, redact: Redact, call_names: Mapping[str, str]) -> None:
        self._redact = redact
        self._call_names = call_names
        self._labels: dict[str, RedactedText] = {}

    def row(self, item: RolloutItem) -> PricedRow:
        """The item as a row, redacted and not cut.

        Call ids become short names: 24 random characters are noise to a model, and look like a key
        to a scanner.
        """
        body = item.body
        kind = kind_of(body)
        author, tool, question, call_id = NO_TEXT, NO_TEXT, NO_TEXT, ""
        files: tuple[RedactedText, ...] = ()
        is_shell, exit_code = False, None
        match body:
            case ToolCall():
                text, is_shell = self._redact(body.command), body.is_shell
                tool, call_id = self._label(body.tool), self._call_names.get(body.call_id, "")
                files = tuple(self._redact(path) for path in body.changed_files[:_MOST_FILES])
            case ToolOutput():
                text, exit_code = self._redact(body.text), body.exit_code
                call_id = self._call_names.get(body.call_id, "")
            case HumanRequest():
                text = self._redact(body.text)
                question = self._redact(body.question) if body.question else NO_TEXT
            case OtherAgentMessage():
                text, author = self._redact(body.text), self._label(body.author)
            case HarnessContext():
                text, author = self._redact(body.text), self._label(body.label)
            case AgentMessage():
                text = self._redact(body.text)
        row = TranscriptRow(
            position=item.position,
            turn=item.turn,
            kind=kind,
            tier=TIER_OF[kind],
            text=text,
            question=question,
            author=author,
            tool=tool,
            call_id=call_id,
            is_shell=is_shell,
            exit_code=exit_code,
            changed_files=files,
        )
        return PricedRow(row, _row_tokens(row))

    def fitted(self, priced: PricedRow, *, allowed_tokens: int) -> PricedRow | None:
        """The row, its text cut in the middle as far as needed; None when not even that helps."""
        row, most = priced.row, MOST_BYTES[priced.row.kind]
        is_short = len(row.text) * 4 <= most or utf8_bytes(row.text) <= most
        if is_short and priced.tokens <= allowed_tokens:
            return priced
        room = allowed_tokens - ROW_TOKENS - _tokens_beside_text(row)
        for share in _SHARES:
            wanted = min(most, int(bytes_that_fit(row.text, room) * share))
            shorter = replace(row, text=self._redact(cut_middle(row.text, wanted)))
            tokens = _row_tokens(shorter)
            if shorter.text and tokens <= allowed_tokens:
                return PricedRow(shorter, tokens)
        return None

    def _label(self, text: str) -> RedactedText:
        known = self._labels.get(text)
        if known is None:
            known = self._labels[text] = self._redact(text[:_MOST_LABEL])
        return known


def kind_of(body: ItemBody) -> RowKind:
    """What a row of this item is called."""
    if isinstance(body, AgentMessage):
        return RowKind.FINAL if body.is_final else RowKind.COMMENTARY
    return _KINDS[type(body)]


def _row_tokens(row: TranscriptRow) -> int:
    return ROW_TOKENS + estimate_tokens(row.text) + _tokens_beside_text(row)


def _tokens_beside_text(row: TranscriptRow) -> int:
    beside = (row.question, row.author, row.tool, *row.changed_files)
    joined = " ".join([text for text in beside if text])
    return estimate_tokens(joined) + 2 * len(beside) if joined else 0
