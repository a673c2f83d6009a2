"""What is taken out of a text before anybody reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.plain_text import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("never \x1b[31mred\x1b[0m text", "never red text"),
        ("\x1b]0;a title\x07words", "words"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07, back\x08space, c1\x9b31m", "bell, backspace, c131m"),
        ("a\tb\nc\r\nd\re", "a\tb\nc\nd\ne"),
        ("user\u202egnirts\u202c", "usergnirts"),
        ("中文 \U0001f600 é – stays", "中文 \U0001f600 é – stays"),
        ("\x1b\x1b[31m[31mx", "[31mx"),
    ],
)
def test_only_what_shows_stays(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text())
def test_it_is_idempotent_and_leaves_no_escape(text: str) -> None:
    once = plain(text)

    assert plain(once) == once
    assert "\x1b" not in once
