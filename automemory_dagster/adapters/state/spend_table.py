"""The tables of what models cost, and of what a person set for a space or a user."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table

from automemory_dagster.adapters.state.column import CleanText, Identifier, Moment
from automemory_dagster.adapters.state.schema import metadata


def _work() -> list[Column[str]]:
    """On whose account; texts are empty where there is none, so that sums can go by them."""
    return [
        Column("purpose", Identifier, nullable=False),
        Column("space_id", Identifier, nullable=False),
        Column("thread_id", Identifier, nullable=False),
        Column("user_id", Identifier, nullable=False),
        Column("run_id", Identifier, nullable=False),
        Column("model", Identifier, nullable=False),
    ]


# A call has the id of its reservation, so that it is booked once.
spend = Table(
    "spend",
    metadata,
    Column("call_id", Identifier, primary_key=True),
    *_work(),
    Column("called_at", Moment, nullable=False),
    Column("prompt_version", CleanText, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("micro_usd", BigInteger, nullable=False),
    Column("is_estimated", Boolean, nullable=False),
)

# reserve: the sums of a day or month, for each scope, and of a run. The amount stands in the index,
# so that no row is read.
Index("ix_spend_by_age", spend.c.called_at, spend.c.micro_usd)
Index("ix_spend_by_space", spend.c.space_id, spend.c.called_at, spend.c.micro_usd)
Index("ix_spend_by_user", spend.c.user_id, spend.c.called_at, spend.c.micro_usd)
Index("ix_spend_by_run", spend.c.run_id, spend.c.space_id, spend.c.user_id, spend.c.micro_usd)

# Some at any time: as many as calls are under way.
spend_reservations = Table(
    "spend_reservations",
    metadata,
    Column("reservation_id", Identifier, primary_key=True),
    *_work(),
    Column("reserved_at", Moment, nullable=False),
    Column("worker", CleanText, nullable=False),
    Column("micro_usd", BigInteger, nullable=False),
)

scope_settings = Table(
    "scope_settings",
    metadata,
    Column("scope", Identifier, primary_key=True),
    Column("scope_id", Identifier, primary_key=True),
    Column("name", Identifier, primary_key=True),
    Column("value", CleanText, nullable=False),
    Column("who", CleanText, nullable=False),
    Column("changed_at", Moment, nullable=False),
)

scope_changes = Table(
    "scope_changes",
    metadata,
    Column("change_id", Identifier, primary_key=True),
    Column("scope", Identifier, nullable=False),
    Column("scope_id", Identifier, nullable=False),
    Column("name", Identifier, nullable=False),
    # Null: it was not set, or is not any more.
    Column("old_value", CleanText),
    Column("new_value", CleanText),
    Column("who", CleanText, nullable=False),
    Column("changed_at", Moment, nullable=False),
)

# scope_changes: newest first, of one scope.
Index(
    "ix_scope_changes",
    scope_changes.c.scope,
    scope_changes.c.scope_id,
    scope_changes.c.changed_at.desc(),
)
