"""The small change of the raw memory's text form: its patterns, section names and values."""

import re
from collections.abc import Iterable

_SECTIONS = {
    "preference signals": "preference_signals",
    "preference signal": "preference_signals",
    "user preferences": "preference_signals",
    "preferences": "preference_signals",
    "reusable knowledge": "reusable_knowledge",
    "knowledge": "reusable_knowledge",
    "key steps": "reusable_knowledge",
    "failures and how to do differently": "failures",
    "failures & how to do differently": "failures",
    "failures": "failures",
    "references": "references",
    "reference": "references",
}
FIELDS = ("description", "task", "task_group", "task_outcome", "cwd", "keywords")
_OUTCOME_WORDS = {
    "success": "success",
    "succeeded": "success",
    "successful": "success",
    "done": "success",
    "completed": "success",
    "partial": "partial",
    "partially": "partial",
    "mixed": "partial",
    "fail": "fail",
    "failed": "fail",
    "failure": "fail",
}
_NOTHING = frozenset({"none", "none.", "(none)", "n/a", "nothing", "-"})

TASK_HEADING = re.compile(r"#{1,6}\s*(\**)\s*Task\b\s*\d*\s*[:：.\-–—)]?\s*(.*)", re.IGNORECASE)
FIELD_LINE = re.compile(r"([A-Za-z][A-Za-z_]*)\s*[:：]\s*(.*)")
BULLET = re.compile(r"(\s*)(?:[-*•+]|\d{1,3}[.)])\s+(.*)")
_SECTION_LINE = re.compile(r"[#*_\s]*([A-Za-z][A-Za-z &]*?)[*_\s]*(?:[:：][*_\s]*(.*))?")


def section_of(line: str) -> tuple[str, str]:
    """The section that a line opens, with what stands behind its colon; empty when none."""
    match = _SECTION_LINE.fullmatch(line.strip())
    if not match:
        return "", ""
    is_heading = line.lstrip().startswith(("#", "*")) or match[2] is not None
    section = _SECTIONS.get(match[1].strip().lower(), "") if is_heading else ""
    return section, one_line(match[2] or "")


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def clean_bullets(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts as lines, in order, without those that say nothing."""
    lines = (one_line(text) for text in texts)
    return tuple(line for line in lines if line and line.lower() not in _NOTHING)


def clean_keywords(words: Iterable[str]) -> tuple[str, ...]:
    """The words as lines without commas, which part keywords."""
    return clean_bullets(re.sub(r"[,，、]", " ", word) for word in words)


def split_keywords(text: str) -> list[str]:
    """A keyword line as its words; a list in square brackets is one too."""
    is_list = text.startswith("[") and text.endswith("]")
    return re.split(r"[,，、]", text[1:-1] if is_list else text)


def outcome_of(text: str) -> str:
    """One of the four outcomes for a word that means it; ``uncertain`` for any other."""
    words = re.findall(r"[a-z]+", text.lower())
    return _OUTCOME_WORDS.get(words[0], "uncertain") if words else "uncertain"


def _is_quoted(text: str) -> bool:
    return len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"


def quoted(text: str) -> str:
    """A front-matter value as written."""
    # A value that is itself in quotes gets a second pair, so that reading takes off only ours.
    return f'"{text}"' if _is_quoted(text) else text


def unquoted(text: str) -> str:
    """A front-matter value as read, without one pair of quotes around it."""
    return text[1:-1] if _is_quoted(text) else text
