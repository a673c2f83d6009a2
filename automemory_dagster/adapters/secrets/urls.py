"""Finds passwords and tokens in the authority of an URL, whatever its scheme.

The trap: ``http://host:8080/a@b`` has a colon and an at sign and no password.
"""

import re

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import compile_bytes
from automemory_dagster.adapters.secrets.placeholders import is_placeholder
from automemory_dagster.adapters.secrets.randomness import looks_random

ANCHOR = r"""(?::|%3[aA])(?://|\\/\\/|%2[fF]%2[fF])[^\s/@:"'`<>\\]{0,128}(?::[^\s@"'`<>\\]{1,256})?@|oracle:thin:[A-Za-z0-9_]{1,64}/[^\s@"'/]{3,64}@"""
_PARTS = compile_bytes(
    r"""(?::|%3[aA])(?://|\\/\\/|%2[fF]%2[fF])([^\s/@:"'`<>\\]*)(?:(:)([^\s"'`<>\\]*))?@"""
)
_HARMLESS_USERS = frozenset({"git", "user", "username"})


def read_url(data: bytes, start: int, end: int) -> list[Hit]:
    """The password of ``user:password@``, or a user part that is itself a token."""
    parts = _PARTS.match(data, start, _end_of_authority(data, end))
    if parts is None:
        slash = data.find(b"/", start, end)
        return (
            [Hit("url_password", slash + 1, end - 1)] if data.startswith(b"oracle", start) else []
        )
    user = (parts.group(1) or b"").decode("latin-1")
    if parts.group(2):
        text = (parts.group(3) or b"").decode("utf-8", "replace")
        if text == "x-oauth-basic" and looks_random(user, minimum=12):
            return [Hit("url_password", *parts.span(1))]
        if re.match(r"\d{1,5}/", text):
            return []
        if (
            not text
            or is_placeholder(text)
            or text.lower() == user.lower()
            or re.match(r"[$%<(]", text)
            or re.search(r"[\[\]{}]", user + text)
        ):
            return []
        return [Hit("url_password", *parts.span(3))]
    if looks_random(user, minimum=16) and user not in _HARMLESS_USERS:
        return [Hit("url_password", *parts.span(1))]
    return []


def _end_of_authority(data: bytes, end: int) -> int:
    """A password may itself hold an at sign; the last one before the path counts."""
    rest = data[end : end + 256]
    stop = re.search(rb"[\s/?#\"'`<>\\]", rest)
    return end + (stop.start() if stop is not None else len(rest))
