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


_Place = tuple[int, int, RowKind]
"""Position, turn and kind of a row."""


@dataclass(slots=True)
class PricedRow:
    """A row and its estimated tokens."""

    row: TranscriptRow
    tokens: int
    is_cut: bool
    """True when its text is shorter than what the rollout holds."""


class RowMaker:
    """Makes rows of the items of one transcript."""

    def __init__(self, redact: Redact, call_names: Mapping[str, str]) -> None:
        self._redact = redact
        self._call_names = call_names
        self._labels: dict[str, tuple[RedactedText, int]] = {}

    def row(self, item: RolloutItem) -> PricedRow:
        """The item as a row, redacted, and cut to what a row of its kind may be.

        Call ids become short names: 24 random characters are noise to a model, and look like a key
        to a scanner.
        """
        body = item.body
        kind = kind_of(body)
        text = self._redact(body.command if isinstance(body, ToolCall) else body.text)
        shown = self._cut(text, MOST_BYTES[kind])
        is_cut = shown is not text
        place = (item.position, item.turn, kind)
        if isinstance(body, ToolCall):
            row, beside = self._call_row(body, shown, place)
        elif isinstance(body, ToolOutput):
            row, beside = self._output_row(body, shown, place), 0
            is_cut = is_cut or body.omitted_bytes > 0
        else:
            row, beside = self._words_row(body, shown, place)
        return PricedRow(row, ROW_TOKENS + estimate_tokens(shown) + beside, is_cut)

    def _call_row(
        self, call: ToolCall, text: RedactedText, place: _Place
    ) -> tuple[TranscriptRow, int]:
        tool, tokens = self._label(call.tool)
        files = tuple([self._redact(path) for path in call.changed_files[:_MOST_FILES]])
        row = TranscriptRow(
            position=place[0],
            turn=place[1],
            kind=place[2],
            tier=Tier.TOOL,
            text=text,
            tool=tool,
            call_id=self._call_names.get(call.call_id, ""),
            is_shell=call.is_shell,
            changed_files=files,
        )
        return row, _tokens_beside_text(row) if files else tokens

    def _output_row(self, output: ToolOutput, text: RedactedText, place: _Place) -> TranscriptRow:
        return TranscriptRow(
            position=place[0],
            turn=place[1],
            kind=place[2],
            tier=Tier.TOOL,
            text=text,
            call_id=self._call_names.get(output.call_id, ""),
            exit_code=output.exit_code,
        )

    def _words_row(
        self, body: ItemBody, text: RedactedText, place: _Place
    ) -> tuple[TranscriptRow, int]:
        question, author, tokens = NO_TEXT, NO_TEXT, 0
        if isinstance(body, HumanRequest):
            question = self._redact(body.question) if body.question else NO_TEXT
        elif isinstance(body, OtherAgentMessage):
            author, tokens = self._label(body.author)
        elif isinstance(body, HarnessContext):
            author, tokens = self._label(body.label)
        row = TranscriptRow(
            position=place[0],
            turn=place[1],
            kind=place[2],
            tier=TIER_OF[place[2]],
            text=text,
            question=question,
            author=author,
        )
        return row, _tokens_beside_text(row) if question else tokens

    def fitted(self, priced: PricedRow, *, allowed_tokens: int) -> PricedRow | None:
        """The row, its text cut in the middle as far as needed; None when not even that helps."""
        if priced.tokens <= allowed_tokens:
            return priced
        row = priced.row
        room = allowed_tokens - ROW_TOKENS - _tokens_beside_text(row)
        for share in _SHARES:
            shorter = replace(
                row, text=self._cut(row.text, int(bytes_that_fit(row.text, room) * share))
            )
            tokens = _row_tokens(shorter)
            if shorter.text and tokens <= allowed_tokens:
                return PricedRow(shorter, tokens, is_cut=True)
        return None

    def _cut(self, text: RedactedText, most_bytes: int) -> RedactedText:
        if len(text) * 4 <= most_bytes or utf8_bytes(text) <= most_bytes:
            return text
        return self._redact(cut_middle(text, most_bytes))

    def _label(self, text: str) -> tuple[RedactedText, int]:
        """A name redacted, and its tokens when it is all that stands beside a row's text."""
        known = self._labels.get(text)
        if known is None:
            label = self._redact(text[:_MOST_LABEL])
            known = self._labels[text] = (label, _beside_tokens(label, 3))
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
    return _beside_tokens(" ".join([text for text in beside if text]), len(beside))


def _beside_tokens(joined: str, fields: int) -> int:
    return estimate_tokens(joined) + 2 * fields if joined else 0
