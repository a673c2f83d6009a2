"""What holds for every transcript: bounds, determinism, and that reading never fails."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.offline.extractor import (
    RAW_MEMORY_LIMIT_BYTES,
    SUMMARY_LIMIT_BYTES,
    OfflineExtractor,
)
from automemory_dagster.domain.raw_memory import parse_raw_memory, render_raw_memory
from automemory_dagster.domain.stage1 import ExtractedMemory
from automemory_dagster.domain.transcript import Transcript
from tests.adapters.offline.talk import Final, Note, Patched, Ran, Said, User, a_talk

PHRASES = (
    *("Always run `make`. ", "以后提交信息用中文。", "これからは短くお願いします。", "No! "),
    *("It broke ", "because `x_y` was null. ", "never ", "```\n", "- item\n", "| a | b |\n"),
    *("\n\n", "error: bad ", "exit=3\n", "👍 ", "a.b/c ", "“quoted” ", "[REDACTED:key] "),
)


def texts() -> st.SearchStrategy[str]:
    phrases = st.lists(st.sampled_from(PHRASES), max_size=8).map("".join)
    return st.one_of(phrases, st.text(st.characters(exclude_categories=("Cs",)), max_size=60))


def said() -> st.SearchStrategy[Said]:
    return st.one_of(
        st.builds(User, texts()),
        st.builds(Final, texts()),
        st.builds(Note, texts()),
        st.builds(Ran, texts(), texts(), st.sampled_from([0, 1, None])),
        st.builds(Patched, st.tuples(texts())),
    )


def talks() -> st.SearchStrategy[Transcript]:
    return st.lists(said(), max_size=14).map(lambda pieces: a_talk(*pieces))


@settings(max_examples=150, deadline=None)
@given(talks())
def test_any_talk_gives_a_bounded_answer_that_can_be_read_back(talk: Transcript) -> None:
    answer = OfflineExtractor().answer(talk)

    assert answer == OfflineExtractor().answer(talk)
    if isinstance(answer, ExtractedMemory):
        assert len(answer.raw_memory.encode()) <= RAW_MEMORY_LIMIT_BYTES
        assert len(answer.rollout_summary.encode()) <= SUMMARY_LIMIT_BYTES
        assert render_raw_memory(parse_raw_memory(answer.raw_memory)) == answer.raw_memory
        slug = answer.rollout_slug
        assert slug is None or re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", slug[:60]) is not None
        assert slug is None or len(slug) <= 60


def a_long_talk(turns: int) -> Transcript:
    pieces: list[Said] = []
    for i in range(turns):
        pieces += [
            User(f"Fix test {i}. Then never use tool{i} for module{i} again, 请以后用工具{i}。"),
            Ran(
                f"pytest tests/test_{i}.py",
                f"E  AssertionError: {i}\n1 failed\n" + "log\n" * 500,
                1,
            ),
            Patched((f"src/module_{i}.py",)),
            Ran(f"pytest tests/test_{i}.py", "1 passed"),
            Final(f"`module_{i}` returned {i} because cache {i} was stale."),
        ]
    pieces += [User("From now on write the changelog first."), Final("Noted: the changelog first.")]
    return a_talk(*pieces)


def test_a_megabyte_of_work_gives_six_kilobytes_of_whole_statements() -> None:
    talk = a_long_talk(500)
    assert sum(len(row.text) for row in talk.rows) > 1_000_000

    started = time.process_time()
    answer = OfflineExtractor().answer(talk)

    assert time.process_time() - started < 20
    assert isinstance(answer, ExtractedMemory)
    assert len(answer.raw_memory.encode()) <= RAW_MEMORY_LIMIT_BYTES
    memory = parse_raw_memory(answer.raw_memory)
    wishes = [bullet for task in memory.tasks for bullet in task.preference_signals]
    assert any("changelog first" in wish for wish in wishes)
    assert all(re.search(r'" -> \S', wish) for wish in wishes)


def test_wishes_outlive_findings_when_there_is_no_room() -> None:
    memory = OfflineExtractor().answer(a_long_talk(500))

    assert isinstance(memory, ExtractedMemory)
    tasks = parse_raw_memory(memory.raw_memory).tasks
    assert sum(len(task.preference_signals) for task in tasks) > 5
    assert sum(len(task.references) for task in tasks) == 0


def test_hostile_texts_cost_little() -> None:
    started = time.process_time()
    for text in (
        "no " * 100_000,
        "a." * 100_000,
        "`" * 100_000,
        "- x\n" * 50_000,
        "Stop! " * 50_000,
    ):
        talk = a_talk(User(text), Note(text), Ran(text, text, 1), Final(text), User("And now?"))
        OfflineExtractor().answer(talk)

    assert time.process_time() - started < 20
