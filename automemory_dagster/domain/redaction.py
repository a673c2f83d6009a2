"""The type that promises: no known kind of secret is left in this text.

The trap: a ``str`` that somebody believes was redacted. Only ``adapters/secrets`` makes a
``RedactedText`` (a test in ``tests/architecture`` reads the whole tree for other makers), and only
this type may leave the process or be stored.
"""

from collections.abc import Callable
from typing import NewType

RedactedText = NewType("RedactedText", str)

Redact = Callable[[str], RedactedText]
"""Replaces every known kind of secret by a marker that names the kind.

Idempotent; never raises.
"""

NO_TEXT = RedactedText("")
"""The empty text, which holds no secret."""
