"""Values that were wrapped, split over literals, or cut by a limit on output."""

import random

import pytest

from automemory_dagster.adapters.secrets import redact
from tests.adapters.secrets.families import FAMILIES, Family

LONG = [
    f
    for f in FAMILIES
    if f.name
    in ("openai_project", "anthropic", "github_fine", "google_access", "pypi", "vault", "atlassian")
]
PREFIXED = [
    f
    for f in FAMILIES
    if f.name
    in (
        "github_classic",
        "gitlab",
        "npm",
        "hugging_face",
        "anthropic",
        "openai_project",
        "groq",
        "linear",
        "figma",
    )
]


@pytest.mark.parametrize("family", LONG, ids=lambda f: f.name)
@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\n  ", " \\\n", "\\n", "\n+"])
def test_both_lines_of_a_wrapped_token_go(family: Family, wrap: str) -> None:
    for seed in range(5):
        value = family.make(random.Random(f"{seed}{family.name}"))
        cut = 60

        redacted = redact(f"+ key {value[:cut]}{wrap}{value[cut:]}\nnext")

        assert value[:cut] not in redacted
        assert value[cut:] not in redacted
        assert redacted.endswith("\nnext")


@pytest.mark.parametrize("family", PREFIXED, ids=lambda f: f.name)
def test_the_first_half_of_a_token_cut_by_a_limit_goes(family: Family) -> None:
    for seed in range(5):
        value = family.make(random.Random(f"{seed}{family.name}"))
        half = value[: max(28, len(value) * 2 // 3)]

        redacted = redact(f"Output:\nusing {half}")

        assert half not in redacted


@pytest.mark.parametrize("glue", ['" "', '" + "', '"\n    "', '" \\\n  "', '" +\n "', '" . "'])
def test_all_pieces_of_a_literal_go(glue: str) -> None:
    rng = random.Random(glue)
    family = next(f for f in FAMILIES if f.name == "client_secret")
    value = family.make(rng) + family.make(rng)

    redacted = redact(f'CLIENT_SECRET = "{value[:30]}{glue}{value[30:]}"\nport = 80\n')

    assert value[:30] not in redacted
    assert value[30:] not in redacted
    assert redacted.endswith("\nport = 80\n")


def test_a_value_on_the_line_below_its_name_goes() -> None:
    value = next(f for f in FAMILIES if f.name == "client_secret").make(random.Random(3))

    for text in (
        f"client_secret: >-\n  {value}\nport: 80\n",
        f"client_secret: |\n    {value}\n",
        f'"client_secret":\n    "{value}",\n',
        f'TOKEN = (\n    "{value}"\n)',
    ):
        assert value not in redact(text)


def test_the_next_line_of_an_unwrapped_token_stays() -> None:
    value = next(f for f in FAMILIES if f.name == "github_classic").make(random.Random(4))

    redacted = redact(f"token {value}\nsrc/components/Header2.tsx\nabcdefgh\n")

    assert redacted == "token [REDACTED:github_token]\nsrc/components/Header2.tsx\nabcdefgh\n"


def test_a_cut_quote_does_not_hide_a_password() -> None:
    redacted = redact('{"user": "x", "password": "Tulip-9f8a7')

    assert redacted == '{"user": "x", "password": "[REDACTED:password]'
