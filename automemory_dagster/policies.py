"""Settings in, the small policies of the domain out. Inward, nobody sees a setting."""

from datetime import timedelta

from automemory_dagster.domain.eligibility import EligibilityPolicy
from automemory_dagster.domain.job import LeasePolicy
from automemory_dagster.domain.selection import SelectionPolicy
from automemory_dagster.domain.spend import Period, Scope, SpendLimit, micro_usd
from automemory_dagster.domain.thread import SourceKind
from automemory_dagster.settings import Settings


def eligibility_policy(
    settings: Settings, *, is_sample: bool, is_generation_on: bool
) -> EligibilityPolicy:
    """The gates of a source."""
    asked = (SourceKind(kind) for kind in settings.admit_kinds)
    admitted = frozenset({SourceKind.INTERACTIVE, *asked})
    days = settings.max_rollout_age_days
    # The sample must work in a year: its sessions never grow too old, and nobody writes them.
    has_age_gate = days > 0 and not is_sample
    return EligibilityPolicy(
        is_generation_on=is_generation_on,
        idle=timedelta(seconds=0 if is_sample else settings.idle_seconds),
        max_age=timedelta(days=days) if has_age_gate else None,
        admitted_kinds=admitted,
    )


def selection_policy(settings: Settings, *, is_sample: bool) -> SelectionPolicy:
    """What one consolidation reads."""
    days = settings.max_unused_days
    return SelectionPolicy(
        max_inputs=settings.max_consolidation_inputs,
        max_unused=timedelta(days=days) if days > 0 and not is_sample else None,
    )


def lease_policy(settings: Settings) -> LeasePolicy:
    """How long work may hold a job, and how it is tried again."""
    return LeasePolicy(
        lease=timedelta(seconds=settings.lease_seconds),
        retry_delay=timedelta(seconds=settings.retry_seconds),
        retry_budget=settings.retry_budget,
        max_running=settings.phase1_max_running,
        cooldown=timedelta(seconds=settings.consolidation_cooldown_seconds),
    )


def spend_limits(settings: Settings) -> tuple[SpendLimit, ...]:
    """What the deployment may spend; a space's and a user's own limits come on top."""
    caps = {
        Period.RUN: settings.max_usd_per_run,
        Period.DAY: settings.max_usd_per_day,
        Period.MONTH: settings.max_usd_per_month,
    }
    return tuple(
        SpendLimit(scope=Scope.DEPLOYMENT, scope_id="", period=period, micro_usd=micro_usd(usd))
        for period, usd in caps.items()
    )
