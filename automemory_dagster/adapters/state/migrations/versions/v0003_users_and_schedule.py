"""Whose a thread is, what supersedes it, and when a scheduled source looks at it again."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_WAITING = sa.text("is_unhandled AND look_at IS NOT NULL")
_HAS_USER = sa.text("user_id <> ''")
_UNHANDLED_OF_USER = sa.text("is_unhandled AND user_id <> ''")


def upgrade() -> None:
    # Without a batch: SQLite adds columns in place, and would rebuild the table for nothing.
    op.add_column("threads", _key("user_id"))
    op.add_column("threads", _key("goal_key"))
    op.add_column("threads", sa.Column("look_at", sa.BigInteger()))
    op.add_column("extraction_log", _key("user_id"))
    _index("ix_threads_waiting", "threads", ["source", "look_at", "thread_id"], _WAITING)
    _index(
        "ix_threads_unhandled_of_user",
        "threads",
        ["user_id", sa.text("source_updated_at DESC"), "thread_id"],
        _UNHANDLED_OF_USER,
    )
    _index(
        "ix_threads_by_stamp",
        "threads",
        ["source", sa.text("mtime_ns DESC"), sa.text("thread_id DESC")],
        _HAS_USER,
    )
    _index(
        "ix_extraction_log_by_user",
        "extraction_log",
        ["user_id", sa.text("logged_at DESC"), "thread_id"],
        _HAS_USER,
    )


def downgrade() -> None:
    op.drop_index("ix_extraction_log_by_user", "extraction_log")
    for name in ("waiting", "unhandled_of_user", "by_stamp"):
        op.drop_index(f"ix_threads_{name}", "threads")
    op.drop_column("extraction_log", "user_id")
    for name in ("look_at", "goal_key", "user_id"):
        op.drop_column("threads", name)


def _key(name: str) -> sa.Column:  # type: ignore[type-arg]
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False, server_default=sa.text("''"))


def _index(name: str, table: str, columns: list[object], where: object) -> None:
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)  # type: ignore[arg-type]
