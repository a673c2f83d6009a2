"""Keeps the items of one reading inside a bound, and the account of every line.

The trap: a report that does not add up. Each line is counted once, under what became of it in the
end, also when its items are taken away later: rolled back, recognised as a copy, or pushed out by
newer ones.
"""

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    ItemBody,
    OtherAgentMessage,
    RolloutItem,
    ToolCall,
    ToolOutput,
)

MAX_HELD_BYTES = 12 << 20
"""Memory of all texts held. Evidence over it pushes out the least worth, oldest first."""

_ITEM_BYTES = 700
"""What an item costs beside its texts."""


@dataclass(slots=True)
class _LineTally:
    items: int = 0
    is_closed: bool = False
    reason: str = ""


@dataclass(slots=True, eq=False)
class Held:
    """An item held so far; its body may still change."""

    position: int
    turn: int
    body: ItemBody
    line: _LineTally
    size: int = 0
    is_alive: bool = True


@dataclass(slots=True)
class Holding:
    """Everything held so far, in file order."""

    max_bytes: int = MAX_HELD_BYTES
    lines_read: int = 0
    lines_kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    turn: int = 0
    position: int = 0
    """Number of the line being read."""
    _held: list[Held] = field(default_factory=list)
    _queues: list[deque[Held]] | None = None
    """By rank, once there was no room; most threads never need them."""
    _line: _LineTally | None = None
    _bytes: int = 0
    _dead: int = 0

    def begin_line(self, position: int) -> None:
        """What is added until ``end_line`` belongs to a new line."""
        self.position = position
        self._line = None

    def count_line(self, reason: str) -> None:
        """Count a line that gives no item."""
        self.lines_read += 1
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def end_line(self, reason: str) -> None:
        """Close the line: kept when any item is left, else dropped for ``reason``."""
        line = self._line
        if line is None:
            self.count_line(reason)
            return
        line.is_closed = True
        if line.items:
            self.lines_read += 1
            self.lines_kept += 1
        else:
            self.count_line(line.reason)

    def add(self, body: ItemBody) -> Held:
        """Hold an item of the current line, in the current turn."""
        line = self._line
        if line is None:
            line = self._line = _LineTally()
        size = _size_of(body)
        held = Held(self.position, self.turn, body, line, size)
        line.items += 1
        self._held.append(held)
        self._bytes += size
        if self._queues is not None:
            self._queues[_rank(body)].append(held)
        if self._bytes > self.max_bytes:
            self._evict()
        return held

    def replace(self, held: Held, body: ItemBody) -> None:
        """Change what an item says, in its place."""
        if not held.is_alive:
            return
        size = _size_of(body)
        self._bytes += size - held.size
        if self._queues is not None and _rank(body) != _rank(held.body):
            self._queues[_rank(body)].append(held)
        held.body, held.size = body, size

    def drop(self, held: Held, reason: str) -> None:
        """Take an item away; its line counts under ``reason`` when nothing else of it is left."""
        if not held.is_alive:
            return
        held.is_alive = False
        self._bytes -= held.size
        held.body = _GONE
        self._dead += 1
        line = held.line
        line.items -= 1
        line.reason = reason
        if line.items == 0 and line.is_closed:
            self.lines_kept -= 1
            self.dropped[reason] = self.dropped.get(reason, 0) + 1
        if self._dead > 1000 and self._dead * 2 > len(self._held):
            self._held = [item for item in self._held if item.is_alive]
            self._dead = 0

    def living(self) -> Iterator[Held]:
        """The items held, in file order."""
        return (held for held in self._held if held.is_alive)

    def roll_back(self, turns: int) -> None:
        """Undo the last turns: their items are no evidence any more."""
        target = max(0, self.turn - turns)
        start = len(self._held)
        while start > 0 and self._held[start - 1].turn > target:
            start -= 1
        for held in self._held[start:]:
            self.drop(held, "rolled_back")
        self.turn = target

    def items(self) -> tuple[RolloutItem, ...]:
        """The items as facts."""
        return tuple(
            [
                RolloutItem(position=held.position, turn=held.turn, body=held.body)
                for held in self._held
                if held.is_alive
            ]
        )

    def _evict(self) -> None:
        if self._queues is None:
            self._queues = [deque() for _ in range(6)]
            for held in self.living():
                self._queues[_rank(held.body)].append(held)
        for rank, queue in enumerate(self._queues):
            while self._bytes > self.max_bytes and queue:
                held = queue.popleft()
                if held.is_alive and _rank(held.body) == rank:
                    self.drop(held, "no_room")
            if self._bytes <= self.max_bytes:
                return


_GONE = HarnessContext(label="", text="")
"""What a dropped item says: its texts are free to go."""


def _rank(body: ItemBody) -> int:
    """Who goes first when there is no room; a person's words go last."""
    if type(body) is AgentMessage:
        return 4 if body.is_final else 3
    return _RANKS[type(body)]


_RANKS: dict[type, int] = {
    ToolOutput: 0,
    ToolCall: 1,
    HarnessContext: 2,
    OtherAgentMessage: 3,
    HumanRequest: 5,
}


def _size_of(body: ItemBody) -> int:
    if isinstance(body, ToolCall):
        size = _ITEM_BYTES + sys.getsizeof(body.command)
        return size + sum(map(len, body.changed_files)) if body.changed_files else size
    size = _ITEM_BYTES + sys.getsizeof(body.text)
    return size + len(body.question) if isinstance(body, HumanRequest) else size
