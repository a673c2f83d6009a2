"""Compiles every pattern of the engine to linear-time automata over bytes.

The trap: ``re2`` encodes a ``str`` anew at each call and counts back to characters. The engine
encodes a text once and works on bytes, with Latin-1 patterns: any byte, also one half of a torn
character, is then a legal input.
"""

from collections.abc import Callable

import re2

Span = tuple[int, int]
_Matcher = Callable[[object, bytes, int, int], list[Span]]


class Match:
    """Where a pattern and its groups matched, in bytes; a group that took no part starts at -1."""

    __slots__ = ("_data", "spans")

    def __init__(self, data: bytes, spans: list[Span]) -> None:
        self._data = data
        self.spans = spans

    def start(self, group: int = 0) -> int:
        """Where the group starts."""
        return self.spans[group][0]

    def end(self, group: int = 0) -> int:
        """Where the group ends."""
        return self.spans[group][1]

    def span(self, group: int = 0) -> Span:
        """Where the group starts and ends."""
        return self.spans[group]

    def group(self, group: int = 0) -> bytes | None:
        """The bytes of the group; None when it took no part."""
        start, end = self.spans[group]
        return None if start < 0 else self._data[start:end]


class Pattern:
    """A compiled automaton; time is linear in the bytes between ``pos`` and ``endpos``.

    It calls the matcher below ``re2``'s own wrapper, which makes a generator and a match object for
    every call: measured, a call costs 0.5 instead of 1.1 microseconds.
    """

    __slots__ = ("_match", "_regexp", "groups")

    def __init__(self, source: bytes, memory_bytes: int) -> None:
        self._regexp = re2.compile(source, _options(memory_bytes))
        self._match: _Matcher = self._regexp._regexp.Match
        self.groups: int = self._regexp.groups

    def search(self, data: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        """The leftmost match."""
        return self._run(_UNANCHORED, data, pos, endpos)

    def match(self, data: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        """The match that starts at ``pos``."""
        return self._run(_AT_START, data, pos, endpos)

    def _run(self, anchor: object, data: bytes, pos: int, endpos: int | None) -> Match | None:
        size = len(data)
        end = size if endpos is None or endpos > size else endpos
        if pos > end:
            return None
        spans = self._match(anchor, data, pos, end)
        return Match(data, spans) if spans[0][0] >= 0 else None


class Gate:
    """Answers only whether a pattern occurs; the cheapest question that ``re2`` takes."""

    def __init__(self, pattern: str, *, memory_bytes: int) -> None:
        patterns = re2.Set.SearchSet(_options(memory_bytes))
        patterns.Add(pattern.encode("utf-8"))
        patterns.Compile()
        # Below the wrapper of ``re2``, as in ``Pattern``.
        self.is_open: Callable[[bytes], list[int]] = patterns._set.Match
        """Not empty when the pattern occurs somewhere in the data."""


def compile_bytes(pattern: str | bytes, *, memory_bytes: int = 8 << 20) -> Pattern:
    """Compile a pattern over bytes; CJK characters in it stand for their UTF-8 bytes.

    ``memory_bytes`` bounds the automaton's cache: too small and a large pattern falls back to a
    slow search.
    """
    source = pattern.encode("utf-8") if isinstance(pattern, str) else pattern
    return Pattern(source, memory_bytes)


def _options(memory_bytes: int) -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = memory_bytes
    options.log_errors = False
    return options


_UNANCHORED = re2._Anchor.UNANCHORED
_AT_START = re2._Anchor.ANCHOR_START
