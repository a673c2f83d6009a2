"""What the records of a synthetic rollout are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Command:
    """The agent runs a shell command."""

    command: str
    output: str = ""
    exit_code: int = 0


@dataclass(frozen=True, kw_only=True)
class Patch:
    """The agent applies a patch; ``body`` is what stands between the begin and end lines."""

    body: str = "*** Update File: shop/price.py\n@@\n-    return 1\n+    return 2"
    output: str = "Success. Updated the following files:\nM shop/price.py\n"


@dataclass(frozen=True, kw_only=True)
class Said:
    """The agent comments on its work."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Raw:
    """One record as it stands, without its time; a bare item in A and B."""

    record: Mapping[str, Any]


Step = Command | Patch | Said | Raw


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a person asked, what the agent did and what it answered; None leaves the record out."""

    request: str | None = "Run the tests."
    steps: Sequence[Step] = ()
    answer: str | None = "All 12 tests pass."


@dataclass(frozen=True, kw_only=True)
class Session:
    """What the records of one rollout are made of."""

    thread_id: str
    turns: Sequence[Turn]
    cwd: str
    started_at: str
    """As the rollout writes it."""
    source: Any
    originator: str
    git: Mapping[str, str] | None
    memory_mode: str | None
    meta: Mapping[str, Any]
    agents_md: str | None
    first_turn: int = 0
    """Number of the first turn: ids of turns, calls and messages are made of it."""
