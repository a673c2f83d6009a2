"""The control plane's own tables: we only read them, and any of them may be a view.

Each index serves a query that repeats; the comment above it names the query.
"""

from sqlalchemy import CheckConstraint, Column, Index, MetaData, Numeric, Table, Text

from automemory_dagster.adapters.control_plane.column import UtcMoment
from automemory_dagster.adapters.state.column import CleanText, Identifier

metadata = MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "ck": "ck_%(table_name)s_%(constraint_name)s"}
)

# Exact on both: SQLite has no decimal numbers, and a text keeps every digit.
_MONEY = Numeric(14, 6).with_variant(Text(), "sqlite")

users = Table(
    "users",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("name", CleanText, nullable=False),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("repository_url", CleanText),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("user_id", Identifier, nullable=False),
    Column("project_id", Identifier, nullable=False),
    Column("parent_task_id", Identifier),
    Column("status", CleanText, nullable=False),
    Column("goal", CleanText),
    Column("prompt", CleanText, nullable=False),
    Column("result_text", CleanText),
    Column("created_at", UtcMoment, nullable=False),
    Column("started_at", UtcMoment),
    Column("finished_at", UtcMoment),
    Column("updated_at", UtcMoment, nullable=False),
    Column("rollout_uri", CleanText),
    CheckConstraint(
        "status IN ('queued', 'running', 'completed', 'failed', 'interrupted', 'merged')",
        name="status",
    ),
)

# The sweep: what changed since the last page, in order.
Index("ix_tasks_by_update", tasks.c.updated_at, tasks.c.id)
# A sweep of one user's tasks, a page at a time.
Index("ix_tasks_by_user", tasks.c.user_id, tasks.c.updated_at, tasks.c.id)

task_followups = Table(
    "task_followups",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("task_id", Identifier, nullable=False),
    Column("from_task_id", Identifier),
    Column("body", CleanText, nullable=False),
    Column("created_at", UtcMoment, nullable=False),
)

# The gate of external context: has this task a message?
Index("ix_task_followups_by_task", task_followups.c.task_id)

user_quotas = Table(
    "user_quotas",
    metadata,
    Column("user_id", Identifier, primary_key=True),
    Column("month", Identifier, primary_key=True),
    # Null: unlimited. No row: the default limit.
    Column("limit_usd", _MONEY),
    Column("used_usd", _MONEY, nullable=False),
)

READ_ONLY = (users, projects, tasks, task_followups, user_quotas)
"""The control plane's own tables: never written to by us."""
