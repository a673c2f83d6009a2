"""Turns the records of tool calls into one shape: the command line, or the arguments as text."""

import shlex
from dataclasses import dataclass
from typing import Any

import orjson

from automemory_dagster.adapters.sources.codex.code_mode import read_script
from automemory_dagster.adapters.sources.codex.external import mcp_server
from automemory_dagster.adapters.sources.codex.patches import PATCH_BEGIN, changed_files, patch_in
from automemory_dagster.domain.cut import cut_middle
from automemory_dagster.domain.rollout import ToolCall

MAX_COMMAND_BYTES = 16 << 10

_SHELL_TOOLS = frozenset(
    {
        "shell",
        "shell_command",
        "exec_command",
        "local_shell",
        "container.exec",
        "unified_exec",
        "bash",
    }
)
_SHELLS = ("bash", "sh", "zsh", "fish", "dash", "pwsh", "powershell", "cmd")
_COMMAND_FLAGS = ("-c", "-lc", "-ic", "-lic", "-Command", "/c", "/C")


@dataclass(slots=True)
class CallFacts:
    """A call, and the uses of outside sources that it makes."""

    call: ToolCall
    mcp_servers: tuple[str, ...] = ()
    shell: str = ""
    """The whole of the shell commands it runs."""
    is_code_mode: bool = False


def function_call(payload: dict[str, Any]) -> CallFacts:
    """A ``function_call`` item: ``name``, perhaps ``namespace``, and ``arguments`` as a JSON string
    or an object."""
    name = _text(payload.get("name"))
    namespace = _text(payload.get("namespace"))
    if namespace and namespace not in ("functions", "default"):
        name = f"{namespace.removesuffix('__')}__{name}"
    arguments = payload.get("arguments")
    values = _object(arguments)
    call_id = _text(payload.get("call_id") or payload.get("id"))
    if name in _SHELL_TOOLS:
        command = values.get("cmd", values.get("command"))
        if isinstance(command, str | list):
            return shell_call(call_id, name, command)
    text = arguments if isinstance(arguments, str) else _dumped(arguments)
    if name == "apply_patch" and isinstance(values.get("input"), str):
        text = values["input"]
    return _other_call(call_id, name, text)


def custom_call(payload: dict[str, Any]) -> CallFacts:
    """A ``custom_tool_call`` item: ``apply_patch``, code mode's ``exec``, or a tool with free-form
    input."""
    name, text = _text(payload.get("name")), _text(payload.get("input"))
    call_id = _text(payload.get("call_id") or payload.get("id"))
    if name != "exec":
        return _other_call(call_id, name, text)
    script = read_script(text)
    command = "\n".join(script.commands)
    call = ToolCall(
        call_id=call_id,
        tool=name,
        command=_bounded(command or script.patch or text),
        is_shell=bool(command),
        changed_files=changed_files(script.patch),
    )
    return CallFacts(call, script.mcp_servers, command, is_code_mode=True)


def local_shell_call(payload: dict[str, Any]) -> CallFacts:
    """A ``local_shell_call`` item, whose ``action`` holds the argument list."""
    action = payload.get("action")
    command = action.get("command") if isinstance(action, dict) else None
    call_id = _text(payload.get("call_id") or payload.get("id"))
    return shell_call(call_id, "local_shell", command if isinstance(command, str | list) else "")


def shell_call(call_id: str, tool: str, command: str | list[Any]) -> CallFacts:
    """A shell command given as a line or as an argument list; a patch handed to ``apply_patch`` is
    none."""
    line = command if isinstance(command, str) else _command_line([_text(word) for word in command])
    is_patch = PATCH_BEGIN in line and line.lstrip().startswith(("apply_patch", PATCH_BEGIN))
    if is_patch:
        line = patch_in(line)
    call = ToolCall(
        call_id=call_id,
        tool=tool,
        command=_bounded(line),
        is_shell=not is_patch,
        changed_files=changed_files(line),
    )
    return CallFacts(call, (), "" if is_patch else line)


def _other_call(call_id: str, name: str, text: str) -> CallFacts:
    server = mcp_server(name)
    call = ToolCall(
        call_id=call_id,
        tool=name,
        command=_bounded(text),
        changed_files=changed_files(text) if PATCH_BEGIN in text else (),
    )
    return CallFacts(call, (server,) if server else ())


def _command_line(words: list[str]) -> str:
    if len(words) >= 3 and _is_shell(words[0]) and words[1] in _COMMAND_FLAGS:
        return words[2]
    if len(words) == 2 and words[0] == "apply_patch":
        return f"apply_patch\n{words[1]}"
    return shlex.join(words)


def _is_shell(program: str) -> bool:
    name = program.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
    return name in _SHELLS


def _bounded(text: str) -> str:
    # Four bytes is the most of one character: most commands need no exact count.
    return text if len(text) * 4 <= MAX_COMMAND_BYTES else cut_middle(text, MAX_COMMAND_BYTES)


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}


def _dumped(value: Any) -> str:
    return "" if value is None else orjson.dumps(value).decode()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
