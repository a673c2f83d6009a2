"""Fills the memory summary: what every later session is handed, so every byte must earn its place.

A wish of the person is shown without a scope only when it was said in distinct projects or as one
for all of them; else it names its project.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from automemory_dagster.adapters.offline.deletions import Deletion, is_deleted
from automemory_dagster.adapters.offline.grouping import core_words, short_name
from automemory_dagster.adapters.offline.meaning import Meaning, read_meaning
from automemory_dagster.adapters.offline.merging import (
    MemoryLine,
    ProjectLines,
    cluster,
    is_same_statement,
)
from automemory_dagster.adapters.offline.statements import StatementKind, ThreadTask
from automemory_dagster.adapters.offline.text import clip
from automemory_dagster.domain.artifacts import MEMORY_SUMMARY
from automemory_dagster.domain.memory_summary import (
    IndexedScope,
    MemorySummary,
    OlderScope,
    Topic,
    summary_bytes,
)

RECENT_WINDOW = timedelta(days=30)
"""Before the newest memory day; ours."""
_MAX_DAYS = 3
"""Memory days a scope shows in the recent part. Codex's number."""
_PREFERENCES_SHARE = 0.5
_TIPS_SHARE = 0.62
_INDEX_FLOOR_SHARE = 0.35
_LINE_CHARACTERS = 260
_EVERYWHERE = re.compile(
    r"\b(?:everywhere|in general|(?:in|for|across) (?:all|any|every|each)(?: of)?(?: my| our)? "
    r"(?:projects?|repos?|repositor(?:y|ies)|languages?))\b"
    r"|所有(?:的)?(?:项目|仓库)|任何项目|每个项目|(?:すべて|全て|全部|どの)の?(?:プロジェクト|リポジトリ)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    text: str
    usage_count: int
    said_at: float
    is_general: bool


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
    names = _scope_names(ranked)
    refused = [read_meaning(deletion.words) for deletion in deletions if _is_ours(deletion)]
    refused += [read_meaning(words) for words in kept_words]
    preferences = _allowed(_entries(ranked, names, _PREFERENCES), refused)
    tips = _allowed(_entries(ranked, names, _TIPS), refused)
    summary = _with_floor(ranked, limit_bytes)
    summary = _with_lines(summary, preferences, "preferences", limit_bytes * _PREFERENCES_SHARE)
    summary = _with_lines(summary, tips, "tips", limit_bytes * _TIPS_SHARE)
    for item in ranked:
        summary = _with_recent(summary, item, ranked, limit_bytes)
    summary = _with_lines(summary, preferences, "preferences", limit_bytes)
    return _with_lines(summary, tips, "tips", limit_bytes)


def needed_deletions(
    deletions: Sequence[Deletion], projects: Sequence[ProjectLines]
) -> tuple[Deletion, ...]:
    """The entries that still keep something out: some session says what a person deleted."""
    names = _scope_names(projects)
    shown = [
        read_meaning(entry.text)
        for kinds in (_PREFERENCES, _TIPS)
        for entry in _entries(projects, names, kinds)
    ]
    return tuple(
        deletion
        for deletion in deletions
        if any(
            is_deleted(line, item.project.name, [deletion])
            for item in projects
            for line in item.lines
        )
        or (_is_ours(deletion) and _is_said(read_meaning(deletion.words), shown))
    )


def without_deleted(
    projects: Sequence[ProjectLines], deletions: Sequence[Deletion]
) -> tuple[ProjectLines, ...]:
    """The projects without the lines that a person deleted from their task groups."""
    return tuple(
        replace(
            item,
            lines=tuple(
                line for line in item.lines if not is_deleted(line, item.project.name, deletions)
            ),
        )
        for item in projects
    )


_PREFERENCES = (StatementKind.PREFERENCE,)
_TIPS = (StatementKind.FAILURE, StatementKind.KNOWLEDGE)


def _is_said(meaning: Meaning, others: Iterable[Meaning]) -> bool:
    return any(is_same_statement(meaning, other) for other in others)


def _is_ours(deletion: Deletion) -> bool:
    return deletion.file == MEMORY_SUMMARY


def project_rank(item: ProjectLines) -> tuple[int, float, str]:
    """Sort key: the most used first, then the newest."""
    project = item.project
    return (-project.usage_count, -project.updated_at.timestamp(), project.name)


def _scope_names(projects: Sequence[ProjectLines]) -> dict[str, str]:
    """A short name for each project, the whole one where two would be alike."""
    short = [short_name(item.project.name) for item in projects]
    return {
        item.project.name: name if short.count(name) == 1 else item.project.name
        for item, name in zip(projects, short, strict=True)
    }


def _entries(
    projects: Sequence[ProjectLines], names: dict[str, str], kinds: tuple[StatementKind, ...]
) -> list[_Entry]:
    found = [
        (item.project.name, line) for item in projects for line in item.lines if line.kind in kinds
    ]
    meanings = [read_meaning(line.text) for _, line in found]
    order = sorted(
        range(len(found)), key=lambda i: (-found[i][1].said_at.timestamp(), *_id(found[i]))
    )
    entries = []
    for members in cluster(order, meanings):
        lines = [found[i][1] for i in members]
        scopes = sorted({names[found[i][0]] for i in members})
        is_general = len(scopes) > 1 or bool(_EVERYWHERE.search(lines[0].text))
        if StatementKind.KNOWLEDGE is lines[0].kind and not is_general:
            # What one project taught is in its task group; the summary has no room for it.
            continue
        words = clip(core_words(lines[0].text), _LINE_CHARACTERS)
        if lines[0].outdated_by is not None:
            by = clip(core_words(lines[0].outdated_by.text), 100)
            words = f"(outdated in part, now: {by}) {words}"
        entries.append(
            _Entry(
                text=words if is_general else f"{scopes[0]}: {words}",
                usage_count=sum(line.usage_count for line in lines),
                said_at=max(line.said_at.timestamp() for line in lines),
                is_general=is_general,
            )
        )
    return sorted(entries, key=lambda e: (not e.is_general, -e.usage_count, -e.said_at, e.text))


def _id(found: tuple[str, MemoryLine]) -> tuple[str, str]:
    return (found[0], found[1].text)


def _allowed(entries: Iterable[_Entry], refused: Sequence[Meaning]) -> list[str]:
    return [entry.text for entry in entries if not _is_said(read_meaning(entry.text), refused)]


def _with_floor(ranked: Sequence[ProjectLines], limit_bytes: int) -> MemorySummary:
    """The profile and one line a project: the part that is there however much there is to say."""
    summary = MemorySummary(
        profile=tuple(_profile(ranked)), preferences=(), tips=(), recent=(), older=()
    )
    shown: list[OlderScope] = []
    for count, item in enumerate(ranked, start=1):
        more = [*shown, _older(item)]
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
    summary: MemorySummary, texts: Sequence[str], field: str, limit_bytes: float
) -> MemorySummary:
    for text in texts:
        now: tuple[str, ...] = getattr(summary, field)
        if text in now:
            continue
        # In the order of the texts, whatever round an entry came in with.
        wanted = {*now, text}
        lines = tuple(line for line in texts if line in wanted)
        trial = (
            replace(summary, preferences=lines)
            if field == "preferences"
            else replace(summary, tips=lines)
        )
        if summary_bytes(trial) <= limit_bytes:
            summary = trial
    return summary


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
    for day, topic in _recent_topics(item):
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


def _recent_topics(item: ProjectLines) -> Iterator[tuple[str, Topic]]:
    """Day and topic, newest first, of the last memory days; one topic a thread."""
    threads: dict[str, list[ThreadTask]] = {}
    for task in reversed(item.project.tasks):
        threads.setdefault(task.key.thread_id, []).insert(0, task)
    days: list[str] = []
    for tasks in threads.values():
        day = f"{tasks[0].key.updated_at:%Y-%m-%d}"
        if day not in days:
            days.append(day)
        if len(days) > _MAX_DAYS:
            return
        yield day, _topic(item, tasks)


def _topic(item: ProjectLines, tasks: Sequence[ThreadTask]) -> Topic:
    memory = tasks[0].memory
    keys = {task.key for task in tasks}
    learnt = [
        clip(core_words(line.text), 130)
        for line in item.lines
        if line.tasks & keys and line.kind is not StatementKind.PREFERENCE
    ]
    return Topic(
        name=clip(memory.task or tasks[0].task.name, 70).replace(": ", " - "),
        keywords=memory.keywords[:5],
        description=clip(memory.description or tasks[0].task.name, 140),
        learnings="; ".join(learnt[:2]),
    )


def _older(item: ProjectLines) -> OlderScope:
    tasks = item.project.tasks
    name = clip(tasks[-1].memory.task or tasks[-1].task.name, 60).replace(": ", " - ")
    return OlderScope(
        scope=item.project.name,
        topics=(Topic(name=name, keywords=tasks[-1].memory.keywords[:3], description=""),),
    )
