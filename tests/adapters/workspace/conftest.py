"""Fixtures of the workspace tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.workspace.ground import Ground

_MEMORY_DISK = Path("/dev/shm")


@pytest.fixture
def quick_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder where flushing costs nothing, for tests that publish a hundred times."""
    try:
        with tempfile.TemporaryDirectory(dir=_MEMORY_DISK) as folder:
            yield Path(folder)
    except (FileNotFoundError, PermissionError):
        yield tmp_path


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """An empty root for workspaces."""
    return Ground(tmp_path / "memories")
