"""Compiles every pattern of the engine to linear-time automata over bytes.

The trap: ``re2`` encodes a ``str`` anew at each call and counts back to characters. The engine
encodes a text once and works on bytes, with Latin-1 patterns: any byte, also one half of a torn
character, is then a legal input.
"""

from typing import Protocol, cast

import re2


class Match(Protocol):
    """The part of a match that the engine reads; offsets are bytes."""

    def start(self, group: int = 0) -> int: ...  # noqa: D102
    def end(self, group: int = 0) -> int: ...  # noqa: D102
    def span(self, group: int = 0) -> tuple[int, int]: ...  # noqa: D102
    def group(self, group: int = 0) -> bytes | None: ...  # noqa: D102


class Pattern(Protocol):
    """A compiled automaton; time is linear in the bytes between ``pos`` and ``endpos``."""

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Match | None: ...  # noqa: D102
    def match(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Match | None: ...  # noqa: D102
    def fullmatch(self, text: bytes) -> Match | None: ...  # noqa: D102


class Gate:
    """Answers only whether a pattern occurs; the cheapest question that ``re2`` takes, half the
    price of a search.
    """

    def __init__(self, pattern: str, *, memory_bytes: int) -> None:
        self._set = re2.Set.SearchSet(_options(memory_bytes))
        self._set.Add(pattern.encode("utf-8"))
        self._set.Compile()

    def is_open(self, data: bytes) -> bool:
        """True when the pattern occurs somewhere in the data."""
        return bool(self._set.Match(data))


def compile_bytes(pattern: str | bytes, *, memory_bytes: int = 8 << 20) -> Pattern:
    """Compile a pattern over bytes; CJK characters in it stand for their UTF-8 bytes.

    ``memory_bytes`` bounds the automaton's cache: too small and a large pattern falls back to a
    slow search.
    """
    source = pattern.encode("utf-8") if isinstance(pattern, str) else pattern
    return cast(Pattern, re2.compile(source, _options(memory_bytes)))


def _options(memory_bytes: int) -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = memory_bytes
    options.log_errors = False
    return options
