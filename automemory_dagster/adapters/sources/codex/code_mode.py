"""What the JavaScript of code mode (custom tool ``exec``) asks the machine to do.

The trap: a shell command hidden in a script. The script is never run; its literals are read. A
command that the script computes stays unknown here, and the harness's own event names it.
"""

import json
import re
from dataclasses import dataclass

from automemory_dagster.adapters.sources.codex.patches import PATCH_BEGIN, patch_in

_SHELL_CALL = re.compile(r"\btools\.(?:exec_command|shell_command|shell)\s*\(")
_COMMAND_KEY = re.compile(r"""(?:\b|["'])(?:cmd|command)["']?\s*:\s*""")
_MCP = re.compile(r"\bmcp__([A-Za-z0-9_-]+?)__")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)*'" r"|`(?:[^`\\]|\\.)*`", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "",
    "\n": "",
}
_CALL_REACH = 400


@dataclass(frozen=True, slots=True)
class Script:
    """What a script's literals say."""

    commands: tuple[str, ...]
    """Shell commands, in order."""
    patch: str
    """Patches for ``apply_patch``, joined; ``""`` without one."""
    mcp_servers: tuple[str, ...]
    """One entry a call."""


def read_script(source: str) -> Script:
    """Read a script's commands, patches and MCP calls. Never raises; what it cannot read is left
    out."""
    commands = tuple(command for command in _commands(source) if command)
    patches: list[str] = []
    if PATCH_BEGIN in source:
        literals = (_unquoted(found[0]) for found in _STRING.finditer(source))
        patches = [patch for text in literals if (patch := patch_in(text))]
    return Script(commands, "\n".join(patches), tuple(_MCP.findall(source)))


def _commands(source: str) -> list[str]:
    found: list[str] = []
    for call in _SHELL_CALL.finditer(source):
        key = _COMMAND_KEY.search(source, call.end(), call.end() + _CALL_REACH)
        if key is None:
            continue
        if source.startswith("[", key.end()):
            found.append(_argv(source, key.end()))
        else:
            literal = _STRING.match(source, key.end())
            found.append(_unquoted(literal[0]) if literal else "")
    return found


def _argv(source: str, start: int) -> str:
    end = source.find("]", start)
    words = [_unquoted(found[0]) for found in _STRING.finditer(source, start, max(end, start))]
    return words[-1] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)


def _unquoted(literal: str) -> str:
    if literal.startswith("`") and "${" in literal:
        return ""
    if literal.startswith('"'):
        try:
            return str(json.loads(literal, strict=False))
        except ValueError:
            pass
    return _ESCAPE.sub(_unescaped, literal[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "ux" and len(code) > 1:
        value = int(code.strip("ux{}"), 16)
        return chr(value) if value < 0x110000 else ""
    return _SIMPLE_ESCAPES.get(code, code)
