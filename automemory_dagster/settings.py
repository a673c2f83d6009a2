"""The only reader of the environment: one frozen object, or one error that names what is wrong.

The trap: a mistyped variable that is silently ignored, so that an off switch does not switch off.
An unknown variable with our prefix is refused like a wrong value. No message ever holds a value,
since a value may be a password.
"""

import difflib
import os
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from automemory_dagster.domain.choice import model_choice
from automemory_dagster.domain.errors import SettingsError
from automemory_dagster.domain.rollout import FETCH_COMMANDS
from automemory_dagster.domain.thread import SourceKind

PREFIX = "AUTOMEMORY_"
_TEST_PREFIX = "AUTOMEMORY_TEST_"


def _words(value: object) -> object:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]
"""A comma-separated list."""

Effort = Literal["", "minimal", "low", "medium", "high"]
"""How much a model may reason; empty: as its provider has it."""

Usd = Annotated[Decimal, Field(ge=0, le=1_000_000)]


class Settings(BaseSettings):
    """All settings; each is the variable of its name in upper case with ``AUTOMEMORY_``.

    ``.env.example`` says the same to people, and a test compares the two.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True
    )

    home: Path | None = None
    """Where the deployment keeps everything; ``.automemory`` in the checkout."""
    codex_home: Path | None = None
    """The Codex home to read; else ``CODEX_HOME``, else ``~/.codex``, else the bundled sample."""
    database_url: SecretStr | None = None
    """A PostgreSQL URL for the state and for Dagster's own storage; unset: SQLite in the home."""
    generate: bool | None = None
    """Consent to generation; unset: what was said with ``automemory up --generate``."""

    idle_seconds: int = Field(default=900, ge=0, le=30 * 86_400)
    max_rollout_age_days: int = Field(default=90, ge=0, le=36_500)
    """0: no rollout is too old."""
    admit_kinds: Words = ()
    """More source kinds: ``exec``, ``mcp``, ``subagent``, ``guardian_review``, ``other``."""
    disable_on_external_context: bool = False
    mcp_allow: Words = ()
    """MCP servers that do not count as external context."""
    fetch_commands: Words = FETCH_COMMANDS
    """Shell commands that count as fetching a page; a lone ``-`` stands for none."""
    split_by_project: bool = False
    """One memory space a project instead of one a Codex home."""

    phase1_concurrency: int = Field(default=8, ge=1, le=64)
    phase1_max_running: int = Field(default=16, ge=1, le=1_024)
    batch_threads: int = Field(default=500, ge=1, le=10_000)
    transcript_budget_tokens: int = Field(default=150_000, ge=1_000, le=2_000_000)
    lease_seconds: int = Field(default=600, ge=10, le=86_400)
    retry_seconds: int = Field(default=3_600, ge=0, le=86_400)
    retry_budget: int = Field(default=3, ge=1, le=100)

    consolidation_cooldown_seconds: int = Field(default=0, ge=0, le=7 * 86_400)
    max_consolidation_inputs: int = Field(default=256, ge=1, le=4_096)
    max_unused_days: int = Field(default=90, ge=0, le=36_500)
    """0: nothing is ever left out for want of use."""

    extract_model: str = ""
    """``provider:name``; empty: rules, without a model."""
    consolidation_model: str = ""
    model_base_url: str = ""
    """Of a server that speaks the provider's protocol; empty: the provider's own."""
    model_api_key: SecretStr | None = None
    """Unset: the provider's own variable, such as ``OPENAI_API_KEY``."""
    extract_reasoning_effort: Effort = ""
    consolidation_reasoning_effort: Effort = ""
    model_timeout_seconds: int = Field(default=120, ge=1, le=3_600)
    model_max_output_tokens: int = Field(default=8_000, ge=256, le=200_000)

    model_price_input: Usd | None = None
    """USD per million tokens, like the next two; where set, they are used instead of known
    prices."""
    model_price_output: Usd | None = None
    model_price_cached_input: Usd | None = None
    max_usd_per_run: Usd = Decimal(1)
    max_usd_per_day: Usd = Decimal(3)
    max_usd_per_month: Usd = Decimal(30)
    consolidation_max_requests: int = Field(default=40, ge=1, le=1_000)
    consolidation_max_tokens: int = Field(default=1_000_000, ge=1_000, le=100_000_000)
    consolidation_max_seconds: int = Field(default=900, ge=10, le=86_400)
    min_rate_limit_remaining_percent: int = Field(default=20, ge=0, le=100)
    """0: the plan's own limits hold nothing back."""

    max_partitions: int = Field(default=10_000, ge=100, le=100_000)

    redact_personal: bool = False
    """Names of people and e-mail addresses are redacted like secrets."""
    plain_markers: bool = False
    """``[REDACTED]`` without the kind."""

    @field_validator("home", "codex_home")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().resolve() if value is not None else None

    @field_validator("admit_kinds")
    @classmethod
    def _known_kinds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        kinds = {kind.value for kind in SourceKind}
        if not set(value) <= kinds:
            raise ValueError(f"may name only {', '.join(sorted(kinds))}")
        return value

    @field_validator("extract_model", "consolidation_model")
    @classmethod
    def _names_a_model(cls, value: str) -> str:
        return model_choice(value)

    @field_validator("model_base_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
        except ValueError:
            parts = urlsplit("")
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None:
            raise ValueError(f"must hold no password; that is for {PREFIX}MODEL_API_KEY")
        return value

    @model_validator(mode="after")
    def _prices_come_together(self) -> Self:
        prices = (self.model_price_input, self.model_price_output)
        has_any = any(price is not None for price in (*prices, self.model_price_cached_input))
        if has_any and None in prices:
            names = (f"{PREFIX}MODEL_PRICE_{kind}" for kind in ("INPUT", "OUTPUT"))
            raise ValueError(f"{' and '.join(names)}: a price needs both")
        return self

    @field_validator("database_url")
    @classmethod
    def _postgresql_only(cls, value: SecretStr | None) -> SecretStr | None:
        url = value.get_secret_value() if value is not None else ""
        if not url:
            return None
        if not url.startswith(("postgresql://", "postgres://", "postgresql+psycopg2://")):
            raise ValueError("must be a PostgreSQL URL; leave it unset for SQLite")
        return value

    @classmethod
    def load(cls) -> Self:
        """Read the environment.

        Raises:
            SettingsError: names every wrong or unknown variable, and never a value.
        """
        problems = _unknown_variables(os.environ, known=set(cls.model_fields))
        try:
            settings = cls()
        except ValidationError as error:
            details = error.errors(include_input=False, include_url=False)
            problems += [_problem(detail["loc"], detail["msg"]) for detail in details]
            raise _settings_error(problems) from None
        if problems:
            raise _settings_error(problems)
        return settings

    @cached_property
    def home_folder(self) -> Path:
        """The deployment's home: absolute, not necessarily there yet."""
        return self.home or checkout_folder() / ".automemory"

    @cached_property
    def known_codex_home(self) -> Path | None:
        """The Codex home that a person has or named, or None when there is none to read."""
        named = self.codex_home or _path(os.environ.get("CODEX_HOME"))
        folder = named or Path.home() / ".codex"
        return folder if _holds_rollouts(folder) else None

    @cached_property
    def looked_for_codex_home(self) -> Path:
        """Where a Codex home was looked for, to say so when there is none."""
        return self.codex_home or _path(os.environ.get("CODEX_HOME")) or Path.home() / ".codex"


def checkout_folder() -> Path:
    """The checkout this package was installed from in place, else the current folder."""
    parent = Path(__file__).resolve().parent.parent
    return parent if (parent / "pyproject.toml").is_file() else Path.cwd()


def _path(value: str | None) -> Path | None:
    return Path(value).expanduser().resolve() if value else None


def _holds_rollouts(folder: Path) -> bool:
    return (folder / "sessions").is_dir() or (folder / "archived_sessions").is_dir()


def _problem(location: tuple[int | str, ...], message: str) -> str:
    reason = message.removeprefix("Value error, ").replace("Input should be", "should be")
    # A rule over several variables has no place of its own and names them itself.
    return f"{PREFIX}{str(location[0]).upper()}: {reason}" if location else reason


def _unknown_variables(environment: Mapping[str, str], *, known: set[str]) -> list[str]:
    names = {f"{PREFIX}{name.upper()}" for name in known}
    problems = []
    for variable in sorted(environment):
        is_ours = variable.startswith(PREFIX) and not variable.startswith(_TEST_PREFIX)
        if not is_ours or variable in names:
            continue
        near = difflib.get_close_matches(variable, names, n=1)
        problems.append(f"{variable}: unknown" + (f"; did you mean {near[0]}?" if near else ""))
    return problems


def _settings_error(problems: list[str]) -> SettingsError:
    lines = "\n".join(f"  {problem}" for problem in problems)
    return SettingsError(f"Nothing was started, because these settings are wrong:\n{lines}")
