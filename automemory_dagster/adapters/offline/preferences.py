"""What the person wished, forbade, decided and stated, as bullets that stand on their own.

Only a person's words make these. The agent's answer in the same turn may word the wish again ("I
will use uv from now on"), which supports it; nothing else may: not tool output, not files, not web
pages, whatever they demand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.cues import (
    WISHES,
    Cue,
    has_relative_time,
    is_passing,
    is_self_description,
    is_symptom,
)
from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.phrases import (
    acknowledgement,
    is_commitment,
    says_nothing,
    without_lead_in,
    without_promise,
)
from automemory_dagster.adapters.offline.text import (
    clip,
    content_tokens,
    sentences,
    without_trailing_stop,
)
from automemory_dagster.adapters.offline.turns import Turn
from automemory_dagster.adapters.offline.wishes import QUOTE_LIMIT, Wish, read_wishes

_CLAUSE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|,\s+(?:and\s+)?|，")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a turn's words are said into."""

    project: str
    task: str
    """Name of the task the turn belongs to."""
    date: str
    """``YYYY-MM-DD`` on which the thread was last written; empty when unknown."""
    previous: Turn | None
    thread_uses_tools: bool


def lessons_of_person(turn: Turn, around: Surroundings) -> list[Lesson]:
    """The bullets that a person's words give; none for questions, plain requests, small talk."""
    lessons = [_answer(turn, question, answer) for question, answer in turn.answers]
    read = read_wishes(turn.request, is_follow_up=around.previous is not None)
    promise = acknowledgement(turn.final)
    wishes = [wish for wish in read if wish.cue in WISHES or _is_promised(wish, promise)]
    worded = _worded(wishes, promise)
    for wish in read:
        if wish in wishes:
            lessons.append(_preference(wish, turn, around, worded[id(wish)]))
        else:
            lessons += _statement(wish, turn, around)
    return lessons


def _is_promised(wish: Wish, promise: str) -> bool:
    """True for what the agent's answer takes over as its own rule from now on."""
    if wish.cue is not Cue.DECISION and not is_commitment(promise):
        return False
    is_open = wish.cue in (Cue.DECISION, Cue.FACT, Cue.REQUIREMENT)
    return is_open and _affinity(wish, promise) >= 2


def _preference(wish: Wish, turn: Turn, around: Surroundings, worded: str) -> Lesson:
    is_correcting = around.previous is not None and wish.is_correction
    worth = {Cue.STANDING: Worth.STANDING, Cue.STYLE: Worth.STYLE}
    is_lasting = around.previous is not None or bool(worded)
    plain = Worth.PROHIBITION if is_lasting else Worth.CONSTRAINT
    if wish.cue not in WISHES:
        plain = Worth.DECISION
    core = clip("; ".join(without_lead_in(part) for part in wish.parts), QUOTE_LIMIT)
    if not (worded and content_tokens(worded) & content_tokens(core)):
        is_same = core == without_trailing_stop(wish.quote)
        worded = "make this the default" if is_same else core
    situation = _situation(wish, around, is_correcting=is_correcting)
    return Lesson(
        section=Section.PREFERENCE,
        text=f'when {situation}, the user asked: "{wish.quote}" -> {worded}',
        worth=worth.get(wish.cue, Worth.CORRECTION if is_correcting else plain),
        turn=turn.number,
    )


def _situation(wish: Wish, around: Surroundings, *, is_correcting: bool) -> str:
    previous = around.previous
    if wish.cue is Cue.PROHIBITION and previous is not None and previous.is_aborted:
        if previous.runs:
            return f"the agent ran `{previous.runs[-1].command}` and was stopped"
    elif wish.cue is Cue.PROHIBITION and previous is not None and is_correcting:
        said = next(iter(sentences(previous.final)), "")
        if said:
            return f'the agent had said "{clip(without_trailing_stop(said), 110)}"'
    if wish.cue is Cue.PROHIBITION and previous is None:
        return f'working on "{clip(around.task, 80)}"'
    return f"working in {around.project}" if around.project else "working"


def _worded(wishes: Sequence[Wish], promise: str) -> dict[int, str]:
    """The agent's wording of each wish: its promise by clauses, each given to the nearest wish."""
    clauses: dict[int, list[str]] = {id(wish): [] for wish in wishes}
    if len(wishes) == 1:
        return {id(wishes[0]): clip(without_promise(promise), QUOTE_LIMIT)}
    for clause in _CLAUSE.split(promise):
        best = max(wishes, key=lambda wish: _affinity(wish, clause), default=None)
        if best is not None and _affinity(best, clause) and not says_nothing(clause):
            clauses[id(best)].append(without_promise(clause.strip()))
    return {key: clip("; ".join(parts), QUOTE_LIMIT) for key, parts in clauses.items()}


def _affinity(wish: Wish, clause: str) -> int:
    shared = content_tokens(clause) & content_tokens(wish.quote)
    return sum(3 if token.startswith("`") else 1 for token in shared)


def _answer(turn: Turn, question: str, answer: str) -> Lesson:
    return Lesson(
        section=Section.PREFERENCE,
        text=f'asked "{clip(question, 160)}", the user answered: "{clip(answer, 200)}"',
        worth=Worth.ANSWER,
        turn=turn.number,
    )


def _statement(wish: Wish, turn: Turn, around: Surroundings) -> list[Lesson]:
    text = " ".join(wish.parts)
    if is_symptom(wish.core) or is_passing(text) or re.match(r"\W*you\b", text, re.IGNORECASE):
        return []
    is_grounded = around.thread_uses_tools or is_self_description(text)
    if wish.cue is not Cue.DECISION and not is_grounded:
        return []
    verb, worth = {
        Cue.DECISION: ("decided", Worth.DECISION),
        Cue.REQUIREMENT: ("specified", Worth.REQUIREMENT),
    }.get(wish.cue, ("said", Worth.STATED))
    when = f"on {around.date} " if around.date and has_relative_time(text) else ""
    line = f'{when}{_said_before(wish, around)}the user {verb}: "{clip(text, QUOTE_LIMIT)}"'
    return [Lesson(section=Section.KNOWLEDGE, text=line, worth=worth, turn=turn.number)]


def _said_before(wish: Wish, around: Surroundings) -> str:
    """What a short decision answers, since "keep it" alone says nothing later."""
    if wish.cue is not Cue.DECISION or around.previous is None or len(wish.quote) >= 60:
        return ""
    said = next(iter(sentences(around.previous.final)), "")
    return f'after the agent said "{clip(without_trailing_stop(said), 140)}", ' if said else ""
