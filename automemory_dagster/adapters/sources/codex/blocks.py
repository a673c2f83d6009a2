"""A rollout's bytes as blocks of whole lines, plain or unpacked, in bounded memory.

The trap: a file that is cut short or packed with malice. zstandard's own stream reader ends a cut
frame in silence, so frames are followed one by one here, and what unpacks to more than a limit is
refused.
"""

from collections.abc import Iterator
from typing import BinaryIO, Protocol

import zstandard

BLOCK_BYTES = 1024 * 1024
MAX_LINE_BYTES = 4 * 1024 * 1024
"""Longer lines are passed over: a ``session_meta`` or a first request is never that long."""
MAX_UNPACKED_BYTES = 4 * 1024 * 1024 * 1024
"""Where a compressed file counts as a bomb."""

_MAX_WINDOW_BYTES = 128 * 1024 * 1024
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PACKED_BYTES = 1024
"""Read at a time: four packed bytes can stand for 128 KiB, so this bounds one step to 32 MiB."""


class Readable(Protocol):
    """Anything with a ``read`` that gives some bytes, and none at the end."""

    def read(self, size: int, /) -> bytes:
        """At most about ``size`` bytes."""


class DamagedFile(Exception):
    """A compressed file that cannot be unpacked to its end; the message is a sentence for a
    person."""


class ZstdStream:
    """The unpacked bytes of a ``.zst`` file of one or more frames."""

    def __init__(self, packed: BinaryIO, *, max_unpacked_bytes: int = MAX_UNPACKED_BYTES) -> None:
        self._packed = packed
        self._limit = max_unpacked_bytes
        self._given = 0
        self._left_over = b""
        self._frame = self._new_frame()
        self._is_in_frame = False

    def read(self, size: int = BLOCK_BYTES, /) -> bytes:
        """About ``size`` bytes or one step more; none at the end.

        Raises:
            DamagedFile: no zstd data, cut short, or more than the limit.
        """
        pieces: list[bytes] = []
        gathered = 0
        while gathered < size:
            packed = self._left_over or self._packed.read(_PACKED_BYTES)
            if not packed:
                if self._is_in_frame:
                    raise DamagedFile("The compressed file is cut short.")
                break
            pieces.append(self._step(packed))
            gathered += len(pieces[-1])
        self._given += gathered
        if self._given > self._limit:
            raise DamagedFile(f"The file unpacks to more than {self._limit // 1024**2} MiB.")
        return b"".join(pieces)

    def _step(self, packed: bytes) -> bytes:
        try:
            piece = self._frame.decompress(packed)
        except zstandard.ZstdError as error:
            raise DamagedFile("The compressed file is damaged, or is no zstd file.") from error
        self._left_over = self._frame.unused_data
        self._is_in_frame = not self._frame.eof
        if self._frame.eof:
            self._frame = self._new_frame()
        return piece

    def _new_frame(self) -> "zstandard.ZstdDecompressionObj":
        return zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).decompressobj()


def is_packed(file: BinaryIO) -> bool:
    """Whether a file's first bytes are those of zstd; it stands at its beginning afterwards."""
    file.seek(0)
    found = file.read(len(_ZSTD_MAGIC)) == _ZSTD_MAGIC
    file.seek(0)
    return found


def unpacked(file: BinaryIO) -> Readable:
    """The file's records as bytes, unpacked when its first bytes say that they are packed."""
    return ZstdStream(file) if is_packed(file) else file


def whole_lines(stream: Readable, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """Blocks of whole lines, about a mebibyte each; the unterminated end of the file comes last.

    Lines are split at byte 0x0A only. One that is longer than ``max_line_bytes`` is left out.
    """
    rest, is_skipping = b"", False
    while chunk := stream.read(BLOCK_BYTES):
        if is_skipping:
            end = chunk.find(b"\n")
            if end < 0:
                continue
            chunk, is_skipping = chunk[end + 1 :], False
        end = chunk.rfind(b"\n")
        if end >= 0:
            yield rest + chunk[: end + 1]
            rest = chunk[end + 1 :]
        else:
            rest += chunk
        if len(rest) > max_line_bytes:
            rest, is_skipping = b"", True
    if rest:
        yield rest
