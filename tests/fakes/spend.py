"""Spend and scope settings as dictionaries under one lock."""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from automemory_dagster.domain.spend import (
    NO_TOKENS,
    LimitReached,
    MicroUsd,
    ModelCall,
    Period,
    Purpose,
    Reserved,
    Scope,
    SpendLimit,
    Spent,
    TokenUsage,
    Work,
)
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.ports import ScopeChange, SpendTotal


class FakeScopes:
    """A ``ScopeSettings``."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[tuple[Scope, str], dict[str, str]] = {}
        self._changes: list[tuple[Scope, str, ScopeChange]] = []

    def scope_values(self, scope: Scope, scope_id: str) -> Mapping[str, str]:
        return dict(sorted(self._values.get((scope, scope_id), {}).items()))

    def set_scope_value(
        self, scope: Scope, scope_id: str, name: str, value: str | None, *, who: str, now: datetime
    ) -> None:
        values = self._values.setdefault((scope, scope_id), {})
        old = values.pop(name, None)
        if value is not None:
            values[name] = value
        if old != value:
            change = ScopeChange(name=name, old=old, new=value, who=who, changed_at=now)
            self._changes.append((scope, scope_id, change))

    def scopes_with_values(self) -> Sequence[tuple[Scope, str]]:
        return sorted(key for key, values in self._values.items() if values)

    def scope_changes(
        self, scope: Scope, scope_id: str, *, limit: int = 100
    ) -> Sequence[ScopeChange]:
        found = [item[2] for item in self._changes if item[:2] == (scope, scope_id)]
        return sorted(found, key=lambda item: item.changed_at, reverse=True)[:limit]


class FakeSpend:
    """A ``SpendLedger``."""

    worker = "worker-1"

    def __init__(self) -> None:
        super().__init__()
        self._money = threading.RLock()
        self._calls: dict[str, ModelCall] = {}
        self._held: dict[str, tuple[Reserved, str, str]] = {}

    @property
    def calls(self) -> Sequence[ModelCall]:
        """Every call booked, in the order in which they were."""
        return list(self._calls.values())

    @property
    def reservations(self) -> Sequence[Reserved]:
        """What is set aside now."""
        return [reserved for reserved, _, _ in self._held.values()]

    def reserve(
        self,
        work: Work,
        amount: MicroUsd,
        *,
        limits: Sequence[SpendLimit],
        now: datetime,
        model: str = "",
    ) -> Reserved | LimitReached:
        with self._money:
            for limit in limits:
                if not _is_of(limit, work):
                    continue
                taken = self._sum(limit, work.run_id, now)
                if taken + amount > limit.micro_usd:
                    return LimitReached(limit=limit, taken=taken, asked=amount)
            reserved = Reserved(
                reservation_id=str(uuid4()), work=work, micro_usd=amount, reserved_at=now
            )
            self._held[reserved.reservation_id] = (reserved, model, self.worker)
            return reserved

    def settle(self, reserved: Reserved, call: ModelCall) -> None:
        with self._money:
            self._held.pop(reserved.reservation_id, None)
            self._calls[reserved.reservation_id] = call

    def free(self, reserved: Reserved) -> None:
        with self._money:
            self._held.pop(reserved.reservation_id, None)

    def settle_abandoned(self, is_gone: Callable[[str], bool], *, now: datetime) -> int:
        with self._money:
            abandoned = [
                (reserved, model)
                for reserved, model, worker in self._held.values()
                if is_gone(worker) or now - reserved.reserved_at >= timedelta(hours=2)
            ]
            for reserved, model in abandoned:
                lost = ModelCall(
                    work=reserved.work,
                    called_at=reserved.reserved_at,
                    model=model,
                    prompt_version="",
                    usage=TokenUsage(requests=1),
                    micro_usd=reserved.micro_usd,
                    is_estimated=True,
                )
                self.settle(reserved, lost)
            return len(abandoned)

    def taken(
        self, limits: Sequence[SpendLimit], *, now: datetime, run_id: str = ""
    ) -> Sequence[MicroUsd]:
        with self._money:
            return [self._sum(limit, run_id, now) for limit in limits]

    def spend_totals(
        self, *, since: datetime | None = None, space_id: SpaceId | None = None
    ) -> Sequence[SpendTotal]:
        groups: dict[tuple[str, str, Purpose, SpaceId, str], list[ModelCall]] = {}
        for call in self._calls.values():
            is_in = since is None or call.called_at >= since
            if is_in and space_id in (None, call.work.space_id):
                day = f"{call.called_at.astimezone(UTC):%Y-%m-%d}"
                work = call.work
                key = (day, call.model, work.purpose, work.space_id, work.user_id)
                groups.setdefault(key, []).append(call)
        return [
            SpendTotal(
                day=key[0],
                model=key[1],
                purpose=key[2],
                space_id=key[3],
                user_id=key[4],
                spent=Spent(
                    usage=sum((call.usage for call in calls), NO_TOKENS),
                    micro_usd=MicroUsd(sum(call.micro_usd for call in calls)),
                    model=key[1],
                ),
                estimated_calls=sum(call.is_estimated for call in calls),
            )
            for key, calls in sorted(groups.items())
        ]

    def spent_usd(self, *, since: datetime | None = None) -> float:
        calls = self._calls.values()
        return (
            sum(call.micro_usd for call in calls if since is None or call.called_at >= since)
            / 1_000_000
        )

    def _sum(self, limit: SpendLimit, run_id: str, now: datetime) -> MicroUsd:
        spent = sum(
            call.micro_usd
            for call in self._calls.values()
            if _counts(limit, call.work, run_id)
            and (limit.period is Period.RUN or call.called_at >= _begin(limit.period, now))
        )
        held = sum(
            reserved.micro_usd
            for reserved, _, _ in self._held.values()
            if _counts(limit, reserved.work, run_id)
        )
        return MicroUsd(spent + held)


def _counts(limit: SpendLimit, work: Work, run_id: str) -> bool:
    is_run = limit.period is not Period.RUN or (run_id != "" and work.run_id == run_id)
    return is_run and _is_of(limit, work)


def _is_of(limit: SpendLimit, work: Work) -> bool:
    if limit.scope is Scope.SPACE:
        return limit.scope_id == work.space_id
    if limit.scope is Scope.USER:
        return work.user_id != "" and limit.scope_id == work.user_id
    return True


def _begin(period: Period, now: datetime) -> datetime:
    day = 1 if period is Period.MONTH else now.day
    return datetime(now.year, now.month, day, tzinfo=UTC)
