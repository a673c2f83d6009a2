"""Tokens whose mark stands in the middle or that have no mark but their form.

The trap: each of these must be short to reject, since the automaton meets digits and dots all the
time.
"""

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import Pattern, compile_bytes
from automemory_dagster.adapters.secrets.placeholders import is_placeholder
from automemory_dagster.adapters.secrets.shapes import BOUNDARY, boundary_length

_FORMS: tuple[tuple[str, str, str], ...] = (
    ("telegram_token", r"\d{8,10}:A[A-Za-z0-9_-]{10}", r"\d{8,10}:A[A-Za-z0-9_-]{30,}"),
    (
        "telegram_token",
        r"bot\d{8,10}:A[A-Za-z0-9_-]{10}",
        r"bot(\d{8,10}:A[A-Za-z0-9_-]{30,})",
    ),
    (
        "discord_token",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,}",
    ),
    (
        "azure_client_secret",
        r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{10}",
        r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{28,}",
    ),
    ("azure_openai_key", r"(?:JQQJ9|AZDO)[A-Za-z0-9]{4}", ""),
    ("mailchimp_key", r"[0-9a-f]{32}-us\d", r"[0-9a-f]{32}-us\d{1,2}"),
    (
        "mailgun_key",
        r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
        r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
    ),
    ("zhipu_key", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}"),
    (
        "terraform_token",
        r"[A-Za-z0-9]{14}\.atlasv1\.",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}",
    ),
    (
        "asana_token",
        r"\d/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}",
        r"\d/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}",
    ),
    (
        "webhook_url",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    ("webhook_url", r"/api/webhooks/\d{10,20}/", r"/api/webhooks/\d{10,20}/([A-Za-z0-9_-]{40,})"),
    (
        "webhook_url",
        r"\.office\.com/webhookb?2?/",
        r"\.office\.com/webhookb?2?/([A-Za-z0-9@/_-]{40,})",
    ),
    ("webhook_url", r"/open-apis/bot/v2/hook/", r"/open-apis/bot/v2/hook/([A-Za-z0-9-]{20,})"),
    (
        "webhook_url",
        r"/cgi-bin/webhook/send\?key=",
        r"/cgi-bin/webhook/send\?key=([A-Za-z0-9-]{20,})",
    ),
)
_COMPILED: tuple[tuple[str, Pattern, Pattern | None], ...] = tuple(
    (kind, compile_bytes(anchor), compile_bytes(full) if full else None)
    for kind, anchor, full in _FORMS
)
_AROUND = compile_bytes(rb"[A-Za-z0-9]{0,90}\z")
_WORD_AT = compile_bytes(rb"[A-Za-z0-9]{0,90}")

ANCHOR = (
    "(?:"
    + "|".join(
        anchor if anchor.startswith(("/", r"\.", "hooks", "(?:JQ")) else BOUNDARY + anchor
        for _, anchor, _ in _FORMS
    )
    + ")"
)


def read_infix(data: bytes, start: int, end: int) -> list[Hit]:
    """The token around the anchor."""
    start += boundary_length(data, start)
    for kind, anchor, full in _COMPILED:
        if anchor.match(data, start) is None:
            continue
        if full is None:
            return _read_around(data, start, end)
        found = full.match(data, start)
        if found is None:
            continue
        begin, stop = found.span(full.groups)
        text = data[begin:stop].decode("latin-1")
        if any(c.isdigit() for c in text) and not is_placeholder(text):
            return [Hit(kind, begin, stop)]
    return []


def _read_around(data: bytes, start: int, end: int) -> list[Hit]:
    """Azure's long keys carry their mark in the middle of 84 letters and digits."""
    before = _AROUND.search(data[max(0, start - 90) : start])
    behind = _WORD_AT.match(data, start)
    if before is None or behind is None:
        return []
    begin = start - (before.end() - before.start())
    if not 70 <= behind.end() - begin <= 100:
        return []
    return [Hit("azure_key", begin, behind.end())]
