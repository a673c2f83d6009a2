"""Fills the memory summary, which every later session is handed: each byte must earn its place."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from automemory_dagster.adapters.offline.deletions import Deletion
from automemory_dagster.adapters.offline.entries import (
    Entry,
    allowed,
    by_scope,
    preference_entries,
    tip_entries,
)
from automemory_dagster.adapters.offline.grouping import short_name
from automemory_dagster.adapters.offline.merging import ProjectLines
from automemory_dagster.adapters.offline.topics import older_scope, recent_topics
from automemory_dagster.domain.memory_summary import (
    IndexedScope,
    MemorySummary,
    OlderScope,
    Topic,
    summary_bytes,
)

RECENT_WINDOW = timedelta(days=30)
"""Before the newest memory day; ours."""
_INDEX_FLOOR_SHARE = 0.35
"""Of the room: one line a project comes first, then wishes and pitfalls up to their shares."""
_PREFERENCES_SHARE = 0.6
_TIPS_SHARE = 0.75

_Field = Literal["preferences", "tips"]


def build_summary(
    projects: Sequence[ProjectLines],
    *,
    limit_bytes: int,
    deletions: Sequence[Deletion] = (),
    kept_words: Sequence[str] = (),
) -> MemorySummary:
    """The summary of all projects in at most ``limit_bytes``, the most used and newest first.

    ``deletions`` and ``kept_words``: what a person took out or keeps in the file themselves.
    """
    ranked = sorted(projects, key=project_rank)
    preferences = allowed(preference_entries(ranked), deletions, kept_words)
    tips = allowed(tip_entries(ranked), deletions, kept_words)
    summary = _with_floor(ranked, limit_bytes)
    summary = _with_lines(summary, preferences, "preferences", limit_bytes * _PREFERENCES_SHARE)
    summary = _with_lines(summary, tips, "tips", limit_bytes * _TIPS_SHARE)
    for item in ranked:
        summary = _with_recent(summary, item, ranked, limit_bytes)
    summary = _with_lines(summary, preferences, "preferences", limit_bytes)
    return _with_lines(summary, tips, "tips", limit_bytes)


def project_rank(item: ProjectLines) -> tuple[int, float, str]:
    """Sort key: the most used first, then the newest."""
    project = item.project
    return (-project.usage_count, -project.updated_at.timestamp(), project.name)


def _with_floor(ranked: Sequence[ProjectLines], limit_bytes: int) -> MemorySummary:
    """The profile and one line a project: the part that is there however much there is to say."""
    summary = MemorySummary(
        profile=tuple(_profile(ranked)), preferences=(), tips=(), recent=(), older=()
    )
    shown: list[OlderScope] = []
    for count, item in enumerate(ranked, start=1):
        more = [*shown, older_scope(item)]
        trial = replace(summary, older=tuple(more), unlisted_groups=len(ranked) - count)
        if summary_bytes(trial) > limit_bytes * _INDEX_FLOOR_SHARE:
            break
        shown = more
    return replace(summary, older=tuple(shown), unlisted_groups=len(ranked) - len(shown))


def _profile(ranked: Sequence[ProjectLines]) -> Iterator[str]:
    if not ranked:
        return
    counts = {
        short_name(item.project.name): len({task.key.thread_id for task in item.project.tasks})
        for item in ranked
    }
    busiest = sorted(counts, key=lambda name: (-counts[name], name))[:5]
    listed = ", ".join(f"{name} ({counts[name]})" for name in busiest)
    last = max(item.project.updated_at for item in ranked)
    noun = "project" if len(ranked) == 1 else "projects"
    yield (
        f"Works in {len(ranked)} {noun}; most remembered sessions: {listed}. "
        f"Newest session: {last:%Y-%m-%d}."
    )


def _with_lines(
    summary: MemorySummary, entries: Sequence[Entry], field: _Field, limit_bytes: float
) -> MemorySummary:
    """The summary with as many of the entries as there is room for, the first ones first."""
    there = set(_texts(summary, field))
    chosen = [entry for entry in entries if entry.text in there]
    size = summary_bytes(summary)
    for entry in entries:
        # Rendering the whole to learn its size is dear, and most leftovers are plainly too long.
        if entry.text in there or size + len(entry.text.encode()) > limit_bytes:
            continue
        texts = by_scope(sorted([*chosen, entry], key=entries.index))
        is_wish = field == "preferences"
        trial = replace(summary, preferences=texts) if is_wish else replace(summary, tips=texts)
        if (trial_size := summary_bytes(trial)) <= limit_bytes:
            summary, size = trial, trial_size
            chosen.append(entry)
    return summary


def _texts(summary: MemorySummary, field: _Field) -> tuple[str, ...]:
    return summary.preferences if field == "preferences" else summary.tips


def _with_recent(
    summary: MemorySummary, item: ProjectLines, ranked: Sequence[ProjectLines], limit_bytes: int
) -> MemorySummary:
    """The summary with as many of a project's recent topics as there is room for."""
    newest = max(other.project.updated_at for other in ranked)
    is_listed = any(older.scope == item.project.name for older in summary.older)
    if item.project.updated_at < newest - RECENT_WINDOW or not is_listed:
        return summary
    older = tuple(scope for scope in summary.older if scope.scope != item.project.name)
    best = summary
    days: list[tuple[str, tuple[Topic, ...]]] = []
    for day, topic in recent_topics(item):
        if days and days[-1][0] == day:
            days[-1] = (day, (*days[-1][1], topic))
        else:
            days.append((day, (topic,)))
        scope = IndexedScope(scope=item.project.name, days=tuple(days))
        trial = replace(summary, recent=(*summary.recent, scope), older=older)
        if summary_bytes(trial) > limit_bytes:
            break
        best = trial
    return best
