"""An error on its way to Dagster, which stores its words and those of all its causes."""

import random

import dagster as dg
import pytest

from automemory_dagster.defs.reporting import failures_for_dagster
from automemory_dagster.domain.errors import TransientError
from tests.adapters.secrets.families import FAMILIES

_TOKEN = next(family for family in FAMILIES if family.name == "github_classic")


def _stored_words(error: Exception, cause: Exception | None) -> str:
    @dg.op
    def failing() -> None:
        with failures_for_dagster():
            raise error from cause

    @dg.job
    def job() -> None:
        failing()

    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        entries = instance.all_logs(result.run_id)
        return "".join(str(entry.to_json()) for entry in entries)


@pytest.fixture
def token() -> str:
    return _TOKEN.make(random.Random("errors"))


def test_an_error_of_ours_tells_no_secret(token: str) -> None:
    error = TransientError(f"refused: {token}")

    words = _stored_words(error, ValueError(f"401 for {token}"))

    assert token not in words
    assert "refused: [REDACTED:github_token]" in words


def test_a_cause_with_a_secret_is_left_out(token: str) -> None:
    words = _stored_words(TransientError("refused"), ValueError(f"401 for {token}"))

    assert token not in words
    assert "refused" in words


def test_a_fault_of_ours_tells_no_secret(token: str) -> None:
    words = _stored_words(KeyError(token), None)

    assert token not in words
    assert "unexpected KeyError" in words


def test_an_error_without_secrets_keeps_its_cause() -> None:
    words = _stored_words(TransientError("refused"), ValueError("the disk is full"))

    assert "the disk is full" in words


def test_a_fault_without_secrets_stays_what_it_is() -> None:
    words = _stored_words(KeyError("no such thing"), None)

    assert "unexpected" not in words
    assert "no such thing" in words
