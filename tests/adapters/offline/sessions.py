"""The recorded sessions under ``tests/data/rollouts`` as transcripts.

They were written by real versions of the Codex CLI in invented repositories.
"""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from automemory_dagster.adapters.offline.extractor import OfflineExtractor
from automemory_dagster.adapters.secrets import redact
from automemory_dagster.adapters.sources.codex.reader import read_rollout
from automemory_dagster.domain.rollout import HumanRequest
from automemory_dagster.domain.stage1 import ParsedAnswer
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import Transcript
from automemory_dagster.pipeline.transcript import build_transcript

HOME = Path(__file__).parents[2] / "data" / "rollouts"
_NO_STAMP = RolloutStamp(size_bytes=0, mtime_ns=0, prefix_sha256="")


def transcript_of(started: str, project: str) -> Transcript:
    """The transcript of the session whose file name holds this start time."""
    path = next(HOME.rglob(f"*{started}*"))
    thread_id = ThreadId(path.name.split(".")[0][-36:])
    reading = read_rollout([path], thread_id=thread_id, home=HOME)
    words = (item.body.text for item in reading.items if isinstance(item.body, HumanRequest))
    thread = Thread(
        thread_id=thread_id,
        source="codex",
        space_id=SpaceId("codex:test"),
        rollout_path=str(path),
        stamp=_NO_STAMP,
        source_updated_at=datetime(2026, 11, 20, 10, 0, tzinfo=UTC),
        cwd=f"/home/dev/projects/{project}",
        branch="main",
        title=next(words, "").split("\n", 1)[0][:120],
    )
    return build_transcript(reading, thread, redact=redact, budget_tokens=150_000)


@cache
def answer_of(started: str, project: str) -> ParsedAnswer:
    """What the offline extractor says of that session."""
    return OfflineExtractor().answer(transcript_of(started, project))
