"""The wishes and pitfalls that the memory summary may show, most worth first.

A wish is shown without a scope only when it was said in distinct projects or as one for all of
them; else it names its project.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from automemory_dagster.adapters.offline.deletions import Deletion, is_deleted
from automemory_dagster.adapters.offline.grouping import core_words, short_name
from automemory_dagster.adapters.offline.meaning import Meaning, read_meaning
from automemory_dagster.adapters.offline.merging import (
    MemoryLine,
    ProjectLines,
    cluster,
    is_same_statement,
)
from automemory_dagster.adapters.offline.statements import StatementKind
from automemory_dagster.adapters.offline.text import clip
from automemory_dagster.domain.artifacts import MEMORY_SUMMARY

_LINE_CHARACTERS = 260
_BY_CHARACTERS = 100
_TIPS_OF_A_PROJECT = 3
_IS_CHECK = re.compile(r"\(passed here\)$")
_WAS_FIXED = re.compile(r"; (?:after a change to .*passed|passed when run again)$")
_EVERYWHERE = re.compile(
    r"\b(?:everywhere|in general|(?:in|for|across) (?:all|any|every|each)(?: of)?(?: my| our)? "
    r"(?:projects?|repos?|repositor(?:y|ies)|languages?))\b"
    r"|所有(?:的)?(?:项目|仓库)|任何项目|每个项目|(?:すべて|全て|全部|どの)の?(?:プロジェクト|リポジトリ)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bullet that the summary may show."""

    text: str
    scope: str
    """Short name of the project; empty when it holds everywhere."""
    usage_count: int
    said_at: float
    """Unix seconds."""


def preference_entries(projects: Sequence[ProjectLines]) -> list[Entry]:
    """What the person wishes: the general ones first, then the most used, then the newest."""
    return _entries(projects, lambda line, is_general: line.kind is StatementKind.PREFERENCE)


def tip_entries(projects: Sequence[ProjectLines]) -> list[Entry]:
    """What several projects taught, and the pitfalls of each; at most three of one project."""
    found = _entries(projects, _is_tip)
    shown: dict[str, int] = {}
    kept = []
    for entry in found:
        shown[entry.scope] = shown.get(entry.scope, 0) + 1
        if not entry.scope or shown[entry.scope] <= _TIPS_OF_A_PROJECT:
            kept.append(entry)
    return kept


def allowed(
    entries: Iterable[Entry], deletions: Sequence[Deletion], kept_words: Sequence[str]
) -> list[Entry]:
    """The entries that a person neither took out of the summary nor keeps in it themselves."""
    words = [deletion.words for deletion in deletions if deletion.file == MEMORY_SUMMARY]
    refused = [read_meaning(text) for text in (*words, *kept_words)]
    return [entry for entry in entries if not _is_said(read_meaning(entry.text), refused)]


def by_scope(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Texts for a reader: the scope of the first entry first, all of one scope together."""
    scopes = list(dict.fromkeys(entry.scope for entry in entries))
    ordered = sorted(entries, key=lambda entry: scopes.index(entry.scope))
    return tuple(dict.fromkeys(entry.text for entry in ordered))


def needed_deletions(
    deletions: Sequence[Deletion], projects: Sequence[ProjectLines]
) -> tuple[Deletion, ...]:
    """The entries that still keep something out: some session says what a person deleted."""
    entries = [*preference_entries(projects), *tip_entries(projects)]
    shown = [read_meaning(entry.text) for entry in entries]
    return tuple(
        deletion
        for deletion in deletions
        if any(
            is_deleted(line, item.project.name, [deletion])
            for item in projects
            for line in item.lines
        )
        or (deletion.file == MEMORY_SUMMARY and _is_said(read_meaning(deletion.words), shown))
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


def _is_said(meaning: Meaning, others: Iterable[Meaning]) -> bool:
    return any(is_same_statement(meaning, other) for other in others)


def _scope_names(projects: Sequence[ProjectLines]) -> dict[str, str]:
    """A short name for each project, the whole one where two would be alike."""
    short = [short_name(item.project.name) for item in projects]
    return {
        item.project.name: name if short.count(name) == 1 else item.project.name
        for item, name in zip(projects, short, strict=True)
    }


def _entries(
    projects: Sequence[ProjectLines], is_wanted: Callable[[MemoryLine, bool], bool]
) -> list[Entry]:
    names = _scope_names(projects)
    found = [(item.project.name, line) for item in projects for line in item.lines]
    found.sort(key=lambda one: (-one[1].said_at.timestamp(), one[0], one[1].place, one[1].text))
    meanings = [read_meaning(line.text) for _, line in found]
    entries = []
    for members in cluster(range(len(found)), meanings):
        lines = [found[i][1] for i in members]
        scopes = sorted({names[found[i][0]] for i in members})
        is_general = len(scopes) > 1 or bool(_EVERYWHERE.search(lines[0].text))
        if is_wanted(lines[0], is_general):
            entries.append(_entry(lines, "" if is_general else scopes[0]))
    return sorted(
        entries, key=lambda entry: (bool(entry.scope), -entry.usage_count, -entry.said_at)
    )


def _entry(lines: Sequence[MemoryLine], scope: str) -> Entry:
    words = clip(core_words(lines[0].text), _LINE_CHARACTERS)
    if lines[0].outdated_by:
        by = clip(core_words(lines[0].outdated_by[-1].text), _BY_CHARACTERS)
        words = f"{words} (partly outdated: {by})"
    return Entry(
        text=f"{scope}: {words}" if scope else words,
        scope=scope,
        usage_count=sum(line.usage_count for line in lines),
        said_at=max(line.said_at.timestamp() for line in lines),
    )


def is_passing_story(text: str) -> bool:
    """True for a check that passes and a failure that was fixed: no news for a later session."""
    return bool(_IS_CHECK.search(text) or _WAS_FIXED.search(text))


def _is_tip(line: MemoryLine, is_general: bool) -> bool:
    """What one project taught is in its task group; the summary has room for pitfalls only."""
    if is_passing_story(line.text):
        return False
    is_pitfall = line.kind is StatementKind.FAILURE
    return is_pitfall or (is_general and line.kind is StatementKind.KNOWLEDGE)
