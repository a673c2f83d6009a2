"""For any rollout: no crash, the account adds up, order is kept, skipping changes nothing."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.sources.codex.holding import Holding
from automemory_dagster.adapters.sources.codex.lines import LineStream, without_long_runs
from automemory_dagster.adapters.sources.codex.plumbing import (
    COMPLETED,
    EVENTS,
    ITEMS,
    KINDS,
    reason_by_first_bytes,
    reason_of,
)
from automemory_dagster.adapters.sources.codex.records import parse_line, records_of
from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.rollout import HarnessContext, HumanRequest, ToolOutput
from tests.adapters.sources.codex.rollout_files import (
    Home,
    agent,
    call,
    event,
    human,
    jsonl,
    line,
    meta,
    output,
    user,
)

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
kinds = st.sampled_from([*KINDS, *EVENTS, *ITEMS, *COMPLETED, "message", "user_message", "new"])
tops = st.sampled_from([*KINDS, "event_msg", "response_item", "session_meta", "new"])
records = st.builds(
    lambda top, kind, more, time: {
        "timestamp": time,
        "type": top,
        "payload": {"type": kind, **{key: value for key, value in more.items() if key != "type"}},
    },
    tops,
    kinds,
    st.dictionaries(words, json_values, max_size=4),
    st.sampled_from(["2026-12-01T12:00:00.000Z", 1_796_126_400, "", 'a"b']),
)
sessions = st.lists(
    st.one_of(
        records,
        words.map(user),
        words.map(agent),
        words.map(lambda text: call(text, "make")),
        words.map(lambda text: output(text, text)),
        st.integers(0, 4).map(lambda turns: event("thread_rolled_back", num_turns=turns)),
    ),
    max_size=14,
)


def written(record: dict[str, Any], order: list[str], separators: tuple[str, str]) -> bytes:
    keys = sorted(record, key=lambda key: order.index(key) if key in order else 9)
    text = json.dumps({key: record[key] for key in keys}, separators=separators)
    return text.encode()


@given(
    records,
    st.permutations(["timestamp", "ordinal", "type", "payload"]),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
@settings(max_examples=400)
def test_a_line_skipped_by_its_first_bytes_is_skipped_for_the_same_reason_when_parsed(
    record: dict[str, Any], order: list[str], separators: tuple[str, str], ordinal: int | None
) -> None:
    if ordinal is not None:
        record = {**record, "ordinal": ordinal}
    data = written(record, order, separators)

    skipped = reason_by_first_bytes(data)

    (parsed,) = records_of(parse_line(data).objects[0])
    if skipped is not None:
        assert reason_of(parsed.kind, parsed.payload) == skipped


@given(records, records, st.integers(1, 400))
def test_a_line_that_is_torn_or_holds_two_records_is_never_skipped(
    first: dict[str, Any], second: dict[str, Any], cut: int
) -> None:
    whole = line(first)

    assert reason_by_first_bytes(whole + line(second)) is None
    assert reason_by_first_bytes(whole[: -min(cut, len(whole) - 1)] + line(second)) is None


@given(sessions, st.binary(max_size=60), st.integers(0, 3000))
@settings(max_examples=150, deadline=None)
def test_any_file_is_read_or_refused_and_the_account_adds_up(
    session: list[dict[str, Any]], noise: bytes, place: int
) -> None:
    data = jsonl(meta(), *session)
    place = min(place, len(data))

    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        path = home.write(data[:place] + noise + data[place:])
        try:
            home.read(path)
        except RolloutUnreadable:
            assert place < len(line(meta()))


@given(sessions, st.data())
@settings(max_examples=60, deadline=None)
def test_reading_after_any_append_equals_reading_the_grown_file_at_once(
    session: list[dict[str, Any]], data: st.DataObject
) -> None:
    rows = [meta(), user("Begin."), *session]
    cut = data.draw(st.integers(1, len(rows)))

    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        path = home.write(jsonl(*rows[:cut]))
        home.read(path)
        with path.open("ab") as file:
            file.write(jsonl(*rows[cut:]))
        grown = home.read(path)
        at_once = home.reading(*rows)

    assert grown == at_once


@given(st.lists(st.tuples(st.sampled_from("hto"), st.integers(0, 3000)), max_size=60))
def test_persons_words_are_the_last_to_be_pushed_out(made: list[tuple[str, int]]) -> None:
    holding = Holding(max_bytes=20_000)
    spoken: list[str] = []
    for position, (kind, size) in enumerate(made, start=1):
        before = _words_held(holding)
        text = f"{position}:{'x' * size}"
        holding.begin_line(position)
        if kind == "h":
            spoken.append(text)
            holding.add(HumanRequest(text=text))
        elif kind == "t":
            holding.add(ToolOutput(call_id="c", text=text))
        else:
            holding.add(HarnessContext(label="l", text=text))
        holding.end_line("plumbing")

        words = _words_held(holding)
        assert words == spoken[len(spoken) - len(words) :]
        if len(words) < len(before) + (kind == "h"):
            assert len(words) == len(holding.items())
    assert holding.lines_kept + sum(holding.dropped.values()) == holding.lines_read


def _words_held(holding: Holding) -> list[str]:
    return [item.body.text for item in holding.items() if isinstance(item.body, HumanRequest)]


@given(st.binary(max_size=300), st.integers(4200, 9000), st.binary(max_size=300))
def test_long_base64_runs_are_cut_and_the_rest_stays(
    before: bytes, size: int, after: bytes
) -> None:
    run = (b"iVBORw0KGgoAAAANSUhEUgAA" * 400)[:size]

    cleaned = without_long_runs(before + b'"' + run + b'"' + after)

    assert cleaned == before + b'"[base64 omitted]"' + after


@given(st.lists(st.binary(max_size=90).map(lambda row: row.replace(b"\n", b" ")), max_size=40))
@settings(deadline=None)
def test_lines_end_at_line_feeds_only(rows: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout.jsonl"
        path.write_bytes(b"".join(row + b"\n" for row in rows))
        stream = LineStream(path)

        lines = list(stream)

    assert len(lines) == len(rows)
    assert stream.bytes_read == sum(len(row) + 1 for row in rows)


def test_a_line_of_300_mb_of_image_keeps_its_words(tmp_path: Path) -> None:
    image = b"iVBORw0KGgoAAAANSUhEUgAA" * 40_000
    start, end = line(user("Look.")).split(b'{"type":"input_text"')
    home = Home(tmp_path)
    path = home.write(jsonl(meta()))
    with path.open("ab") as file:
        file.write(start + b'{"type":"input_image","image_url":"data:image/png;base64,')
        for _ in range(320):
            file.write(image)
        file.write(b'"},{"type":"input_text"' + end + b"\n" + jsonl(user("And this.", second=5)))

    reading = home.read(path)

    assert path.stat().st_size > 300_000_000
    assert human(reading) == ["Look.", "And this."]
    path.unlink()
