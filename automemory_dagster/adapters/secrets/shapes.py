"""The form of a provider's token: how it starts, which characters follow, how many at least.

The trap: exact lengths. Providers change them, terminals wrap and tools cut, so a shape asks for
enough characters to be sure and takes whatever follows; the tail must also look drawn at random,
which keeps ``npm_config_registry`` alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import Pattern, compile_bytes
from automemory_dagster.adapters.secrets.placeholders import is_placeholder
from automemory_dagster.adapters.secrets.randomness import (
    class_changes,
    has_random_run,
    looks_random,
)

WORD = "[A-Za-z0-9]"
URLSAFE = "[A-Za-z0-9_-]"
HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class Shape:
    """Tokens that start with ``prefix`` and go on with ``tail``."""

    kind: str
    prefix: str
    tail: str
    """A pattern; matched greedily right behind the prefix."""
    trusted: bool = False
    """The shape is so particular that the tail need not look random."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    kind: str
    pattern: Pattern
    prefix_length: int
    trusted: bool
    lead: str
    """The characters that may follow the prefix, for a narrow anchor."""


_LONGEST_LOOK = 8_192
"""Bytes; longer than any token but a monstrous JWT, which other rules take as a header's value."""
_JUDGED = 512
_ANY_LEAD = "[A-Za-z0-9_./+-]"
BOUNDARY = r"(?:\b|\\+[nrtbf]|\[[0-9;]{0,8}m|%[0-9A-Fa-f]{2}|\\+u[0-9A-Fa-f]{4})"
"""A prefix must start a word; escapes and terminal colours before it do not count as one."""
_ESCAPE = compile_bytes(r"\\+[nrtbf]|\[[0-9;]{0,8}m|%[0-9A-Fa-f]{2}|\\+u[0-9A-Fa-f]{4}")


class ShapeTable:
    """Many shapes behind one anchor pattern and one look-up by prefix."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._by_prefix: dict[bytes, list[_Compiled]] = {}
        for shape in shapes:
            prefix = shape.prefix.encode()
            pattern = compile_bytes(re.escape(shape.prefix) + f"(?:{shape.tail})")
            self._by_prefix.setdefault(prefix, []).append(
                _Compiled(shape.kind, pattern, len(prefix), shape.trusted, _lead(shape.tail))
            )
        self._lengths = sorted({len(prefix) for prefix in self._by_prefix}, reverse=True)

    def anchor(self) -> str:
        """A pattern that finds every place where some shape may start."""
        by_lead: dict[str, list[str]] = {}
        for prefix, shapes in self._by_prefix.items():
            if not prefix[:1].isalnum():
                continue
            lead = shapes[0].lead if len({shape.lead for shape in shapes}) == 1 else _ANY_LEAD
            by_lead.setdefault(lead, []).append(re.escape(prefix.decode()))
        starts = (f"(?:{'|'.join(prefixes)}){lead}{{6}}" for lead, prefixes in by_lead.items())
        signs = [
            re.escape(prefix.decode()) for prefix in self._by_prefix if not prefix[:1].isalnum()
        ]
        return rf"(?:{BOUNDARY}(?:{'|'.join(starts)})|(?:{'|'.join(signs)})[A-Za-z0-9./])"

    def read(self, data: bytes, start: int, end: int) -> list[Hit]:
        """The token that starts at the anchor, or nothing; a token wrapped to the next line is
        taken whole.
        """
        start += boundary_length(data, start)
        for length in self._lengths:
            for shape in self._by_prefix.get(data[start : start + length], ()):
                # A bounded look first: a text of nothing but prefixes would be read to its end
                # from each of them. What is taken is then read whole, once.
                found = shape.pattern.match(data, start, start + _LONGEST_LOOK)
                if found is None:
                    continue
                end = min(found.end(), start + length + _JUDGED)
                tail = data[start + length : end].decode("latin-1")
                if _is_drawn(tail) or (shape.trusted and _is_no_name(tail)):
                    whole = shape.pattern.match(data, start) or found
                    return [Hit(shape.kind, start, wrapped_end(data, whole.end()))]
        return []


_WRAP = compile_bytes(
    rb"""(?:[ \t]*\\?\r?\n|(?:\\+r)?\\+n)[ \t]*(?:[+>|][ \t]?)?"""
    rb"""([A-Za-z0-9_\-./+=]{6,})(?:[\s"'`,;)\\]|\z)"""
)


def wrapped_end(data: bytes, end: int) -> int:
    """Where a token ends that a terminal wrapped: the next line is all token characters and looks
    random.
    """
    if data[end : end + 1] not in (b"\n", b"\r", b"\\", b" "):
        return end
    found = _WRAP.match(data, end, min(len(data), end + 400))
    if found is None:
        return end
    rest = data[found.start(1) : found.end(1)].decode("latin-1")
    line_start = max(data.rfind(b"\n", 0, end), data.rfind(b"\\n", max(0, end - 400), end)) + 1
    full_line = end - line_start >= 40
    if "/" in rest or "=" in rest[:-2] or not full_line or not (looks_random(rest, minimum=8)):
        return end
    return found.end(1)


def _is_drawn(tail: str) -> bool:
    if is_placeholder(tail):
        return False
    if (
        len(tail) >= 20
        and tail.isalnum()
        and any(c.isdigit() for c in tail)
        and any(c.isalpha() for c in tail)
    ):
        return True
    if has_random_run(tail, minimum=10) or looks_random(tail, minimum=16):
        return True
    joined = re.sub(r"[^A-Za-z0-9]", "", tail)
    mixed = len(joined) >= 14 and not joined.islower() and any(c.isdigit() for c in joined)
    return mixed and class_changes(joined) >= len(joined) / 4


def _is_no_name(tail: str) -> bool:
    """Enough behind a prefix that nothing else has: neither a placeholder nor words in one case."""
    if is_placeholder(tail):
        return False
    return any(c.isdigit() for c in tail) or not tail.islower()


def _lead(tail: str) -> str:
    for narrow in (HEX, WORD, URLSAFE):
        if tail.startswith(narrow):
            return narrow
    return _ANY_LEAD


def boundary_length(data: bytes, start: int) -> int:
    """How much of the anchor is an escape before the token."""
    escape = _ESCAPE.match(data, start, min(len(data), start + 24))
    return escape.end() - start if escape is not None else 0
