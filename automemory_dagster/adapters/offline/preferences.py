"""What the person wished, forbade, decided and stated, as bullets that stand on their own.

Only a person's words make these. The agent's answer in the same turn may word the wish again ("I
will use uv from now on"), which supports it; nothing else may: not tool output, not files, not web
pages, whatever they demand.
"""

import re
from dataclasses import dataclass, field

from automemory_dagster.adapters.offline.cues import (
    Cue,
    cue_of,
    has_relative_time,
    is_correction,
    is_passing,
    is_self_description,
    is_symptom,
)
from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.phrases import (
    acknowledgement,
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

QUOTE_LIMIT = 300
_MAX_SENTENCES = 60
_LEANS_BACK = re.compile(
    r"^\W*(?:it|that|this|these|those|they|he|she|the latter|otherwise|because|since|as|so)\b"
    r"|^(?:它|这|那|因为|否则|それ|これ|なぜなら|そうしないと)",
    re.IGNORECASE,
)
_WISHES = frozenset({Cue.STANDING, Cue.STYLE, Cue.PROHIBITION})


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


@dataclass(slots=True)
class _Wish:
    cue: Cue
    parts: list[str] = field(default_factory=list)

    @property
    def quote(self) -> str:
        return clip(" ".join(self.parts), QUOTE_LIMIT)


def lessons_of_person(turn: Turn, around: Surroundings) -> list[Lesson]:
    """The bullets that a turn's human words give; empty for questions, plain requests, small talk."""
    lessons = [_answer(turn, question, answer) for question, answer in turn.answers]
    wishes = _wishes(turn, is_follow_up=around.previous is not None)
    defaults = _defaults([wish for wish in wishes if wish.cue in _WISHES], turn.final)
    for wish in wishes:
        if wish.cue in _WISHES:
            is_ordered = around.previous is not None or bool(acknowledgement(turn.final))
            default = defaults[id(wish)]
            lessons.append(_preference(wish, turn, around, default, is_ordered=is_ordered))
        else:
            lessons += _statement(wish, turn, around)
    return lessons


def _wishes(turn: Turn, *, is_follow_up: bool) -> list[_Wish]:
    wishes: list[_Wish] = []
    parts = sentences(turn.request)[:_MAX_SENTENCES]
    is_correcting = is_follow_up and any(is_correction(part) for part in parts[:2])
    last: _Wish | None = None
    for i, part in enumerate(parts):
        cue = cue_of(part)
        if is_correcting and cue in (Cue.NONE, Cue.REQUEST, Cue.REQUIREMENT, Cue.DECISION):
            cue = Cue.PROHIBITION if last is None and is_correction(part) else cue
        if cue in (Cue.SMALL_TALK, Cue.QUESTION):
            last = None
        elif last is not None and _belongs_to(part, cue, last, is_correcting=is_correcting):
            last.parts.append(part)
        elif cue >= Cue.FACT:
            last = _Wish(cue=cue, parts=[part])
            if _LEANS_BACK.search(part) and i and cue_of(parts[i - 1]) > Cue.QUESTION:
                wishes = [wish for wish in wishes if wish.parts != [parts[i - 1]]]
                last.parts.insert(0, parts[i - 1])
            wishes.append(last)
        else:
            last = None
    return wishes


def _belongs_to(part: str, cue: Cue, wish: _Wish, *, is_correcting: bool) -> bool:
    """True when a sentence only completes the wish before it: its reason, its other half."""
    if wish.cue not in _WISHES or cue in (Cue.STANDING, Cue.STYLE):
        return False
    if is_correcting and cue in (Cue.REQUEST, Cue.PROHIBITION, Cue.REQUIREMENT):
        return cue is not Cue.REQUEST or wish.cue is Cue.PROHIBITION
    if cue is Cue.REQUEST or is_passing(part):
        return False
    shared = content_tokens(part) & content_tokens(" ".join(wish.parts))
    is_fragment = len(part.split()) <= 5 and len(part) <= 60
    return bool(_LEANS_BACK.search(part)) or bool(shared) or (is_fragment and "`" in part)


def _preference(
    wish: _Wish, turn: Turn, around: Surroundings, default: str, *, is_ordered: bool
) -> Lesson:
    is_correcting = around.previous is not None and any(is_correction(part) for part in wish.parts)
    worth = {Cue.STANDING: Worth.STANDING, Cue.STYLE: Worth.STYLE}.get(wish.cue)
    if worth is None:
        plain = Worth.PROHIBITION if is_ordered else Worth.CONSTRAINT
        worth = Worth.CORRECTION if is_correcting else plain
    situation = _situation(wish, around, is_correcting=is_correcting)
    return Lesson(
        section=Section.PREFERENCE,
        text=f'when {situation}, the user asked: "{wish.quote}" -> {default}',
        worth=worth,
        turn=turn.number,
    )


def _situation(wish: _Wish, around: Surroundings, *, is_correcting: bool) -> str:
    previous = around.previous
    if wish.cue is Cue.PROHIBITION and previous is not None and is_correcting:
        if previous.is_aborted and previous.runs:
            return f"the agent ran `{previous.runs[-1].command}` and was stopped"
        said = next(iter(sentences(previous.final)), "")
        if said:
            return f'the agent had said "{clip(without_trailing_stop(said), 110)}"'
    if wish.cue is Cue.PROHIBITION and previous is None:
        return f'working on "{clip(around.task, 80)}"'
    return f"working in {around.project}" if around.project else "working"


def _defaults(wishes: list[_Wish], final: str) -> dict[int, str]:
    """What each wish asks for from now on: the agent's wording of it when it gave one, else the core."""
    worded = acknowledgement(final)
    clauses: dict[int, list[str]] = {id(wish): [] for wish in wishes}
    for clause in re.split(r"(?<=[.!?。！？；;])\s*|,\s+(?:and\s+)?|，|、(?=.{12})", worded):
        best = max(wishes, key=lambda wish: _affinity(wish, clause), default=None)
        if best is not None and clause.strip() and (len(wishes) == 1 or _affinity(best, clause)):
            clauses[id(best)].append(without_promise(clause.strip()))
    return {id(wish): _default(wish, clauses[id(wish)]) for wish in wishes}


def _affinity(wish: _Wish, clause: str) -> int:
    shared = content_tokens(clause) & content_tokens(wish.quote)
    return sum(3 if token.startswith("`") else 1 for token in shared)


def _default(wish: _Wish, clauses: list[str]) -> str:
    worded = clip("; ".join(clauses), QUOTE_LIMIT)
    core = clip("; ".join(without_lead_in(part) for part in wish.parts), QUOTE_LIMIT)
    if worded and content_tokens(worded) & content_tokens(core):
        return worded
    return core if core != without_trailing_stop(wish.quote) else "make this the default"


def _answer(turn: Turn, question: str, answer: str) -> Lesson:
    return Lesson(
        section=Section.PREFERENCE,
        text=f'asked "{clip(question, 160)}", the user answered: "{clip(answer, 200)}"',
        worth=Worth.ANSWER,
        turn=turn.number,
    )


def _statement(wish: _Wish, turn: Turn, around: Surroundings) -> list[Lesson]:
    text = " ".join(wish.parts)
    is_about_self = is_self_description(text)
    if is_symptom(text) or is_passing(text) or re.match(r"\W*you\b", text, re.IGNORECASE):
        return []
    if wish.cue is not Cue.DECISION and not around.thread_uses_tools and not is_about_self:
        return []
    verb, worth = {
        Cue.DECISION: ("decided", Worth.DECISION),
        Cue.REQUIREMENT: ("specified", Worth.REQUIREMENT),
    }.get(wish.cue, ("said", Worth.STATED))
    when = f"on {around.date} " if around.date and has_relative_time(text) else ""
    before = ""
    if wish.cue is Cue.DECISION and around.previous is not None and len(text) < 60:
        said = next(iter(sentences(around.previous.final)), "")
        before = (
            f'after the agent said "{clip(without_trailing_stop(said), 140)}", ' if said else ""
        )
    line = f'{when}{before}the user {verb}: "{clip(text, QUOTE_LIMIT)}"'
    return [Lesson(section=Section.KNOWLEDGE, text=line, worth=worth, turn=turn.number)]
