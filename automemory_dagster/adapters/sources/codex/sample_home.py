"""Unpacks the bundled sample Codex home into the deployment, as if its sessions had been written
there.

The trap: file times. They say when a session was last written, and neither git nor pip keeps them;
so each file gets the time of its last record.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

import zstandard

from automemory_dagster.adapters.sources.codex.metadata import moment_of
from automemory_dagster.domain.errors import SettingsError

_PACKAGE = "automemory_dagster"
_FOLDER = "sample_home"


def unpack_sample_home(target: Path) -> Path:
    """Copy the sample home to ``target`` and return it. Idempotent.

    A file that is there already is left as it is, also when a person appended to it; one that was
    cut short or changed is restored.

    Raises:
        SettingsError: the folder cannot be written.
    """
    try:
        for relative, content in bundled_rollouts():
            _unpack(target / relative, content)
    except OSError as error:
        raise SettingsError(
            f"The sample home cannot be unpacked into {target} ({error.strerror}). "
            "Name another home folder with AUTOMEMORY_HOME."
        ) from error
    return target


def bundled_rollouts() -> Iterator[tuple[PurePosixPath, bytes]]:
    """Every rollout of the bundled sample with its path in the home, by path."""
    return _rollouts_in(files(_PACKAGE) / _FOLDER, PurePosixPath())


def _rollouts_in(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _rollouts_in(entry, path / entry.name)
        elif entry.name.endswith((".jsonl", ".jsonl.zst")):
            yield path / entry.name, entry.read_bytes()


def _unpack(path: Path, content: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes().startswith(content):
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Moved into place whole: a look that comes in between must not see half a rollout.
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        written_at = last_written_ns(path.name, content)
        os.utime(temporary, ns=(written_at, written_at))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def last_written_ns(name: str, content: bytes) -> int:
    """The time of a rollout's last record, in nanoseconds since the epoch."""
    plain = zstandard.ZstdDecompressor().decompress(content) if name.endswith(".zst") else content
    moment = moment_of(json.loads(plain.splitlines()[-1]).get("timestamp"))
    if moment is None:
        raise ValueError(f"The last record of the bundled {name} has no time.")
    return round(moment.timestamp() * 1_000) * 1_000_000
