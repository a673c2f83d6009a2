"""A space's folder name: readable, safe on every file system, never shared by two spaces.

The trap: a readable name alone. ``project:a/b`` and ``project:a-b`` read alike, and a memory folder
shared by two audiences is the one thing that must not happen, also when somebody chooses a
repository's name to make it happen; so the name ends in 80 bits of the id's SHA-256.
"""

import base64
import hashlib
import re

from automemory_dagster.domain.thread import SpaceId

_READABLE_CHARACTERS = 60
_HASH_BYTES = 10

_UNREADABLE = re.compile(r"[^a-z0-9]+")


def folder_name(space_id: SpaceId) -> str:
    """``codex-default-<16 characters>`` for ``codex:default``; lower-case ASCII, at most 77 long.

    The end of a long id is kept, since the project stands there.
    """
    words = _UNREADABLE.sub("-", space_id.lower()).strip("-")
    readable = words[-_READABLE_CHARACTERS:].strip("-") or "space"
    digest = hashlib.sha256(space_id.encode("utf-8", "surrogatepass")).digest()
    return f"{readable}-{base64.b32encode(digest[:_HASH_BYTES]).decode('ascii').lower()}"
