"""What takes each type of item that a tool's use leaves behind."""

from collections.abc import Callable, Mapping
from typing import Any

from automemory_dagster.adapters.sources.codex import calls
from automemory_dagster.adapters.sources.codex.tool_track import ToolTrack

Handler = Callable[[dict[str, Any]], str]
"""Takes a record's payload; gives the reason for the case that it gave no item."""


def tool_handlers(tools: ToolTrack) -> Mapping[str, Handler]:
    """By type of ``response_item``."""

    def function_call(payload: dict[str, Any]) -> str:
        arguments = payload.get("arguments")
        facts = calls.function_call(payload)
        return tools.call(facts, arguments if isinstance(arguments, str) else "")

    def output(payload: dict[str, Any]) -> str:
        return tools.output(str(payload.get("call_id") or ""), payload.get("output"))

    return {
        "function_call": function_call,
        "custom_tool_call": lambda payload: tools.call(calls.custom_call(payload)),
        "local_shell_call": lambda payload: tools.call(calls.local_shell_call(payload)),
        "function_call_output": output,
        "custom_tool_call_output": output,
        "local_shell_call_output": output,
        "web_search_call": tools.search,
        "tool_search_call": tools.search,
    }
