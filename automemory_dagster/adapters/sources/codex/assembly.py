"""Builds the evidence of one thread from its records, one at a time, in file order.

Every record either gives items or a reason why it gave none. What later records say about earlier
ones (a rollback, the end of a copy, the turn's last message) is applied when it is read.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from automemory_dagster.adapters.sources.codex import calls, plumbing
from automemory_dagster.adapters.sources.codex.conversation import Conversation
from automemory_dagster.adapters.sources.codex.copies import CopiedHistory
from automemory_dagster.adapters.sources.codex.holding import Held, Holding
from automemory_dagster.adapters.sources.codex.memory_text import (
    cited_in,
    is_memory_text,
)
from automemory_dagster.adapters.sources.codex.messages import (
    message_text,
    read_user_message,
)
from automemory_dagster.adapters.sources.codex.mirrors import Stream
from automemory_dagster.adapters.sources.codex.recent import RecentKeys
from automemory_dagster.adapters.sources.codex.records import Record, without_surrogates
from automemory_dagster.adapters.sources.codex.tool_track import ToolTrack
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HumanRequest,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.thread import MemoryMode

_AGENTS_OWN = (AgentMessage, ToolCall, ToolOutput)
_MOST_LINES_REMEMBERED = 65_536


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
    recognised: int = 0
    """Records of a known kind; 0 means that the file is no rollout."""
    position: int = 0
    """Number of the line being read, from 1; the caller sets it."""
    words: Conversation = field(init=False)
    tools: ToolTrack = field(init=False)
    copy: CopiedHistory = field(init=False)
    _copied_from: int | None = None
    _turn_before_copy: int = 0
    _is_first: bool = True
    _seen: RecentKeys = field(default_factory=lambda: RecentKeys(_MOST_LINES_REMEMBERED))

    def __post_init__(self) -> None:
        self.words = Conversation(self.holding)
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
        self.words.position = self.position
        self.tools.has_escapes = b"\\u" in line
        if kind == "response_item":
            return self._item(payload)
        if kind == "event_msg":
            return self._event(payload)
        if kind == "inter_agent_communication":
            self.recognised += 1
            return self.words.mail(payload)
        return self._unknown(kind or str(payload.get("type")))

    def finish(self) -> None:
        """The record is over: settle what only its end tells."""
        self._close_copy()
        self.words.finish()

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
        is_own = self.copy.is_own(record)
        self.words.is_own = self.tools.is_counting = is_own
        if is_own and self._copied_from is not None:
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
        self.words.forget_copy()
        self.tools.forget()

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
                return self.words.mail(payload)
        return self._unknown(f"response_item/{kind}")

    def _message(self, payload: dict[str, Any]) -> str:
        role = payload.get("role")
        if role == "user":
            return self.words.user(read_user_message(payload), Stream.ITEM)
        text = without_surrogates(message_text(payload))
        if role == "developer":
            return "own_memory" if is_memory_text(text) else "injected"
        if role == "system":
            return self.words.context("system", text)
        return self.words.agent(text, payload.get("phase"), Stream.ITEM)

    # ---- events -----------------------------------------------------------------------------

    def _event(self, payload: dict[str, Any]) -> str:
        self.recognised += 1
        kind = str(payload.get("type"))
        match kind:
            case "user_message":
                return self.words.user_event(payload)
            case "agent_message":
                self.words.cite(cited_in(payload.get("memory_citation")))
                text = without_surrogates(str(payload.get("message") or ""))
                return self.words.agent(text, payload.get("phase"), Stream.EVENT)
            case "item_completed":
                return self._completed(payload.get("item"))
            case "exec_command_end":
                return self.tools.command_event(payload)
            case "patch_apply_end":
                return self.tools.patch_event(payload)
            case "mcp_tool_call_end":
                return self.tools.mcp_event(payload)
            case "thread_rolled_back":
                self.words.roll_back(payload.get("num_turns"))
                return "plumbing"
        return self._unknown(f"event_msg/{kind}")

    def _completed(self, item: Any) -> str:
        if not isinstance(item, dict):
            return "plumbing"
        kind = str(item.get("type"))
        match kind:
            case "UserMessage":
                return self.words.user(read_user_message(item), Stream.COMPLETED)
            case "AgentMessage":
                self.words.cite(cited_in(item.get("memory_citation")))
                text = without_surrogates(message_text(item))
                return self.words.agent(text, item.get("phase"), Stream.COMPLETED)
            case "CommandExecution":
                return self.tools.command_event(item)
            case "FileChange":
                return self.tools.patch_event(item)
        return plumbing.COMPLETED.get(kind) or self._unknown(f"item_completed/{kind}")
