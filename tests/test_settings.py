"""Settings: read once, every problem named, no value ever told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from automemory_dagster.domain.errors import SettingsError
from automemory_dagster.domain.spend import Period
from automemory_dagster.policies import spend_limits
from automemory_dagster.settings import PREFIX, Settings

_EXAMPLE = Path(__file__).resolve().parent.parent / ".env.example"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import os

    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    return


def test_every_wrong_variable_is_named_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_IDLE_SECONDS", "soon")
    monkeypatch.setenv("AUTOMEMORY_RETRY_BUDGET", "0")
    monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", "mysql://root:hunter2@db/x")
    monkeypatch.setenv("AUTOMEMORY_IDLE_SECOND", "5")

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    message = str(raised.value)
    for name in ("IDLE_SECONDS", "RETRY_BUDGET", "DATABASE_URL"):
        assert f"AUTOMEMORY_{name}:" in message
    assert "AUTOMEMORY_IDLE_SECOND: unknown; did you mean AUTOMEMORY_IDLE_SECONDS?" in message


def test_a_message_never_tells_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_IDLE_SECONDS", "value-one")
    monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", "mysql://root:value-two@db/x")
    monkeypatch.setenv("AUTOMEMORY_ADMIT_KINDS", "exec,value-three")
    monkeypatch.setenv("AUTOMEMORY_UNKNOWN", "value-four")

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    assert "value-" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_a_database_url_is_not_shown_by_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_DATABASE_URL", "postgresql://u:tell-nobody@db/x")

    assert "tell-nobody" not in repr(Settings.load())


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", None)])
def test_generation_is_on_off_or_unsaid(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: bool | None
) -> None:
    monkeypatch.setenv("AUTOMEMORY_GENERATE", value)

    assert Settings.load().generate is expected


def test_empty_variables_read_as_unset_so_that_the_example_file_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in _example().items():
        monkeypatch.setenv(name, value)

    with_example = Settings.load()
    for name in _example():
        monkeypatch.delenv(name)

    assert with_example == Settings.load()


def test_the_example_file_lists_every_setting_and_nothing_else() -> None:
    assert set(_example()) == {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_ADMIT_KINDS", "exec, mcp")

    assert Settings.load().admit_kinds == ("exec", "mcp")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EXTRACT_MODEL", "gpt-5-mini"),
        ("EXTRACT_MODEL", "openai:"),
        ("CONSOLIDATION_MODEL", "openai:gpt 5"),
        ("MODEL_BASE_URL", "localhost:11434/v1"),
        ("MODEL_BASE_URL", "http:///v1"),
        ("MODEL_BASE_URL", "http://" + "user:word@host/v1"),
        ("MODEL_BASE_URL", "http://[::1/v1"),
        ("EXTRACT_REASONING_EFFORT", "extreme"),
        ("MODEL_TIMEOUT_SECONDS", "0"),
        ("MAX_USD_PER_DAY", "-1"),
        ("MAX_USD_PER_MONTH", "inf"),
        ("MAX_USD_PER_RUN", "nan"),
        ("CONSOLIDATION_MAX_REQUESTS", "0"),
        ("MIN_RATE_LIMIT_REMAINING_PERCENT", "101"),
    ],
)
def test_a_wrong_model_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"AUTOMEMORY_{name}", value)

    with pytest.raises(SettingsError, match=f"AUTOMEMORY_{name}: "):
        Settings.load()


def test_a_price_needs_both_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_MODEL_PRICE_CACHED_INPUT", "0.1")
    monkeypatch.setenv("AUTOMEMORY_MODEL_PRICE_INPUT", "1")

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    told = "AUTOMEMORY_MODEL_PRICE_INPUT and AUTOMEMORY_MODEL_PRICE_OUTPUT: a price needs both"
    assert told in str(raised.value)


def test_the_word_offline_chooses_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_EXTRACT_MODEL", "offline")

    assert Settings.load().extract_model == ""


def test_a_key_is_not_shown_by_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_MODEL_API_KEY", "tell" + "-nobody")

    assert "tell-nobody" not in repr(Settings.load())


def test_the_limits_of_a_deployment_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOMEMORY_MAX_USD_PER_RUN", "0.1")

    limits = {limit.period: limit.micro_usd for limit in spend_limits(Settings.load())}

    assert limits == {Period.RUN: 100_000, Period.DAY: 3_000_000, Period.MONTH: 30_000_000}


def _example() -> dict[str, str]:
    lines = _EXAMPLE.read_text("utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)
