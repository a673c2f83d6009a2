"""Writes a consolidation's inputs into staging: ``raw_memories.md`` and ``rollout_summaries/``."""

from collections.abc import Sequence

from automemory_dagster.domain.artifacts import (
    RAW_MEMORIES,
    ROLLOUT_SUMMARIES,
    render_raw_memories,
    render_rollout_summary,
    summary_path,
)
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.ports import Staging


def sync_inputs(staging: Staging, selection: Sequence[SelectedOutput], *, redact: Redact) -> None:
    """Make the input files say exactly what the selection says. Idempotent.

    ``*.md`` directly in ``rollout_summaries/`` that belong to no selected thread are deleted; files
    of other kinds stay. The whole text of each file is redacted again, since putting parts together
    can make a secret whole.
    """
    wanted = {summary_path(selected): render_rollout_summary(selected) for selected in selection}
    for path in staging.paths():
        if _is_summary(path) and path not in wanted:
            staging.delete(path)
    wanted[RAW_MEMORIES] = render_raw_memories(selection)
    for path, text in sorted(wanted.items()):
        staging.write(path, redact(text))


def kept_paths(staging: Staging) -> frozenset[str]:
    """Paths that a person or an earlier version put there, for ``validate``'s ``known_paths``.

    Ask before anything is written to the staging copy.
    """
    known = {path for path in staging.paths() if staging.baseline(path) is not None}
    return frozenset(known.union(staging.edited_by_hand()))


def _is_summary(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == ROLLOUT_SUMMARIES and name.endswith(".md")
