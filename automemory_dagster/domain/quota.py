"""A user's monthly quota of money, and how much of it is left.

The trap: to pretend that there is quota when it cannot be read. Whatever is unclear is a problem,
and a problem closes the gate. Source of the rules: the specification of cloud memory, section 3.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

DEFAULT_LIMIT_USD = Decimal("10.00")
"""The limit of a user without a row for the month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRow:
    """A user's row of one month, as the database tells it in words."""

    limit_usd: str | None
    """None: unlimited."""
    used_usd: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much of a month's quota is left."""

    limit_usd: Decimal | None = None
    """None: unlimited."""
    used_usd: Decimal = Decimal(0)
    problem: str = ""
    """Why it cannot be told, as one sentence; empty when it can."""

    def has_left(self, percent: int) -> bool:
        """True when at least this share of the limit is left; exactly this share passes.

        A limit of nothing has nothing left. False when the quota could not be read.
        """
        if self.problem:
            return False
        if self.limit_usd is None:
            return True
        if not self.limit_usd:
            return percent <= 0 and not self.used_usd
        # Multiplied out, since a quotient would be rounded.
        return (self.limit_usd - self.used_usd) * 100 >= self.limit_usd * percent

    @property
    def words(self) -> str:
        """What was found, for a person."""
        if self.problem:
            return self.problem
        if self.limit_usd is None:
            return "unlimited"
        return f"{self.used_usd} of {self.limit_usd} USD used this month"


def read_quota(row: QuotaRow | None) -> Quota:
    """The quota of a row; None means the user has no row. Never raises."""
    if row is None:
        return Quota(limit_usd=DEFAULT_LIMIT_USD)
    if row.limit_usd is None and row.used_usd is None:
        return Quota()
    limit, used = _amount(row.limit_usd), _amount(row.used_usd)
    if used is None:
        return Quota(problem="the amount used is no amount of money")
    if row.limit_usd is None:
        return Quota(used_usd=used)
    if limit is None:
        return Quota(problem="the limit is no amount of money")
    return Quota(limit_usd=limit, used_usd=used)


def unreadable(why: str) -> Quota:
    """The quota of users whose rows could not be read at all."""
    return Quota(problem=f"the quota could not be read: {why}")


def month_of(moment: datetime) -> str:
    """``YYYY-MM``, UTC: the key of a quota's row."""
    return moment.astimezone(UTC).strftime("%Y-%m")


def _amount(text: str | None) -> Decimal | None:
    """A finite amount that is not negative, or None."""
    try:
        value = Decimal(text.strip()) if text is not None else None
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() and value >= 0 else None
