"""Which requests may reach Dagster's webserver: the guard's rules, without any server.

Open-source Dagster has no login. Two kinds of page may then drive it from a browser on the same
machine: one whose name was made to point here (DNS rebinding; its requests carry a foreign Host),
and one that sends requests across origins (its requests carry a foreign Origin, or come as a plain
GET or form). A program without a browser, such as curl, sends neither mark and is let through.

The trap: a rule that reads a header otherwise than Dagster does. Dagster looks for the *words*
``application/json`` anywhere in a content type, so ``text/plain; application/json``, which
browsers send anywhere without asking, would be read as JSON; here the type itself must match.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ANY_ADDRESS = "<any address>"
"""In a set of allowed hosts: every IP address. Safe against DNS rebinding, which needs a name."""

MAX_HEADER_BYTES = 32 * 1024
"""All header names and values of one request; ours, several times what a browser sends."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\s]+)(?P<rest>[/?#].*)?")
_ONCE = (
    "host",
    "origin",
    "referer",
    "content-type",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-dest",
)
_OWN_SITES = ("", "same-origin", "none")
_GRAPHQL = "/graphql"
_REPORTS = ("/report_asset_materialization/", "/report_asset_check/", "/report_asset_observation/")
_NOTEBOOKS = ("/notebook", "/dagit/notebook")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further."""

    status: int
    sentence: str
    """One sentence for the person who reads the answer; repeats nothing of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the rules look at. The path is decoded once, as the routes behind the guard see it."""

    method: str
    """Upper case; the word ``WEBSOCKET`` for the opening of one."""
    path: str
    query: bytes
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order of arrival, repetitions kept."""

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header."""
        return tuple(value.strip() for known, value in self.headers if known == name)

    def one(self, name: str) -> str:
        """The first value of a header, or the empty text."""
        return next(iter(self.all(name)), "")

    @property
    def is_reading(self) -> bool:
        """True when the method alone promises that nothing is changed."""
        return self.method in ("GET", "HEAD")

    @property
    def route(self) -> str:
        """The path with spelling variants folded, so that no variant escapes a rule."""
        return "/" + "/".join(part for part in self.path.lower().split("/") if part)


def hosts_served_at(host: str) -> frozenset[str]:
    """The hosts a person may use for a server that listens on ``host``."""
    if host in ("0.0.0.0", "::", ""):
        return _LOOPBACK | {ANY_ADDRESS, socket.gethostname().lower()}
    return _LOOPBACK | {_plain(host)}


def refusal(request: Request, allowed_hosts: frozenset[str]) -> Refusal | None:
    """The first rule that a request breaks, or None when it may pass.

    The order matters to people only: the sentence they read names the most basic fault.
    """
    rules = (
        _shape_refusals(request),
        _host_refusals(request, allowed_hosts),
        _origin_refusals(request),
        _method_refusals(request),
        _graphql_refusals(request),
    )
    return next((found for rule in rules for found in rule), None)


def _shape_refusals(request: Request) -> Iterator[Refusal]:
    if sum(len(name) + len(value) for name, value in request.headers) > MAX_HEADER_BYTES:
        yield Refusal(431, "The request's headers are too large.")
    for name in _ONCE:
        if len(request.all(name)) > 1:
            yield Refusal(400, f"The request has more than one {name.title()} header.")
    if not request.path.startswith("/"):
        yield Refusal(400, "The request names a whole address where its path belongs.")
    if ".." in request.path.split("/") or re.search(r"[\\\x00-\x1f\x7f]", request.path):
        yield Refusal(400, "The request's path is not a plain one.")


def _host_refusals(request: Request, allowed: frozenset[str]) -> Iterator[Refusal]:
    host = request.one("host")
    if not host:
        yield Refusal(400, "The request has no Host header.")
    elif not _is_allowed(host, allowed):
        yield Refusal(
            403, "This server is not known by that host name; use the address it printed at start."
        )


def _origin_refusals(request: Request) -> Iterator[Refusal]:
    host = request.one("host").lower()
    origin = request.one("origin")
    if request.all("origin") and not _is_same(origin, host, has_path=False):
        yield Refusal(403, "The request was made by a page of another site.")
    referer = request.one("referer")
    if not request.is_reading and not origin and referer and not _is_same(referer, host):
        yield Refusal(403, "The request was made by a page of another site.")
    yield from _fetch_refusals(request)


def _fetch_refusals(request: Request) -> Iterator[Refusal]:
    # Browsers add these marks and pages cannot forge them. A link from elsewhere may open a page of
    # ours; nothing else may be asked from elsewhere, be it another port of the same machine.
    if request.one("sec-fetch-site") in _OWN_SITES:
        pass
    elif not (
        request.is_reading
        and request.one("sec-fetch-mode") == "navigate"
        and request.one("sec-fetch-dest") == "document"
    ):
        yield Refusal(403, "The request was made by a page of another site.")
    if request.method == "WEBSOCKET" and not request.one("origin"):
        marks = (name for name, _ in request.headers if name.startswith("sec-fetch-"))
        if any(marks) or request.all("cookie"):
            yield Refusal(403, "A browser's WebSocket has to name its origin.")


def _method_refusals(request: Request) -> Iterator[Refusal]:
    is_report = f"{request.route}/".startswith(_REPORTS)
    match request.method:
        case "WEBSOCKET" if request.route != _GRAPHQL:
            yield Refusal(404, "There is no WebSocket at this path.")
        case "GET" | "HEAD" if is_report:
            yield Refusal(405, "Reports about assets are taken by POST only.")
        case "GET" | "HEAD" if request.route in _NOTEBOOKS:
            # A notebook is shown as HTML under our own origin: any on this disk could drive us.
            yield Refusal(404, "Notebooks are not shown by this server.")
        case "POST" if not is_report and request.route != _GRAPHQL:
            yield Refusal(405, "Nothing is taken by POST at this path.")
        case "GET" | "HEAD" | "POST" | "WEBSOCKET":
            pass
        case _:
            yield Refusal(405, "Only GET, HEAD and POST are served here.")


def _graphql_refusals(request: Request) -> Iterator[Refusal]:
    if request.route != _GRAPHQL:
        return
    if request.is_reading and request.query:
        yield Refusal(405, "GraphQL is answered by POST only, with a JSON body.")
    kind = request.one("content-type").split(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        yield Refusal(415, "GraphQL is taken as application/json only.")


def _is_allowed(host: str, allowed: frozenset[str]) -> bool:
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = _plain(match["name"])
    return name in allowed or (ANY_ADDRESS in allowed and _is_address(name))


def _is_same(address: str, host: str, *, has_path: bool = True) -> bool:
    # Scheme left open: behind a proxy that speaks TLS the page is https and we are asked by http.
    # Browsers leave a scheme's own port out of both headers, so host and port compare as text.
    match = _ORIGIN.fullmatch(address)
    return match is not None and (has_path or not match["rest"]) and match["host"].lower() == host


def _plain(name: str) -> str:
    bare = name.strip("[]").lower()
    return str(ipaddress.ip_address(bare)) if _is_address(bare) else bare


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def readable_headers(raw: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """ASGI's headers as text."""
    return tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw)
