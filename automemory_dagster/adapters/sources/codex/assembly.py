"""Builds the evidence of one thread from its records, one at a time, in file order.

Every record either gives items or a reason why it gave none. What later records say about earlier
ones (a rollback, the end of a copy, the turn's last message) is applied when it is read.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from automemory_dagster.adapters.sources.codex import plumbing
from automemory_dagster.adapters.sources.codex.conversation import Conversation
from automemory_dagster.adapters.sources.codex.copies import CopiedHistory
from automemory_dagster.adapters.sources.codex.external import fetch_test
from automemory_dagster.adapters.sources.codex.holding import Held, Holding
from automemory_dagster.adapters.sources.codex.memory_text import cited_in, is_memory_text
from automemory_dagster.adapters.sources.codex.messages import message_text, read_user_message
from automemory_dagster.adapters.sources.codex.mirrors import Stream
from automemory_dagster.adapters.sources.codex.recent import RecentKeys
from automemory_dagster.adapters.sources.codex.records import Record, without_surrogates
from automemory_dagster.adapters.sources.codex.tool_items import Handler, tool_handlers
from automemory_dagster.adapters.sources.codex.tool_track import ToolTrack
from automemory_dagster.domain.rollout import (
    FETCH_COMMANDS,
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
    fetch_commands: Collection[str] = FETCH_COMMANDS
    holding: Holding = field(default_factory=Holding)
    memory_mode: MemoryMode = MemoryMode.ENABLED
    unknown_types: Counter[str] = field(default_factory=Counter)
    external: Counter[str] = field(default_factory=Counter)
    recognised: int = 0
    """Records of a known kind; 0 means that the file is no rollout."""
    words: Conversation = field(init=False)
    tools: ToolTrack = field(init=False)
    copy: CopiedHistory = field(init=False)
    _copied_from: int | None = None
    _turn_before_copy: int = 0
    _is_first: bool = True
    _handlers: dict[str, dict[str, str | Handler]] = field(init=False)
    """By kind and type: what takes a record, or the reason why it gives nothing."""
    _seen: RecentKeys = field(default_factory=lambda: RecentKeys(_MOST_LINES_REMEMBERED))

    def __post_init__(self) -> None:
        self.words = Conversation(self.holding)
        is_fetch = fetch_test(tuple(self.fetch_commands))
        self.tools = ToolTrack(self.holding, self.external, self.mcp_allow, is_fetch)
        self.copy = CopiedHistory(self.thread_id)
        self._handlers = {
            "response_item": self._item_handlers(),
            "event_msg": self._event_handlers(),
        }

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
        name = payload.get("type")
        handlers = self._handlers.get(kind)
        handler = handlers.get(name) if handlers is not None and type(name) is str else None
        if handler is None:
            return self._take_other(record, line)
        if isinstance(handler, str):
            self.recognised += 1
            return handler
        # Only where records carry a time: in generation B a person who says "continue" twice
        # writes the same line twice.
        if record.timestamp is not None and self._seen.add(hash(line)):
            return "duplicate"
        self.recognised += 1
        self.tools.line = line
        return handler(payload)

    def finish(self) -> None:
        """The record is over: settle what only its end tells."""
        self._close_copy()
        self.words.finish()

    def _take_other(self, record: Record, line: bytes) -> str:
        kind, payload = record.kind, record.payload
        if (reason := plumbing.KINDS.get(kind)) is not None:
            self.recognised += 1
            return reason
        if record.timestamp is not None and self._seen.add(hash(line)):
            return "duplicate"
        if kind == "inter_agent_communication":
            self.recognised += 1
            return self.words.mail(payload)
        name = str(payload.get("type"))
        if kind in self._handlers:
            self.recognised += 1
            return self._unknown(f"{kind}/{name}")
        return self._unknown(kind or name)

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
            self._copied_from = self.holding.position

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

    def _item_handlers(self) -> dict[str, str | Handler]:
        return {
            **plumbing.ITEMS,
            "message": self._message,
            **tool_handlers(self.tools),
            "agent_message": self.words.mail,
        }

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

    def _event_handlers(self) -> dict[str, str | Handler]:
        return {
            **plumbing.EVENTS,
            "user_message": self.words.user_event,
            "agent_message": self._agent_event,
            "item_completed": self._completed,
            "exec_command_end": self.tools.command_event,
            "patch_apply_end": self.tools.patch_event,
            "mcp_tool_call_end": self.tools.mcp_event,
            "thread_rolled_back": self._roll_back,
        }

    def _agent_event(self, payload: dict[str, Any]) -> str:
        self.words.cite(cited_in(payload.get("memory_citation")))
        text = without_surrogates(str(payload.get("message") or ""))
        return self.words.agent(text, payload.get("phase"), Stream.EVENT)

    def _roll_back(self, payload: dict[str, Any]) -> str:
        self.words.roll_back(payload.get("num_turns"))
        return "plumbing"

    def _completed(self, payload: dict[str, Any]) -> str:
        item = payload.get("item")
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
