"""Joins streams that tell the same messages: items, old events and ``item_completed``, in either
order.

The trap: the same words counted twice, or lost when one stream is left out. A message counts as
often as the stream that tells it most often; the others' copies of it are recognised within a
window of lines.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

from automemory_dagster.adapters.sources.codex.holding import Held

_WINDOW_LINES = 400
_MOST_KEYS = 20_000


class Stream(IntEnum):
    """Where a message was told; the values are bits."""

    ITEM = 1
    """``response_item``."""
    EVENT = 2
    """``event_msg`` of the old kinds."""
    COMPLETED = 4
    """``event_msg`` of kind ``item_completed``."""


@dataclass(slots=True)
class Told:
    """One message and the streams that told it so far."""

    position: int
    streams: int
    held: Held | None
    """None when the message gave no item, such as a lone image."""


@dataclass(slots=True)
class Mirrors:
    """The messages told lately, by their words."""

    _told: dict[str, deque[Told]] = field(default_factory=dict)

    def match(self, key: str, stream: Stream, position: int) -> Told | None:
        """The earlier telling by another stream, which counts as told by this one too; or None.

        ``key``: from ``words_key``.
        """
        queue = self._told.get(key)
        if queue is None:
            return None
        for told in queue:
            if position - told.position <= _WINDOW_LINES and not told.streams & stream:
                told.streams |= stream
                return told
        return None

    def tell(self, key: str, stream: Stream, position: int, held: Held | None) -> None:
        """Remember a message that gave an item."""
        queue = self._told.get(key)
        if queue is None:
            if len(self._told) > _MOST_KEYS:
                self._told.clear()
            queue = self._told[key] = deque()
        while queue and position - queue[0].position > _WINDOW_LINES:
            queue.popleft()
        queue.append(Told(position, stream, held))

    def forget_dropped(self) -> None:
        """Forget messages whose items were taken away."""
        for queue in self._told.values():
            living = [told for told in queue if told.held is not None and told.held.is_alive]
            queue.clear()
            queue.extend(living)

    def clear(self) -> None:
        """Forget everything: what comes now tells new messages."""
        self._told.clear()


def words_key(role: str, words: str) -> str:
    """The same for two tellings that differ in blanks and line ends only."""
    joined = words.replace(" ", "")
    if "\n" in joined:
        joined = joined.replace("\n", "")
    return role + (joined if len(joined) <= 64 else f"{joined[:32]}{len(joined)}.{hash(joined)}")
