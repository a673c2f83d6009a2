"""What a person's sentence asks for: a standing rule, a decision, a fact, small talk, …

The trap: "always" and "must" also describe symptoms ("it always fails") and requirements. Only
positions in which people give orders count as standing rules; ``cue_words`` has the patterns.
"""

from enum import IntEnum
from functools import lru_cache

from automemory_dagster.adapters.offline import cue_words as words


class Cue(IntEnum):
    """The kind of a person's sentence; a higher one is a stronger sign of a lasting wish."""

    NONE = 0
    SMALL_TALK = 1
    QUESTION = 2
    REQUEST = 3
    FACT = 4
    REQUIREMENT = 5
    """How a thing must be: a number, a limit, a must."""
    DECISION = 6
    PROHIBITION = 7
    """What must not be done, without a word that says for how long."""
    STYLE = 8
    """How answers, messages and the like shall be."""
    STANDING = 9
    """From now on, always, never, prefer, remember."""


WISHES = frozenset({Cue.STANDING, Cue.STYLE, Cue.PROHIBITION})
"""Cues that make a preference."""

LONGEST_SENTENCE = 600
"""Characters; it also bounds the cost of the patterns."""

_BY_STRENGTH = (
    (words.STANDING, Cue.STANDING),
    (words.STYLE, Cue.STYLE),
    (words.VALUE_CHANGE, Cue.DECISION),
    (words.PROHIBITION, Cue.PROHIBITION),
    (words.DECISION, Cue.DECISION),
    (words.REQUIREMENT, Cue.REQUIREMENT),
    (words.IMPERATIVE, Cue.REQUEST),
    (words.CJK_REQUEST, Cue.REQUEST),
)


@lru_cache(maxsize=4_096)
def cue_of(sentence: str) -> Cue:
    """The strongest kind that fits; questions and small talk are never anything else.

    A sentence longer than any person speaks is something pasted: ``NONE``.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return Cue.NONE
    if words.SMALL_TALK.fullmatch(sentence):
        return Cue.SMALL_TALK
    if words.QUESTION.search(sentence):
        return Cue.QUESTION
    for pattern, cue in _BY_STRENGTH:
        if pattern.search(sentence):
            return cue
    return Cue.FACT if is_statement(sentence) else Cue.NONE


def is_statement(sentence: str) -> bool:
    """True when the sentence says how something is."""
    if len(sentence.split()) >= 3 and words.FINITE_VERB.search(sentence):
        return True
    return bool(words.CJK_FACT.search(sentence)) and len(sentence) >= 6


def is_correction(sentence: str) -> bool:
    """True when the sentence turns against what was done before it."""
    return bool(words.CORRECTION.search(sentence))


def is_symptom(sentence: str) -> bool:
    """True when the sentence reports what goes wrong: the work's reason, not its lesson."""
    return bool(words.SYMPTOM.search(sentence))


def is_passing(sentence: str) -> bool:
    """True when the sentence is about a near day and will mean nothing later."""
    return bool(words.PASSING.search(sentence))


def has_relative_time(sentence: str) -> bool:
    """True when a later reader needs the date to understand the sentence."""
    return bool(words.RELATIVE_TIME.search(sentence))


def is_self_description(sentence: str) -> bool:
    """True when the person says who they are or what they work with."""
    return bool(words.SELF_DESCRIPTION.search(sentence))
