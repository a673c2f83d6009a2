"""The thirty input conditions of public bug reports, a test each.

Source: ``rollout-format``, section 5; the number in a name is the row of its table.
"""

import json
import random
import resource
from pathlib import Path

import pytest
import zstandard

from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.thread import MemoryMode
from tests.adapters.sources.codex.rollout_files import (
    OWN,
    PARENT,
    Home,
    agent,
    at,
    call,
    completed,
    context,
    event,
    everything,
    finals,
    human,
    jsonl,
    line,
    meta,
    output,
    outputs,
    said,
    user,
    user_parts,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_01_compacted_records_that_repeat_inline_images_are_passed_over(home: Home) -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" * 200_000
    parts = [{"type": "input_image", "image_url": image}]
    old = {
        "type": "message",
        "role": "user",
        "content": [*parts, {"type": "input_text", "text": "Old."}],
    }
    compacted = at(3, "compacted", {"message": "", "replacement_history": [old] * 3})

    reading = home.reading(
        meta(), user("Draw it."), compacted, compacted, user("Thanks.", second=9)
    )

    assert human(reading) == ["Draw it.", "Thanks."]
    assert reading.report.dropped_lines["compacted"] == 2


def test_02_a_file_is_streamed_and_not_loaded_whole(home: Home) -> None:
    rows = [meta()]
    for number in range(3000):
        rows += [call(f"c{number}", "make"), output(f"c{number}", f"{number} " * 3000)]
    path = home.write(jsonl(*rows, user("Stop.", second=9)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    reading = home.read(path)

    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert path.stat().st_size > 40 << 20
    assert grown_kb < 60 << 10
    assert human(reading) == ["Stop."]


def test_03_a_huge_file_does_not_exceed_a_cap_and_stop_the_run(home: Home) -> None:
    filler = output("c", "x y " * 200_000)
    path = home.write(jsonl(meta(), *([filler] * 3), user("Still here.", second=9)))

    assert human(home.read(path)) == ["Still here."]


def test_04_a_large_session_is_not_dropped_silently(home: Home) -> None:
    rows = [meta(), user("First.")]
    rows += [output(f"c{number}", "word " * 4000) for number in range(1000)]

    reading = home.reading(*rows)

    assert human(reading) == ["First."]
    assert reading.report.dropped_lines["no_room"] > 0


def test_05_a_line_over_the_bound_loses_itself_only(home: Home) -> None:
    long = output("c", "word " * 3_000_000)

    reading = home.reading(meta(), user("Before."), long, user("After.", second=9))

    assert human(reading) == ["Before.", "After."]
    assert reading.report.dropped_lines["oversized"] == 1
    assert reading.report.malformed_lines == 1


def test_06_a_record_written_in_part_and_then_in_full_is_read_once(home: Home) -> None:
    whole = line(user("Rename the table."))
    next_line = home.read(home.write(jsonl(meta()) + whole[:90] + b"\n" + whole + b"\n"))
    same_line = home.read(home.write(jsonl(meta()) + whole[:90] + whole + b"\n"))

    for reading in (next_line, same_line):
        assert human(reading) == ["Rename the table."]
        assert reading.report.malformed_lines == 1


def test_06_a_broken_first_line_does_not_hide_the_session(home: Home) -> None:
    path = home.write(line(meta())[:50] + b"\n" + jsonl(meta(memory_mode="disabled"), user("Hi.")))

    reading = home.read(path)

    assert human(reading) == ["Hi."]
    assert reading.memory_mode is MemoryMode.DISABLED


def test_07_records_joined_on_one_line_are_each_read(home: Home) -> None:
    joined = line(user("One.")) + line(agent("Two.")) + line(user("Three.", second=5))
    torn = line(agent("Lost here."))[:70] + line(user("Four.", second=6))
    path = home.write(jsonl(meta()) + joined + b"\n" + torn + b"\n")

    reading = home.read(path)

    assert human(reading) == ["One.", "Three.", "Four."]
    assert said(reading) == ["Two."]
    assert reading.report.malformed_lines == 1


def test_07_a_torn_bare_record_is_told_from_what_is_nested_in_it(home: Home) -> None:
    first = line(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A"}]}
    )
    second = first.replace(b'"A"', b'"B"')
    head = line({"id": OWN, "timestamp": "2025-07-01T12:00:00Z", "instructions": None})

    reading = home.read(home.write(head + b"\n" + first[:-4] + second + b"\n"))

    assert human(reading) == ["B"]
    assert reading.report.malformed_lines == 1


def test_08_a_malformed_line_in_the_middle_does_not_end_the_reading(home: Home) -> None:
    path = home.write(
        jsonl(meta(), user("One.")) + b"{]\nnot json\n[1]\n" + jsonl(user("Two.", second=5))
    )

    reading = home.read(path)

    assert human(reading) == ["One.", "Two."]
    assert reading.report.malformed_lines == 3


def test_09_runs_of_nul_in_the_middle_and_at_the_end_are_passed_over(home: Home) -> None:
    nul = b"\x00" * 3772
    path = home.write(
        jsonl(meta()) + nul + jsonl(user("One.")) + nul + b"\n" + jsonl(agent("Two.")) + nul
    )

    reading = home.read(path)

    assert (human(reading), said(reading)) == (["One."], ["Two."])
    assert reading.report.dropped_lines["blank"] == 2


def test_10_raw_line_separators_inside_a_string_end_no_line(home: Home) -> None:
    text = "one\u2028two\u2029three\u0085four"

    reading = home.reading(meta(), user(text))

    assert human(reading) == [text]


def test_11_lone_surrogates_are_cleaned_so_that_every_text_can_be_encoded(home: Home) -> None:
    escaped = line(user("ok")).replace(b'"ok"', rb'"half \ud83d end \u0000."')
    shell = line(output("c", "ok")).replace(b'"ok"', rb'"\udc00 out"')

    reading = home.read(
        home.write(jsonl(meta(), call("c", "ls")) + escaped + b"\n" + shell + b"\n")
    )

    assert human(reading) == ["half \ufffd end ."]
    assert [each.text for each in outputs(reading)] == ["\ufffd out"]
    everything(reading).encode("utf-8")


def test_12_generations_a_and_b_are_read_like_the_new_ones(home: Home) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Old."}]}
    session = {"timestamp": "2025-05-01T12:00:00Z", "id": OWN, "instructions": ""}
    a = json.dumps({"session": session, "items": [item]}, indent=2).encode()
    b = jsonl({**session}, item, {"record_type": "state"})

    reading_a = home.read(home.write(a, suffix=".json"))
    reading_b = home.read(home.write(b))

    assert human(reading_a) == human(reading_b) == ["Old."]
    assert not reading_a.report.malformed_lines
    assert not reading_b.report.unknown_types


def test_13_a_compressed_rollout_is_read_and_its_plain_twin_not_twice(home: Home) -> None:
    data = jsonl(meta(), user("Compressed."))
    packed = home.write(zstandard.compress(data), suffix=".jsonl.zst")
    alone = home.read(packed)
    plain = home.write(data)

    both = home.read(packed, plain)

    assert human(alone) == human(both) == ["Compressed."]


def test_13_a_rollout_that_was_compressed_after_it_was_listed_is_found(home: Home) -> None:
    data = jsonl(meta(), user("Compressed."))
    listed = home.write(data)
    listed.unlink()
    home.write(zstandard.compress(data), suffix=".jsonl.zst")

    assert human(home.read(listed)) == ["Compressed."]


def test_13_a_compressed_file_that_breaks_off_gives_what_came_before(home: Home) -> None:
    rows = [
        user(f"Line {number}: {random.random()}", second=number % 60) for number in range(20_000)
    ]
    packed = zstandard.compress(jsonl(meta(), *rows))

    reading = home.read(home.write(packed[: len(packed) // 2], suffix=".jsonl.zst"))

    assert len(human(reading)) > 1000
    assert reading.report.malformed_lines == 1


def test_14_a_thread_in_two_files_joins_where_history_base_says(home: Home) -> None:
    old = [meta(), user("Kept."), agent("Kept too."), user("Undone.", second=5)]
    base = {"thread_id": OWN, "end_ordinal_exclusive": 3, "end_byte_offset": 0}
    first = home.write(jsonl(*[{**row, "ordinal": n} for n, row in enumerate(old)]))
    page = home.write(
        jsonl({**meta(history_base=base), "ordinal": 3}, {**user("New.", second=9), "ordinal": 4}),
        thread=f"{OWN}_019d0000-0000-7000-8000-0000000000ff",
        day=2,
    )

    given_both = home.read(first, page)
    given_the_page = home.read(page)

    for reading in (given_both, given_the_page):
        assert human(reading) == ["Kept.", "New."]
        assert reading.report.dropped_lines["rolled_back"] == 1


def test_14_history_base_by_bytes_alone_is_followed(home: Home) -> None:
    kept = jsonl(meta(), user("Kept."))
    base = {"thread_id": OWN, "end_byte_offset": len(kept)}
    first = home.write(kept + jsonl(user("Undone.", second=5)))
    second = home.write(jsonl(meta(history_base=base), user("New.", second=9)), day=2)

    assert human(home.read(first, second)) == ["Kept.", "New."]


def test_14_a_history_base_that_leads_back_to_itself_ends(home: Home) -> None:
    base = {"thread_id": OWN, "end_ordinal_exclusive": 5}
    first = home.write(jsonl(meta(history_base=base), user("One.")))
    second = home.write(jsonl(meta(history_base=base), user("Two.", second=5)), day=2)

    assert human(home.read(first, second)) == ["One.", "Two."]


def test_15_a_duplicate_ordinal_at_a_resume_stops_nothing(home: Home) -> None:
    rows = [meta(), user("One."), user("Two.", second=3), user("Three.", second=4)]
    ordinals = [0, 1, 1, 2]

    reading = home.reading(*[{**row, "ordinal": n} for row, n in zip(rows, ordinals, strict=True)])

    assert human(reading) == ["One.", "Two.", "Three."]


def test_16_the_first_session_meta_names_the_thread_and_the_second_its_parent(home: Home) -> None:
    reading = home.reading(
        meta(forked_from_id=PARENT),
        meta(PARENT, memory_mode="disabled"),
        user("Parent's.", second=0.1),
        agent("Parent's answer.", second=0.2),
        user("Own.", second=60),
    )

    assert human(reading) == ["Own."]
    assert said(reading) == []
    assert reading.memory_mode is MemoryMode.ENABLED
    assert reading.items[0].turn == 1


@pytest.mark.parametrize("clock", ["restamped", "old_times", "turn_ids"])
def test_17_a_child_that_replays_its_parent_counts_its_own_turns_only(
    home: Home, clock: str
) -> None:
    second = {"restamped": 0.001, "old_times": -3000.0, "turn_ids": 5.0}[clock]
    copied = [
        user("Parent's.", second=abs(second)),
        call("p1", "curl https://example.com/x", second=abs(second)),
        output("p1", "out", second=abs(second)),
        agent("Parent's answer.", second=abs(second)),
    ]
    own = [user("Own.", second=40), agent("Own answer.", second=50)]
    if clock == "old_times":
        for row in copied:
            row["timestamp"] = "2026-11-30T09:00:00.000Z"
    if clock == "turn_ids":
        for rows, turn in (
            (copied, "019c0000-0000-7000-8000-0000000000aa"),
            (own, OWN[:9] + "0001" + OWN[13:]),
        ):
            for row in rows:
                row["payload"]["internal_chat_message_metadata_passthrough"] = {"turn_id": turn}

    reading = home.reading(meta(forked_from_id=PARENT), meta(PARENT), *copied, *own)

    assert (human(reading), said(reading)) == (["Own."], ["Own answer."])
    assert reading.report.external_context == {}
    assert reading.report.dropped_lines["copied_history"] >= 4


def test_17_exact_duplicate_rows_count_once(home: Home) -> None:
    row = user("Once.")

    reading = home.reading(meta(), row, row, agent("Answer."), row)

    assert human(reading) == ["Once."]
    assert reading.report.dropped_lines["duplicate"] == 2


def test_17_a_sub_agent_that_names_where_its_own_history_starts(home: Home) -> None:
    rows = [
        meta(forked_from_id=PARENT, subagent_history_start_ordinal=3),
        user("Parent's.", second=30),
        agent("Parent's answer.", second=40),
        user("Own.", second=50),
    ]

    reading = home.reading(*[{**row, "ordinal": n} for n, row in enumerate(rows)])

    assert human(reading) == ["Own."]


def test_18_a_fork_whose_parent_is_missing_or_empty_is_read(home: Home) -> None:
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 54, "end_byte_offset": 999}

    lonely = home.reading(meta(forked_from_id=PARENT, history_base=base), user("Own."))
    of_empty = home.reading(meta(forked_from_id=PARENT), user("Own."), agent("Yes.", second=30))

    assert human(lonely) == human(of_empty) == ["Own."]


@pytest.mark.parametrize("order", ["event_last", "event_first"])
def test_19_the_same_words_in_two_streams_count_once(home: Home, order: str) -> None:
    user_item = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "Go on."}]}
    agent_item = {"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "Done."}]}
    pairs = [
        [user("Go on."), event("user_message", message="Go on.\n")],
        [agent("Done."), event("agent_message", message="Done.")],
        [user("Go on.", second=5), completed(user_item)],
        [agent("Done.", second=6, id="m"), completed(agent_item)],
    ]
    rows = [row for pair in pairs for row in (pair if order == "event_last" else pair[::-1])]

    reading = home.reading(meta(), *rows)

    assert (human(reading), finals(reading)) == (["Go on."] * 2, ["Done."] * 2)
    assert reading.report.dropped_lines["duplicate"] == 4


def test_19_what_only_one_stream_tells_is_not_lost(home: Home) -> None:
    reading = home.reading(
        meta(),
        user("In items only."),
        event("user_message", message="In events only.", second=5),
        event("agent_message", message="Answer in events.", second=6),
        agent("Answer in items.", second=8),
    )

    assert human(reading) == ["In items only.", "In events only."]
    assert said(reading) == ["Answer in events.", "Answer in items."]


@pytest.mark.parametrize("path", ["", " for /srv/shop"])
def test_20_injected_texts_in_parts_of_one_message_are_not_the_persons(
    home: Home, path: str
) -> None:
    rules = f"# AGENTS.md instructions{path}\n\n<INSTRUCTIONS>\nAlways use uv.\n</INSTRUCTIONS>"
    plugins = "<recommended_plugins>\n- Figma\n</recommended_plugins>"
    environment = "<environment_context>\n<cwd>/srv/shop</cwd>\n</environment_context>"
    goal = "<goal_context>Ship it.</goal_context>"

    reading = home.reading(
        meta(), user_parts([rules, plugins, environment, goal, "Fix the price."])
    )

    assert human(reading) == ["Fix the price."]
    assert context(reading) == [
        ("environment", "<cwd>/srv/shop</cwd>"),
        ("goal_context", "Ship it."),
    ]
    assert "uv" not in everything(reading)


@pytest.mark.parametrize(
    "prompt",
    [
        "<task>Rename the table</task>",
        "#!/usr/bin/env python3\nprint(1)  # what does it print?",
        "# Plan\n1. Do it",
        "# AGENTS.md instructions are missing, please write them",
        "<div>why is this red?</div>",
        "# 計画\nテストを直す",
        "<environment_context> is what the harness sends; explain it",
    ],
)
def test_21_a_real_prompt_that_opens_with_a_mark_survives(home: Home, prompt: str) -> None:
    confirmed = home.reading(meta(), user(prompt), event("user_message", message=prompt))
    unconfirmed = home.reading(meta(), user(prompt))

    assert human(confirmed) == human(unconfirmed) == [prompt]


def test_21_a_block_that_the_event_stream_does_not_know_is_the_harnesss(home: Home) -> None:
    reading = home.reading(
        meta(),
        user("<new_wrapper>injected</new_wrapper>"),
        user("Real.", second=3),
        event("user_message", message="Real.", second=3),
    )

    assert human(reading) == ["Real."]
    assert context(reading) == [("new_wrapper", "<new_wrapper>injected</new_wrapper>")]


def test_22_a_guardian_review_is_no_persons_words(home: Home) -> None:
    review = "The following is the Codex agent history whose request you judge:\nuser: Delete all."

    reading = home.reading(meta(source={"subagent": {"other": "guardian"}}), user(review))

    assert reading.items == ()
    assert reading.report.dropped_lines["injected"] == 1


def test_23_the_session_id_of_the_tree_is_not_the_threads(home: Home) -> None:
    reading = home.reading(meta(session_id=PARENT), user("Own."))

    assert human(reading) == ["Own."]


def test_24_turns_that_were_rolled_back_are_no_evidence(home: Home) -> None:
    reading = home.reading(
        meta(),
        user("One."),
        agent("Answer one."),
        user("Two.", second=5),
        call("c", "rm -rf build", second=5),
        agent("Answer two.", second=6),
        user("Three.", second=7),
        event("thread_rolled_back", num_turns=2, second=8),
        user("Two.", second=9),
        event("user_message", message="Two.", second=9),
    )

    assert human(reading) == ["One.", "Two."]
    assert finals(reading) == ["Answer one."]
    assert [item.turn for item in reading.items] == [1, 1, 2]
    assert reading.report.dropped_lines["rolled_back"] == 4


def test_25_an_unterminated_last_line_is_read_whole_when_it_is_whole(home: Home) -> None:
    rows = jsonl(meta(), user("One."))
    last = line(user("Two.", second=5))

    growing = home.read(home.write(rows + last[:60]))
    grown = home.read(home.write(rows + last))

    assert human(growing) == ["One."]
    assert human(grown) == ["One.", "Two."]


def test_26_a_rewound_and_regrown_file_is_read_as_it_is_now(home: Home) -> None:
    home.read(home.write(jsonl(meta(), user("Gone."))))

    reading = home.read(
        home.write(jsonl(meta(), user("Now."), agent("A longer file than before.")))
    )

    assert human(reading) == ["Now."]


def test_27_a_missing_file_is_an_error_with_one_sentence(home: Home) -> None:
    with pytest.raises(RolloutUnreadable, match=r"^the rollout is gone: rollout-x\.jsonl$"):
        home.read(home.path / "rollout-x.jsonl")


def test_27_a_rollout_whose_first_line_is_no_session_meta_is_read(home: Home) -> None:
    reading = home.reading(user("Early."), meta(), user("Later.", second=5))

    assert human(reading) == ["Early.", "Later."]


def test_28_history_copied_by_a_resume_counts_once(home: Home) -> None:
    first = [user("One."), call("c1", "make"), output("c1", "ok"), agent("Done.", id="m1")]
    older = home.write(jsonl(meta(), *first))
    newer = home.write(jsonl(meta(second=0.5), *first, user("Two.", second=60)), day=2)

    reading = home.read(older, newer)

    assert human(reading) == ["One.", "Two."]
    assert (said(reading), len(outputs(reading))) == (["Done."], 1)


def test_29_numeric_timestamps_are_read(home: Home) -> None:
    rows = [meta(), user("One."), agent("Two.")]
    for number, row in enumerate(rows):
        row["timestamp"] = 1_796_126_400_000 + number

    reading = home.reading(*rows)

    assert (human(reading), said(reading)) == (["One."], ["Two."])


def test_30_the_output_of_codex_exec_is_no_rollout(home: Home) -> None:
    path = home.write(
        jsonl(
            {"type": "thread.started", "thread_id": OWN},
            {"type": "item.completed", "item": {"type": "agent_message", "text": "Hi."}},
        )
    )

    with pytest.raises(RolloutUnreadable, match=r"is a rollout record; it holds item\.completed"):
        home.read(path)


def test_30_plain_text_reasoning_of_other_providers_is_no_evidence(home: Home) -> None:
    content = [{"type": "reasoning_text", "text": "SECRET THOUGHT"}]
    thought = at(2, "response_item", {"type": "reasoning", "summary": [], "content": content})

    reading = home.reading(meta(), user("One."), thought, agent("Two."))

    assert "THOUGHT" not in everything(reading)
    assert reading.report.dropped_lines["reasoning"] == 1
