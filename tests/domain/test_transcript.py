"""The transcript: tiers, the budget, order, redaction and the account."""

from datetime import UTC, datetime
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.secrets import find_secrets, redact
from automemory_dagster.domain.cut import MARK
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    ItemBody,
    OtherAgentMessage,
    Reading,
    ReadReport,
    RolloutItem,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.domain.transcript import RowKind, Transcript
from automemory_dagster.pipeline.transcript import build_transcript

THREAD = Thread(
    thread_id=ThreadId("019d0000-0000-7000-8000-000000000001"),
    source="codex",
    space_id=SpaceId("codex:default"),
    rollout_path="/srv/rollout.jsonl",
    stamp=RolloutStamp(size_bytes=1, mtime_ns=1, prefix_sha256=""),
    source_updated_at=datetime(2026, 12, 1, 12, 30, tzinfo=UTC),
    cwd="/srv/shop",
    title="Fix the price",
)


def transcript(*bodies: ItemBody, budget_tokens: int = 100_000) -> Transcript:
    items = tuple(
        RolloutItem(position=place, turn=1, body=body) for place, body in enumerate(bodies, start=1)
    )
    reading = Reading(items=items, report=ReadReport(lines_read=len(items), lines_kept=len(items)))
    return build_transcript(reading, THREAD, redact=redact, budget_tokens=budget_tokens)


def shell(call_id: str, command: str = "make test") -> ToolCall:
    return ToolCall(call_id=call_id, tool="shell", command=command, is_shell=True)


texts = st.text(max_size=400)
bodies = st.one_of(
    st.builds(HumanRequest, text=texts, question=texts),
    st.builds(AgentMessage, text=texts, is_final=st.booleans()),
    st.builds(OtherAgentMessage, author=texts, text=texts),
    st.builds(HarnessContext, label=st.sampled_from("ab"), text=texts),
    st.builds(ToolCall, call_id=st.sampled_from("xyz"), tool=texts, command=texts),
    st.builds(ToolOutput, call_id=st.sampled_from("xyz"), text=texts),
)


def test_every_kind_of_item_is_a_row_in_file_order() -> None:
    made = transcript(
        HumanRequest(text="Fix it."),
        AgentMessage(text="Looking.", is_final=False),
        shell("call_1"),
        ToolOutput(call_id="call_1", text="boom", exit_code=2),
        OtherAgentMessage(author="reviewer", text="Wrong line."),
        HarnessContext(label="environment", text="<cwd>/srv</cwd>"),
        AgentMessage(text="Done.", is_final=True),
    )

    assert [(row.kind, row.text) for row in made.rows] == [
        (RowKind.HUMAN, "Fix it."),
        (RowKind.COMMENTARY, "Looking."),
        (RowKind.TOOL_CALL, "make test"),
        (RowKind.TOOL_OUTPUT, "boom"),
        (RowKind.OTHER_AGENT, "Wrong line."),
        (RowKind.CONTEXT, "<cwd>/srv</cwd>"),
        (RowKind.FINAL, "Done."),
    ]
    assert len({row.kind for row in made.rows}) == len(get_args(ItemBody)) + 1
    assert made.rows[2].call_id == made.rows[3].call_id == "c1"
    assert (made.rows[3].exit_code, made.rows[4].author) == (2, "reviewer")
    assert made.updated_at == "2026-12-01T12:30:00+00:00"


def test_when_room_is_short_words_of_the_person_stay_and_the_oldest_tools_go() -> None:
    rounds = [
        [
            HumanRequest(text=f"Request {n}."),
            shell(f"c{n}"),
            ToolOutput(call_id=f"c{n}", text="log " * 400),
        ]
        for n in range(20)
    ]

    made = transcript(*[body for each in rounds for body in each], budget_tokens=4000)

    kinds = [row.kind for row in made.rows]
    assert kinds.count(RowKind.HUMAN) == 20
    assert 0 < kinds.count(RowKind.TOOL_OUTPUT) < 20
    assert kinds.count(RowKind.TOOL_CALL) == kinds.count(RowKind.TOOL_OUTPUT)
    assert kinds[-1] is RowKind.TOOL_OUTPUT
    assert kinds[:3] == [RowKind.HUMAN] * 3


def test_a_row_that_is_too_long_is_cut_in_the_middle_with_a_mark() -> None:
    made = transcript(HumanRequest(text="start " + "word " * 40_000 + "finish"))

    (row,) = made.rows
    found = MARK.search(row.text)
    assert found is not None
    assert (row.text[:6], row.text[-6:]) == ("start ", "finish")
    assert len(row.text) <= 32 << 10
    assert int(found[1]) + len(row.text) - len(found[0]) == 6 + 200_000 + 6
    assert made.report.rows_cut == 1


def test_secrets_are_redacted_before_a_cut_can_tear_them() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    padding = "x " * 2030

    made = transcript(
        HumanRequest(text=f"{padding}{token}{padding}", question=f"is {token} right?"),
        shell("c", f"curl -H 'Authorization: Bearer {token}' x"),
        ToolCall(call_id="p", tool="apply_patch", command="", changed_files=(f"/tmp/{token}",)),
        budget_tokens=3000,
    )

    assert "ghp_" not in repr(made.rows)
    assert len(made.rows) == 3


def test_a_context_told_again_in_the_same_words_is_kept_once() -> None:
    context = HarnessContext(label="environment", text="<cwd>/srv</cwd>")

    made = transcript(context, HumanRequest(text="Hi."), context)

    assert [row.position for row in made.rows] == [2, 3]
    assert made.report.rows_omitted == {"harness context": 1}


@given(st.lists(bodies, max_size=25), st.integers(0, 3000))
@settings(max_examples=150, deadline=None)
def test_any_budget_holds_order_is_kept_and_the_account_adds_up(
    made: list[ItemBody], budget: int
) -> None:
    result = transcript(*made, budget_tokens=budget)

    report = result.report
    assert not result.rows or report.estimated_tokens <= budget
    assert [row.position for row in result.rows] == sorted(row.position for row in result.rows)
    assert report.rows_kept + sum(report.rows_omitted.values()) == len(made)
    assert not any(find_secrets(row.text) for row in result.rows)


@given(st.lists(bodies, max_size=25), st.integers(200, 3000))
@settings(max_examples=100, deadline=None)
def test_words_of_the_person_are_the_last_to_go(made: list[ItemBody], budget: int) -> None:
    result = transcript(*made, budget_tokens=budget)

    if result.report.rows_omitted.get("human user"):
        assert {row.kind for row in result.rows} <= {RowKind.HUMAN}
