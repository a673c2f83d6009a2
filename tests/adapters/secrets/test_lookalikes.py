"""What only looks like a secret comes back unchanged, also inside JSON and JSON in JSON."""

import json
import random

import pytest

from automemory_dagster.adapters.secrets import find_secrets, redact
from tests.adapters.secrets.lookalikes import FRAMES, LOOKALIKES

SEEDS = 8


def test_the_generator_is_as_wide_as_promised() -> None:
    assert len(LOOKALIKES) >= 40


@pytest.mark.parametrize("family", LOOKALIKES)
def test_a_lookalike_is_left_alone(family: str) -> None:
    wrong = []
    for frame, (before, after) in FRAMES.items():
        for seed in range(SEEDS):
            text = before + LOOKALIKES[family](random.Random(f"{seed} {family} {frame}")) + after
            for form in (text, json.dumps(text), json.dumps(json.dumps({"output": text}))):
                if redact(form) != form or find_secrets(form):
                    wrong.append(form)
    assert wrong == []
