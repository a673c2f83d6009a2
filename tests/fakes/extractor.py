"""An extractor that remembers the first words it sees, and nothing of a chat."""

from collections.abc import Callable

from automemory_dagster.domain.spend import Work
from automemory_dagster.domain.stage1 import ExtractedMemory, Extraction, NoOutput
from automemory_dagster.domain.transcript import Transcript


class FakeExtractor:
    """``before`` runs inside each extraction, to make things happen meanwhile."""

    version = "fake/1"

    def __init__(self, before: Callable[[Transcript], None] | None = None) -> None:
        self._before = before or (lambda transcript: None)

    def extract(self, transcript: Transcript, work: Work) -> Extraction:
        self._before(transcript)
        words = transcript.rows[0].text if transcript.rows else ""
        if not words or words.startswith("hello"):
            return Extraction(answer=NoOutput())
        return Extraction(
            answer=ExtractedMemory(
                raw_memory=f"remember: {words}",
                rollout_summary=f"summary: {words}",
                rollout_slug="s",
            )
        )
