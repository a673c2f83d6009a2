"""A real deployment in a temporary folder: its home, its Codex home, its command line."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DeploymentUnderTest:
    """Runs ``automemory`` as a user would, with nothing of the machine's own settings."""

    folder: Path
    codex_home: Path | None = None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The deployment's home."""
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        """What every process of it gets."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("AUTOMEMORY_", "CODEX_", "DAGSTER_"))
        }
        codex_home = self.codex_home or self.folder / "no-codex-home"
        return {
            **kept,
            "HOME": str(self.folder),
            "AUTOMEMORY_HOME": str(self.home),
            "AUTOMEMORY_CODEX_HOME": str(codex_home),
            "COLUMNS": "200",
            **self.settings,
        }

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end."""
        return subprocess.run(
            [*COMMAND, *arguments],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        """What a command prints with ``--json``; fails the test when the command fails."""
        result = self.run(*arguments, "--json")
        assert result.returncode == 0, result.stdout + result.stderr
        return json.loads(result.stdout)

    def memory_files(self) -> dict[str, str]:
        """The files of the only workspace, without git's."""
        [workspace] = [path for path in (self.home / "memories").iterdir() if _is_shown(path)]
        return {
            path.relative_to(workspace).as_posix(): path.read_text("utf-8")
            for path in sorted(workspace.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(workspace).parts
        }


COMMAND = [sys.executable, "-m", "automemory_dagster"]


def _is_shown(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")
