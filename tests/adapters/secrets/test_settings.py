"""The engines with other settings: plain markers, and people."""

import pytest

from automemory_dagster.adapters.secrets import make_redactor, redact, secret_tools


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


class TestTools:
    def test_they_share_their_settings(self) -> None:
        tools = secret_tools(plain_markers=True, redact_personal=True)
        value = {"password": "Tulip-9f8a7", "note": "write to mia.berg@acme-shop.de"}

        assert tools.redact_values(value) == {
            "password": "[REDACTED]",
            "note": "write to [REDACTED]",
        }
        assert tools.redact("to mia.berg@acme-shop.de") == "to [REDACTED]"
        assert [finding.kind for finding in tools.find("to mia.berg@acme-shop.de")] == ["email"]

    def test_counts_by_kind_never_hold_a_value(self) -> None:
        value = {"db": [{"password": "Tulip-9f8a7"}], "note": "PIN_CODE=1 and DB_PASSWORD=Tulip-9"}

        assert secret_tools().count_values(value) == {"password": 2}

    def test_nothing_is_counted_in_what_was_redacted(self) -> None:
        tools = secret_tools()
        value = {"db": [{"password": "Tulip-9f8a7"}], "n": 1, "note": "DB_PASSWORD=Tulip-9f8a7"}

        assert tools.count_values(tools.redact_values(value)) == {}
        assert tools.count_values("DB_PASSWORD=Tulip-9f8a7") == {"password": 1}
