"""What is kept of one session that holds every kind of item, against what Codex keeps of it.

``CODEX`` is what Codex 0.171 was seen to keep, with its second pipeline and a scripted model, and
under which label. ``DIFFERENT`` names each marker that we treat otherwise, and why; it says the
same as the table in ``docs/evidence.md``.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.rollout import Reading
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import RowKind, TranscriptRow
from automemory_dagster.pipeline.transcript import build_transcript
from tests.adapters.sources.codex.every_item import SESSION
from tests.adapters.sources.codex.rollout_files import OWN, Home

HUMAN, FINAL, COMMENTARY = "human user", "assistant final", "assistant commentary"
CONTEXT, OTHER, TOOL = "harness context", "other agent", "tool"
DROPPED = ""

CODEX = {
    "MK_BASE_INSTRUCTIONS": DROPPED,
    "MK_DEVELOPER": DROPPED,
    "MK_SYSTEM_ROLE": FINAL,
    "MK_AGENTS_OLD": DROPPED,
    "MK_AGENTS_NEW": DROPPED,
    "MK_USER_INSTRUCTIONS": HUMAN,
    "MK_ENVCTX": CONTEXT,
    "MK_SKILL": DROPPED,
    "MK_MIXED_AGENTS": DROPPED,
    "MK_MIXED_REST": HUMAN,
    "MK_SKILL_INLINE": HUMAN,
    "MK_TURN_ABORTED": HUMAN,
    "MK_USER_SHELL": HUMAN,
    "MK_SUBAGENT_NOTIF": OTHER,
    "MK_KIND_CONTEXT": CONTEXT,
    "MK_KIND_USER": HUMAN,
    "MK_KIND_MULTIAGENT": OTHER,
    "MK_USER": HUMAN,
    "MK_IMAGE_TEXT": HUMAN,
    "MK_IMAGE_URL": DROPPED,
    "MK_REASONING_SUMMARY": DROPPED,
    "MK_REASONING_CONTENT": DROPPED,
    "MK_REASONING_ENC": DROPPED,
    "MK_COMMENTARY": COMMENTARY,
    "MK_FC_ARGS": TOOL,
    "MK_FCO_JSON": TOOL,
    "MK_EXEC_ARGS": TOOL,
    "MK_FCO_LIST": TOOL,
    "MK_FCO_IMG": TOOL,
    "MK_CTC_INPUT": TOOL,
    "MK_CTCO": TOOL,
    "MK_LOCAL_SHELL": TOOL,
    "MK_LOCAL_SHELL_OUT": TOOL,
    "MK_WEB_SEARCH": TOOL,
    "MK_TOOL_SEARCH": TOOL,
    "MK_TOOL_SEARCH_OUT": TOOL,
    "MK_IMAGEGEN": DROPPED,
    "MK_GHOST": DROPPED,
    "MK_COMPACTION_ITEM": DROPPED,
    "MK_COMPACTION_SUMMARY_ITEM": DROPPED,
    "MK_CONTEXT_COMPACTION": DROPPED,
    "MK_AGENT_MESSAGE": OTHER,
    "MK_UNKNOWN_ITEM": DROPPED,
    "MK_IAC_CONTENT": OTHER,
    "MK_IAC_ENC": OTHER,
    "MK_COMPACTED_MESSAGE": DROPPED,
    "MK_COMPACTED_REPL": DROPPED,
    "MK_TURN_CONTEXT": DROPPED,
    "MK_EVENT_AGENT_MESSAGE": DROPPED,
    "MK_EVENT_REASONING": DROPPED,
    "MK_WORLD_STATE": DROPPED,
    "MK_RUI_QUESTION": TOOL,
    "MK_RUI_ANSWER": HUMAN,
    "MK_CITATION": FINAL,
    "MK_ASSISTANT_NOPHASE": FINAL,
    "MK_FINAL": FINAL,
    "MK_ROLLED_BACK_USER": HUMAN,
    "MK_ROLLED_BACK_ASSISTANT": FINAL,
    "MK_BEFORE_BROKEN": HUMAN,
    "MK_WEIRD": DROPPED,
    "MK_STRING_CONTENT": DROPPED,
    "MK_NO_TIMESTAMP": DROPPED,
    "MK_AFTER_BROKEN": HUMAN,
}
DIFFERENT = {
    "MK_SYSTEM_ROLE": (CONTEXT, "the agent did not say them"),
    "MK_USER_INSTRUCTIONS": (DROPPED, "rules in force are no news"),
    "MK_TURN_ABORTED": (CONTEXT, "nobody typed them as a request"),
    "MK_USER_SHELL": (CONTEXT, "nobody typed them as a request"),
    "MK_FCO_IMG": (DROPPED, "a model that reads text cannot see it"),
    "MK_TOOL_SEARCH_OUT": (DROPPED, "a list of tools is no evidence"),
    "MK_IAC_ENC": (DROPPED, "no one can read it"),
    "MK_EVENT_AGENT_MESSAGE": (FINAL, "neither stream is complete"),
    "MK_CITATION": (DROPPED, "no learning from own output"),
    "MK_ROLLED_BACK_USER": (DROPPED, "the person took them back"),
    "MK_ROLLED_BACK_ASSISTANT": (DROPPED, "the person took them back"),
    "MK_STRING_CONTENT": (HUMAN, "nothing in it is doubtful"),
    "MK_NO_TIMESTAMP": (HUMAN, "nothing in it is doubtful"),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[TranscriptRow, ...]:
    home = Home(tmp_path_factory.mktemp("home"))
    reading = home.read(home.write(SESSION))
    return _transcript_rows(reading, home.path)


def test_every_marker_stands_in_the_session() -> None:
    assert [mark for mark in CODEX if mark.encode() not in SESSION] == []


@pytest.mark.parametrize("marker", CODEX)
def test_a_marker_is_kept_under_its_label_or_dropped_as_codex_does_or_as_we_say(
    rows: tuple[TranscriptRow, ...], marker: str
) -> None:
    expected, _ = DIFFERENT.get(marker, (CODEX[marker], ""))

    assert _labels(rows, marker) == ({expected} if expected else set())


def test_only_what_really_differs_is_called_different() -> None:
    assert [mark for mark, (ours, _) in DIFFERENT.items() if CODEX[mark] == ours] == []


def test_the_answer_to_a_question_carries_the_question(rows: tuple[TranscriptRow, ...]) -> None:
    (answer,) = [row for row in rows if row.kind is RowKind.HUMAN and row.question]

    assert (answer.question, answer.text) == ("MK_RUI_QUESTION", "MK_RUI_ANSWER")


def test_the_docs_give_the_reason_for_each_difference() -> None:
    page = Path(__file__).parents[4] / "docs" / "evidence.md"
    table = (
        page.read_text(encoding="utf-8").partition("## Where we differ")[2].partition("\n## ")[0]
    )

    assert [reason for _, reason in DIFFERENT.values() if reason not in table] == []


def _transcript_rows(reading: Reading, home: Path) -> tuple[TranscriptRow, ...]:
    thread = Thread(
        thread_id=ThreadId(OWN),
        source="codex",
        space_id=SpaceId("codex:default"),
        rollout_path=str(home),
        stamp=RolloutStamp(size_bytes=0, mtime_ns=0, prefix_sha256=""),
        source_updated_at=datetime(2026, 12, 1, tzinfo=UTC),
    )
    return build_transcript(reading, thread, redact=RedactedText, budget_tokens=150_000).rows


def _labels(rows: tuple[TranscriptRow, ...], marker: str) -> set[str]:
    """Labels of the rows that say the marker as a whole word."""
    found: set[str] = set()
    for row in rows:
        words = "".join(each if each.isalnum() or each == "_" else " " for each in row.text)
        if marker in words.split():
            found.add("tool" if row.kind.value.startswith("tool ") else row.kind.value)
    return found
