"""Who said what in a thread: each message once, in its turn, with its weight.

The trap: a message's place is known when it is read, and its weight only later: the last message of
a turn is its answer, an unknown block is the harness's when only the items know of it, and words
from two streams are one message.
"""

from dataclasses import dataclass, field
from typing import Any

from automemory_dagster.adapters.sources.codex.holding import Held, Holding
from automemory_dagster.adapters.sources.codex.memory_text import split_citations
from automemory_dagster.adapters.sources.codex.messages import (
    UserMessage,
    message_text,
    read_user_message,
)
from automemory_dagster.adapters.sources.codex.mirrors import Mirrors, Stream, words_key
from automemory_dagster.adapters.sources.codex.records import without_surrogates
from automemory_dagster.adapters.sources.codex.wrappers import Role, Wrapper, is_whole_block
from automemory_dagster.domain.cut import cut_middle
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    OtherAgentMessage,
)

MAX_MESSAGE_BYTES = 256 << 10
MAX_CONTEXT_BYTES = 4 << 10


@dataclass(slots=True)
class Conversation:
    """The messages so far; the holding has them."""

    holding: Holding
    cited: dict[str, None] = field(default_factory=dict)
    """Thread ids in memory citations, in order."""
    is_own: bool = True
    """False while copied history goes by: its citations are another thread's."""
    _mirrors: Mirrors = field(default_factory=Mirrors)
    _last_message: Held | None = None
    _has_final: bool = False
    _confirmed: int = 0
    _doubtful: list[tuple[Held, str]] = field(default_factory=list)

    def finish(self) -> None:
        """The record is over: settle what only its end tells."""
        self.settle_turn()
        for held, tag in self._doubtful if self._confirmed else ():
            if held.is_alive and isinstance(held.body, HumanRequest):
                text = cut_middle(held.body.text, MAX_CONTEXT_BYTES)
                self.holding.replace(held, HarnessContext(label=tag, text=text))

    def roll_back(self, turns: Any) -> None:
        """Undo the last turns; what is said again after it is new."""
        if isinstance(turns, int) and turns > 0:
            self.settle_turn()
            self.holding.roll_back(turns)
            self._mirrors.clear()

    def forget_copy(self) -> None:
        """Copied history was taken away: what it said is no telling of what comes."""
        self._mirrors.forget_dropped()
        self._last_message, self._has_final = None, False

    def user_event(self, payload: dict[str, Any]) -> str:
        """Take an old event of a person's message."""
        text = payload.get("message")
        if payload.get("kind") in ("environment_context", "user_instructions"):
            return "injected"
        content = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
        if payload.get("images") or payload.get("local_images"):
            content.append({"type": "input_image"})
        return self.user(read_user_message({"content": content}), Stream.EVENT)

    def mail(self, payload: dict[str, Any]) -> str:
        """Take words from another agent; cipher text gives nothing."""
        text = without_surrogates(message_text(payload))
        author = payload.get("author") or payload.get("sender") or "agent"
        if not text:
            return "plumbing"
        self.holding.add(OtherAgentMessage(author=str(author)[:200], text=_bounded(text)))
        return ""

    def user(self, message: UserMessage, stream: Stream) -> str:
        """Take a message in the user's role; gives the reason for the case that it gave no item."""
        words = message.human or ("\x00image" if message.has_image else "")
        key = words_key("human:", words) if words else ""
        position = self.holding.position
        told = self._mirrors.match(key, stream, position) if words else None
        if told is not None:
            self._confirm(told.held, stream)
            return "duplicate"
        if words:
            self.settle_turn()
            self.holding.turn += 1
            held = None
            if message.human:
                held = self.holding.add(HumanRequest(text=_bounded(message.human)))
                tag = is_whole_block(message.human)
                if tag and stream is Stream.ITEM and not message.is_labelled:
                    self._doubtful.append((held, tag))
            if stream is not Stream.ITEM:
                self._confirmed += 1
            self._mirrors.tell(key, stream, position, held)
        reason = ""
        for wrapper in message.wrappers:
            told_of = self._wrapped(wrapper)
            reason = reason or told_of
        if message.has_image:
            return "image"
        return reason or "injected"

    def _confirm(self, held: Held | None, stream: Stream) -> None:
        if stream is not Stream.ITEM:
            self._confirmed += 1
            self._doubtful = [pair for pair in self._doubtful if pair[0] is not held]

    def _wrapped(self, wrapper: Wrapper) -> str:
        match wrapper.role:
            case Role.CONTEXT:
                return self.context(wrapper.label, wrapper.text)
            case Role.OTHER_AGENT:
                if wrapper.text:
                    body = OtherAgentMessage(author=wrapper.label, text=_bounded(wrapper.text))
                    self.holding.add(body)
                return ""
            case _:
                return str(wrapper.role)

    def context(self, label: str, text: str) -> str:
        """Take what the harness tells."""
        if not text:
            return "injected"
        body = HarnessContext(label=label, text=cut_middle(text, MAX_CONTEXT_BYTES))
        self.holding.add(body)
        return ""

    def agent(self, text: str, phase: Any, stream: Stream) -> str:
        """Take the agent's words; ``phase`` is Codex's, or no text where it does not tell."""
        words, cited = split_citations(text)
        self.cite(cited)
        if not words.strip():
            return "plumbing"
        key = words_key("agent:", words)
        position = self.holding.position
        told = self._mirrors.match(key, stream, position)
        if told is not None:
            if isinstance(phase, str) and told.held is not None and told.held is self._last_message:
                self._phase(told.held, phase)
            return "duplicate"
        held = self.holding.add(AgentMessage(text=_bounded(words), is_final=False))
        self._mirrors.tell(key, stream, position, held)
        self._last_message = held
        if isinstance(phase, str):
            self._phase(held, phase)
        return ""

    def _phase(self, held: Held, phase: str) -> None:
        """A phase was told: the message is no candidate for the turn's last one any more."""
        if held is self._last_message:
            self._last_message = None
        if phase == "final_answer" and isinstance(held.body, AgentMessage):
            self._has_final = True
            self.holding.replace(held, AgentMessage(text=held.body.text, is_final=True))

    def settle_turn(self) -> None:
        """The turn is over: where no phase told, its last message is its answer."""
        held = self._last_message
        if held is not None and not self._has_final and isinstance(held.body, AgentMessage):
            self.holding.replace(held, AgentMessage(text=held.body.text, is_final=True))
        self._last_message, self._has_final = None, False

    def cite(self, thread_ids: list[str]) -> None:
        """Remember the threads that a memory citation names."""
        for thread_id in thread_ids if self.is_own else ():
            self.cited.setdefault(thread_id)


def _bounded(text: str) -> str:
    return text if len(text) * 4 <= MAX_MESSAGE_BYTES else cut_middle(text, MAX_MESSAGE_BYTES)
