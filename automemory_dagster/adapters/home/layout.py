"""Where everything lies in the deployment's home."""

from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.domain.errors import SettingsError


@dataclass(frozen=True, slots=True)
class HomeLayout:
    """Paths under one home folder; none of them needs to be there yet."""

    folder: Path

    @property
    def state_database(self) -> Path:
        """The SQLite state store; unused with PostgreSQL."""
        return self.folder / "state.sqlite"

    @property
    def dagster(self) -> Path:
        """Dagster's own folder: its instance file, runs, events and logs."""
        return self.folder / "dagster"

    @property
    def memories(self) -> Path:
        """The memory workspaces, one folder a space."""
        return self.folder / "memories"

    @property
    def consent(self) -> Path:
        """What a person said about generation."""
        return self.folder / "consent.json"

    @property
    def sample_codex_home(self) -> Path:
        """Where the bundled sample is unpacked."""
        return self.folder / "sample-codex-home"

    @property
    def logs(self) -> Path:
        """Logs of the server's processes."""
        return self.folder / "logs"

    def has_lost_database(self) -> bool:
        """True when memory was published from this home and its SQLite store is not there."""
        if self.state_database.exists() or not self.memories.is_dir():
            return False
        return any(path.is_dir() and path.name[0] != "." for path in self.memories.iterdir())

    def read_address(self) -> str | None:
        """Where the web UI was last served, for links; None when it never was."""
        try:
            return (self.folder / "address.txt").read_text("utf-8").strip() or None
        except OSError:
            return None

    def write_address(self, address: str) -> None:
        """Remember where the web UI is served."""
        (self.folder / "address.txt").write_text(address + "\n", "utf-8")


def prepare_home(folder: Path) -> HomeLayout:
    """Make the folders of a home, private to its owner. Idempotent.

    Raises:
        SettingsError: the folder cannot be made or written.
    """
    layout = HomeLayout(folder)
    try:
        for path in (layout.folder, layout.dagster, layout.memories, layout.logs):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The home folder {folder} cannot be used ({error.strerror}); nothing was started. "
            "Name another one with AUTOMEMORY_HOME."
        ) from error
    return layout
