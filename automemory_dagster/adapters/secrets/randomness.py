"""Tells a value that a machine drew at random from one that a person wrote.

The trap: Shannon entropy alone. ``createdAtTimestamp`` and a real key of that length score alike,
so the measure here counts how often neighbouring characters change their class, and entropy only
has the last word.
"""

import math
import re
from collections import Counter
from itertools import pairwise

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HASH_LENGTHS = frozenset({32, 40, 56, 64, 96, 128})


def entropy_bits(value: str) -> float:
    """Shannon entropy in bits per character; 0.0 for an empty value."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def is_uuid(value: str) -> bool:
    """True for the 8-4-4-4-12 form, any version."""
    return _UUID.fullmatch(value) is not None


def is_hash(value: str) -> bool:
    """True for hex digits of exactly the length of a common digest (MD5 to SHA-512)."""
    return len(value) in _HASH_LENGTHS and _HEX.fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """True for hex digits of one case only."""
    return _HEX.fullmatch(value) is not None


def class_changes(value: str) -> int:
    """How often neighbours differ in class (lower, upper, digit, other), camel-case humps not
    counted.
    """
    changes = 0
    previous = ""
    for character in value:
        kind = _class_of(character)
        if previous and kind != previous and not (previous == "u" and kind == "l"):
            changes += 1
        previous = kind
    return changes


def looks_random(value: str, *, minimum: int = 12) -> bool:
    """True for a run that mixes classes like a drawn token; false for words, names, numbers and
    dates.
    """
    value = value.strip("=")
    if len(value) < minimum or (len(value) > 4096 and class_changes(value[:4096]) < 400):
        return False
    value = value[:4096]
    if not any(map(str.isalpha, value)):
        return False
    if not any(map(str.isdigit, value)):
        return len(value) >= 16 and _mixes_case(value)
    if entropy_bits(value) < min(3.0, math.log2(len(value)) - 0.9):
        return False
    if class_changes(value) < max(2, len(value) // 8):
        return False
    return is_hex(value) or not _reads_as_words(value)


def has_random_run(value: str, *, minimum: int = 10) -> bool:
    """True when some unbroken run of letters and digits in the value looks random by itself."""
    # Shorter runs are left out by the pattern: a hostile text has thousands of them.
    runs = re.findall(rf"[A-Za-z0-9]{{{minimum},}}", value)
    return any(looks_random(run, minimum=minimum) for run in runs)


def is_wordy(value: str) -> bool:
    """True for what a person would type as a name: words, camel-case or joined, at most two digits
    at the end.
    """
    parts = [part for part in re.split(r"[_.\-]+", value) if part]
    return bool(parts) and all(_is_wordy_part(part) for part in parts)


def _is_wordy_part(part: str) -> bool:
    if not re.fullmatch(r"[A-Za-z]*\d{0,2}", part):
        return part.isdigit() and len(part) <= 4
    return not _mixes_case(part)


def _reads_as_words(value: str) -> bool:
    """Mostly words of four letters and more: ``rollout-2026-11-09`` or ``gpt5TurboPreview``."""
    words = _WORD.findall(value)
    in_words = sum(len(word) for word in words if word.isalpha() and len(word) >= 4)
    letters = sum(c.isalpha() for c in value)
    return in_words >= 0.7 * letters and letters >= 0.5 * len(value)


def _mixes_case(value: str) -> bool:
    """Case that changes like noise: the humps are shorter than words are."""
    if value.islower() or value.isupper() or len(value) < 8:
        return False
    words = _WORD.findall(value)
    humps = sum(1 for a, b in pairwise(value) if a.islower() and b.isupper())
    return humps >= 2 and sum(len(word) for word in words) < 3.3 * len(words)


def _class_of(character: str) -> str:
    if character.islower():
        return "l"
    if character.isupper():
        return "u"
    return "d" if character.isdigit() else "o"
