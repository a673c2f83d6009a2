"""Money and tokens: what a model call may cost, did cost, and who sets the bounds.

Amounts are whole millionths of a US dollar, so that sums are exact in every database.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from typing import NewType

from automemory_dagster.domain.thread import SpaceId, ThreadId

MicroUsd = NewType("MicroUsd", int)
"""Millionths of a US dollar."""

NOTHING = MicroUsd(0)


def micro_usd(usd: Decimal | str | int) -> MicroUsd:
    """US dollars as whole millionths, rounded up: a bound is never passed by rounding."""
    exact = Decimal(usd) * 1_000_000
    return MicroUsd(int(exact.to_integral_value(rounding=ROUND_UP)))


class Purpose(StrEnum):
    """What a model was asked for."""

    EXTRACT = "extract"
    CONSOLIDATE = "consolidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """On whose account a model is asked: every call, reservation and spend row names it."""

    purpose: Purpose
    space_id: SpaceId
    thread_id: ThreadId | None = None
    user_id: str = ""
    """The person whose budget it is; empty where there are no users."""
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one or more calls."""

    input_tokens: int = 0
    """All of the input, the cached part too."""
    output_tokens: int = 0
    """Reasoning too."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            requests=self.requests + other.requests,
        )


NO_TOKENS = TokenUsage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a piece of work cost."""

    usage: TokenUsage = NO_TOKENS
    micro_usd: MicroUsd = NOTHING
    model: str = ""

    @property
    def usd(self) -> float:
        """In US dollars, for people."""
        return self.micro_usd / 1_000_000

    @staticmethod
    def total(parts: "Iterable[Spent]") -> "Spent":
        """The sum; the model is the last one named."""
        usage, amount, model = NO_TOKENS, 0, ""
        for part in parts:
            usage, amount, model = usage + part.usage, amount + part.micro_usd, part.model or model
        return Spent(usage=usage, micro_usd=MicroUsd(amount), model=model)


NOTHING_SPENT = Spent()


class Scope(StrEnum):
    """Whom a bound or a choice is for."""

    DEPLOYMENT = "deployment"
    SPACE = "space"
    USER = "user"


class Period(StrEnum):
    """Over what a bound counts; days and months are UTC's."""

    RUN = "run"
    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimit:
    """One bound: what ``scope`` may spend in one ``period``."""

    scope: Scope
    scope_id: str
    """The space or user; empty for the deployment."""
    period: Period
    micro_usd: MicroUsd


def applies_to(limit: SpendLimit, work: Work) -> bool:
    """True when ``limit`` is one of those that ``work`` has to keep."""
    match limit.scope:
        case Scope.DEPLOYMENT:
            return True
        case Scope.SPACE:
            return limit.scope_id == work.space_id
        case Scope.USER:
            return bool(work.user_id) and limit.scope_id == work.user_id


def begin_of(period: Period, now: datetime) -> datetime:
    """When the day or month of ``now`` (UTC) began."""
    assert period is not Period.RUN
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.replace(day=1) if period is Period.MONTH else midnight


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """An amount set aside for one call. Settled when its cost is known, freed when nothing was
    billed; one that is never settled (its process died) counts as spent."""

    reservation_id: str
    work: Work
    micro_usd: MicroUsd
    reserved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A reservation that would pass a bound."""

    limit: SpendLimit
    taken: MicroUsd
    """Spent and set aside already within the period."""
    asked: MicroUsd


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One answered (or lost) call: a row of ``spend``."""

    work: Work
    called_at: datetime
    model: str
    """``provider:name``."""
    prompt_version: str
    usage: TokenUsage
    micro_usd: MicroUsd
    is_estimated: bool = False
    """The answer was lost (time out, killed), so the bound of its cost stands for it."""
