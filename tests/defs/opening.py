"""Which files Python opens: the interpreter tells its audit hooks, whoever asked for it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_watched: dict[str, list[str]] = {}
_is_installed = False


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """The paths below a folder that are opened while the block runs, in every thread."""
    _install()
    opened: list[str] = []
    _watched[f"{folder}{os.sep}"] = opened
    try:
        yield opened
    finally:
        del _watched[f"{folder}{os.sep}"]


def _install() -> None:
    # A hook stays for the life of the process; without a watched folder it does nothing.
    global _is_installed
    if not _is_installed:
        sys.addaudithook(_note)
        _is_installed = True


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _watched or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    path = os.fsdecode(arguments[0])
    for folder, opened in list(_watched.items()):
        if path.startswith(folder):
            opened.append(path)
