"""The guard in front of Dagster's webserver: an ASGI middleware that lets only safe requests pass.

Why there is one and what it stops: ``docs/decisions/guard.md``. The rules are in ``guard_rules``.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from automemory_dagster.triggers.guard_rules import Refusal, Request, readable_headers, refusal

_PROTECTION = (
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_NO_FRAMES = (b"content-security-policy", b"frame-ancestors 'none'")
_DENIAL = "websocket.http.response"


class Guard:
    """An ASGI application that hands safe requests to another one and answers the rest itself."""

    def __init__(self, app: ASGIApp, *, allowed_hosts: frozenset[str]) -> None:
        """Guard ``app``.

        ``allowed_hosts``: names and addresses without port, lower case, IPv6 without brackets;
        any port of an allowed host is accepted, since a tunnel may change it.
        """
        self._app = app
        self._allowed_hosts = allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection.

        Raises:
            ValueError: a kind of connection that has no rules.
        """
        match scope["type"]:
            case "lifespan":
                await self._app(scope, receive, send)
            case "http":
                found = refusal(_request(scope, scope["method"]), self._allowed_hosts)
                protected = _protecting(send)
                if found is None:
                    await self._app(scope, receive, protected)
                else:
                    await _answer(found, protected, "http.response")
            case "websocket":
                found = refusal(_request(scope, "WEBSOCKET"), self._allowed_hosts)
                if found is None:
                    await self._app(scope, receive, send)
                else:
                    await _refuse_websocket(found, scope, receive, send)
            case kind:
                raise ValueError(f"no rules for a connection of kind {kind}")


def _request(scope: Scope, method: str) -> Request:
    return Request(
        method=method.upper(),
        path=scope["path"],
        query=scope.get("query_string", b""),
        headers=readable_headers(scope["headers"]),
    )


def _protecting(send: Send) -> Send:
    names = {name for name, _ in _PROTECTION}

    async def send_protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in names]
            # A second policy of this name adds to the page's own and never weakens it.
            message = {**message, "headers": [*kept, *_PROTECTION, _NO_FRAMES]}
        await send(message)

    return send_protected


async def _answer(found: Refusal, send: Send, prefix: str) -> None:
    body = f"{found.sentence}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if found.status == 405:
        headers.append((b"allow", b"GET, HEAD, POST"))
    await send({"type": f"{prefix}.start", "status": found.status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": body})


async def _refuse_websocket(found: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    if _DENIAL in scope.get("extensions", {}):
        await _answer(found, send, _DENIAL)
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": found.sentence})
