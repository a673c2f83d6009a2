"""Text that every database takes: the one door through which text columns are written.

The trap: PostgreSQL refuses NUL and no database driver can encode a lone surrogate; SQLite keeps a
NUL and cuts the text there in some functions. Rollouts hold both. The column types clean, so that
nobody has to remember it.
"""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced by U+FFFD; pairs become their character.

    Replaced, not removed: a removal would join what stood on both sides, and a secret that was
    not recognised in two halves would stand there whole. Idempotent; the same object when there
    is nothing to do.
    """
    if _UNSTORABLE.search(text) is None:
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSTORABLE.sub(_REPLACEMENT, paired)
