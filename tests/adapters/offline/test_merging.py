"""What counts as the same thing said again, and what as a newer word against an older one."""

from datetime import UTC, datetime, timedelta

import pytest

from automemory_dagster.adapters.offline.merging import Merged, merge
from automemory_dagster.adapters.offline.statements import Statement, StatementKind, TaskKey
from automemory_dagster.domain.thread import ThreadId

START = datetime(2026, 10, 1, tzinfo=UTC)


def said(*texts: str, kind: StatementKind = StatementKind.PREFERENCE) -> list[Statement]:
    """Statements of one project, each a day after the one before."""
    return [
        Statement(
            kind=kind,
            text=text,
            task=TaskKey(START + timedelta(days=day), ThreadId(f"t{day}"), 0),
            position=0,
        )
        for day, text in enumerate(texts)
    ]


def current(merged: Merged) -> list[str]:
    return [line.text for line in merged.lines if not line.outdated_by]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("always run `make test`", "from now on `just test`, make is gone"),
        ("run make test-all with `make test-all`", "no more make, use `just test-all`"),
        ("以后提交信息用中文", "commit messages go back to English, Conventional Commits"),
        ("commit messages in Chinese", "write commit messages in English"),
        ("提交信息用英文", "以后提交信息改用中文"),
        ("コミットメッセージは英語で", "今後コミットメッセージは日本語で書いて"),
        ("the loyalty cap is 20.00 EUR", "the cap of the loyalty discount is 25.00 now, not 20.00"),
        ("the loyalty cap is 2000 cents", "the loyalty cap is now 25.00 EUR"),
        ("brand colour is #c81e1e", "brand colour is #1e64c8"),
        ("use npm", "use pnpm instead of npm"),
        ("用 npm 安装依赖", "不再用 npm，改用 pnpm"),
        ("npmを使う", "npmの代わりにpnpmを使って"),
        ("temperatures in Fahrenheit", "temperatures in Celsius, not Fahrenheit"),
        ("run the tests with `pytest -x`", "never `pytest -x`, run `pytest -q`"),
    ],
)
def test_a_newer_word_on_the_same_thing_stands_alone(older: str, newer: str) -> None:
    merged = merge(said(older, newer))

    assert [line.text for line in merged.lines] == [newer]
    assert [old.text for old in merged.lines[0].replaced] == [older]
    assert merged.superseded == 1


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("orders over 100 EUR ship for free", "orders over 500 EUR need a manager's approval"),
        ("answers in Japanese", "commit messages in English"),
        ("make sure that the lint passes", "no more make, use just"),
        ("always use `just test`", "run `just lint` before each commit"),
        ("answers have at most 3 lines", "tables have at most 5 rows"),
        ("ready means t <= now", "tests use an injected clock"),
        ("NL tax is 21 %", "DE tax is 19 %"),
        ("never use npm", "use pnpm"),
        ("use `just test`", "don't make a mess in out/"),
        ("to run the tests: `pytest -q`", "I could not run `pytest -q` without a network"),
    ],
)
def test_two_true_things_stand_side_by_side(older: str, newer: str) -> None:
    assert sorted(current(merge(said(older, newer)))) == sorted([older, newer])


def test_what_is_only_partly_untrue_stays_and_says_so() -> None:
    merged = merge(
        said(
            "a loyalty discount: 10 % off, at most 20.00 EUR",
            "the cap of the loyalty discount is 25.00 now, not 20.00",
        )
    )

    (line,) = [line for line in merged.lines if line.outdated_by]
    assert line.text.startswith("a loyalty discount: 10 %")
    assert [by.text for by in line.outdated_by] == [
        "the cap of the loyalty discount is 25.00 now, not 20.00"
    ]


@pytest.mark.parametrize(
    ("older", "newer", "kept"),
    [
        (
            "always run the tests before saying done, and use npm",
            "use pnpm from now on, no more npm",
            "tests before saying done",
        ),
        (
            "use npm here and ask before you push to main",
            "use pnpm from now on, no more npm",
            "ask before you push to main",
        ),
    ],
)
def test_a_wish_beside_the_one_that_ended_is_kept(older: str, newer: str, kept: str) -> None:
    merged = merge(said(older, newer))

    (line,) = [line for line in merged.lines if line.outdated_by]
    assert kept in line.text


def test_the_older_word_never_stands_against_the_newer() -> None:
    merged = merge(said("use pnpm instead of npm", "use npm again from now on"))

    assert current(merged) == ["use npm again from now on"]


def test_an_agents_finding_does_not_outweigh_a_persons_wish() -> None:
    wish = said("commit messages in English")
    (finding,) = said("", "the commit messages are in Chinese", kind=StatementKind.KNOWLEDGE)[1:]

    merged = merge([*wish, finding])

    assert len(merged.lines) == 2


@pytest.mark.parametrize(
    ("finding", "is_ended"),
    [
        ("I could not run `make test` here", False),
        ("I ran it without `make test`", False),
        ("`make test` failed: no rule; `just test` worked instead", False),
        ("`make test` no longer exists (justfile instead)", True),
    ],
)
def test_an_agent_ends_a_persons_wish_only_by_reporting_that_the_thing_is_gone(
    finding: str, is_ended: bool
) -> None:
    wish = said("run `make test` before each commit")
    (report,) = said("", finding, kind=StatementKind.FAILURE)[1:]

    merged = merge([*wish, report])

    assert (merged.superseded == 1) is is_ended


def test_the_situation_of_a_wish_is_not_what_it_says() -> None:
    wish = 'when the agent had said "I ran npm", the user asked: "No. Use pnpm." -> use pnpm'

    merged = merge(said("`npm` is at version 10", wish))

    assert len(merged.lines) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run `just lint` before each commit.", "please run `just lint` before each commit"),
        ("注释用中文写，简短一点", "注释用中文写,简短一点。"),
        ("テストでsleepを使わない", "テストで sleep を使わない。"),
        (
            'when working in a, the user asked: "Never sleep in tests" -> never sleep in tests',
            'when fixing b, the user asked: "Never sleep in tests." -> never sleep in tests',
        ),
    ],
)
def test_the_same_thing_said_twice_is_one_line_in_its_newest_words(one: str, other: str) -> None:
    merged = merge(said(one, other))

    (line,) = merged.lines
    assert line.text == other
    assert [key.thread_id for key in sorted(line.tasks)] == ["t0", "t1"]
    assert (merged.merged, merged.superseded) == (1, 0)


def test_numbers_tell_two_lines_apart_however_alike_they_read() -> None:
    one = "the job of the invoice worker is tried again after 30 s when the queue is full"
    other = one.replace("30 s", "5 rows")

    assert len(merge(said(one, other)).lines) == 2


def test_a_part_of_a_line_is_no_line_of_its_own() -> None:
    merged = merge(said("always use uv, never pip", "No! I said never pip."))

    (line,) = merged.lines
    assert line.text == "always use uv, never pip"
    assert len(line.tasks) == 2


def test_a_thing_said_as_wish_and_as_finding_is_shown_as_wish() -> None:
    wish = said("use `just test`")
    (finding,) = said("", "use `just test`", kind=StatementKind.KNOWLEDGE)[1:]

    (line,) = merge([*wish, finding]).lines

    assert line.kind is StatementKind.PREFERENCE


def test_a_command_that_failed_gives_way_to_what_worked_instead() -> None:
    older = said("to run the tests: `make test` (passed here)", kind=StatementKind.KNOWLEDGE)
    (failure,) = said(
        "", "`make test` failed: no rule; `just test` worked instead", kind=StatementKind.FAILURE
    )[1:]

    assert current(merge([*older, failure])) == [failure.text]
