"""What the agent found, as far as its final answers state it and it did work to find it.

Commentary is weak evidence and gives at most a note. Progress reports, promises, offers and answers
that hold only for the moment they were given in are left out.
"""

import re

from automemory_dagster.adapters.offline.runs import RunStatus, talks_to_agents
from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.phrases import (
    is_acknowledgement,
    is_chatter,
    without_chatter_tail,
)
from automemory_dagster.adapters.offline.text import (
    clip,
    content_tokens,
    sentences,
    without_trailing_stop,
)
from automemory_dagster.adapters.offline.turns import Turn

_SENTENCE_LIMIT = 320
_MAX_FINDINGS = 4
_MAX_NOTES = 2

_CAUSE = re.compile(
    r"\b(?:because|since|due to|caused?|root cause|reason|problem was|bug|so (?:it|that|the|\w+ \w+)"
    r"|was (?:not|missing|wrong|never)|were (?:not|missing)|truncat\w+|drift\w*|race|leak\w*|shows?)\b"
    r"|原因|因为|由于|导致|所以|ため|ので|から",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:only|always|never|must|has to|have to|requires?|needs?|refuses?|unless|supports?|expects?"
    r"|instead of|rather than|no longer|cannot|can't|can be|means|breaks?|rejected|stays?|still"
    r"|belongs?|once)\b"
    r"|必须|只能|不能|需要|必要|だけ|のみ|できません",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:now|changed|replaced|uses?|used|moved|renamed|removed|added|fixed|applied|found|build)\b"
    r"|->|→|现在|改为|改成|加入|修复|追加|直し|変更|修正",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"`[^`]+`|\b[\w-]+(?:/[\w.-]+)+|\b\w+\.[a-z]{1,4}\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\s--?[a-z][\w-]+"
    r"|#[0-9a-f]{6}|\b[A-Z][A-Z0-9_]{2,}\b|\b\w+=\w+|[°→]"
)
_VALUE = re.compile(r"\b(?:is|are|at|to|=)\s+(?:now\s+)?#?\d|\d\s?(?:%|cents?|eur|ms|s)\b", re.I)
_STATUS = re.compile(
    r"(?:\btests?\b|\bchecks?\b|`[^`]+`|\bsuite\b)[^.;]* (?:pass(?:es|ed)?|works?|is there|green)\b"
    r"|^`[^`]+`: \d+ passed|^\W*green\b|テストは.*通|コミットしました",
    re.IGNORECASE,
)
_UNABLE = re.compile(
    r"\b(?:i|we) (?:cannot|can't)\b|\b(?:could ?n[o']t|could not|unable|not (?:verified|tested|compiled|possible"
    r"|available|installed|reachable)|still fails?|unsolved|gave up|did not work)\b"
    r"|无法|没能|未能|没有网络|できません|できなかった|失敗しました",
    re.IGNORECASE,
)
_RECOMMENDS = re.compile(
    r"^\W*(?:(?:please|you (?:should|could|may want to)|i (?:recommend|suggest)|consider)\b"
    r"|(?:raise|lower|increase|decrease|set|use|add|remove|change|upgrade|rotate|rename|move|switch"
    r"|replace|pin|enable|disable|install|run|split|restart)\s)|^建议|ことをお勧め",
    re.IGNORECASE,
)
_LEANS_BACK = re.compile(
    r"^\W*(?:it|that|this|these|those|they|both|the rest|quoted|otherwise)\b|^(?:它|这|那|それ|これ)",
    re.I,
)
_ASKS_FOR_MOMENT = re.compile(
    r"\b(?:how (?:many|much|long|old|big)|what time|what day|which day|what is the (?:weather|time|date)"
    r"|right now|currently|in stock|stock of|status of|latest)\b"
    r"|多少|几个|几点|库存|现在.{0,6}吗|いくつ|いくら|何時|何件|在庫|天気は",
    re.IGNORECASE,
)
_OF_THE_MOMENT = re.compile(
    r"\b(?:on hand|in stock|out of stock|sold out|currently|right now|as of (?:now|today)|at the moment"
    r"|today|so far|uptime|degrees)\b|库存|目前|现在有|在庫|現在",
    re.IGNORECASE,
)


def lessons_of_agent(turn: Turn, task: str) -> list[Lesson]:
    """The findings of one turn in order, at most six; empty when the agent used no tool in it."""
    if not turn.tool_calls:
        return []
    scored = [
        (score, text) for text in _joined(turn) if (score := _score(text, turn)) >= Worth.KEEP_FROM
    ]
    best = sorted(range(len(scored)), key=lambda i: (-scored[i][0], i))[:_MAX_FINDINGS]
    found = [_finding(turn, task, *scored[i]) for i in sorted(best)]
    return found + _notes(turn, found)


def is_unable(text: str) -> bool:
    """True when an answer admits that something was not done or not checked."""
    return bool(_UNABLE.search(text))


def _joined(turn: Turn) -> list[str]:
    """The final answers' sentences; one that leans on the sentence before it is joined to it."""
    joined: list[str] = []
    for final in turn.finals:
        fresh = True
        for sentence in sentences(final):
            sentence = _without_status(without_chatter_tail(sentence))
            if is_acknowledgement(sentence) or is_chatter(sentence) or talks_to_agents(sentence):
                continue
            leans = bool(_LEANS_BACK.search(sentence)) and not fresh
            if leans and len(joined[-1]) + len(sentence) < _SENTENCE_LIMIT:
                joined[-1] = f"{joined[-1]} {sentence}"
            else:
                joined.append(sentence)
            fresh = False
    return joined


def _without_status(sentence: str) -> str:
    """The sentence without those of its ``;`` clauses that only say that checks pass."""
    clauses = re.split(r";\s+", sentence)
    kept = [clause for clause in clauses if not _STATUS.search(clause) and not is_chatter(clause)]
    return "; ".join(kept) if kept and len(kept) < len(clauses) else sentence


def _score(text: str, turn: Turn) -> int:
    is_momentary = bool(_OF_THE_MOMENT.search(text))
    if text.rstrip().endswith(("?", "？")) or (is_momentary and not _RULE.search(text)):
        return 0
    if _ASKS_FOR_MOMENT.search(turn.request) and re.search(r"\d", text) and not _CAUSE.search(text):
        return 0
    signs = (_CAUSE, 15), (_RULE, 12), (_CHANGE, 6), (_TECHNICAL, 10), (_VALUE, 6), (_STATUS, -8)
    score = 30 + sum(points for pattern, points in signs if pattern.search(text))
    # Said of a change that then passed a check, a sentence is tested, not only claimed.
    return min(score + (6 if _is_verified(turn) else 0), Worth.FINDING + 8)


def _is_verified(turn: Turn) -> bool:
    last = next((run for run in reversed(turn.runs) if run.checks), None)
    return bool(turn.changes) and last is not None and last.status is RunStatus.OK


def _finding(turn: Turn, task: str, score: int, text: str) -> Lesson:
    section = Section.FAILURE if _UNABLE.search(text) else Section.KNOWLEDGE
    is_short = len(text.split()) < 6 and len(text) < (40 if text.isascii() else 14)
    line = text
    if _RECOMMENDS.search(text) and not turn.changes:
        line = f"recommended but not done: {text}"
    elif is_short or _LEANS_BACK.search(text):
        line = f'on "{clip(_subject(turn) or task, 100)}": {text}'
    return Lesson(
        section=section, text=clip(line, _SENTENCE_LIMIT + 120), worth=score, turn=turn.number
    )


def _subject(turn: Turn) -> str:
    """What a bare answer answers: the turn's question, else its last words."""
    parts = sentences(turn.request)
    asked = [part for part in parts if part.endswith(("?", "？"))]
    return without_trailing_stop((asked or list(parts) or [""])[-1])


def _notes(turn: Turn, found: list[Lesson]) -> list[Lesson]:
    known = [content_tokens(lesson.text) for lesson in found]
    notes = []
    for _, words in turn.commentary:
        for sentence in sentences(words):
            is_reason = _CAUSE.search(sentence) and (
                _TECHNICAL.search(sentence) or _RULE.search(sentence)
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
