"""What the tests of the workspace share: a real one in a temporary folder, and real git."""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from automemory_dagster.adapters.workspace import GitWorkspaces
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.domain.workspace import Publication

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
SPACE = SpaceId("codex:default")

_CHANGES_ON_DISK = {"os.mkdir", "os.remove", "os.rename", "os.rmdir"}
"""What decides which files are where; rights and times never do."""


class Ground:
    """One space's workspace under ``root``, handled as a consolidation and as a person would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspaces = GitWorkspaces(root, clock=lambda: NOON, lock_wait_seconds=0.2)
        self.folder = Path(self.workspaces.location(SPACE))

    def publish(self, files: Mapping[str, str | None], message: str = "Memory") -> Publication:
        """Write (None: delete) these files and publish; gives what a store would remember."""
        with self.workspaces.stage(SPACE) as staging:
            for path, text in files.items():
                if text is None:
                    staging.delete(path)
                else:
                    staging.write(path, RedactedText(text))
            texts = {path: RedactedText(staging.read(path) or "") for path in staging.paths()}
            with staging.publish(message) as commit:
                pass
        return a_publication(texts, commit=commit)

    def edit(self, path: str, content: str | bytes) -> Path:
        """Write a file as a person with an editor does."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def git(self, *arguments: str) -> str:
        """What the ordinary git says in the workspace; fails when git does."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def subjects(self) -> list[str]:
        """First lines of the messages in history, newest first."""
        return self.git("log", "--format=%s").splitlines()


def a_publication(
    files: Mapping[str, RedactedText], *, commit: str = "", version: int = 1
) -> Publication:
    return Publication(
        space_id=SPACE,
        version=version,
        published_at=NOON,
        files=files,
        consolidator="test/1",
        commit=commit,
    )


def contents(folder: Path, *, with_git: bool = False) -> dict[str, bytes]:
    """Every plain file below a folder by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and (with_git or ".git" not in path.relative_to(folder).parts)
    }


def fingerprint(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything below a folder, git folder too: kind and rights, inode, time and content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        name = path.relative_to(folder).as_posix()
        found[name] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def killed_at_change(number: int, work: Callable[[], object]) -> bool:
    """Run ``work`` in a process that is killed just before its ``number``-th change of the disk.

    True when it was killed, False when it came to its end first.
    """
    child = os.fork()
    if child == 0:
        _die_at(number)
        try:
            work()
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the work failed by itself"
    return False


def _die_at(number: int) -> None:
    seen = 0

    def count(event: str, _arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in _CHANGES_ON_DISK:
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
