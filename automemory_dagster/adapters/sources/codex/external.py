"""Recognises uses of sources outside the thread: web search, tool search, MCP servers, fetches by
shell commands."""

import re
from collections.abc import Callable, Collection
from functools import cache

_BEFORE_COMMAND = r"(?:^|[;&|(`\n]|\$\(|\b(?:sudo|env|time|xargs|then|do)\s)\s*(?:\w+=\S*\s+)*"
_URL = re.compile(r"\bhttps?://\[?([\w.:-]+)", re.IGNORECASE)
_LOOPBACK = re.compile(r"^(?:localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0)(?::\d+)?$", re.IGNORECASE)
_MCP_NAME = re.compile(r"^mcp__(.+?)__")

IsFetch = Callable[[str], bool]


@cache
def fetch_test(names: tuple[str, ...]) -> IsFetch:
    """A test whether a shell command reads from the network by one of these programs.

    Capitals make no difference. What is asked of the machine itself is no fetch. No name, or a
    lone ``-``: nothing is.
    """
    if not names or names == ("-",):
        return lambda command: False
    words = tuple(sorted({name.lower() for name in names}))
    # Nearly no command holds any of these words, and a plain search for them is cheap.
    signs = [word for word in words if not any(o != word and o in word for o in words)]
    alternatives = "|".join(map(re.escape, words))
    pattern = re.compile(rf"{_BEFORE_COMMAND}(?:{alternatives})\s", re.IGNORECASE)

    def is_fetch(command: str) -> bool:
        lowered = command.lower()
        for sign in signs:
            if sign in lowered:
                break
        else:
            return False
        if pattern.search(command) is None:
            return False
        hosts = _URL.findall(command)
        return not hosts or not all(_LOOPBACK.match(host) for host in hosts)

    return is_fetch


def mcp_server(tool: str) -> str | None:
    """The server in a tool's name ``mcp__server__tool``, or None."""
    if not tool.startswith("mcp__"):
        return None
    found = _MCP_NAME.match(tool)
    return found[1] if found else None


def external_mcp(servers: Collection[str], allowed: Collection[str]) -> list[str]:
    """Labels ``mcp:<server>`` of the servers that are not on the allow-list, one a call."""
    return [f"mcp:{server}" for server in servers if server not in allowed]
