"""A person's sentences grouped into wishes and statements, each with what completes it."""

import re
from dataclasses import dataclass, field
from itertools import islice

from automemory_dagster.adapters.offline.cue_words import REQUIREMENTS_FOLLOW, RULES_FOLLOW
from automemory_dagster.adapters.offline.cues import (
    WISHES,
    Cue,
    cue_of,
    is_correction,
    is_passing,
)
from automemory_dagster.adapters.offline.text import clip, content_tokens, marked_sentences

QUOTE_LIMIT = 300
"""Characters of a person's words that one bullet quotes at most."""
_MAX_SENTENCES = 60
_LEANS_BACK = re.compile(
    r"^\W*(?:it|that|this|these|those|they|he|she|the (?:latter|\w+ ones?)|otherwise|because|since"
    r"|as|so)\b|^(?:它|这|那|因为|否则|それ|これ|なぜなら|そうしないと)",
    re.IGNORECASE,
)
_NAMES_NOTHING = re.compile(
    r"^\W*(?:\w+\s+){1,3}(?:(?:it|them|those)\b|that\s*(?:[.,;!?]|$|unless|again|if|when|any))",
    re.IGNORECASE,
)
_SO = re.compile(
    r"\b(?:like (?:that|this)|do so|do that|that way|the same)\b|这样|那样|そう(?:して|し)|同じ",
    re.I,
)
_ATTEMPT = re.compile(r"\b(?:try|attempt|experiment)\b|試し|试试|试一下", re.IGNORECASE)
_SECRET_MARK = "[REDACTED"


@dataclass(slots=True)
class Wish:
    """What a person asked for or stated: one sentence, with those that complete it."""

    cue: Cue
    core: str
    parts: list[str] = field(default_factory=list)
    """All its sentences in order, ``core`` among them."""

    @property
    def quote(self) -> str:
        """The person's own words, clipped."""
        return clip(" ".join(self.parts), QUOTE_LIMIT)

    @property
    def is_correction(self) -> bool:
        """True when any of it turns against what was done."""
        return any(is_correction(part) for part in self.parts)


def read_wishes(text: str, *, is_follow_up: bool) -> list[Wish]:
    """The wishes and statements of one turn's words, in order.

    Plain requests, questions and small talk give none. ``is_follow_up``: the agent answered before,
    so that a "no" and what comes with it is a correction.
    """
    marked = _sentences(text)
    parts = [part for part, _ in marked]
    is_correcting = is_follow_up and any(is_correction(part) for part in parts[:2])
    wishes: list[Wish] = []
    last: Wish | None = None
    listed: Cue | None = None
    for i, (part, is_item) in enumerate(marked):
        cue = _cue(part, is_correcting=is_correcting and last is None, is_follow_up=is_follow_up)
        listed = _cue_of_list(part) or (listed if is_item else None)
        if listed and is_item:
            wishes.append(Wish(cue=max(listed, cue), core=part, parts=[part]))
            last = None
        elif cue in (Cue.SMALL_TALK, Cue.QUESTION) or part.endswith((":", "：")):
            last = None
        elif last is not None and _belongs_to(part, cue, last, is_correcting=is_correcting):
            last.parts.append(part)
            last.cue = max(last.cue, cue)
        elif cue >= Cue.FACT:
            last = Wish(cue=cue, core=part, parts=[part])
            leans = _LEANS_BACK.search(part) or _NAMES_NOTHING.search(part)
            if i and leans and _can_be_meant(parts[i - 1], is_follow_up=is_follow_up):
                wishes = [wish for wish in wishes if wish.parts != [parts[i - 1]]]
                last.parts.insert(0, parts[i - 1])
            wishes.append(last)
        else:
            last = None
    return wishes


def _cue_of_list(part: str) -> Cue | None:
    """What a heading makes of the list after it; None when it is no such heading."""
    if RULES_FOLLOW.search(part):
        return Cue.STANDING
    return Cue.REQUIREMENT if REQUIREMENTS_FOLLOW.search(part) else None


def _sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences, with whether each is a list item; a bare "No!" goes with the one after it."""
    joined: list[tuple[str, bool]] = []
    pending = ""
    for part, is_item in islice(marked_sentences(text), _MAX_SENTENCES):
        if len(part) <= 12 and len(part.split()) <= 2 and is_correction(part):
            pending = f"{pending} {part}".strip()
        elif _SECRET_MARK not in part:
            joined.append((f"{pending} {part}".strip(), is_item))
            pending = ""
    return [*joined, (pending, False)] if pending else joined


def _can_be_meant(part: str, *, is_follow_up: bool) -> bool:
    """True when a following "it" or "that" can mean this sentence: a reproach may be a question."""
    cue = cue_of(part)
    return cue > Cue.QUESTION or (cue is Cue.QUESTION and is_follow_up and len(part) < 120)


def _cue(part: str, *, is_correcting: bool, is_follow_up: bool) -> Cue:
    cue = cue_of(part)
    if cue is Cue.PROHIBITION and not is_follow_up and _ATTEMPT.search(part):
        return Cue.REQUEST
    if is_correcting and is_correction(part) and cue < Cue.PROHIBITION:
        return Cue.PROHIBITION
    return cue


def _belongs_to(part: str, cue: Cue, wish: Wish, *, is_correcting: bool) -> bool:
    """True when a sentence only completes the wish before it: its reason, its other half."""
    if cue in (Cue.STANDING, Cue.STYLE):
        return wish.cue in WISHES and len(part) < 40 and bool(_SO.search(part))
    if wish.cue is Cue.DECISION:
        return cue in (Cue.FACT, Cue.NONE) and bool(_LEANS_BACK.search(part))
    if wish.cue not in WISHES:
        return False
    if is_correcting and cue in (Cue.REQUEST, Cue.REQUIREMENT):
        return wish.cue is Cue.PROHIBITION
    if cue in (Cue.REQUEST, Cue.PROHIBITION) or is_passing(part):
        return False
    shared = content_tokens(part) & content_tokens(" ".join(wish.parts))
    is_fragment = len(part.split()) <= 5 and len(part) <= 60
    return bool(_LEANS_BACK.search(part)) or bool(shared) or (is_fragment and "`" in part)
