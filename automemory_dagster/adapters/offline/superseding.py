"""Decides which statements newer ones make untrue, as a whole or in part.

The rule in one sentence: a newer statement of the same project counts against an older one when it
takes a value back that the older one gives, or gives another value of the same kind for the same
subject. The trap: two true statements about alike things; so numbers ask for alike subjects, and
what an agent found ends a person's wish only where it reports that the thing is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.meaning import Clause, Meaning, Value
from automemory_dagster.adapters.offline.statements import Statement

SAME_SUBJECT = 0.5
"""Shared share of subject words from which another number counts as a new value for it."""
SAME_SUBJECT_UNSAID = 0.75
"""The same, when nothing says that something changed."""
_OWN_SUBJECT = 2
"""Words of its own from which a clause without a value says something by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What newer statements left of one."""

    by: tuple[int, ...] = ()
    """Indexes of the statements that turned against it, the oldest first; empty when it holds."""
    is_whole: bool = False
    """True when nothing of it is left."""


def judge(statements: Sequence[Statement], meanings: Sequence[Meaning]) -> list[Verdict]:
    """What still holds. Statements, and so the indexes, run from the newest to the oldest.

    Two bullets of one task are never held against each other: their order there tells nothing.
    """
    verdicts: list[Verdict] = []
    rivals: dict[object, list[int]] = {}
    for older, meaning in enumerate(meanings):
        hit: dict[int, list[int]] = {}
        for newer in sorted({i for key in _open_to(meaning) for i in rivals.get(key, ())}):
            if statements[newer].task == statements[older].task:
                continue
            for clause in _contradicted(statements, meanings, newer, older):
                hit.setdefault(clause, []).append(newer)
        points = {_turning_point(against, statements, verdicts) for against in hit.values()}
        is_whole = bool(hit) and not _says_more(meaning, set(hit))
        verdicts.append(Verdict(by=tuple(sorted(points, reverse=True)), is_whole=is_whole))
        for key in _against(meaning):
            rivals.setdefault(key, []).append(older)
    return verdicts


def _turning_point(
    against: Sequence[int], statements: Sequence[Statement], verdicts: Sequence[Verdict]
) -> int:
    """When it changed: the oldest statement against it that still holds, a person's first."""
    return min(against, key=lambda i: (verdicts[i].is_whole, not statements[i].is_by_person, -i))


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
        if _takes_back(new.retired if is_by_right else new.departed, new, old)
        or (is_by_right and _gives_another(new, old))
    }


def _takes_back(retired: frozenset[Value], new: Clause, old: Clause) -> bool:
    for value in retired & old.given:
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
    wanted = SAME_SUBJECT if new.is_change else SAME_SUBJECT_UNSAID
    return likeness >= wanted and len(shared) >= 2


def _says_more(meaning: Meaning, hit: set[int]) -> bool:
    """True when a statement still says something without the clauses that were hit."""
    rest = [clause for index, clause in enumerate(meaning.clauses) if index not in hit]
    gone = {value for index in hit for value in meaning.clauses[index].given}
    said = frozenset().union(*(meaning.clauses[index].subject for index in hit))
    if any(clause.given - gone or clause.retired for clause in rest):
        return True
    if any(len(clause.subject - said) >= _OWN_SUBJECT for clause in rest):
        return True
    # A clause may give two values of which one is taken back: "10 % off, at most 20.00".
    return len({value.kind for value in gone if value.kind.startswith("number:")}) > 1
