"""Pool limits, which ``dagster.yaml`` cannot hold: they live in the instance."""

from contextlib import suppress

import dagster as dg
from sqlalchemy.exc import IntegrityError

from automemory_dagster import contract

_LIMITS = {
    contract.PHASE1_POOL: contract.PHASE1_POOL_LIMIT,
    contract.PHASE2_POOL: contract.PHASE2_POOL_LIMIT,
}


def set_pool_limits(instance: dg.DagsterInstance) -> None:
    """Give each pool that has no limit of its own yet the one it is meant to have; a person's
    choice stays."""
    storage = instance.event_log_storage
    if not storage.supports_global_concurrency_limits:
        return
    explicit = {pool.name for pool in storage.get_pool_limits() if not pool.from_default}
    for name, limit in _LIMITS.items():
        if name not in explicit:
            # Another process that starts at the same moment may set it first.
            with suppress(IntegrityError):
                storage.set_concurrency_slots(name, limit)
