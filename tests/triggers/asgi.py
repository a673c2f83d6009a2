"""A tiny ASGI world for the guard: an application that remembers what reached it, and requests with
exactly the headers a test names."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.types import Message, Receive, Scope, Send

from automemory_dagster.triggers.guard import Guard
from automemory_dagster.triggers.guard_rules import hosts_served_at

HOME = "127.0.0.1:3000"
LOCAL = hosts_served_at("127.0.0.1")

Headers = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Inner:
    """The application behind the guard; answers everything."""

    reached: list[str] = field(default_factory=list)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Response headers it sets."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(f"{scope['type']} {scope.get('path', '')}")
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": self.headers})
            await send({"type": "http.response.body", "body": b"inside"})


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    """403 for a WebSocket that was closed before it was accepted, 101 for an accepted one."""
    body: str
    headers: tuple[tuple[str, str], ...]
    was_let_through: bool

    def all(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known == name]


def ask(
    method: str,
    target: str,
    headers: Headers = (("Host", HOME),),
    *,
    hosts: frozenset[str] = LOCAL,
    inner: Inner | None = None,
) -> Answer:
    """One HTTP request; ``target`` as on the wire, the path percent-encoded."""
    raw_path, _, query = target.partition("?")
    return _run(
        {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "headers": _raw(headers),
        },
        hosts,
        inner or Inner(),
    )


def open_websocket(
    headers: Headers,
    *,
    path: str = "/graphql",
    hosts: frozenset[str] = LOCAL,
    has_denial: bool = False,
) -> Answer:
    """The opening of a WebSocket."""
    scope: Scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": path,
        "query_string": b"",
        "headers": _raw([("Upgrade", "websocket"), *headers]),
        "extensions": {"websocket.http.response": {}} if has_denial else {},
    }
    return _run(scope, hosts, Inner())


def _raw(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]


def _run(scope: Scope, hosts: frozenset[str], inner: Inner) -> Answer:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect" if scope["type"] == "websocket" else "http.request"}

    async def send(message: Message) -> None:
        sent.append(dict(message))

    asyncio.run(Guard(inner, allowed_hosts=hosts)(scope, receive, send))
    first = sent[0]
    status = {"websocket.accept": 101, "websocket.close": 403}.get(first["type"])
    return Answer(
        status=first["status"] if status is None else status,
        body=b"".join(message.get("body", b"") for message in sent).decode(),
        headers=tuple((n.decode(), v.decode()) for n, v in first.get("headers", ())),
        was_let_through=bool(inner.reached),
    )
