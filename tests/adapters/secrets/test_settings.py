"""The engines with other settings: plain markers, and people."""

import pytest

from automemory_dagster.adapters.secrets import make_redactor, redact


def test_plain_markers_do_not_name_the_kind() -> None:
    assert make_redactor(plain_markers=True)("DB_PASSWORD=Tulip-9f8a7") == "DB_PASSWORD=[REDACTED]"


def test_the_same_settings_give_the_same_function() -> None:
    assert make_redactor(plain_markers=True) is make_redactor(plain_markers=True)


@pytest.mark.parametrize(
    "text",
    [
        "write to mia.berg@acme-shop.de",
        "Author: Mia Berg <mia@acme-shop.de>",
        "My name is Mia Berg",
    ],
)
def test_people_stay_by_default(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to mia.berg@acme-shop.de now", "write to [REDACTED:email] now"),
        (
            "Author: Mia Berg <mia@acme-shop.de>",
            "Author: [REDACTED:person_name] <[REDACTED:email]>",
        ),
        (
            "Co-authored-by: Zoë Ångström <z@acme-shop.de>",
            "Co-authored-by: [REDACTED:person_name] <[REDACTED:email]>",
        ),
        ("My name is Mia Berg.", "My name is [REDACTED:person_name]"),
        ("我叫王小明，负责部署", "我叫[REDACTED:person_name]，负责部署"),
        ("git clone git@github.com:acme/shop.git", "git clone git@github.com:acme/shop.git"),
        ("pip install a@1.2 && npm i x@2.0.1", "pip install a@1.2 && npm i x@2.0.1"),
    ],
)
def test_people_go_on_demand(text: str, expected: str) -> None:
    assert make_redactor(redact_personal=True)(text) == expected
