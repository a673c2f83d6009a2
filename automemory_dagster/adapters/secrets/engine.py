"""Scans a text once for every kind of secret and replaces what it finds.

The trap: one pattern after another over every text. Most texts hold no secret, so a single
automaton of all anchors answers "nothing here" at memory speed; only an anchor costs Python time.
Between anchors nothing is looked at twice, and a reader looks a bounded way ahead, so the whole is
linear.
"""

import re
from functools import cache

from automemory_dagster.adapters.secrets import (
    assignments,
    headers,
    infixes,
    pem,
    personal,
    prose,
    urls,
)
from automemory_dagster.adapters.secrets.aws_pairs import read_provider
from automemory_dagster.adapters.secrets.finding import Finding, Handler, Hit
from automemory_dagster.adapters.secrets.pattern import Gate, Match, compile_bytes
from automemory_dagster.adapters.secrets.placeholders import MARKER
from automemory_dagster.adapters.secrets.providers import PROVIDERS
from automemory_dagster.domain.redaction import RedactedText

_MOST_PASSES = 8
"""A marker can bring two texts together that were no secret apart; a second pass sees that. One is
the rule.
"""
_ANCHORS: tuple[tuple[str, Handler], ...] = (
    (pem.ANCHOR, pem.read_pem),
    (urls.ANCHOR, urls.read_url),
    (headers.SCHEME_ANCHOR, headers.read_scheme),
    (headers.COOKIE_ANCHOR, headers.read_cookies),
    (headers.FLAG_ANCHOR, headers.read_flag),
    (prose.CJK_ANCHOR, prose.read_cjk),
    (prose.LATIN_ANCHOR, prose.read_latin),
    (assignments.ANCHOR, assignments.read_assignment),
    (PROVIDERS.anchor(), read_provider),
    (infixes.ANCHOR, infixes.read_infix),
)
_INDIVISIBLE: tuple[Handler, ...] = (assignments.read_assignment, personal.read_personal)
"""Readers whose anchors hold no other anchor."""
_CACHE_BYTES = 96 << 20
_SHORTEST_BYTES = 7
"""``pw=abc1``: nothing shorter is found."""
_GATED_BYTES = 1 << 16
"""Above this the second look, when the gate is open, costs more than the gate saves."""
_MARKER_BYTES = re.compile(MARKER.pattern.encode())


class Engine:
    """The anchors, compiled; safe to share between threads."""

    def __init__(self, *, plain_markers: bool = False, redact_personal: bool = False) -> None:
        anchors = list(_ANCHORS)
        if redact_personal:
            anchors.append((personal.ANCHOR, personal.read_personal))
        self._readers = [reader for _, reader in anchors]
        self._indivisible = [
            n for n, reader in enumerate(self._readers, 1) if reader in _INDIVISIBLE
        ]
        alternatives = "|".join(f"({anchor})" for anchor, _ in anchors)
        self._anchor = compile_bytes(alternatives, memory_bytes=_CACHE_BYTES)
        self._gate = Gate("|".join(anchor for anchor, _ in anchors), memory_bytes=_CACHE_BYTES)
        self._plain_markers = plain_markers

    def redact(self, text: str) -> RedactedText:
        """The text with a marker for each secret. Idempotent; never raises."""
        data = text.encode("utf-8", "surrogatepass")
        if len(data) < _GATED_BYTES and not self._gate.is_open(data):
            return RedactedText(text)
        hits = self._scan(data)
        if not hits:
            return RedactedText(text)
        for _ in range(_MOST_PASSES):
            data = self._replace(data, hits)
            hits = self._scan(data)
            if not hits:
                break
        return RedactedText(data.decode("utf-8", "surrogatepass"))

    def find(self, text: str) -> list[Finding]:
        """Findings in order, without overlap; empty for a text that was redacted."""
        data = text.encode("utf-8", "surrogatepass")
        findings: list[Finding] = []
        byte_offset = char_offset = 0
        for hit in self._scan(data):
            start = char_offset + len(
                data[byte_offset : hit.start].decode("utf-8", "surrogatepass")
            )
            end = start + len(data[hit.start : hit.end].decode("utf-8", "surrogatepass"))
            findings.append(Finding(hit.kind, start, end))
            byte_offset, char_offset = hit.end, end
        return findings

    def marker(self, kind: str) -> RedactedText:
        """What stands in place of a secret of that kind."""
        return RedactedText("[REDACTED]" if self._plain_markers else f"[REDACTED:{kind}]")

    def _scan(self, data: bytes) -> list[Hit]:
        hits: list[Hit] = []
        pos, size = 0, len(data)
        if size < _SHORTEST_BYTES or (size < _GATED_BYTES and not self._gate.is_open(data)):
            return hits
        while pos < size and (found := self._anchor.search(data, pos)) is not None:
            group = next(n for n, (start, _) in enumerate(found.spans) if n and start >= 0)
            taken = self._read(data, found, group, pos)
            hits += taken
            if taken:
                pos = max(found.start() + 1, taken[-1].end)
            else:
                pos = found.end() if group in self._indivisible else found.start() + 1
        return _outside_markers(data, hits) if hits and b"[REDACTED" in data else hits

    def _read(self, data: bytes, found: Match, group: int, pos: int) -> list[Hit]:
        hits = [
            hit for hit in self._readers[group - 1](data, *found.spans[group]) if hit.start >= pos
        ]
        return [_named_by_shape(data, hit) for hit in _whole_characters(data, hits)] if hits else []

    def _replace(self, data: bytes, hits: list[Hit]) -> bytes:
        pieces: list[bytes] = []
        pos = 0
        for hit in hits:
            pieces += (data[pos : hit.start], self.marker(hit.kind).encode())
            pos = hit.end
        pieces.append(data[pos:])
        return b"".join(pieces)


@cache
def engine_for(*, plain_markers: bool = False, redact_personal: bool = False) -> Engine:
    """The engine with these settings, compiled once a process."""
    return Engine(plain_markers=plain_markers, redact_personal=redact_personal)


def _named_by_shape(data: bytes, hit: Hit) -> Hit:
    """A value found by its name is called by its shape when it has one; the longer of the two ends
    counts.
    """
    if hit.kind == "private_key":
        return hit
    shaped = PROVIDERS.read(data, hit.start, hit.end)
    if not shaped:
        return hit
    return Hit(shaped[0].kind, hit.start, max(hit.end, shaped[0].end))


def _whole_characters(data: bytes, hits: list[Hit]) -> list[Hit]:
    """Move ends off the middle of a UTF-8 character, drop empty and overlapping hits."""
    kept: list[Hit] = []
    low = 0
    for hit in hits:
        start, end = max(hit.start, low), hit.end
        while start > 0 and start < len(data) and data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        if end > start >= low:
            kept.append(Hit(hit.kind, start, end))
            low = end
    return kept


def _outside_markers(data: bytes, hits: list[Hit]) -> list[Hit]:
    """Hits that do not cut into a marker: one inside is dropped, one that reaches in takes it
    whole.
    """
    markers = [found.span() for found in _MARKER_BYTES.finditer(data)]
    kept: list[Hit] = []
    index = 0
    for hit in hits:
        start, end = hit.start, hit.end
        while index < len(markers) and markers[index][1] <= start:
            index += 1
        probe = index
        while probe < len(markers) and markers[probe][0] < end:
            if markers[probe][0] < start:
                start = markers[probe][1]
            end = max(end, markers[probe][1])
            probe += 1
        if (
            end > start
            and MARKER.fullmatch(data[start:end].decode("utf-8", "surrogatepass")) is None
        ):
            kept.append(Hit(hit.kind, start, end))
    return kept
