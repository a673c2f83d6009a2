"""Makes git folders and copies them, as plain files."""

import os
import shutil
from pathlib import Path

from automemory_dagster.adapters.workspace.disk import FILE_MODE, FOLDER_MODE

_FOLDERS = ("", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "info")

_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tautocrlf = false
"""


def make_git_folder(folder: Path) -> None:
    """An empty git folder on the branch ``main``, private to its owner."""
    for name in _FOLDERS:
        (folder / name).mkdir(mode=FOLDER_MODE)
    _write(folder / "HEAD", b"ref: refs/heads/main\n")
    _write(folder / "config", _CONFIG.encode())


def copy_git_folder(source: Path, target: Path) -> None:
    """Copy a git folder: object files as hard links, the rest as copies; no links, no locks."""
    target.mkdir(mode=FOLDER_MODE)
    for entry in os.scandir(source):
        path = target / entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name == "objects":
                _link_files(entry.path, os.fspath(path))
            else:
                copy_git_folder(Path(entry.path), path)
        elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".lock"):
            shutil.copy2(entry.path, path)


def _link_files(source: str, target: str) -> None:
    os.mkdir(target, FOLDER_MODE)
    for entry in os.scandir(source):
        path = os.path.join(target, entry.name)
        if entry.is_dir(follow_symlinks=False):
            _link_files(entry.path, path)
        elif entry.is_file(follow_symlinks=False) and not entry.name.startswith("tmp_"):
            try:
                os.link(entry.path, path)
            except OSError:
                # A file system without hard links, or a file with too many.
                shutil.copy2(entry.path, path)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(FILE_MODE)
