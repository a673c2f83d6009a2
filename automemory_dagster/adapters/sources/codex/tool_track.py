"""Follows tool calls from call to output, and takes from the event stream what the items do not
tell.

The trap: in code mode the item stream shows a script and its print-out; which commands ran and how
they ended stands in events only. Events that only repeat an item give nothing new.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from automemory_dagster.adapters.sources.codex.calls import CallFacts, shell_call
from automemory_dagster.adapters.sources.codex.digest import digest
from automemory_dagster.adapters.sources.codex.external import (
    IsFetch,
    external_mcp,
    fetch_test,
)
from automemory_dagster.adapters.sources.codex.holding import Held, Holding
from automemory_dagster.adapters.sources.codex.memory_text import is_memory_text, reads_memory
from automemory_dagster.adapters.sources.codex.messages import read_answers
from automemory_dagster.adapters.sources.codex.outputs import read_output, without_noise
from automemory_dagster.adapters.sources.codex.patches import changed_files_of_event
from automemory_dagster.adapters.sources.codex.recent import RecentKeys
from automemory_dagster.adapters.sources.codex.records import without_surrogates
from automemory_dagster.domain.rollout import FETCH_COMMANDS, HumanRequest, ToolCall, ToolOutput

QUESTION_TOOLS = frozenset({"request_user_input", "request_user_input_async"})
_MOST_OPEN = 256
_MOST_SEEN = 32_768
_USER_SHELL_SOURCES = frozenset({"user_shell", "user_shell_command"})


@dataclass(slots=True)
class _Open:
    held: Held | None
    facts: CallFacts
    reads_memory: bool = False
    exit_codes: tuple[int, ...] = ()
    event_text: str = ""
    """What the harness says a patch did, where the script printed nothing."""
    event_commands: tuple[str, ...] = ()
    output: Held | None = None
    arguments: str = ""


@dataclass(slots=True)
class ToolTrack:
    """The calls seen lately, by call id."""

    holding: Holding
    external: Counter[str]
    mcp_allow: Collection[str] = ()
    is_fetch: IsFetch = field(default_factory=lambda: fetch_test(FETCH_COMMANDS))
    is_counting: bool = True
    """False while copied history goes by: its uses of outside sources are another thread's."""
    line: bytes = b"\\u"
    """The line being read; without ``\\u`` it holds no escaped character but the common ones."""
    _open: dict[str, _Open] = field(default_factory=dict)
    _seen: RecentKeys = field(default_factory=lambda: RecentKeys(_MOST_SEEN))
    _script: _Open | None = None

    def call(self, facts: CallFacts, arguments: str = "") -> str:
        """Take a call; gives the reason when it gave no item."""
        call_id = facts.call.call_id
        if call_id in self._seen:
            return "duplicate"
        if self.is_counting:
            self._count(facts)
        call = _clean_call(facts.call) if b"\\u" in self.line else facts.call
        opened = _Open(self.holding.add(call), facts, reads_memory(call.command))
        opened.arguments = arguments
        if call_id:
            self._remember(call_id, opened)
        if facts.is_code_mode:
            self._script = opened
        return ""

    def output(self, call_id: str, output: Any) -> str:
        """Take a call's output; gives the reason when it gave no item."""
        opened = self._open.get(call_id)
        if opened is not None and opened.facts.call.tool in QUESTION_TOOLS:
            return self._answers(opened, output)
        read = read_output(output)
        # Control characters are written so in JSON; lone surrogates never come as far as this
        # without a mark of their own.
        has_escapes = b"\\u00" in self.line or self.line.endswith(b"\\u")
        text = without_surrogates(read.text) if has_escapes else read.text
        text = without_noise(text, has_escapes=has_escapes).strip("\n")
        if is_memory_text(text) or (opened is not None and opened.reads_memory):
            return "own_memory"
        text, omitted = digest(text)
        code = read.exit_code
        if not text and code is None and read.has_image:
            return "image"
        if opened is not None:
            if opened.event_text and text in ("", "{}"):
                text = opened.event_text
            if code is None and opened.exit_codes:
                code = _worst(opened.exit_codes)
        body = ToolOutput(call_id=call_id, text=text, exit_code=code, omitted_bytes=omitted)
        if opened is None:
            self.holding.add(body)
            return ""
        if opened.output is not None and opened.output.is_alive:
            return self._again(opened.output, body)
        opened.output = self.holding.add(body)
        return ""

    def command_event(self, event: dict[str, Any]) -> str:
        """Take ``exec_command_end`` or an ``item_completed`` of a command."""
        if event.get("source") in _USER_SHELL_SOURCES:
            return "duplicate"
        call_id = str(event.get("call_id") or event.get("id") or "")
        code = event.get("exit_code")
        command = event.get("command")
        opened = self._open.get(call_id)
        if opened is None and call_id.startswith("exec-") and self._script is not None:
            opened = self._script
            if isinstance(command, str | list):
                self._name_command(opened, shell_call(call_id, "exec", command).call.command)
        if opened is not None:
            if isinstance(code, int):
                self._learn_exit_code(opened, code)
            return "duplicate"
        if not isinstance(command, str | list):
            return "plumbing"
        self.call(shell_call(call_id, "exec_command", command))
        text = (
            event.get("aggregated_output") or event.get("formatted_output") or event.get("stdout")
        )
        self.output(call_id, text if isinstance(text, str) else "")
        if isinstance(code, int) and call_id in self._open:
            self._learn_exit_code(self._open[call_id], code)
        return ""

    def search(self, payload: dict[str, Any]) -> str:
        """Take a ``web_search_call`` or ``tool_search_call``: a use of an outside source."""
        kind = str(payload.get("type")).removesuffix("_call")
        if self.is_counting:
            self.external[kind] += 1
        call_id = str(payload.get("call_id") or payload.get("id") or "")
        call = ToolCall(call_id=call_id, tool=kind, command=_search_words(payload))
        return self.call(CallFacts(call))

    def mcp_event(self, event: dict[str, Any]) -> str:
        """Take ``mcp_tool_call_end``; gives a call only where no item told of it."""
        call_id = str(event.get("call_id") or "")
        invocation = event.get("invocation")
        if call_id in self._seen or self._script is not None or not isinstance(invocation, dict):
            return "duplicate"
        server = str(invocation.get("server") or "")
        call = ToolCall(
            call_id=call_id,
            tool=f"mcp__{server}__{invocation.get('tool') or ''}",
            command=orjson.dumps(invocation.get("arguments")).decode(),
        )
        return self.call(CallFacts(call, (server,)))

    def patch_event(self, event: dict[str, Any]) -> str:
        """Take ``patch_apply_end`` or an ``item_completed`` of a file change."""
        call_id = str(event.get("call_id") or event.get("id") or "")
        files = changed_files_of_event(event.get("changes"))
        opened = self._open.get(call_id)
        if opened is None and call_id.startswith("exec-"):
            opened = self._script
        if opened is None:
            if not files:
                return "plumbing"
            call = ToolCall(call_id=call_id, tool="apply_patch", command="", changed_files=files)
            return self.call(CallFacts(call))
        held = opened.held
        if held is not None and isinstance(held.body, ToolCall) and not held.body.changed_files:
            self.holding.replace(held, replace(held.body, changed_files=files))
        if opened.facts.is_code_mode:
            words = event.get("stderr") or event.get("stdout")
            opened.event_text = without_surrogates(words)[:2000].strip() if words else ""
        is_done = event.get("success", event.get("status") == "completed")
        self._learn_exit_code(opened, 0 if is_done else 1)
        return "duplicate"

    def forget(self) -> None:
        """Forget the open calls: a rollback or the end of copied history went by."""
        self._open.clear()
        self._seen.clear()
        self._script = None

    def _remember(self, call_id: str, opened: _Open) -> None:
        self._open[call_id] = opened
        self._seen.add(call_id)
        if len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)))

    def _count(self, facts: CallFacts) -> None:
        if facts.shell and self.is_fetch(facts.shell):
            self.external["fetch"] += 1
        if facts.mcp_servers:
            self.external.update(external_mcp(facts.mcp_servers, self.mcp_allow))

    def _answers(self, opened: _Open, output: Any) -> str:
        pairs = read_answers(opened.arguments, output)
        for question, answer in pairs:
            self.holding.add(HumanRequest(text=answer, question=question))
        return "" if pairs else "plumbing"

    def _again(self, held: Held, body: ToolOutput) -> str:
        """A second output of one call: a repetition, or more of the same."""
        first = held.body
        if not isinstance(first, ToolOutput) or body.text == first.text or not body.text:
            return "duplicate"
        self.holding.add(body)
        return ""

    def _learn_exit_code(self, opened: _Open, code: int) -> None:
        opened.exit_codes += (code,)
        held = opened.output
        if held is not None and isinstance(held.body, ToolOutput) and held.body.exit_code is None:
            self.holding.replace(held, replace(held.body, exit_code=_worst(opened.exit_codes)))

    def _name_command(self, opened: _Open, command: str) -> None:
        held = opened.held
        if held is None or not isinstance(held.body, ToolCall) or opened.facts.call.is_shell:
            return
        opened.event_commands += (command,)
        joined = "\n".join(opened.event_commands)
        self.holding.replace(held, replace(held.body, command=joined, is_shell=True))


def _search_words(payload: dict[str, Any]) -> str:
    action = payload.get("action")
    values = action if isinstance(action, dict) else payload
    words = values.get("query") or values.get("url") or values.get("arguments") or ""
    return words if isinstance(words, str) else orjson.dumps(words).decode()


def _worst(codes: tuple[int, ...]) -> int:
    return next((code for code in codes if code != 0), 0)


def _clean_call(call: ToolCall) -> ToolCall:
    return replace(
        call,
        command=without_noise(without_surrogates(call.command)),
        changed_files=tuple(without_surrogates(path) for path in call.changed_files),
    )
