"""The paths a patch in Codex's ``apply_patch`` format touches."""

import re
from typing import Any

PATCH_BEGIN = "*** Begin Patch"
PATCH_END = "*** End Patch"
_HEADER = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)[ \t]*$", re.MULTILINE
)


def patch_in(text: str) -> str:
    """The text's first patch, from its begin line to its end line; ``""`` without one."""
    start = text.find(PATCH_BEGIN)
    if start < 0:
        return ""
    end = text.find(PATCH_END, start)
    return text[start : end + len(PATCH_END)] if end >= 0 else text[start:]


def changed_files(text: str) -> tuple[str, ...]:
    """Paths added, updated, deleted or moved to, in the patch's order, each once; empty without a
    patch."""
    if "*** " not in text:
        return ()
    return tuple(dict.fromkeys(_HEADER.findall(text)))


def changed_files_of_event(changes: Any) -> tuple[str, ...]:
    """Paths in the ``changes`` of a ``patch_apply_end`` event or a ``FileChange`` item, moves
    included."""
    if not isinstance(changes, dict):
        return ()
    paths: list[str] = []
    for path, change in changes.items():
        paths.append(str(path))
        move = change.get("move_path") if isinstance(change, dict) else None
        if isinstance(move, str) and move:
            paths.append(move)
    return tuple(dict.fromkeys(paths))
