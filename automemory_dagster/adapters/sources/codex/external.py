"""Recognises uses of sources outside the thread: web search, tool search, MCP servers, fetches by
shell commands."""

import re
from collections.abc import Collection

_FETCH = re.compile(
    r"(?:^|[;&|(`\n]|\$\(|\b(?:sudo|env|time|xargs|then|do)\s)\s*(?:\w+=\S*\s+)*"
    r"(?:curl|wget|aria2c|lynx|w3m|httpie|https?|xh|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s",
    re.IGNORECASE,
)
_FETCHERS = ("curl", "wget", "http", "nvoke-", "aria2c", "lynx", "w3m", "xh ", "iwr ", "irm ")
_URL = re.compile(r"\bhttps?://\[?([\w.:-]+)", re.IGNORECASE)
_LOOPBACK = re.compile(r"^(?:localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0)(?::\d+)?$", re.IGNORECASE)
_MCP_NAME = re.compile(r"^mcp__(.+?)__")


def is_fetch(command: str) -> bool:
    """True when a shell command reads from the network with a common client; the machine itself is
    no network."""
    if not any(word in command for word in _FETCHERS) or _FETCH.search(command) is None:
        return False
    hosts = _URL.findall(command)
    return not hosts or not all(_LOOPBACK.match(host) for host in hosts)


def mcp_server(tool: str) -> str | None:
    """The server in a tool's name ``mcp__server__tool``, or None."""
    found = _MCP_NAME.match(tool)
    return found[1] if found else None


def external_mcp(servers: Collection[str], allowed: Collection[str]) -> list[str]:
    """Labels ``mcp:<server>`` of the servers that are not on the allow-list, one a call."""
    return [f"mcp:{server}" for server in servers if server not in allowed]
