"""Files that end before their data do, and lines that only look whole."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.sources.codex.plumbing import (
    EVENTS,
    ITEMS,
    KINDS,
    reason_by_first_bytes,
    reason_of,
)
from automemory_dagster.adapters.sources.codex.records import parse_line, record_of
from tests.adapters.sources.codex.rollout_files import Home, at, human, jsonl, line, meta, user

SPOKEN = jsonl(meta(), *[user(f"Line {n}: {random.random()}", second=n % 60) for n in range(300)])


def packed_without_end(data: bytes) -> bytes:
    """Compressed blocks that hold the data, of a frame that never ends."""
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


@pytest.mark.parametrize(("cut", "told"), [(0, 300), (20, 299)])
def test_a_compressed_file_that_ends_early_is_counted_once_wherever_it_ends(
    tmp_path: Path, cut: int, told: int
) -> None:
    home = Home(tmp_path)
    data = SPOKEN[: len(SPOKEN) - cut]

    reading = home.read(home.write(packed_without_end(data), suffix=".jsonl.zst"))

    assert len(human(reading)) == told
    assert reading.report.malformed_lines == 1


def test_frames_one_after_another_and_one_that_ends_early(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = zstandard.compress(jsonl(meta(), user("First.")))
    rest = jsonl(user("Second.", second=2))

    whole = home.read(home.write(first + zstandard.compress(rest), suffix=".jsonl.zst"))
    torn = home.read(home.write(first + packed_without_end(rest), suffix=".jsonl.zst"))

    assert human(whole) == human(torn) == ["First.", "Second."]
    assert (whole.report.malformed_lines, torn.report.malformed_lines) == (0, 1)


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=30) | st.sampled_from(
    ["}", "{", "}}", '{"timestamp":"', '"}}', '","type":"message']
)
plumbing_records = st.one_of(
    st.builds(lambda kind, text: at(1, kind, {"text": text}), st.sampled_from([*KINDS]), words),
    st.builds(
        lambda kind, text: at(1, "event_msg", {"type": kind, "text": text}),
        st.sampled_from([*EVENTS]),
        words,
    ),
    st.builds(
        lambda kind, text: at(1, "response_item", {"type": kind, "deep": {"text": text}}),
        st.sampled_from([*ITEMS]),
        words,
    ),
)


@given(plumbing_records, st.sampled_from([(",", ":"), (", ", ": ")]), st.booleans())
@settings(max_examples=300)
def test_a_skipped_line_holds_one_whole_record_of_plumbing(
    record: dict[str, Any], separators: tuple[str, str], is_turned: bool
) -> None:
    if is_turned:
        record = dict(reversed(record.items()))
    data = json.dumps(record, separators=separators).encode()

    skipped = reason_by_first_bytes(data)

    parsed = record_of(parse_line(data).objects[0])
    assert parsed is not None
    assert skipped in (None, reason_of(parsed.kind, parsed.payload))


@given(plumbing_records, st.integers(1, 400))
@settings(max_examples=300)
def test_a_record_behind_a_torn_one_is_never_skipped_with_it(
    record: dict[str, Any], cut: int
) -> None:
    whole = line(record)

    torn = whole[: -min(cut, len(whole) - 1)]

    assert reason_by_first_bytes(torn + line(user("Said."))) is None


@given(plumbing_records, st.booleans())
@settings(max_examples=300)
def test_a_record_behind_a_whole_one_is_never_skipped_with_it(
    record: dict[str, Any], is_turned: bool
) -> None:
    second = user("Said.")
    if is_turned:
        second = dict(reversed(second.items()))

    assert reason_by_first_bytes(line(record) + line(second)) is None


def test_a_plain_line_of_plumbing_is_skipped_unread() -> None:
    flat = line(at(1, "response_item", {"type": "reasoning", "encrypted_content": "abc"}))
    deep = line(at(1, "event_msg", {"type": "token_count", "info": {"total": {"tokens": 1}}}))
    other = line(at(1, "turn_context", {"cwd": "/srv"}))

    assert [reason_by_first_bytes(each) for each in (flat, deep, other)] == [
        "reasoning",
        "plumbing",
        "plumbing",
    ]
    assert [reason_by_first_bytes(each[:-1]) for each in (flat, deep, other)] == [None] * 3
