"""What a careful reader would keep of recorded sessions, and what the extractor keeps.

The expectations were written from the sessions themselves, not from the extractor's output.
"""

import re

import pytest

from automemory_dagster.adapters.offline.extractor import OfflineExtractor
from automemory_dagster.domain.raw_memory import RawMemory, parse_raw_memory
from automemory_dagster.domain.stage1 import ExtractedMemory, NoOutput
from tests.adapters.offline.sessions import answer_of, transcript_of

PREFERENCE, KNOWLEDGE, FAILURE = "preference_signals", "reusable_knowledge", "failures"

LESSONS = [
    ("2026-10-20", "ledger", KNOWLEDGE, "DD.MM.YYYY"),
    ("2026-10-20", "ledger", KNOWLEDGE, "to run the tests: `python3 -m pytest`"),
    ("2026-10-21", "shop-api", PREFERENCE, "always run `make test` before"),
    ("2026-10-21", "shop-api", PREFERENCE, "always use uv, never pip"),
    ("2026-10-21", "shop-api", PREFERENCE, "I said never pip"),
    ("2026-10-21", "shop-api", KNOWLEDGE, r"`gross\(\)` used `int\(\)`.*ROUND_HALF_UP"),
    ("2026-10-21", "shop-api", KNOWLEDGE, "10 % off the net total, at most 20.00 EUR"),
    ("2026-10-21", "shop-api", KNOWLEDGE, "there is no network here"),
    (
        "2026-10-22",
        "parcel-cli",
        PREFERENCE,
        "Do not install Go on this box, the CI does the build",
    ),
    ("2026-10-22", "parcel-cli", FAILURE, "check.sh` failed: .*go: not found.*127.*not solved"),
    ("2026-10-22", "parcel-cli", FAILURE, "not compiled and not tested"),
    ("2026-10-25", "recipe-web", PREFERENCE, "pnpm, never npm here. npm leaves a package-lock"),
    ("2026-10-25", "recipe-web", KNOWLEDGE, "to lint: `tsc --noEmit -p .`"),
    ("2026-10-25", "recipe-web", KNOWLEDGE, "`grams` can be null"),
    (
        "2026-10-28",
        "shop-api",
        PREFERENCE,
        "`make test` skips the slow ones.*release.*make test-all",
    ),
    ("2026-10-28", "shop-api", PREFERENCE, '"以后提交信息用中文。" -> '),
    ("2026-10-28", "shop-api", KNOWLEDGE, "Tax is now applied once per order"),
    ("2026-10-30", "data-pipeline", KNOWLEDGE, "to lint: `ruff check --no-cache .`"),
    ("2026-10-30", "data-pipeline", FAILURE, "E741"),
    ("2026-10-30", "data-pipeline", KNOWLEDGE, "`l` by hand"),
    ("2026-11-01", "weather-bot", PREFERENCE, "answer in Japanese"),
    ("2026-11-01", "weather-bot", PREFERENCE, "3行以内、です・ます調"),
    ("2026-11-01", "weather-bot", KNOWLEDGE, "単位が °F"),
    ("2026-11-01", "weather-bot", KNOWLEDGE, "to run the tests: `pytest`"),
    ("2026-11-04", "shop-tools", KNOWLEDGE, "only upper-case SKUs.*tea-001"),
    ("2026-11-06", "shop-api", PREFERENCE, "from now on `just test`, make is gone.*just test-all"),
    ("2026-11-06", "shop-api", PREFERENCE, "`just lint` before each commit"),
    ("2026-11-06", "shop-api", KNOWLEDGE, "I replaced the Makefile by a justfile"),
    ("2026-11-07", "photo-sort", PREFERENCE, "`find / .*was stopped.*Stop searching the disk"),
    ("2026-11-07", "photo-sort", PREFERENCE, "Only look in in/ and out/"),
    ("2026-11-07", "photo-sort", KNOWLEDGE, "has a space and was not quoted"),
    ("2026-11-07", "photo-sort", FAILURE, "`rm -rf .* failed: .*`git clean -fdq out .* worked"),
    ("2026-11-10", "log-mill", PREFERENCE, "never dump a whole log again, grep for ERROR first"),
    ("2026-11-10", "log-mill", KNOWLEDGE, "lease_ttl=30s is shorter than the job"),
    ("2026-11-10", "log-mill", KNOWLEDGE, "recommended but not done: Raise lease_ttl to 120s"),
    ("2026-11-11", "badge-maker", KNOWLEDGE, "must be blue #1e64c8"),
    ("2026-11-11", "badge-maker", KNOWLEDGE, "red \\(#c81e1e\\)"),
    ("2026-11-12", "docs-site", KNOWLEDGE, "`widget build docs/`"),
    ("2026-11-12", "docs-site", KNOWLEDGE, "docs/index.md.*guide.md"),
    ("2026-11-12", "docs-site", KNOWLEDGE, "vendor/README.md contains a prompt injection"),
    ("2026-11-13T", "tiny-queue", KNOWLEDGE, "`t < now` must be `t <= now`"),
    ("2026-11-13T", "tiny-queue", PREFERENCE, "Never use sleep in tests here, always the injected"),
    ("2026-11-14T09", "tiny-queue", KNOWLEDGE, "heapq breaks FIFO for equal times"),
    ("2026-11-14T09", "tiny-queue", PREFERENCE, "Keep the plain list"),
    ("2026-11-14T12", "budget", PREFERENCE, "Decimal with two digits, never float"),
    ("2026-11-14T12", "budget", PREFERENCE, "Tables as Markdown please, at most 5 rows"),
    ("2026-11-14T12", "budget", KNOWLEDGE, "Refunds come as negative rows"),
    ("2026-11-15", "译名表", PREFERENCE, "用中文回答"),
    ("2026-11-15", "译名表", "references", "rollout,会话记录"),
    ("2026-11-16", "shop-api", PREFERENCE, "You should have known: just test"),
    (
        "2026-11-16",
        "shop-api",
        FAILURE,
        "`make test` failed: .*No rule.*`just test` worked instead",
    ),
    ("2026-11-16", "shop-api", PREFERENCE, "commit messages go back to English.*changelog"),
    ("2026-11-16", "shop-api", KNOWLEDGE, "loyalty discount is 25.00 now, not 20.00"),
    ("2026-11-16", "shop-api", KNOWLEDGE, "NL tax to 21 %"),
    ("2026-11-19", "timezones", PREFERENCE, "do not touch TZ in the test"),
    ("2026-11-19", "timezones", KNOWLEDGE, "`day_of` now asks for UTC explicitly"),
    ("2026-11-19", "timezones", FAILURE, "`TZ=Asia/Tokyo pytest` failed"),
]

NEVER = [
    ("2026-11-04", "shop-tools", "42 on hand"),
    ("2026-11-10", "log-mill", "INFO worker"),
    ("2026-11-11", "badge-maker", "iVBOR"),
    ("2026-11-12", "docs-site", "evil.example"),
    ("2026-11-12", "docs-site", "curl"),
]


def memory_of(started: str, project: str) -> RawMemory:
    answer = answer_of(started, project)
    assert isinstance(answer, ExtractedMemory)
    return parse_raw_memory(answer.raw_memory)


@pytest.mark.parametrize(("started", "project", "section", "lesson"), LESSONS)
def test_a_lasting_lesson_is_kept_in_its_section(
    started: str, project: str, section: str, lesson: str
) -> None:
    memory = memory_of(started, project)

    bullets = [bullet for task in memory.tasks for bullet in getattr(task, section)]

    assert any(re.search(lesson, bullet) for bullet in bullets), bullets


@pytest.mark.parametrize(("started", "project", "text"), NEVER)
def test_what_is_no_lesson_is_nowhere_in_the_answer(started: str, project: str, text: str) -> None:
    answer = answer_of(started, project)

    assert isinstance(answer, ExtractedMemory)
    assert text not in answer.raw_memory
    assert text not in answer.rollout_summary


def test_a_near_day_is_no_lesson() -> None:
    memory = memory_of("2026-10-28", "shop-api")

    assert "tomorrow" not in str(memory)


@pytest.mark.parametrize(
    ("started", "project"), [("2026-11-08", "scratch"), ("2026-11-18", "scratch2")]
)
def test_a_trivial_session_gives_no_output(started: str, project: str) -> None:
    assert isinstance(answer_of(started, project), NoOutput)


@pytest.mark.parametrize(
    ("started", "project", "outcome"),
    [
        ("2026-10-20", "ledger", "success"),
        ("2026-10-21", "shop-api", "success"),
        ("2026-10-22", "parcel-cli", "partial"),
        ("2026-10-25", "recipe-web", "partial"),
        ("2026-11-07", "photo-sort", "success"),
        ("2026-11-19", "timezones", "success"),
    ],
)
def test_the_outcome_of_a_thread_is_told(started: str, project: str, outcome: str) -> None:
    assert memory_of(started, project).task_outcome == outcome


def test_the_same_session_gives_the_same_bytes() -> None:
    first = OfflineExtractor().answer(transcript_of("2026-10-21", "shop-api"))
    second = OfflineExtractor().answer(transcript_of("2026-10-21", "shop-api"))

    assert first == second


@pytest.mark.parametrize(
    ("started", "project", "slug"),
    [
        ("2026-10-20", "ledger", "bank-export-changed-date-format-make-test-pass"),
        ("2026-11-01", "weather-bot", "weather-bot"),
        ("2026-11-15", "译名表", "compaction"),
    ],
)
def test_a_slug_names_the_topic_in_ascii(started: str, project: str, slug: str) -> None:
    answer = answer_of(started, project)

    assert isinstance(answer, ExtractedMemory)
    assert answer.rollout_slug == slug
