"""Makes the bundled sample home: ``python -m tests.make_sample_home`` writes it into the package.

The files are the same bytes every time, except that another version of zstd may pack differently.
"""

import hashlib
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import automemory_dagster
from tests.builders import a_rollout
from tests.sample_stories import STORIES, Story

PACKAGED = Path(automemory_dagster.__file__).parent / "sample_home"

_HOME = "/home/mira/projects"
_REMOTE = "https://git.example.com/mira"
_WITHOUT_REPOSITORY = frozenset({"scratch", "diary"})
_LENGTH = timedelta(minutes=30)


def make_sample_home(target: Path) -> None:
    """Write every story into ``target``, which is emptied of an older sample first."""
    for name in ("sessions", "archived_sessions"):
        shutil.rmtree(target / name, ignore_errors=True)
    for story in STORIES:
        _write(target, story)


def _write(target: Path, story: Story) -> None:
    remote = None if story.project in _WITHOUT_REPOSITORY else f"{_REMOTE}/{story.project}.git"
    a_rollout(
        target,
        thread_id=uuid7_of(story.begun_at, story.project),
        generation=story.generation,
        turns=story.turns,
        cwd=f"{_HOME}/{story.project}",
        source=story.source,
        originator=story.originator,
        repository_url=remote,
        branch="main" if remote else None,
        memory_mode=story.memory_mode,
        agents_md=story.agents_md,
        is_archived=story.is_archived,
        is_compressed=story.is_compressed,
        now=story.begun_at + _LENGTH,
        idle_seconds=0,
    )


def uuid7_of(moment: datetime, salt: str) -> str:
    """The UUIDv7 of a moment; its random part comes from ``salt``: always the same."""
    milliseconds = f"{int(moment.timestamp() * 1_000):012x}"
    rest = hashlib.sha256(f"{milliseconds}{salt}".encode()).hexdigest()
    return f"{milliseconds[:8]}-{milliseconds[8:]}-7{rest[:3]}-8{rest[3:6]}-{rest[6:18]}"


if __name__ == "__main__":
    make_sample_home(PACKAGED)
