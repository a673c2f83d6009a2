"""The door through which all text goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Text

from automemory_dagster.adapters.state.column import CleanText, JsonObject
from automemory_dagster.adapters.state.table import metadata
from automemory_dagster.adapters.state.text import clean_text

ANY_TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.characters(categories=["Cs"]),
        st.just("\x00"),
    )
)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("plain 記憶 🙂 \u2028\ufeff\x01\x7f", "plain 記憶 🙂 \u2028\ufeff\x01\x7f"),
        ("a\x00b", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("x\udfffy", "x\ufffdy"),
        ("\ud83d\ude42", "🙂"),
        ("\ude42\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude42", "\ufffd🙂"),
    ],
)
def test_what_databases_refuse_is_replaced_and_the_rest_stays(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(ANY_TEXT)
def test_every_text_can_be_stored_and_cleaning_again_changes_nothing(text: str) -> None:
    clean = clean_text(text)

    assert "\x00" not in clean
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert clean_text(clean) == clean


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_a_text_that_can_be_stored_is_the_same_object(text: str) -> None:
    assert clean_text(text) is text


def test_every_text_column_cleans() -> None:
    texts = [
        column
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(getattr(column.type, "impl_instance", column.type), Text)
    ]

    assert len(texts) > 30
    assert [c for c in texts if not isinstance(c.type, CleanText | JsonObject)] == []
