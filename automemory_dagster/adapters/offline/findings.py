"""What the agent found, as far as its final answers state it and it did work to find it.

Commentary is weak evidence and gives at most a note. Progress reports, promises, offers and answers
that hold only for the moment they were given in are left out.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from automemory_dagster.adapters.offline import finding_words as words
from automemory_dagster.adapters.offline.cues import LONGEST_SENTENCE, Cue, cue_of
from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.phrases import (
    is_acknowledgement,
    is_chatter,
    without_chatter_tail,
)
from automemory_dagster.adapters.offline.runs import RunStatus, talks_to_agents
from automemory_dagster.adapters.offline.text import (
    clip,
    content_tokens,
    prose,
    sentences,
    without_trailing_stop,
)
from automemory_dagster.adapters.offline.turns import Turn

_SENTENCE_LIMIT = 320
_MAX_FINDINGS = 4
_MAX_SENTENCES = 80
"""Read of one message; a longer one is a report whose head says what matters."""
_MAX_NOTES = 2
_SIGNS = (
    (words.CAUSE, 15),
    (words.RULE, 12),
    (words.TECHNICAL, 10),
    (words.CHANGE, 6),
    (words.VALUE, 6),
    (words.STATUS, -8),
)


def lessons_of_agent(turn: Turn, task: str) -> list[Lesson]:
    """The findings of one turn in order, at most six; empty when the agent used no tool in it."""
    if not turn.tool_calls:
        return []
    asks_for_moment = _asks_for_moment(turn)
    is_verified = _is_verified(turn)
    scored = [
        (score, text)
        for text in _joined(turn)
        if (score := _score(text, asks_for_moment=asks_for_moment, is_verified=is_verified))
        >= Worth.KEEP_FROM
    ]
    best = sorted(range(len(scored)), key=lambda i: (-scored[i][0], i))[:_MAX_FINDINGS]
    found = [_finding(turn, task, *scored[i]) for i in sorted(best)]
    return found + _notes(turn, found)


def after_correction(lessons: Sequence[Lesson], quotes: Sequence[str]) -> list[Lesson]:
    """The findings of a turn, after the person's next words: what those reject is a failure.

    ``quotes``: the sentences of the next turn that correct.
    """
    rejected = content_tokens(" ".join(quotes))
    return [
        replace(
            lesson,
            section=Section.FAILURE,
            text=f"done and then rejected by the user: {lesson.text}",
        )
        if lesson.section is Section.KNOWLEDGE
        and words.CHANGE.search(lesson.text)
        and rejected & content_tokens(lesson.text)
        else lesson
        for lesson in lessons
    ]


def is_unable(text: str) -> bool:
    """True when an answer admits that something was not done or not checked."""
    return bool(words.UNABLE.search(text))


def lasting_answer(turn: Turn) -> str:
    """A turn's final answer without what held only at that moment or talks to agents.

    May be empty.
    """
    asks_for_moment = _asks_for_moment(turn)
    return " ".join(
        part
        for part in sentences(turn.final)[:_MAX_SENTENCES]
        if not talks_to_agents(part) and not _is_momentary(part, asks_for_moment=asks_for_moment)
    )


def _asks_for_moment(turn: Turn) -> bool:
    return bool(words.ASKS_FOR_MOMENT.search(prose(turn.request)))


def _joined(turn: Turn) -> list[str]:
    """The final answers' sentences; one that leans on the sentence before it is joined to it."""
    joined: list[str] = []
    for final in turn.finals:
        fresh = True
        for sentence in sentences(final)[:_MAX_SENTENCES]:
            sentence = _without_status(without_chatter_tail(sentence))
            if len(sentence) > LONGEST_SENTENCE or is_acknowledgement(sentence):
                continue
            if is_chatter(sentence) or talks_to_agents(sentence):
                continue
            leans = bool(words.LEANS_BACK.search(sentence)) and not fresh
            if leans and len(joined[-1]) + len(sentence) < _SENTENCE_LIMIT:
                joined[-1] = f"{joined[-1]} {sentence}"
            else:
                joined.append(sentence)
            fresh = False
    return joined


def _without_status(sentence: str) -> str:
    """The sentence without those of its ``;`` clauses that only say that checks pass."""
    clauses = re.split(r";\s+", sentence)
    kept = [
        clause for clause in clauses if not words.STATUS.search(clause) and not is_chatter(clause)
    ]
    return "; ".join(kept) if kept and len(kept) < len(clauses) else sentence


def _score(text: str, *, asks_for_moment: bool, is_verified: bool) -> int:
    is_question = text.rstrip().endswith(("?", "？"))
    if is_question or _is_momentary(text, asks_for_moment=asks_for_moment):
        return 0
    score = 30 + sum(points for pattern, points in _SIGNS if pattern.search(text))
    # Said of a change that then passed a check, a sentence is tested, not only claimed.
    return min(score + (6 if is_verified else 0), Worth.FINDING + 8)


def _is_momentary(text: str, *, asks_for_moment: bool) -> bool:
    if words.OF_THE_MOMENT.search(text):
        return not words.RULE.search(text)
    is_number = asks_for_moment and re.search(r"\d", text)
    return bool(is_number) and not words.CAUSE.search(text)


def _is_verified(turn: Turn) -> bool:
    last = next((run for run in reversed(turn.runs) if run.checks), None)
    return bool(turn.changes) and last is not None and last.status is RunStatus.OK


def _finding(turn: Turn, task: str, score: int, text: str) -> Lesson:
    section = Section.FAILURE if words.UNABLE.search(text) else Section.KNOWLEDGE
    is_short = len(text.split()) < 6 and len(text) < (40 if text.isascii() else 14)
    line = text
    if words.RECOMMENDS.search(text) and not turn.changes:
        line = f"recommended but not done: {text}"
    elif is_short or words.LEANS_BACK.search(text):
        line = f'on "{clip(_subject(turn) or task, 100)}": {text}'
    return Lesson(
        section=section, text=clip(line, _SENTENCE_LIMIT + 120), worth=score, turn=turn.number
    )


def _subject(turn: Turn) -> str:
    """What a bare answer answers: the turn's question, else its last words."""
    parts = sentences(turn.request)
    asked = [part for part in parts if part.endswith(("?", "？")) and len(part) > 12]
    if not asked and any(part.endswith(("?", "？")) for part in parts):
        return " ".join(parts)
    requests = [part for part in parts if cue_of(part) is Cue.REQUEST]
    return without_trailing_stop((asked or [*requests[-1:], *parts[:1], ""])[0])


def _notes(turn: Turn, found: list[Lesson]) -> list[Lesson]:
    known = [content_tokens(lesson.text) for lesson in found]
    notes = []
    for _, said in turn.commentary:
        for sentence in sentences(said)[:_MAX_SENTENCES]:
            if len(sentence) > LONGEST_SENTENCE:
                continue
            is_reason = words.CAUSE.search(sentence) and (
                words.TECHNICAL.search(sentence) or words.RULE.search(sentence)
            )
            if not (is_reason or re.search(r"\b(?:must|has to)\b", sentence)):
                continue
            tokens = content_tokens(sentence)
            if talks_to_agents(sentence) or any(len(tokens & k) > len(tokens) / 2 for k in known):
                continue
            text = f"noted while working: {clip(sentence, 220)}"
            notes.append(
                Lesson(section=Section.KNOWLEDGE, text=text, worth=Worth.NOTE, turn=turn.number)
            )
    return notes[:_MAX_NOTES] if turn.finals else []
