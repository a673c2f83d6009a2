"""Cuts fit their budget and say how much they left out."""

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.cut import (
    MARK,
    cut_mark,
    cut_middle,
    take_head,
    take_tail,
    utf8_bytes,
)


def test_a_text_that_fits_is_left_alone() -> None:
    assert cut_middle("short enough", 12) == "short enough"


def test_the_middle_goes_and_the_mark_tells_its_bytes() -> None:
    text = "begin " + "middle " * 100 + "the end"

    assert cut_middle(text, 80) == "begin middle " + cut_mark(686) + "middle the end"


def test_cuts_fall_between_words() -> None:
    assert take_head("one two three", 9) == "one two "
    assert take_tail("one two three", 9) == "three"


@given(st.text(), st.integers(0, 400))
def test_a_cut_text_fits_and_its_account_adds_up(text: str, budget: int) -> None:
    cut = cut_middle(text, budget)

    assert utf8_bytes(cut) <= budget
    if cut != text and cut:
        (found,) = [each for each in MARK.finditer(cut) if cut_mark(int(each[1])) == each[0]][:1]
        assert MARK.search(cut) is not None
        if len(MARK.findall(cut)) == 1:
            kept = utf8_bytes(cut) - utf8_bytes(found[0])
            assert kept + int(found[1]) == utf8_bytes(text)


@given(st.text(), st.integers(0, 60))
def test_heads_and_tails_are_ends_of_the_text(text: str, budget: int) -> None:
    head, tail = take_head(text, budget), take_tail(text, budget)

    assert text.startswith(head)
    assert text.endswith(tail)
    assert max(utf8_bytes(head), utf8_bytes(tail)) <= budget
