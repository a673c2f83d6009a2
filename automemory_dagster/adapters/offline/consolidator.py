"""Consolidates by rules: no model, the same bytes from the same input.

Everything is written anew from the selection each time, so a thread that left it leaves nothing
behind that no other thread says. Only a person's own lines outlive their session.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from automemory_dagster.adapters.offline.deletions import (
    DELETIONS,
    Deletion,
    deletion_of,
    read_deletions,
    render_deletions,
)
from automemory_dagster.adapters.offline.digest import build_summary, project_rank
from automemory_dagster.adapters.offline.entries import needed_deletions, without_deleted
from automemory_dagster.adapters.offline.grouping import ALL_BOUNDS, bare_words, build_group
from automemory_dagster.adapters.offline.merging import ProjectLines, merge
from automemory_dagster.adapters.offline.statements import (
    Project,
    Statement,
    StatementKind,
    TaskKey,
    read_projects,
    statements_of,
)
from automemory_dagster.domain.artifacts import MEMORY, MEMORY_SUMMARY
from automemory_dagster.domain.hand_edits import (
    HandLine,
    find_deleted_lines,
    find_hand_lines,
    put_back,
)
from automemory_dagster.domain.handbook import BLOCK_HEADINGS, GROUP_HEADING, render_handbook
from automemory_dagster.domain.memory_summary import (
    MAX_SUMMARY_BYTES,
    PREFERENCES_HEADING,
    TIPS_HEADING,
    render_summary,
)
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.spend import Work
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.domain.validation import MAX_MEMORY_BYTES
from automemory_dagster.domain.workspace import WorkspaceDiff
from automemory_dagster.ports import ConsolidationReport, FindProblems, Staging

BY_HAND = ThreadId("")
"""The thread of a person's own lines, which come after every session's."""

_DELETABLE = {MEMORY: BLOCK_HEADINGS, MEMORY_SUMMARY: (PREFERENCES_HEADING, TIPS_HEADING)}
_RESERVE_BYTES = 200
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HandEdits:
    lines: Mapping[str, tuple[HandLine, ...]]
    """By file."""
    deletions: tuple[Deletion, ...]

    @property
    def count(self) -> int:
        return sum(bool(line.text) for lines in self.lines.values() for line in lines)


class OfflineConsolidator:
    """A ``Consolidator`` that needs nothing but the selection and what a person wrote."""

    version = "offline/2"

    def __init__(self, *, redact: Redact) -> None:
        self._redact = redact

    def consolidate(
        self,
        staging: Staging,
        selection: Sequence[SelectedOutput],
        diff: WorkspaceDiff,
        *,
        work: Work,
        find_problems: FindProblems,
    ) -> ConsolidationReport:
        """See the port for the contract. The selection says it all: the diff is not read, nothing
        is spent, and what rules write has no problems to ask for."""
        return self.rewrite(staging, selection)

    def rewrite(self, staging: Staging, selection: Sequence[SelectedOutput]) -> ConsolidationReport:
        """Write ``MEMORY.md``, ``memory_summary.md`` and the list of lines deleted by hand."""
        edits = _read_edits(staging)
        projects, report = _remember(selection, edits)
        deletions = needed_deletions(edits.deletions, projects)
        projects = without_deleted(projects, deletions)
        memory = _memory_text(projects, edits.lines[MEMORY])
        summary = _summary_text(projects, edits.lines[MEMORY_SUMMARY], deletions)
        staging.write(MEMORY, self._redact(memory))
        staging.write(MEMORY_SUMMARY, self._redact(summary))
        if text := render_deletions(deletions):
            staging.write(DELETIONS, self._redact(text))
        else:
            staging.delete(DELETIONS)
        return report


def _read_edits(staging: Staging) -> _HandEdits:
    lines: dict[str, tuple[HandLine, ...]] = {}
    deletions = list(read_deletions(staging.read(DELETIONS)))
    for file, headings in _DELETABLE.items():
        current, baseline = staging.read(file), staging.baseline(file)
        lines[file] = find_hand_lines(current, baseline)
        deleted = find_deleted_lines(current, baseline, headings=headings)
        deletions += [deletion_of(file, line) for line in deleted]
    return _HandEdits(lines=lines, deletions=tuple(sorted(set(deletions))))


def _remember(
    selection: Sequence[SelectedOutput], edits: _HandEdits
) -> tuple[tuple[ProjectLines, ...], ConsolidationReport]:
    """What holds in each project, a person's deletions still in it, and the account of it."""
    remembered = []
    said = merged = superseded = 0
    for project in read_projects(selection):
        sessions = statements_of(project)
        result = merge([*sessions, *_statements_by_hand(project, edits.lines[MEMORY])])
        # A person's own lines are put back as they stand; here they only outweigh the others.
        lines = tuple(line for line in result.lines if not _is_by_hand(line.tasks))
        remembered.append(ProjectLines(project=project, lines=lines))
        said += len(sessions)
        merged += result.merged
        superseded += result.superseded
    report = ConsolidationReport(
        statements_in=said,
        statements_out=sum(len(item.lines) for item in remembered),
        merged=merged,
        superseded=superseded,
        kept_by_hand=edits.count,
    )
    return tuple(remembered), report


def _statements_by_hand(project: Project, lines: Sequence[HandLine]) -> list[Statement]:
    heading = GROUP_HEADING + project.name
    return [
        Statement(
            kind=StatementKind.PREFERENCE,
            text=bare_words(line.words),
            task=TaskKey(_END_OF_TIME, BY_HAND, index),
            position=0,
        )
        for index, line in enumerate(lines)
        if line.headings[:1] == (heading,) and line.text.startswith("- ")
    ]


def _is_by_hand(tasks: frozenset[TaskKey]) -> bool:
    return any(key.thread_id == BY_HAND for key in tasks)


def _memory_text(projects: Sequence[ProjectLines], hand_lines: Sequence[HandLine]) -> str:
    ranked = sorted(projects, key=project_rank)
    for bounds in ALL_BOUNDS:
        groups = [build_group(item.project, item.lines, bounds) for item in ranked]
        text = put_back(render_handbook(tuple(groups)), hand_lines)
        if len(text.encode()) <= MAX_MEMORY_BYTES:
            break
    while len(text.encode()) > MAX_MEMORY_BYTES and groups:
        groups.pop()
        text = put_back(render_handbook(tuple(groups)), hand_lines)
    return text


def _summary_text(
    projects: Sequence[ProjectLines],
    hand_lines: Sequence[HandLine],
    deletions: Sequence[Deletion],
) -> str:
    taken = sum(len("\n".join((*line.headings, line.text)).encode()) + 2 for line in hand_lines)
    summary = build_summary(
        projects,
        limit_bytes=MAX_SUMMARY_BYTES - _RESERVE_BYTES - taken,
        deletions=deletions,
        kept_words=[line.words for line in hand_lines],
    )
    return put_back(render_summary(summary), hand_lines)
