"""Which stage-1 outputs a consolidation reads: ranked by use, cut, put in a stable order.

Source: ``reference/codex-memory-spec.md``, section 5.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import ThreadId


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionPolicy:
    """How much a consolidation takes in."""

    max_inputs: int = 256
    """Codex's number."""
    max_unused: timedelta | None = timedelta(days=90)
    """Outputs neither used nor updated for longer are left out; None: never. Codex: 30 days. Ours
    is the gate's own age limit, so that nothing that was admitted yesterday is dropped today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionChange:
    """A selection against the one before it; each tuple is by thread id."""

    added: tuple[ThreadId, ...]
    """Not selected before, or selected in another version."""
    retained: tuple[ThreadId, ...]
    """Selected before in this very version."""
    removed: tuple[ThreadId, ...]
    """Selected before and not any more."""


def select_for_phase2(
    outputs: Sequence[SelectedOutput], *, policy: SelectionPolicy, now: datetime
) -> tuple[SelectedOutput, ...]:
    """Choose the outputs the next consolidation reads. Empty when nothing qualifies.

    Leaves out blank outputs and those unused for longer than ``policy.max_unused`` (the moment
    itself still counts), ranks by usage count, latest use, version and thread id, each the higher
    the better, and cuts to ``max_inputs``. The result is by thread id, not by rank, so that a
    change in usage does not reorder the files on disk.
    """
    candidates = [item for item in outputs if _has_text(item) and _is_fresh(item, policy, now)]
    ranked = sorted(candidates, key=_rank, reverse=True)
    chosen = ranked[: max(0, policy.max_inputs)]
    return tuple(sorted(chosen, key=lambda item: item.output.thread_id))


def compare_selection(
    previous: Mapping[ThreadId, int], selection: Sequence[SelectedOutput]
) -> SelectionChange:
    """What became of a selection's inputs since the last consolidation.

    ``previous``: thread id to ``source_updated_at`` in Unix seconds, as a publication records its
    inputs.
    """
    current = {
        item.output.thread_id: int(item.output.source_updated_at.timestamp()) for item in selection
    }
    retained = {thread for thread, version in current.items() if previous.get(thread) == version}
    return SelectionChange(
        added=tuple(sorted(current.keys() - retained)),
        retained=tuple(sorted(retained)),
        removed=tuple(sorted(previous.keys() - current.keys())),
    )


def last_activity(item: SelectedOutput) -> datetime:
    """When the output was last used; when it never was, the version it was made from."""
    return item.output.last_usage or item.output.source_updated_at


def _has_text(item: SelectedOutput) -> bool:
    return bool(item.output.raw_memory.strip() or item.output.rollout_summary.strip())


def _is_fresh(item: SelectedOutput, policy: SelectionPolicy, now: datetime) -> bool:
    # A time in the future, from a clock that was wrong, counts as fresh.
    return policy.max_unused is None or now - last_activity(item) <= policy.max_unused


def _rank(item: SelectedOutput) -> tuple[int, datetime, datetime, str]:
    output = item.output
    return (
        output.usage_count,
        last_activity(item),
        output.source_updated_at,
        output.thread_id,
    )
