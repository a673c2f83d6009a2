"""One shell a test."""

from pathlib import Path

import pytest

from tests.defs.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A deployment of a person who said yes, with no session yet."""
    return Shell(tmp_path)
