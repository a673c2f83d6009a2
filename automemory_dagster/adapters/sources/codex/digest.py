"""Shortens a long tool output to the parts worth keeping: its beginning, its last lines, and
between them errors and test summaries.

Cuts fall on line ends, so that a secret is kept whole for the redaction that follows, or left out.
"""

import re2

from automemory_dagster.domain.cut import cut_mark, cut_middle, utf8_bytes

MAX_OUTPUT_BYTES = 16 << 10

_HEAD_BYTES = 3 << 10
_TAIL_BYTES = 6 << 10
_TELLING = re2.compile(
    rb"(?i)(?:error|fail|exception|traceback|panic|fatal|denied|refused|not found|no such|cannot "
    rb"|unable to|warning|assert|timed? ?out|abort|[0-9]+ (?:passed|failed|errors?|tests?)"
    rb"|exit(?:ed)?.{0,12}[1-9])[^\n]*"
)
"""Takes the rest of the line too, so that each line is found once."""
_MOST_LINE_BYTES = 400
_GAP_BYTES = 40
"""About what the mark before a line costs."""


def digest(text: str) -> tuple[str, int]:
    """The text in at most ``MAX_OUTPUT_BYTES``, and how many bytes were left out; a mark stands at
    each gap."""
    if len(text) * 4 <= MAX_OUTPUT_BYTES:
        return text, 0
    size = utf8_bytes(text)
    if size <= MAX_OUTPUT_BYTES:
        return text, 0
    data = text.encode("utf-8", "surrogatepass")
    head_end = data.rfind(b"\n", 0, _HEAD_BYTES) + 1
    tail_start = data.find(b"\n", len(data) - _TAIL_BYTES) + 1
    if head_end == 0 or tail_start == 0:
        short = cut_middle(text, MAX_OUTPUT_BYTES)
        return short, size - utf8_bytes(short)
    room = MAX_OUTPUT_BYTES - head_end - (len(data) - tail_start) - 64
    spans = [(0, head_end), *_telling_lines(data, head_end, tail_start, room), (tail_start, size)]
    return _joined(data, spans)


def _telling_lines(data: bytes, start: int, end: int, room: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    position = start
    for found in _TELLING.finditer(data, start, end):
        line_start = max(data.rfind(b"\n", 0, found.start()) + 1, position)
        line_end = data.find(b"\n", found.end(), end) + 1 or end
        if line_end <= position:
            continue
        position = line_end
        cost = line_end - line_start + _GAP_BYTES
        if line_end - line_start <= _MOST_LINE_BYTES and cost <= room:
            if spans and spans[-1][1] == line_start:
                spans[-1] = (spans[-1][0], line_end)
            else:
                spans.append((line_start, line_end))
            room -= cost
            if room <= _GAP_BYTES:
                break
    return spans


def _joined(data: bytes, spans: list[tuple[int, int]]) -> tuple[str, int]:
    pieces: list[str] = []
    omitted = reached = 0
    for start, end in spans:
        if start > reached:
            pieces.append(cut_mark(start - reached) + "\n")
            omitted += start - reached
        pieces.append(data[start:end].decode("utf-8", "replace"))
        reached = end
    return "".join(pieces), omitted
