"""Spend by call, reservations, and what a person set for a space or a user.

The former ``spend`` had a row a thread and run. Nothing that cost money ever wrote one, so it is
replaced and not carried over.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("spend")
    op.create_table(
        "spend",
        _key("call_id"),
        *_work(),
        _number("called_at"),
        _text("prompt_version"),
        _number("input_tokens"),
        _number("output_tokens"),
        _number("cache_read_tokens"),
        _number("cache_write_tokens"),
        _number("requests"),
        _number("micro_usd"),
        sa.Column("is_estimated", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("call_id", name="pk_spend"),
    )
    op.create_index("ix_spend_by_age", "spend", ["called_at", "micro_usd"])
    op.create_index("ix_spend_by_space", "spend", ["space_id", "called_at", "micro_usd"])
    op.create_index("ix_spend_by_user", "spend", ["user_id", "called_at", "micro_usd"])
    op.create_index("ix_spend_by_run", "spend", ["run_id", "space_id", "user_id", "micro_usd"])
    op.create_table(
        "spend_reservations",
        _key("reservation_id"),
        *_work(),
        _number("reserved_at"),
        _text("worker"),
        _number("micro_usd"),
        sa.PrimaryKeyConstraint("reservation_id", name="pk_spend_reservations"),
    )
    _scope_settings()


def downgrade() -> None:
    for table in ("scope_changes", "scope_settings", "spend_reservations", "spend"):
        op.drop_table(table)
    op.create_table(
        "spend",
        _key("thread_id"),
        _key("run_id"),
        _number("spent_at"),
        _key("space_id"),
        _text("extractor"),
        _number("input_tokens"),
        _number("output_tokens"),
        sa.Column("usd", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "run_id", "spent_at", name="pk_spend"),
    )
    op.create_index("ix_spend_by_age", "spend", ["spent_at"])


def _scope_settings() -> None:
    op.create_table(
        "scope_settings",
        _key("scope"),
        _key("scope_id"),
        _key("name"),
        _text("value"),
        _text("who"),
        _number("changed_at"),
        sa.PrimaryKeyConstraint("scope", "scope_id", "name", name="pk_scope_settings"),
    )
    op.create_table(
        "scope_changes",
        _key("change_id"),
        _key("scope"),
        _key("scope_id"),
        _key("name"),
        sa.Column("old_value", sa.Text()),
        sa.Column("new_value", sa.Text()),
        _text("who"),
        _number("changed_at"),
        sa.PrimaryKeyConstraint("change_id", name="pk_scope_changes"),
    )
    newest = sa.text("changed_at DESC")
    op.create_index("ix_scope_changes", "scope_changes", ["scope", "scope_id", newest])


def _work() -> list[sa.Column]:  # type: ignore[type-arg]
    return [_key(n) for n in ("purpose", "space_id", "thread_id", "user_id", "run_id", "model")]


def _key(name: str) -> sa.Column:  # type: ignore[type-arg]
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False)


def _text(name: str) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str) -> sa.Column:  # type: ignore[type-arg]
    return sa.Column(name, sa.BigInteger(), nullable=False)
