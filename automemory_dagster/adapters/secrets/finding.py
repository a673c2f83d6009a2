"""What a detector reports: where a secret is and of which kind, never what it is.

The trap: a finding that carries the value ends in a log line or a test report. None here does.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret in a text: ``text[start:end]`` in characters of the ``str``."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One secret in the UTF-8 bytes of a text; the engine's internal form of ``Finding``."""

    kind: str
    start: int
    end: int


Handler = Callable[[bytes, int, int], list[Hit]]
"""Reads on from an anchor at ``[start, end)``; answers hits in order, or none when it is no
secret.
"""
