"""Finds private-key blocks, whole or torn: PEM, OpenSSH, PGP and PuTTY.

The trap: a block is rarely alone on clean lines. It stands in JSON as one line with ``\\n``, in a
diff behind ``+``, in ``cat -n`` behind numbers, and a tool cuts it in the middle, so that only its
head or its tail is there.
"""

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import compile_bytes

_LABEL = r"(?:[A-Z0-9]+ ){0,4}"
BEGIN = rf"-{{4,5}} ?BEGIN {_LABEL}PRIVATE KEY(?: BLOCK)? ?-{{4,5}}|Private-Lines: \d"
END = rf"-{{4,5}} ?END {_LABEL}PRIVATE KEY(?: BLOCK)? ?-{{4,5}}"
ANCHOR = f"(?:{BEGIN}|{END})"

_END = compile_bytes(END)
_BEGIN = compile_bytes(BEGIN)
_BREAK = (
    r"(?:(?:\s|\\+n)[A-Za-z0-9_./-]{1,100}:\d{1,5}:|(?:\n|\\+n)-"
    r"|\s|\\+[nrt]|[\"'`+>|,$\\]|\d{1,5}(?:[\t:|]|→)|- |\x1b\[[0-9;]*m|\.\.\.|…)"
)
_BODY = compile_bytes(
    rf"(?:{_BREAK}*(?:[A-Za-z][A-Za-z-]*: [^\n\\]{{0,200}}|[A-Za-z0-9+/=]{{16,}}"
    rf"|=[A-Za-z0-9+/]{{4}}))+"
)
_TAIL_LINES = compile_bytes(
    rf"(?:[A-Za-z0-9+/=]{{20,}}{_BREAK}+)+(?:[A-Za-z0-9+/=]{{1,76}}{_BREAK}*)?\z"
)
_LONGEST_BLOCK_BYTES = 32_768
_MATERIAL = compile_bytes(rb"[A-Za-z0-9+/=]{16,}")


def read_pem(data: bytes, start: int, end: int) -> list[Hit]:
    """The block at the anchor; nothing when only the marker line is there, as in a grep for it."""
    if _BEGIN.match(data, start) is None:
        return _read_tail(data, start, end)
    limit = min(len(data), end + _LONGEST_BLOCK_BYTES)
    close = _END.search(data, end, limit)
    if close is not None:
        again = _BEGIN.search(data, end, close.start())
        if again is None and _is_material(data, end, close.start()):
            return [Hit("private_key", start, close.end())]
    body = _BODY.match(data, end, limit)
    if body is None or _MATERIAL.search(data, end, body.end()) is None:
        return []
    return [Hit("private_key", start, body.end())]


def _is_material(data: bytes, start: int, end: int) -> bool:
    """True when what stands between the markers is mostly key material, not code that mentions
    both.
    """
    found = _MATERIAL.search(data, start, end)
    if found is None:
        return False
    total, pos = 0, start
    while (found := _MATERIAL.search(data, pos, end)) is not None:
        total += found.end() - found.start()
        pos = found.end()
    return total >= 0.4 * (end - start)


def _read_tail(data: bytes, start: int, end: int) -> list[Hit]:
    """The end of a block whose beginning was cut off: the lines before the marker."""
    low = max(0, start - 8192)
    tail = _TAIL_LINES.search(data[low:start])
    if tail is None:
        return []
    return [Hit("private_key", low + tail.start(), end)]
