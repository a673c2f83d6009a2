"""The unified diff between a baseline and a staging copy, bounded in size.

Source: ``reference/codex-memory-spec.md``, section 5.4: three lines of context, cut at 4 MiB.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.workspace.scan import Blob, is_text, shown

MAX_DIFF_BYTES = 4 * 1024 * 1024
CUT_MARK = f"\n[diff cut at {MAX_DIFF_BYTES:,} bytes]\n"

_CONTEXT_LINES = 3
_NO_NEWLINE = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a changed file; ``read`` is asked only when the diff shows it."""

    blob: Blob
    read: Callable[[], bytes]


def render_diff(changed: Iterable[tuple[bytes, Side | None, Side | None]]) -> str:
    """The diff of all changed files, in the order given; cut with a mark when it is too long."""
    pieces: list[str] = []
    room = MAX_DIFF_BYTES
    for path, old, new in changed:
        for piece in _file_diff(path, old, new):
            encoded = piece.encode("utf-8", "replace")
            if len(encoded) > room:
                # A cut in the middle of a character drops the whole character.
                pieces.append(encoded[:room].decode("utf-8", "ignore") + CUT_MARK)
                return "".join(pieces)
            room -= len(encoded)
            pieces.append(piece)
    return "".join(pieces)


def _file_diff(path: bytes, old: Side | None, new: Side | None) -> Iterator[str]:
    name = shown(path)
    yield f"diff --git a/{name} b/{name}\n"
    if old and new and old.blob.mode != new.blob.mode:
        yield f"old mode {old.blob.mode:o}\nnew mode {new.blob.mode:o}\n"
    elif new and not old:
        yield f"new file mode {new.blob.mode:o}\n"
    elif old and not new:
        yield f"deleted file mode {old.blob.mode:o}\n"
    if old and new and old.blob.blob_id == new.blob.blob_id:
        return
    before, after = old.read() if old else b"", new.read() if new else b""
    from_name = f"a/{name}" if old else "/dev/null"
    to_name = f"b/{name}" if new else "/dev/null"
    if not (is_text(before) and is_text(after)):
        yield f"Binary files {from_name} and {to_name} differ\n"
        return
    yield from _hunks(_lines(before), _lines(after), from_name, to_name)


def _hunks(
    before: Sequence[str], after: Sequence[str], from_name: str, to_name: str
) -> Iterator[str]:
    same = _common_start(before, after)
    # Files grow at their end and by a few lines; comparing only the rest saves most time.
    skipped = max(0, same - _CONTEXT_LINES)
    lines = difflib.unified_diff(
        before[skipped:], after[skipped:], from_name, to_name, n=_CONTEXT_LINES
    )
    for line in lines:
        if skipped and line.startswith("@@ "):
            line = _moved_header(line, skipped)
        yield line if line.endswith("\n") else line + _NO_NEWLINE


def _moved_header(line: str, by: int) -> str:
    _, removed, added, _ = line.split(" ", 3)
    return f"@@ {_moved_range(removed, by)} {_moved_range(added, by)} @@\n"


def _moved_range(text: str, by: int) -> str:
    start, comma, count = text[1:].partition(",")
    return f"{text[0]}{int(start) + by}{comma}{count}"


def _common_start(before: Sequence[str], after: Sequence[str]) -> int:
    count = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        count += 1
    return count


def _lines(content: bytes) -> list[str]:
    # Only a newline ends a line: ``splitlines`` also cuts at form feeds and Unicode separators.
    *whole, last = content.decode().split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])
