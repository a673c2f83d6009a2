"""Reads the value that follows a name: where it starts, where it ends, how it was quoted.

The trap: JSON in JSON. There a quote is ``\\"`` or ``\\\\\\"``, and a line break two characters;
the value ends at a quote with *as many* backslashes as the one that opened it, or fewer.
"""

from dataclasses import dataclass

from automemory_dagster.adapters.secrets.pattern import compile_bytes

LIMIT_BYTES = 2048
"""A value is judged by this much; only a value found secret is followed further, which keeps the
scan linear.
"""

_OPENING = compile_bytes(r"""(?:[bBrRfFuU@&]{0,2})(\\*)("{3}|'{3}|["'`]|“|‘|「|『|&quot;)""")
_QUOTE_RUN = {
    quote: compile_bytes(rb"(\\*)" + quote)
    for quote in (b'"', b"'", b"`", b'"""', b"'''", b"&quot;")
}
_CJK_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』"}
_BLOCK_SCALAR = compile_bytes(rb"[|>][+-]?\d?[ \t]*(?:\r?\n|\\+n)[ \t]*")
_LOOSE_END = compile_bytes(
    r"""[\s"'`<>\x00\x1b]|\\+[nrtu"'`]|\\$|%26|&amp;|「|」|，|。|；|、|：|！|？|）|（|”|“|》|\xe3\x80\x80"""
)
_TIGHT_END = compile_bytes(
    r"""[\s"'`<>,;&|\]}\x00\x1b]|\\+[nrtu"'`]|\\$|%26|「|」|，|。|；|、|：|！|？|）|（|”|“|》|\xe3\x80\x80"""
)
_REST_OF_LINE = compile_bytes(rb"""[^\r\n"'`\x00\\]*""")


@dataclass(frozen=True, slots=True)
class Value:
    """One value: ``data[start:end]``, without its quotes."""

    start: int
    end: int
    quoted: bool
    closed: bool
    """A closing quote was found within the limit; always true without quotes."""
    after: int
    """Where reading goes on: behind the closing quote, if any."""


def read_value(data: bytes, pos: int, *, tight: bool) -> Value | None:
    """Read the value at ``pos``; ``tight`` ends an unquoted one also at commas and brackets.

    None when nothing is there.
    """
    opening = _OPENING.match(data, pos, min(len(data), pos + 80))
    if opening is not None:
        return _read_quoted(data, opening.end(), opening.group(1) or b"", opening.group(2) or b"")
    return read_bare(data, pos, tight=tight)


def read_bare(data: bytes, pos: int, *, tight: bool) -> Value | None:
    """Read an unquoted value: up to white space, a quote, or an escaped line end."""
    scalar = _BLOCK_SCALAR.match(data, pos, min(len(data), pos + 80))
    if scalar is not None:
        pos = scalar.end()
    limit = min(len(data), pos + LIMIT_BYTES)
    stop = (_TIGHT_END if tight else _LOOSE_END).search(data, pos, limit)
    end = stop.start() if stop is not None else limit
    end = _without_trailing_punctuation(data, pos, end)
    return Value(pos, end, quoted=False, closed=True, after=end) if end > pos else None


def rest_of_line(data: bytes, pos: int) -> int:
    """Where the line ends that holds ``pos``, at most the limit away; a quote or an escape ends it
    too.
    """
    found = _REST_OF_LINE.match(data, pos, min(len(data), pos + LIMIT_BYTES))
    return found.end() if found is not None else pos


def follow(data: bytes, value: Value, *, tight: bool) -> int:
    """The true end of a value that was cut at the limit."""
    end = value.end
    while not value.quoted and end - value.start >= LIMIT_BYTES - 8 and end < len(data):
        stop = (_TIGHT_END if tight else _LOOSE_END).search(data, end)
        return stop.start() if stop is not None else len(data)
    return end


def _read_quoted(data: bytes, start: int, escapes: bytes, quote: bytes) -> Value | None:
    limit = min(len(data), start + LIMIT_BYTES)
    closer = _CJK_CLOSERS.get(quote.decode("utf-8"))
    if closer is not None:
        end = data.find(closer.encode(), start, limit)
        return Value(start, end, True, True, end + len(closer.encode())) if end > start else None
    pos, pattern = start, _QUOTE_RUN[quote]
    while (found := pattern.search(data, pos, limit)) is not None:
        run = found.end(1) - found.start(1)
        if quote == b"'" and data[found.end() : found.end() + 1] == b"'" and found.start() > start:
            pos = found.end() + 1  # YAML and SQL double a quote to keep it
            continue
        if run <= len(escapes) or (len(escapes) == 0 and run % 2 == 0):
            end = found.start() if run <= len(escapes) else found.end(1)
            return Value(start, end, True, True, found.end()) if end > start else None
        pos = found.end()
    newline = data.find(b"\n", start, limit)
    end = newline if newline >= 0 else limit
    return Value(start, end, quoted=True, closed=False, after=end) if end > start else None


def _without_trailing_punctuation(data: bytes, start: int, end: int) -> int:
    """Drop what belongs to the sentence or the expression: full stops, commas, unbalanced
    brackets.
    """
    pairs = {b")": b"(", b"]": b"[", b"}": b"{"}
    while end > start:
        last = data[end - 1 : end]
        if (
            last in (b",", b";", b"|", b"\\", b":")
            or (last == b"." and end - start > 1)
            or (
                last in pairs and data.count(pairs[last], start, end) < data.count(last, start, end)
            )
        ):
            end -= 1
        else:
            break
    return end
