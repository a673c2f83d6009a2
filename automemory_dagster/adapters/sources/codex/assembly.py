"""Builds the evidence of one thread from its records, one at a time, in file order.

Every record either gives items or a reason why it gave none. What later records say about earlier
ones (a rollback, the end of a copy, the turn's last message) is applied when it is read.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from automemory_dagster.adapters.sources.codex import calls, plumbing
from automemory_dagster.adapters.sources.codex.copies import CopiedHistory
from automemory_dagster.adapters.sources.codex.holding import Held, Holding
from automemory_dagster.adapters.sources.codex.memory_text import (
    cited_in,
    is_memory_text,
    split_citations,
)
from automemory_dagster.adapters.sources.codex.messages import (
    UserMessage,
    message_text,
    read_user_message,
)
from automemory_dagster.adapters.sources.codex.mirrors import Mirrors, Stream, words_key
from automemory_dagster.adapters.sources.codex.recent import RecentKeys
from automemory_dagster.adapters.sources.codex.records import Record, without_surrogates
from automemory_dagster.adapters.sources.codex.tool_track import ToolTrack
from automemory_dagster.adapters.sources.codex.wrappers import Role, Wrapper, is_whole_block
from automemory_dagster.domain.cut import cut_middle
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    OtherAgentMessage,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.thread import MemoryMode

_AGENTS_OWN = (AgentMessage, ToolCall, ToolOutput)
_MOST_LINES_REMEMBERED = 65_536
MAX_MESSAGE_BYTES = 256 << 10
MAX_CONTEXT_BYTES = 4 << 10


@dataclass(slots=True)
class Assembly:
    """The evidence so far. ``take`` a record between ``begin_line`` and ``end_line`` of the
    holding."""

    thread_id: str
    mcp_allow: Collection[str] = ()
    holding: Holding = field(default_factory=Holding)
    memory_mode: MemoryMode = MemoryMode.ENABLED
    unknown_types: Counter[str] = field(default_factory=Counter)
    external: Counter[str] = field(default_factory=Counter)
    cited: dict[str, None] = field(default_factory=dict)
    recognised: int = 0
    """Records of a known kind; 0 means that the file is no rollout."""
    position: int = 0
    """Number of the line being read, from 1; the caller sets it."""
    is_own: bool = True
    """False while copied history goes by."""
    tools: ToolTrack = field(init=False)
    copy: CopiedHistory = field(init=False)
    _mirrors: Mirrors = field(default_factory=Mirrors)
    _last_message: Held | None = None
    _has_final: bool = False
    _confirmed: int = 0
    _doubtful: list[tuple[Held, str]] = field(default_factory=list)
    _copied_from: int | None = None
    _turn_before_copy: int = 0
    _is_first: bool = True
    _seen: RecentKeys = field(default_factory=lambda: RecentKeys(_MOST_LINES_REMEMBERED))

    def __post_init__(self) -> None:
        self.tools = ToolTrack(self.holding, self.external, self.mcp_allow)
        self.copy = CopiedHistory(self.thread_id)

    def begin_file(self) -> None:
        """A new file of the same thread: a copy does not reach over from the last one."""
        self._close_copy()
        self.copy = CopiedHistory(self.thread_id)
        self._is_first = True
        self._turn_before_copy = self.holding.turn

    def take(self, record: Record, line: bytes) -> str:
        """Take one record; gives the reason for the case that it gave no item.

        ``line``: the bytes it came from, to tell a record that stands in the file twice.
        """
        kind, payload = record.kind, record.payload
        if kind == "session_meta":
            self.recognised += 1
            return self._meta(payload)
        self._is_first = False
        if self.copy.is_open or self._copied_from is not None:
            self._pass_copy(record)
        if (reason := plumbing.reason_of(kind, payload)) is not None:
            self.recognised += 1
            return reason
        if record.timestamp is not None and self._is_repeated(line):
            return "duplicate"
        self.tools.has_escapes = b"\\u" in line
        if kind == "response_item":
            return self._item(payload)
        if kind == "event_msg":
            return self._event(payload)
        if kind == "inter_agent_communication":
            return self._mail(payload)
        return self._unknown(kind or str(payload.get("type")))

    def finish(self) -> None:
        """The record is over: settle what only its end tells."""
        self._close_copy()
        self._settle_turn()
        if self._confirmed:
            for held, tag in self._doubtful:
                if held.is_alive and isinstance(held.body, HumanRequest):
                    text = cut_middle(held.body.text, MAX_CONTEXT_BYTES)
                    self.holding.replace(held, HarnessContext(label=tag, text=text))

    def _is_repeated(self, line: bytes) -> bool:
        """True for evidence that stands in the file a second time, byte by byte.

        Only where records carry a time: in generation B a person who says "continue" twice writes
        the same line twice.
        """
        return self._seen.add(hash(line))

    # ---- records about the thread -----------------------------------------------------------

    def _meta(self, payload: dict[str, Any]) -> str:
        is_first, self._is_first = self._is_first, False
        if payload.get("id") not in (None, self.thread_id) and not is_first:
            self._open_copy()
            self.copy.meet_foreign_meta()
            return "copied_history"
        if self.copy.is_open and self.copy.start_ordinal is None:
            self.copy.is_open = False
            self._end_copy()
        mode = payload.get("memory_mode")
        if isinstance(mode, str) and mode in set(MemoryMode):
            self.memory_mode = MemoryMode(mode)
        if is_first:
            self.copy.begin(payload)
            if self.copy.is_open:
                self._open_copy()
        return "plumbing"

    def _pass_copy(self, record: Record) -> None:
        self.is_own = self.tools.is_counting = self.copy.is_own(record)
        if self.is_own and self._copied_from is not None:
            self._end_copy(keep_unanswered=self.copy.ended_in_burst)

    def _close_copy(self) -> None:
        """The file is over: a copy that is still open took all of it."""
        if self.copy.is_open:
            self._end_copy()
        self._copied_from = None

    def _open_copy(self) -> None:
        if self._copied_from is None:
            self._copied_from = self.position

    def _end_copy(self, *, keep_unanswered: bool = False) -> None:
        """Take the copied items away; the tail that no agent answered yet may be the thread's
        own."""
        start, self._copied_from = self._copied_from, None
        if start is None:
            return
        copied = [held for held in self.holding.living() if held.position >= start]
        own: list[Held] = []
        while keep_unanswered and copied and not isinstance(copied[-1].body, _AGENTS_OWN):
            own.insert(0, copied.pop())
        for held in copied:
            self.holding.drop(held, "copied_history")
        self.holding.turn = self._turn_before_copy
        for held in own:
            self.holding.turn += isinstance(held.body, HumanRequest)
            held.turn = self.holding.turn
        self._mirrors.forget_dropped()
        self.tools.forget()
        self._last_message, self._has_final = None, False

    def _unknown(self, kind: str) -> str:
        self.unknown_types[kind[:80]] += 1
        return "unknown_type"

    # ---- items ------------------------------------------------------------------------------

    def _item(self, payload: dict[str, Any]) -> str:
        self.recognised += 1
        kind = str(payload.get("type"))
        match kind:
            case "message":
                return self._message(payload)
            case "function_call":
                facts = calls.function_call(payload)
                arguments = payload.get("arguments")
                return self.tools.call(facts, arguments if isinstance(arguments, str) else "")
            case "custom_tool_call":
                return self.tools.call(calls.custom_call(payload))
            case "local_shell_call":
                return self.tools.call(calls.local_shell_call(payload))
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                return self.tools.output(str(payload.get("call_id") or ""), payload.get("output"))
            case "web_search_call" | "tool_search_call":
                return self.tools.search(payload)
            case "agent_message":
                return self._mail(payload)
        return self._unknown(f"response_item/{kind}")

    def _message(self, payload: dict[str, Any]) -> str:
        role = payload.get("role")
        if role == "user":
            return self._user(read_user_message(payload), Stream.ITEM)
        text = without_surrogates(message_text(payload))
        if role == "developer":
            return "own_memory" if is_memory_text(text) else "injected"
        if role == "system":
            return self._context("system", text)
        return self._agent(text, payload.get("phase"), Stream.ITEM)

    def _mail(self, payload: dict[str, Any]) -> str:
        self.recognised += 1
        text = without_surrogates(message_text(payload))
        author = payload.get("author") or payload.get("sender") or "agent"
        if not text:
            return "plumbing"
        self.holding.add(OtherAgentMessage(author=str(author)[:200], text=_bounded(text)))
        return ""

    # ---- events -----------------------------------------------------------------------------

    def _event(self, payload: dict[str, Any]) -> str:
        self.recognised += 1
        kind = str(payload.get("type"))
        match kind:
            case "user_message":
                return self._user_event(payload)
            case "agent_message":
                self._cite(cited_in(payload.get("memory_citation")))
                text = without_surrogates(str(payload.get("message") or ""))
                return self._agent(text, payload.get("phase"), Stream.EVENT)
            case "item_completed":
                return self._completed(payload.get("item"))
            case "exec_command_end":
                return self.tools.command_event(payload)
            case "patch_apply_end":
                return self.tools.patch_event(payload)
            case "mcp_tool_call_end":
                return self.tools.mcp_event(payload)
            case "thread_rolled_back":
                self._roll_back(payload.get("num_turns"))
                return "plumbing"
        return self._unknown(f"event_msg/{kind}")

    def _completed(self, item: Any) -> str:
        if not isinstance(item, dict):
            return "plumbing"
        kind = str(item.get("type"))
        match kind:
            case "UserMessage":
                return self._user(read_user_message(item), Stream.COMPLETED)
            case "AgentMessage":
                self._cite(cited_in(item.get("memory_citation")))
                text = without_surrogates(message_text(item))
                return self._agent(text, item.get("phase"), Stream.COMPLETED)
            case "CommandExecution":
                return self.tools.command_event(item)
            case "FileChange":
                return self.tools.patch_event(item)
        return plumbing.COMPLETED.get(kind) or self._unknown(f"item_completed/{kind}")

    def _user_event(self, payload: dict[str, Any]) -> str:
        text = payload.get("message")
        if payload.get("kind") in ("environment_context", "user_instructions"):
            return "injected"
        content = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
        if payload.get("images") or payload.get("local_images"):
            content.append({"type": "input_image"})
        return self._user(read_user_message({"content": content}), Stream.EVENT)

    def _roll_back(self, turns: Any) -> None:
        if isinstance(turns, int) and turns > 0:
            self._settle_turn()
            self.holding.roll_back(turns)
            self._mirrors.clear()

    # ---- messages ---------------------------------------------------------------------------

    def _user(self, message: UserMessage, stream: Stream) -> str:
        words = message.human or ("\x00image" if message.has_image else "")
        key = words_key("human:", words) if words else ""
        told = self._mirrors.match(key, stream, self.position) if words else None
        if told is not None:
            self._confirm(told.held, stream)
            return "duplicate"
        if words:
            self._settle_turn()
            self.holding.turn += 1
            held = None
            if message.human:
                held = self.holding.add(HumanRequest(text=_bounded(message.human)))
                tag = is_whole_block(message.human)
                if tag and stream is Stream.ITEM and not message.is_labelled:
                    self._doubtful.append((held, tag))
            if stream is not Stream.ITEM:
                self._confirmed += 1
            self._mirrors.tell(key, stream, self.position, held)
        reasons = [self._wrapped(wrapper) for wrapper in message.wrappers]
        if message.has_image:
            return "image"
        return next((reason for reason in reasons if reason), "injected")

    def _confirm(self, held: Held | None, stream: Stream) -> None:
        if stream is not Stream.ITEM:
            self._confirmed += 1
            self._doubtful = [pair for pair in self._doubtful if pair[0] is not held]

    def _wrapped(self, wrapper: Wrapper) -> str:
        match wrapper.role:
            case Role.CONTEXT:
                return self._context(wrapper.label, wrapper.text)
            case Role.OTHER_AGENT:
                if wrapper.text:
                    body = OtherAgentMessage(author=wrapper.label, text=_bounded(wrapper.text))
                    self.holding.add(body)
                return ""
            case _:
                return str(wrapper.role)

    def _context(self, label: str, text: str) -> str:
        if not text:
            return "injected"
        body = HarnessContext(label=label, text=cut_middle(text, MAX_CONTEXT_BYTES))
        self.holding.add(body)
        return ""

    def _agent(self, text: str, phase: Any, stream: Stream) -> str:
        words, cited = split_citations(text)
        self._cite(cited)
        if not words.strip():
            return "plumbing"
        key = words_key("agent:", words)
        told = self._mirrors.match(key, stream, self.position)
        if told is not None:
            if isinstance(phase, str) and told.held is not None and told.held is self._last_message:
                self._phase(told.held, phase)
            return "duplicate"
        held = self.holding.add(AgentMessage(text=_bounded(words), is_final=False))
        self._mirrors.tell(key, stream, self.position, held)
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
            self.holding.replace(held, replace(held.body, is_final=True))

    def _settle_turn(self) -> None:
        """The turn is over: where no phase told, its last message is its answer."""
        held = self._last_message
        if held is not None and not self._has_final and isinstance(held.body, AgentMessage):
            self.holding.replace(held, replace(held.body, is_final=True))
        self._last_message, self._has_final = None, False

    def _cite(self, thread_ids: list[str]) -> None:
        for thread_id in thread_ids if self.is_own else ():
            self.cited.setdefault(thread_id)


def _bounded(text: str) -> str:
    return text if len(text) * 4 <= MAX_MESSAGE_BYTES else cut_middle(text, MAX_MESSAGE_BYTES)
