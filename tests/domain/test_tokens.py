"""The token estimate, held against counts that four public tokenizers gave for the same texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.tokens import bytes_that_fit, estimate_tokens

COUNTS = json.loads(
    (Path(__file__).parent.parent / "data" / "token_counts.json").read_text(encoding="utf-8")
)
"""Made once with cl100k_base, o200k_base and the public vocabularies of Claude and DeepSeek."""


@pytest.mark.parametrize("sample", COUNTS, ids=[sample["kind"] for sample in COUNTS])
def test_no_tokenizer_counts_over_two_percent_more_than_the_estimate(
    sample: dict[str, object],
) -> None:
    dearest = max(sample["tokens"].values())  # type: ignore[attr-defined]

    assert estimate_tokens(str(sample["text"])) >= 0.98 * dearest


def test_the_estimate_is_not_wildly_above_the_dearest_tokenizer() -> None:
    ratios = [estimate_tokens(each["text"]) / max(each["tokens"].values()) for each in COUNTS]

    assert sum(ratios) / len(ratios) < 1.35


def test_no_text_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@given(st.text())
def test_any_text_costs_something_and_lone_surrogates_are_no_error(text: str) -> None:
    assert estimate_tokens(text + "\ud800") >= 1


@given(st.text(min_size=1), st.integers(0, 50))
def test_what_fits_is_never_more_than_there_is(text: str, budget: int) -> None:
    assert 0 <= bytes_that_fit(text, budget) <= len(text.encode())
