"""Finds the secret half of an AWS key pair close behind its access key id.

The trap: forty base64 characters alone are a digest as often as a secret; next to an id they are
the secret.
"""

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import compile_bytes
from automemory_dagster.adapters.secrets.providers import PROVIDERS
from automemory_dagster.adapters.secrets.randomness import is_hex, looks_random

_WINDOW_BYTES = 160
_SECRET = compile_bytes(rb"(?:\A|[^A-Za-z0-9+/])([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|\z)")


def read_provider(data: bytes, start: int, end: int) -> list[Hit]:
    """The provider's token at the anchor and, behind an AWS id, its secret."""
    hits = PROVIDERS.read(data, start, end)
    if not hits or hits[0].kind != "aws_access_key_id":
        return hits
    window = data[hits[0].end : hits[0].end + _WINDOW_BYTES]
    found = _SECRET.search(window)
    if found is None:
        return hits
    text = window[found.start(1) : found.end(1)].decode("latin-1")
    if is_hex(text) or not looks_random(text, minimum=40):
        return hits
    low = hits[0].end
    return [*hits, Hit("aws_secret_access_key", low + found.start(1), low + found.end(1))]
