"""Finds e-mail addresses and names of people; only used when ``redact_personal`` is on.

The trap: there is no shape of a name. Only places that say they hold one count: commit trailers,
``user.name``, an introduction in a sentence. The gap that stays open: a name in running text.
"""

import re

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import compile_bytes

_WORDS = r"[A-Z\x80-\xff][A-Za-z\x80-\xff'.-]*(?:[ \t]+[A-Z\x80-\xff][A-Za-z\x80-\xff'.-]*){0,3}"
ANCHOR = (
    r"(?:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}"
    rf"|(?i:\b(?:author|committer|co-authored-by|signed-off-by|reviewed-by|reported-by"
    rf"|full[_ ]?name|user\.name)\\*[\"']?[ \t]*[:= ][ \t]*\\*[\"']?){_WORDS}"
    rf"|(?:[Mm]y name is|I am called|[Ii]ch heiße)[ \t]+{_WORDS}"
    r"|(?:我叫|我的名字是|我是|姓名(?::|：)?)[ \t]*(?:[\xe4-\xe9][\x80-\xbf]{2}){2,4})"
)
_EMAIL = compile_bytes(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]+\.[A-Za-z]{2,24}")
_LEAD = compile_bytes(
    r"(?i)(?:author|committer|co-authored-by|signed-off-by|reviewed-by|reported-by"
    r"|full[_ ]?name|user\.name)\\*[\"']?[ \t]*[:= ][ \t]*\\*[\"']?"
    r"|my name is[ \t]+|i am called[ \t]+|ich heiße[ \t]+"
    r"|(?:我叫|我的名字是|我是|姓名(?::|：)?)[ \t]*"
)


def read_personal(data: bytes, start: int, end: int) -> list[Hit]:
    """The e-mail address or the name at the anchor."""
    if _EMAIL.match(data, start, end) is not None:
        address = data[start:end].lower()
        if address.startswith((b"git@", b"noreply@")) or re.search(
            rb"[.@]example\.|\.local$", address
        ):
            return []
        return [Hit("email", start, end)]
    lead = _LEAD.match(data, start, end)
    if lead is None or lead.end() >= end:
        return []
    return [Hit("person_name", lead.end(), end)]
