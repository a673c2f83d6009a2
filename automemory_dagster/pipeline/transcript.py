"""Makes the transcript an extractor sees: evidence redacted as values, tiered, cut to a budget.

When not everything fits, human words come first, then final answers, other agents, commentary,
context and tools; inside a tier the newest first. What is chosen stands in file order.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC

from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.rollout import (
    HarnessContext,
    Reading,
    RolloutItem,
    Tier,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.thread import Thread
from automemory_dagster.domain.tokens import estimate_tokens
from automemory_dagster.domain.transcript import (
    Transcript,
    TranscriptReport,
    TranscriptRow,
)
from automemory_dagster.pipeline.transcript_row import TIER_OF, RowMaker, kind_of

FACTS_TOKENS = 60
"""Estimated tokens of the thread's facts when they are serialised, beside their texts."""

_LARGEST_SHARE = 4
"""No row takes more than a quarter of the budget, so that one pasted file is not all there is."""
_LEAST_TOKENS = 48
"""With less room than this a row would be nothing but its mark."""

_Unit = tuple[tuple[int, RolloutItem], ...]
"""Items that are kept or left out together, with their places in the reading."""


def build_transcript(
    reading: Reading, thread: Thread, *, redact: Redact, budget_tokens: int
) -> Transcript:
    """The transcript of one reading.

    ``estimated_tokens`` never exceeds ``budget_tokens`` unless the thread's facts alone do; then
    there are no rows. A tool's output is kept with its call or not at all.
    """
    facts = {
        "cwd": redact(thread.cwd),
        "repository": redact(thread.repository),
        "branch": redact(thread.branch),
        "title": redact(thread.title),
    }
    used = FACTS_TOKENS + sum(map(estimate_tokens, facts.values()))
    maker = RowMaker(redact, _call_names(reading.items))
    filling = _Filling(maker, budget_tokens, used)
    for tier, units in _units_by_tier(reading.items):
        filling.fill(reversed(units), tier)
    rows = tuple(filling.rows[index] for index in sorted(filling.rows))
    return Transcript(
        thread_id=thread.thread_id,
        updated_at=thread.source_updated_at.astimezone(UTC).isoformat(timespec="seconds"),
        rows=rows,
        report=TranscriptReport(
            reading=reading.report,
            rows_kept=len(rows),
            rows_cut=filling.cut,
            rows_omitted=dict(sorted(filling.omitted.items())),
            estimated_tokens=filling.used,
            budget_tokens=budget_tokens,
        ),
        **facts,
    )


@dataclass(slots=True)
class _Filling:
    """The rows chosen so far and the tokens they take."""

    maker: RowMaker
    budget_tokens: int
    used: int
    rows: dict[int, TranscriptRow] = field(default_factory=dict)
    omitted: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    is_full: bool = False

    def fill(self, units: Iterable[_Unit], tier: Tier) -> None:
        """Take units, most wanted first, until one finds no room; the rest is left out.

        Nothing of a later tier stands where something of an earlier one found no room.
        """
        seen: set[tuple[str, str]] = set()
        for unit in units:
            if tier is Tier.CONTEXT and self._is_repeated(unit, seen):
                taken = None
            else:
                taken = None if self.is_full else self._rows_of(unit)
                self.is_full = taken is None
            if taken is None:
                self.omitted.update(str(kind_of(item.body)) for _, item in unit)
            else:
                self.rows.update(taken)

    def _rows_of(self, unit: _Unit) -> dict[int, TranscriptRow] | None:
        room, cut = self.budget_tokens - self.used, 0
        most = max(_LEAST_TOKENS, self.budget_tokens // _LARGEST_SHARE)
        rows: dict[int, TranscriptRow] = {}
        for index, item in unit:
            if room < _LEAST_TOKENS:
                return None
            priced = self.maker.fitted(self.maker.row(item), allowed_tokens=min(room, most))
            if priced is None:
                return None
            cut += priced.is_cut
            room -= priced.tokens
            rows[index] = priced.row
        self.used, self.cut = self.budget_tokens - room, self.cut + cut
        return rows

    def _is_repeated(self, unit: _Unit, seen: set[tuple[str, str]]) -> bool:
        """True for a context that a newer row tells in the same words."""
        body = unit[0][1].body
        if not isinstance(body, HarnessContext):
            return False
        key = (body.label, body.text)
        is_known = key in seen
        seen.add(key)
        return is_known


def _units_by_tier(items: Sequence[RolloutItem]) -> list[tuple[Tier, list[_Unit]]]:
    """The items of each tier, most worth first, in file order inside; an output joins its call."""
    by_tier: dict[Tier, list[_Unit]] = {tier: [] for tier in Tier}
    place_of_call: dict[str, int] = {}
    for index, item in enumerate(items):
        body = item.body
        units = by_tier[TIER_OF[kind_of(body)]]
        if isinstance(body, ToolOutput) and body.call_id in place_of_call:
            place = place_of_call[body.call_id]
            units[place] = (*units[place], (index, item))
            continue
        if isinstance(body, ToolCall) and body.call_id:
            place_of_call[body.call_id] = len(units)
        units.append(((index, item),))
    return list(by_tier.items())


def _call_names(items: Iterable[RolloutItem]) -> dict[str, str]:
    """Short names of the calls, ``c1``, ``c2``, … in file order."""
    names: dict[str, str] = {}
    for item in items:
        body = item.body
        if isinstance(body, (ToolCall, ToolOutput)) and body.call_id and body.call_id not in names:
            names[body.call_id] = f"c{len(names) + 1}"
    return names
