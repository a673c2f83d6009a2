"""Makes one line of what was said several times, and lets the newest word stand.

Deterministic and blind to the order of its input. It never crosses a project: whoever calls hands
it the statements of one. The rules and their limits are in ``docs/memory-files.md``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from automemory_dagster.adapters.offline.meaning import Meaning, read_meaning
from automemory_dagster.adapters.offline.statements import (
    Project,
    Statement,
    StatementKind,
    TaskKey,
)
from automemory_dagster.adapters.offline.superseding import Verdict, judge

SAME_STATEMENT = 0.75
"""Shared share of words from which two statements count as one. Chosen on the sample corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """One thing to remember, with everything it rests on."""

    kind: StatementKind
    text: str
    """Of the newest statement of the strongest kind."""
    tasks: frozenset[TaskKey]
    said_at: datetime
    """When it was said last."""
    usage_count: int
    place: tuple[int, int]
    """Task and place in it where it was said last."""
    replaced: tuple[Statement, ...] = ()
    """Older statements that this one makes untrue as a whole: wishes first, then the newest."""
    outdated_by: tuple[Statement, ...] = ()
    """Newer statements that make a part of this one untrue, the oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLines:
    """A project with the lines that hold in it."""

    project: Project
    lines: tuple[MemoryLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What is left of many statements."""

    lines: tuple[MemoryLine, ...]
    """Most used first, then newest first."""
    merged: int
    """Statements that said what another one says."""
    superseded: int
    """Statements that a newer one makes untrue as a whole."""


def merge(statements: Sequence[Statement]) -> Merged:
    """One line for each thing that still holds."""
    newest_first = sorted(statements, key=lambda statement: statement.order, reverse=True)
    meanings = [read_meaning(statement.text) for statement in newest_first]
    verdicts = judge(newest_first, meanings)
    alive = [i for i in range(len(newest_first)) if not verdicts[i].is_whole]
    clusters = cluster(alive, meanings)
    lines = _folded([_line(members, newest_first, verdicts) for members in clusters])
    return Merged(
        lines=tuple(sorted(lines, key=_rank)),
        merged=len(alive) - len(lines),
        superseded=len(newest_first) - len(alive),
    )


def cluster(alive: Sequence[int], meanings: Sequence[Meaning]) -> list[list[int]]:
    """Indexes of near-identical statements together, each cluster led by its first in ``alive``."""
    frequency = Counter(word for i in alive for word in meanings[i].words)
    leaders: dict[str, list[int]] = {}
    clusters: dict[int, list[int]] = {}
    for i in alive:
        probes = _rarest(meanings[i].words, frequency)
        near = sorted({leader for word in probes for leader in leaders.get(word, ())})
        leader = next((j for j in near if is_same_statement(meanings[i], meanings[j])), None)
        if leader is not None:
            clusters[leader].append(i)
            continue
        clusters[i] = [i]
        for word in probes:
            leaders.setdefault(word, []).append(i)
    return list(clusters.values())


def is_same_statement(one: Meaning, other: Meaning) -> bool:
    """True when two texts give and take back the same values in nearly the same words."""
    if one.words == other.words:
        return True
    if one.given != other.given or one.retired != other.retired:
        return False
    return len(one.words & other.words) >= SAME_STATEMENT * len(one.words | other.words)


def _folded(lines: Sequence[MemoryLine]) -> list[MemoryLine]:
    """Without the lines whose every word and value another line of their kind has too."""
    meanings = [read_meaning(line.text) for line in lines]
    by_word: dict[str, set[int]] = {}
    for i, meaning in enumerate(meanings):
        for word in meaning.words:
            by_word.setdefault(word, set()).add(i)
    kept = dict(enumerate(lines))
    for i in sorted(kept, key=lambda i: (len(meanings[i].words), lines[i].text)):
        whole = set.intersection(*(by_word[word] for word in meanings[i].words), set(kept)) - {i}
        whole = {j for j in whole if lines[j].kind is lines[i].kind and not kept[j].outdated_by}
        # Words alone may be a coincidence; a value given or taken back alike is not.
        has_value = bool(meanings[i].given | meanings[i].retired)
        if whole and has_value and not lines[i].outdated_by:
            best = min(whole, key=lambda j: (len(meanings[j].words), lines[j].text))
            kept[best] = _joined(kept[best], kept.pop(i))
    return list(kept.values())


def _joined(line: MemoryLine, part: MemoryLine) -> MemoryLine:
    newest = max(line, part, key=lambda one: one.said_at)
    # One thread may be behind both; its use counts once, as far as can be told from sums.
    return replace(
        line,
        tasks=line.tasks | part.tasks,
        said_at=newest.said_at,
        usage_count=max(line.usage_count, part.usage_count),
        replaced=line.replaced or part.replaced,
    )


def _rarest(words: Iterable[str], frequency: Counter[str]) -> list[str]:
    """Enough of the rarest words that two texts alike by ``SAME_STATEMENT`` share one of them."""
    ordered = sorted(words, key=lambda word: (frequency[word], word))
    return ordered[: len(ordered) - ceil(SAME_STATEMENT * len(ordered)) + 1]


def _line(
    members: Sequence[int], statements: Sequence[Statement], verdicts: Sequence[Verdict]
) -> MemoryLine:
    ours = [statements[i] for i in members]
    kind = max(statement.kind for statement in ours)
    first = next(i for i in members if statements[i].kind is kind)
    replaced = tuple(
        sorted(_replaced_by(set(members), statements, verdicts), key=lambda old: -old.kind)
    )
    if ours[0].is_by_person and any(old.kind is StatementKind.PREFERENCE for old in replaced):
        # A person's decision that ends a preference is the preference from then on.
        kind, first = StatementKind.PREFERENCE, members[0]
    usage = {statement.task.thread_id: statement.usage_count for statement in ours}
    return MemoryLine(
        kind=kind,
        text=statements[first].text,
        tasks=frozenset(statement.task for statement in ours),
        said_at=max(statement.task.updated_at for statement in ours),
        usage_count=sum(usage.values()),
        place=(ours[0].task.index, ours[0].position),
        replaced=replaced,
        outdated_by=tuple(statements[i] for i in verdicts[first].by),
    )


def _replaced_by(
    members: set[int], statements: Sequence[Statement], verdicts: Sequence[Verdict]
) -> Iterator[Statement]:
    for i, verdict in enumerate(verdicts):
        # The last turn of events is the one that took the rest of it.
        if verdict.is_whole and verdict.by[-1] in members:
            yield statements[i]


def _rank(line: MemoryLine) -> tuple[int, float, tuple[int, int], int, str]:
    return (-line.usage_count, -line.said_at.timestamp(), line.place, line.kind, line.text)
