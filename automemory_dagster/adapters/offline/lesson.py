"""A lesson: one bullet of a memory with its worth, before the budget decides what stays."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Section(StrEnum):
    """Where a bullet stands in a task's memory."""

    PREFERENCE = "Preference signals"
    KNOWLEDGE = "Reusable knowledge"
    FAILURE = "Failures and how to do differently"
    REFERENCE = "References"


class Worth(IntEnum):
    """What a bullet is worth when there is no room for all; ours, tuned on real sessions.

    Human words outrank what the agent found, which outranks what can be looked up again.
    """

    STANDING = 100
    CORRECTION = 90
    ANSWER = 86
    STYLE = 85
    DECISION = 80
    PROHIBITION = 70
    ENVIRONMENT_FAILURE = 65
    UNSOLVED = 62
    REQUIREMENT = 60
    STATED = 55
    FINDING = 50
    CHECK = 45
    FIXED = 44
    CONSTRAINT = 42
    KEEP_FROM = 40
    """A thread whose best bullet is below this gives no output."""
    NOTE = 38
    SPECIFIC_CHECK = 34
    LANGUAGE = 30
    CHANGED = 25
    COMMIT = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One bullet."""

    section: Section
    text: str
    """One line that can be understood without the rest."""
    worth: int
    turn: int
