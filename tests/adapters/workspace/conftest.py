"""Fixtures of the workspace tests."""

from pathlib import Path

import pytest

from tests.adapters.workspace.ground import Ground


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """An empty root for workspaces."""
    return Ground(tmp_path / "memories")
