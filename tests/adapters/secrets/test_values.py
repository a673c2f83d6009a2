"""Structures are redacted before they become JSON; a secret's name covers what is under it."""

import json
import random

import pytest

from automemory_dagster.adapters.secrets import redact_values
from tests.adapters.secrets.families import FAMILIES


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_a_value_under_its_name_goes_whole(family) -> None:  # type: ignore[no-untyped-def]
    value = family.make(random.Random(family.name))

    redacted = redact_values({"user": "shop", family.variable.lower(): value})

    assert value not in json.dumps(redacted)
    assert isinstance(redacted, dict)
    assert redacted["user"] == "shop"


@pytest.mark.parametrize(
    "secret",
    [["a1b2c3", "d4e5f6"], {"value": "a1b2c3", "n": 1}, "two words 9", 48213377, ("a1b2c3",)],
)
def test_a_secret_of_any_shape_goes_whole(secret: object) -> None:
    assert redact_values({"password": secret}) == {"password": "[REDACTED:password]"}


@pytest.mark.parametrize(
    "harmless",
    [
        "",
        None,
        True,
        False,
        "<password>",
        "${DB_PASSWORD}",
        "your-password",
        [],
        {},
        "Enter your password",
        {"type": "string"},
    ],
)
def test_a_placeholder_stays(harmless: object) -> None:
    assert redact_values({"password": harmless}) == {"password": harmless}


def test_numbers_booleans_and_none_keep_their_type() -> None:
    value = {
        "total_tokens": 5123,
        "ratio": 0.5,
        "ok": True,
        "none": None,
        "list": [1, "two", False],
    }

    assert redact_values(value) == value


def test_a_secret_in_a_key_goes() -> None:
    value = next(f for f in FAMILIES if f.name == "github_classic").make(random.Random(1))

    assert redact_values({f"token {value}": 1}) == {"token [REDACTED:github_token]": 1}


def test_json_inside_a_string_is_read_too() -> None:
    inner = json.dumps({"output": json.dumps({"clientSecret": "q8w7e6r5t4"})})

    redacted = redact_values({"payload": inner})

    assert isinstance(redacted, dict)
    assert json.loads(json.loads(redacted["payload"])["output"]) == {
        "clientSecret": "[REDACTED:secret]"
    }


def test_a_structure_without_end_has_an_end() -> None:
    deep: object = "a"
    for _ in range(5000):
        deep = [deep]

    assert "REDACTED" in json.dumps(redact_values(deep))


def test_the_argument_is_not_changed() -> None:
    value = {"password": "Tulip-9f8a7", "list": ["a"]}

    redact_values(value)

    assert value == {"password": "Tulip-9f8a7", "list": ["a"]}
