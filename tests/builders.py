"""Synthetic rollouts of the four generations of Codex files.

Every field has a default, so that a test names only what matters. Ids, times and bytes are the same
in every run: the last record's time is the file's mtime, which is ``idle_seconds`` before ``now``;
the session began half an hour earlier.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import zstandard

from tests.generations import RECORDS_OF, records_of_d
from tests.session import Command, Patch, Raw, Said, Session, Step, Turn

__all__ = [
    "CWD",
    "NOON",
    "REPOSITORY_URL",
    "Command",
    "Patch",
    "Raw",
    "Said",
    "Step",
    "Turn",
    "a_rollout",
    "a_turn",
    "append_turn",
    "moment",
    "thread_id",
]

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
CWD = "/home/dev/projects/shop-api"
REPOSITORY_URL = "https://git.example.com/acme/shop-api.git"

_LENGTH = timedelta(minutes=30)

Generation = Literal["A", "B", "C", "D"]


def thread_id(number: int) -> str:
    """The UUID of the thread with this number."""
    return f"019d0000-0000-7000-8000-{number:012x}"


def a_turn(
    request: str | None = "Run the tests.",
    *steps: Step,
    answer: str | None = "All 12 tests pass.",
) -> Turn:
    """A turn in one line: ``a_turn("Fix it.", Command(command="make"), answer="Done.")``."""
    return Turn(request=request, steps=steps, answer=answer)


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Where and when a rollout is written."""

    now: datetime = NOON
    idle_seconds: float = 3_600
    is_archived: bool = False
    is_compressed: bool = False
    file_name: str | None = None
    """Without folder; the suffix decides nothing."""
    dated_folder: str | None = None
    """``2026/12/01`` unless told; empty, as for A: directly under ``sessions/``."""


def a_rollout(
    home: Path,
    *,
    thread_id: str = thread_id(1),
    generation: Generation = "D",
    turns: Sequence[Turn] = (Turn(),),
    cwd: str = CWD,
    source: Any = "cli",
    originator: str = "codex_cli_rs",
    repository_url: str | None = REPOSITORY_URL,
    branch: str | None = "main",
    memory_mode: str | None = None,
    meta: Mapping[str, Any] | None = None,
    agents_md: str | None = None,
    extra_lines: Sequence[bytes] = (),
    is_archived: bool = False,
    is_compressed: bool = False,
    idle_seconds: float = 3_600,
    now: datetime = NOON,
    file_name: str | None = None,
    dated_folder: str | None = None,
) -> Path:
    """Write one rollout into a Codex home and return its path.

    ``source`` None leaves it out, as versions before 0.40 do. ``meta``: more fields of
    ``session_meta`` (C and D). ``memory_mode`` stands in a second ``session_meta`` at the end, as
    Codex writes it (C and D). ``extra_lines``: raw lines after all, with no newline added but the
    one between lines (not A). An existing file of the name is overwritten.
    """
    git = {"branch": branch, "repository_url": repository_url, "commit_hash": "5558f0adebcd9c47"}
    session = Session(
        thread_id=thread_id,
        turns=turns,
        cwd=cwd,
        started_at=moment(now - timedelta(seconds=idle_seconds) - _LENGTH),
        source=source,
        originator=originator,
        git={key: value for key, value in git.items() if value is not None},
        memory_mode=memory_mode,
        meta=meta or {},
        agents_md=agents_md,
    )
    placing = Placing(
        now=now,
        idle_seconds=idle_seconds,
        is_archived=is_archived,
        is_compressed=is_compressed,
        file_name=file_name,
        dated_folder=dated_folder,
    )
    written_at = now - timedelta(seconds=idle_seconds)
    content = _content(session, generation, written_at, extra_lines)
    return _write(_path(home, session, placing, generation), content, placing)


def append_turn(
    path: Path, turn: Turn, *, written_at: datetime, thread_id: str = thread_id(1)
) -> None:
    """Append one more turn to a rollout of generation C or D, as a resumed session does."""
    written = path.read_bytes().count(b"\n")
    session = Session(
        thread_id=thread_id,
        turns=(turn,),
        first_turn=written,
        cwd=CWD,
        started_at=moment(written_at),
        source="cli",
        originator="codex_cli_rs",
        git=None,
        memory_mode=None,
        meta={},
        agents_md=None,
    )
    # What opens a session (its head, the environment) stands in the file already.
    first = next(
        i for i, record in enumerate(records_of_d(session)) if record["type"] == "event_msg"
    )
    records = [
        {**record, "ordinal": written + index}
        for index, record in enumerate(records_of_d(session)[first:])
    ]
    with path.open("ab") as file:
        file.write(b"".join(_lines(records, written_at)))
    _set_mtime(path, written_at)


def moment(when: datetime) -> str:
    """A time as Codex writes it: UTC, milliseconds, ``Z``."""
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1_000:03d}Z"


def _content(
    session: Session, generation: Generation, written_at: datetime, extra: Sequence[bytes]
) -> bytes:
    records = RECORDS_OF[generation](session)
    if generation == "A":
        head, *items = records
        document = {"session": head, "items": items}
        return json.dumps(document, ensure_ascii=False, indent=2).encode()
    lines = _lines(records, None if generation == "B" else written_at)
    return b"".join(lines) + b"\n".join(extra)


def _lines(records: Sequence[dict[str, Any]], written_at: datetime | None) -> list[bytes]:
    lines = []
    for index, record in enumerate(records):
        if written_at is not None:
            at = moment(written_at - timedelta(seconds=len(records) - 1 - index))
            record = {"timestamp": at, **record}
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate becomes its JSON escape, as Codex writes it.
        lines.append(text.encode("utf-8", "backslashreplace") + b"\n")
    return lines


def _path(home: Path, session: Session, placing: Placing, generation: Generation) -> Path:
    begun_at = placing.now - timedelta(seconds=placing.idle_seconds) - _LENGTH
    stem, dated = (
        f"rollout-{begun_at:%Y-%m-%dT%H-%M-%S}-{session.thread_id}.jsonl",
        f"{begun_at:%Y/%m/%d}",
    )
    if generation == "A":
        stem, dated = f"rollout-{begun_at:%Y-%m-%d}-{session.thread_id}.json", ""
    name = placing.file_name or stem + (".zst" if placing.is_compressed else "")
    if placing.is_archived:
        return home / "archived_sessions" / name
    folder = dated if placing.dated_folder is None else placing.dated_folder
    return home / "sessions" / folder / name


def _write(path: Path, content: bytes, placing: Placing) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress(content) if placing.is_compressed else content)
    _set_mtime(path, placing.now - timedelta(seconds=placing.idle_seconds))
    return path


def _set_mtime(path: Path, when: datetime) -> None:
    nanoseconds = int(when.timestamp() * 1_000) * 1_000_000
    os.utime(path, ns=(nanoseconds, nanoseconds))
