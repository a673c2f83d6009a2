"""Text that only says what it shows: without what a terminal obeys or an eye cannot see.

The trap: an escape code in a session's text that is stored, published and printed, and there
recolours, retitles or rewrites a person's screen; or a mark that turns a line around for the eye.
"""

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[@-Z\\-_]?"
)
_CONTROLS = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without escape codes, control characters (but tab and newline) and bidi overrides.

    Idempotent. Call it before redaction, which then sees what the removal joins.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    while (shorter := _CONTROLS.sub("", _ESCAPES.sub("", text))) != text:
        text = shorter
    return text
