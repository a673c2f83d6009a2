"""The lines of one rollout file as a stream of bounded memory, plain or zstd-compressed.

The trap: one line of 300 MB, or one file of 20 GB, that is loaded whole. Inline images are cut out
of a line by a search over its bytes before anything is decoded; a line that is still over the bound
is given up, counted, and the lines after it are read. Lines end at byte 0x0A only: U+2028 and its
like are legal inside a JSON string.
"""

import re
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import zstandard

from automemory_dagster.domain.errors import RolloutUnreadable

MAX_LINE_BYTES = 8 << 20
"""After images are cut out. The longest real line seen without images is 1.2 MB."""

_CHUNK_BYTES = 1 << 20
_READ_BYTES = 128 << 10
"""Small enough to stay in the processor's cache while it is split into lines."""
_PACKED_BYTES = 1024
"""Four packed bytes can stand for 128 KiB, so this bounds one step to 32 MiB."""
_STRIP_AT_BYTES = 8 << 10
_WINDOW = 2048
_MAX_ZSTD_WINDOW_BYTES = 64 << 20
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-\\"
_RUN = re.compile(rb"[A-Za-z0-9+/=_\\-]*")
_RUN_MARK = b"[base64 omitted]"


Line = bytes | None
"""One physical line without its end, byte order mark, NULs and long base64 runs; None: it was over
the bound."""


class LineStream:
    """Iterates once over a file's lines; ``peek`` shows the first one before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = self._read()
        self._peeked: list[Line] = []
        self.bytes_read = 0
        """Decompressed bytes so far."""
        self.line_start = 0
        """Offset of the line just given, in decompressed bytes."""
        self.is_damaged = False
        """True when a compressed file broke off; what came before was given."""
        self.is_cut_short = False
        """The same, for a file that ends before its data do; inside a line it is the line's torn
        end that tells of it."""

    def __iter__(self) -> Iterator[Line]:
        peeked, self._peeked = self._peeked, []
        return chain(peeked, self._lines)

    def peek(self) -> Line:
        """The first line, which the iteration gives again; None for an empty file.

        Raises:
            RolloutUnreadable: the file cannot be opened.
        """
        if not self._peeked:
            self._peeked = [line for line in (next(self._lines, b""),) if line != b""]
        return self._peeked[0] if self._peeked else None

    def _read(self) -> Iterator[Line]:
        pending = _PendingLine()
        following = 0
        for block in self._blocks():
            self.bytes_read += len(block)
            pieces = block.split(b"\n")
            rest = pieces.pop()
            for piece in pieces:
                size = len(piece)
                self.line_start = following
                if pending.raw_bytes or not following:
                    following += size + pending.raw_bytes + 1
                    pending.add(piece)
                    yield pending.take()
                    continue
                following += size + 1
                yield piece if size < _STRIP_AT_BYTES else _cleaned(piece)
            pending.add(rest)
        if pending.raw_bytes:
            self.line_start = following
            yield pending.take()
        elif self.is_cut_short:
            self.is_damaged = True

    def _blocks(self) -> Iterator[bytes]:
        try:
            with self._path.open("rb") as file:
                if not stat.S_ISREG(self._path.stat().st_mode):
                    raise RolloutUnreadable(f"{self._path.name} is no regular file")
                is_zstd = file.read(len(_ZSTD_MAGIC)) == _ZSTD_MAGIC
                file.seek(0)
                yield from self._zstd_blocks(file) if is_zstd else _plain_blocks(file)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise RolloutUnreadable(f"{self._path.name} cannot be read: {reason}") from error

    def _zstd_blocks(self, file: BinaryIO) -> Iterator[bytes]:
        # The library's own reader ends a frame that was cut short in silence.
        decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW_BYTES)
        frame, packed = decompressor.decompressobj(), b""
        is_in_frame = False
        try:
            while packed := packed or file.read(_PACKED_BYTES):
                block = frame.decompress(packed)
                packed, is_in_frame = frame.unused_data, not frame.eof
                if frame.eof:
                    frame = decompressor.decompressobj()
                if block:
                    yield block
        except zstandard.ZstdError:
            self.is_damaged = True
        self.is_cut_short = is_in_frame and not self.is_damaged


class _PendingLine:
    """A line whose end has not come yet, kept small by cutting long runs as they come."""

    def __init__(self) -> None:
        self._clean = bytearray()
        self._raw = bytearray()
        self._is_oversized = False
        self.raw_bytes = 0
        """Taken so far, before any cut."""

    def add(self, piece: bytes) -> None:
        self.raw_bytes += len(piece)
        if self._is_oversized:
            return
        self._raw += piece
        if len(self._raw) >= _CHUNK_BYTES:
            self._settle()

    def take(self) -> Line:
        """The line, which ends here; the next one begins empty."""
        self._settle()
        line = None if self._is_oversized else bytes(self._clean.removeprefix(_BOM))
        self._clean, self._is_oversized, self.raw_bytes = bytearray(), False, 0
        return line

    def _settle(self) -> None:
        raw, self._raw = bytes(self._raw), bytearray()
        # A run that the last settling ended with goes on here.
        if self._clean.endswith(_RUN_MARK) and (run := _RUN.match(raw)) is not None:
            raw = raw[_end_of_run(raw, run.end()) :]
        self._clean += _cleaned(raw)
        if len(self._clean) > MAX_LINE_BYTES:
            self._is_oversized = True
            self._clean = bytearray()


def _plain_blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(_READ_BYTES):
        yield block


def _cleaned(data: bytes) -> bytes:
    if b"\x00" in data:
        data = data.replace(b"\x00", b"")
    return without_long_runs(data) if len(data) >= _STRIP_AT_BYTES else data


def without_long_runs(data: bytes) -> bytes:
    """The bytes with every unbroken base64 run of 4 KiB and more replaced by a mark.

    Looks at one window in two thousand bytes unless it is part of a run, so it costs next to
    nothing.
    """
    pieces: list[bytes] = []
    kept_from = position = 0
    while position + _WINDOW <= len(data):
        if data[position : position + _WINDOW].strip(_RUN_BYTES):
            position += _WINDOW
            continue
        before = data[max(kept_from, position - _WINDOW) : position]
        start = position - (len(before) - len(before.rstrip(_RUN_BYTES)))
        run = _RUN.match(data, position)
        end = _end_of_run(data, run.end() if run else position)
        pieces += (data[kept_from:start], _RUN_MARK)
        kept_from = position = max(end, position + 1)
    if not pieces:
        return data
    return b"".join((*pieces, data[kept_from:]))


def _end_of_run(data: bytes, end: int) -> int:
    # A backslash before the closing quote belongs to the quote, not to the run.
    while end > 0 and data[end - 1] == 0x5C:
        end -= 1
    return end
