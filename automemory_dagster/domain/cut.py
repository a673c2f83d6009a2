"""Shortens texts, each time with one mark that tells how much is missing.

The trap: a cut that nobody sees. Every text that was shortened holds ``[… 1234 bytes omitted …]``
where the missing part was; numbers are UTF-8 bytes of the text as it was.
"""

import re

MARK = re.compile(r"\[… (\d+) bytes omitted …\]")
"""Finds the mark; the group is the number of bytes left out."""

_LONGEST_MARK_BYTES = 48
_WORD_REACH = 200


def cut_mark(omitted_bytes: int) -> str:
    """What stands in a text where bytes were left out."""
    return f"[… {omitted_bytes} bytes omitted …]"


def utf8_bytes(text: str) -> int:
    """Length of a text in UTF-8; a lone surrogate counts three bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cut_middle(text: str, budget_bytes: int, *, head_share: float = 0.5) -> str:
    """The text in at most ``budget_bytes``, its middle replaced by a mark; unchanged when it fits.

    ``head_share``: how much of the room goes to the beginning; the rest goes to the end. Cuts fall
    between words where one ends nearby, so that a token is kept whole or left out. A budget too
    small for the mark gives "".
    """
    size = utf8_bytes(text)
    if size <= budget_bytes:
        return text
    room = budget_bytes - _LONGEST_MARK_BYTES
    if room < 0:
        return ""
    head = take_head(text, int(room * head_share))
    tail = take_tail(text, room - utf8_bytes(head))
    omitted = size - utf8_bytes(head) - utf8_bytes(tail)
    return f"{head}{cut_mark(omitted)}{tail}"


def take_head(text: str, budget_bytes: int) -> str:
    """The longest beginning that fits, ended at a word's end where one is near."""
    head = text[:budget_bytes]
    if not head.isascii():
        head = head.encode("utf-8", "surrogatepass")[:budget_bytes].decode("utf-8", "ignore")
    if len(head) == len(text):
        return head
    near = max(head.rfind(" ", -_WORD_REACH), head.rfind("\n", -_WORD_REACH))
    return head[: near + 1] if near >= 0 else head


def take_tail(text: str, budget_bytes: int) -> str:
    """The longest end that fits, begun at a word's start where one is near."""
    if budget_bytes <= 0:
        return ""
    tail = text[-budget_bytes:]
    if not tail.isascii():
        tail = tail.encode("utf-8", "surrogatepass")[-budget_bytes:].decode("utf-8", "ignore")
    if len(tail) == len(text):
        return tail
    ends = [
        at for at in (tail.find(" ", 0, _WORD_REACH), tail.find("\n", 0, _WORD_REACH)) if at >= 0
    ]
    return tail[min(ends) + 1 :] if ends else tail
