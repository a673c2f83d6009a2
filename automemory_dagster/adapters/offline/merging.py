"""Makes one line of what was said several times, and lets the newest word stand.

Deterministic and blind to the order of its input. It never crosses a project: whoever calls hands
it the statements of one. The rules and their limits are in ``docs/memory-files.md``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from automemory_dagster.adapters.offline.meaning import Clause, Meaning, read_meaning
from automemory_dagster.adapters.offline.statements import (
    Project,
    Statement,
    StatementKind,
    TaskKey,
)

SAME_STATEMENT = 0.75
"""Shared share of words from which two statements count as one. Chosen on the sample corpus."""
SAME_SUBJECT = 0.5
"""Shared share of subject words from which another number counts as a new value for it."""


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
    replaced: tuple[Statement, ...] = ()
    """Older statements that this one makes untrue as a whole, newest first."""
    outdated_by: Statement | None = None
    """A newer statement that makes a part of this one untrue."""


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
    verdicts = _judge(newest_first, meanings)
    alive = [i for i in range(len(newest_first)) if not verdicts[i].is_whole]
    clusters = cluster(alive, meanings)
    lines = [_line(members, newest_first, verdicts) for members in clusters]
    return Merged(
        lines=tuple(sorted(lines, key=_rank)),
        merged=len(alive) - len(clusters),
        superseded=len(newest_first) - len(alive),
    )


@dataclass(slots=True)
class _Verdict:
    by: int | None = None
    """Index of the newest statement against this one."""
    is_whole: bool = False


def _judge(statements: Sequence[Statement], meanings: Sequence[Meaning]) -> list[_Verdict]:
    """Which statements a newer one makes untrue. Indexes run from the newest to the oldest."""
    verdicts = [_Verdict() for _ in statements]
    rivals: dict[object, list[int]] = {}
    for older, meaning in enumerate(meanings):
        hit: set[int] = set()
        for newer in sorted({i for key in _open_to(meaning) for i in rivals.get(key, ())}):
            if statements[newer].task == statements[older].task:
                continue
            found = _contradicted(statements, meanings, newer, older)
            if found and verdicts[older].by is None:
                verdicts[older].by = newer
            hit |= found
        verdicts[older].is_whole = bool(hit) and not _says_more(meaning, hit)
        for key in _against(meaning):
            rivals.setdefault(key, []).append(older)
    return verdicts


def _open_to(meaning: Meaning) -> set[object]:
    """Keys under which a newer statement against this one is found: a filter, not the rule."""
    found: set[object] = set(meaning.given)
    for clause in meaning.clauses:
        for kind in {value.kind for value in clause.given}:
            found.add(kind)
            found.update((kind, word) for word in clause.subject)
    return found


def _against(meaning: Meaning) -> set[object]:
    """Keys under which this statement may be against older ones."""
    found: set[object] = set(meaning.retired)
    for clause in meaning.clauses:
        for kind in {value.kind for value in clause.given}:
            if kind.startswith("tool:") and clause.is_change:
                found.add(kind)
            found.update((kind, word) for word in clause.subject)
    return found


def _contradicted(
    statements: Sequence[Statement], meanings: Sequence[Meaning], newer: int, older: int
) -> set[int]:
    """Indexes of the older statement's clauses that the newer statement makes untrue."""
    is_by_right = statements[newer].is_by_person or not statements[older].is_by_person
    return {
        index
        for index, old in enumerate(meanings[older].clauses)
        for new in meanings[newer].clauses
        if _takes_back(new, old) or (is_by_right and _gives_another(new, old))
    }


def _takes_back(new: Clause, old: Clause) -> bool:
    for value in new.retired & old.given:
        is_named = value.kind == "code" or value.kind == "colour" or value.kind.startswith("tool:")
        if is_named or new.subject & old.subject:
            return True
    return False


def _gives_another(new: Clause, old: Clause) -> bool:
    for kind in {value.kind for value in old.given} & {value.kind for value in new.given}:
        mine = {value for value in new.given if value.kind == kind}
        theirs = {value for value in old.given if value.kind == kind}
        if not mine & theirs and _is_same_subject(new, old, kind):
            return True
    return False


def _is_same_subject(new: Clause, old: Clause, kind: str) -> bool:
    shared = new.subject & old.subject
    likeness = len(shared) / len(new.subject | old.subject) if shared else 0.0
    if kind == "language":
        return bool(new.concepts & old.concepts)
    if kind.startswith("tool:"):
        return new.is_change or (likeness >= SAME_SUBJECT and len(shared) >= 2)
    if kind == "colour":
        return likeness >= SAME_SUBJECT
    if kind == "code":
        return new.is_change and likeness >= SAME_SUBJECT and len(shared) >= 2
    wanted = SAME_SUBJECT if new.is_change else SAME_STATEMENT
    return likeness >= wanted and len(shared) >= 2


def _says_more(meaning: Meaning, hit: set[int]) -> bool:
    """True when a statement still says something without the clauses that were hit."""
    rest = [clause for index, clause in enumerate(meaning.clauses) if index not in hit]
    gone = {value for index in hit for value in meaning.clauses[index].given}
    if any(clause.given - gone or clause.retired for clause in rest):
        return True
    # A clause may give two values of which one is taken back: "10 % off, at most 20.00".
    return len({value.kind for value in gone if value.kind.startswith("number:")}) > 1


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


def _rarest(words: Iterable[str], frequency: Counter[str]) -> list[str]:
    """Enough of the rarest words that two texts alike by ``SAME_STATEMENT`` share one of them."""
    ordered = sorted(words, key=lambda word: (frequency[word], word))
    return ordered[: len(ordered) - ceil(SAME_STATEMENT * len(ordered)) + 1]


def _line(
    members: Sequence[int], statements: Sequence[Statement], verdicts: Sequence[_Verdict]
) -> MemoryLine:
    ours = [statements[i] for i in members]
    kind = max(statement.kind for statement in ours)
    first = next(i for i in members if statements[i].kind is kind)
    replaced = tuple(_replaced_by(set(members), statements, verdicts))
    if ours[0].is_by_person and any(old.kind is StatementKind.PREFERENCE for old in replaced):
        # A person's decision that ends a preference is the preference from then on.
        kind, first = StatementKind.PREFERENCE, members[0]
    by = verdicts[first].by
    usage = {statement.task.thread_id: statement.usage_count for statement in ours}
    return MemoryLine(
        kind=kind,
        text=statements[first].text,
        tasks=frozenset(statement.task for statement in ours),
        said_at=max(statement.task.updated_at for statement in ours),
        usage_count=sum(usage.values()),
        replaced=replaced,
        outdated_by=None if by is None else statements[by],
    )


def _replaced_by(
    members: set[int], statements: Sequence[Statement], verdicts: Sequence[_Verdict]
) -> Iterator[Statement]:
    for i, verdict in enumerate(verdicts):
        if verdict.is_whole and verdict.by in members:
            yield statements[i]


def _rank(line: MemoryLine) -> tuple[int, float, str, str]:
    return (-line.usage_count, -line.said_at.timestamp(), str(line.kind), line.text)
