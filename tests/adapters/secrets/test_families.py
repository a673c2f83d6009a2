"""Every family in every surrounding: the value goes, a marker comes, the rest stays as it was."""

import json
import random
import re

import pytest

from automemory_dagster.adapters.secrets import find_secrets, redact
from tests.adapters.secrets.families import FAMILIES
from tests.adapters.secrets.surroundings import SURROUNDINGS, Surrounding

MARKER = re.compile(r"\[REDACTED:[a-z0-9_]+\]")
SEEDS = 2


def test_the_generator_is_as_wide_as_promised() -> None:
    assert len({family.name for family in FAMILIES}) >= 60
    assert len({surrounding.name for surrounding in SURROUNDINGS}) >= 12


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda s: s.name)
def test_a_secret_is_replaced_and_nothing_else(surrounding: Surrounding) -> None:
    wrong = []
    for family in FAMILIES:
        if surrounding.needs_shape and not family.has_shape:
            continue
        for seed in range(SEEDS):
            rng = random.Random(f"{seed} {family.name} {surrounding.name}")
            before, value, after = surrounding.text(family, family.make(rng))

            redacted = redact(before + value + after)

            middle = redacted[len(before) : len(redacted) - len(after)]
            if redacted != before + middle + after or not MARKER.fullmatch(middle):
                wrong.append((family.name, seed))
    assert wrong == []


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda s: s.name)
def test_a_finding_covers_exactly_the_value(surrounding: Surrounding) -> None:
    wrong = []
    for family in FAMILIES:
        if surrounding.needs_shape and not family.has_shape:
            continue
        rng = random.Random(f"find {family.name} {surrounding.name}")
        before, value, after = surrounding.text(family, family.make(rng))
        before = "先说明：🔑 " + before if not before.startswith(("\x1b", "-")) else before

        findings = find_secrets(before + value + after)

        if [(f.start, f.end) for f in findings] != [(len(before), len(before) + len(value))]:
            wrong.append(family.name)
    assert wrong == []


def test_a_marker_names_the_provider_of_a_value_found_by_its_name() -> None:
    github = next(f for f in FAMILIES if f.name == "github_classic")

    redacted = redact("DEPLOY_TOKEN=" + github.make(random.Random(1)))

    assert redacted == "DEPLOY_TOKEN=[REDACTED:github_token]"


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda s: s.name)
def test_json_text_that_holds_a_secret_stays_json(surrounding: Surrounding) -> None:
    wrong = []
    for family in FAMILIES:
        if surrounding.needs_shape and not family.has_shape:
            continue
        rng = random.Random(f"json {family.name} {surrounding.name}")
        before, value, after = surrounding.text(family, family.make(rng))
        once = json.dumps({"output": before + value + after})
        for form in (once, json.dumps({"payload": once})):
            redacted = redact(form)
            if not isinstance(json.loads(redacted), dict) or value in redacted:
                wrong.append(family.name)
    assert wrong == []


def test_a_bot_token_is_found_in_the_address_it_is_used_in() -> None:
    token = "123456789:AA" + "Fq7" * 11
    address = f"curl https://api.telegram.org/bot{token}/sendMessage"

    assert redact(address) == (
        "curl https://api.telegram.org/bot[REDACTED:telegram_token]/sendMessage"
    )
