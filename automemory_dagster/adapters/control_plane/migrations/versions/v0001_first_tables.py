"""The first tables of a control plane, but for those that are there already.

A table or view that the deployment made itself is left as it is: that is how a control plane with
other names is read. Written out on its own, without the package's table module.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
MONEY = sa.Numeric(14, 6).with_variant(sa.Text(), "sqlite")
LIVE = "superseded_by IS NULL AND deleted_at IS NULL"


def upgrade() -> None:
    _people_and_projects()
    _tasks()
    _quotas()
    _settings_and_flags()
    _memories()
    _log()
    _audit()


def _key(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, KEY, nullable=nullable)


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(f"'{default}'")
    return sa.Column(name, sa.Text(), nullable=nullable, server_default=server_default)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, MOMENT, nullable=nullable)


def _flag(name: str, default: str | None = None) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.Boolean(), nullable=default is None, server_default=server_default)


def _number(name: str, default: int, kind: Any = None) -> sa.Column[Any]:
    return sa.Column(
        name, kind or sa.Integer(), nullable=False, server_default=sa.text(str(default))
    )


def _create(name: str, *parts: Any) -> bool:
    """Make a table with its constraints; False when a table or view of the name is there."""
    connection = op.get_bind()
    is_postgres = connection.dialect.name == "postgresql"
    schema = "automemory" if is_postgres else None
    if sa.inspect(connection).has_table(name, schema=schema):
        return False
    forms = []
    if not is_postgres:
        # Text sorts as time does only when all of it has one form.
        forms = [
            sa.CheckConstraint(
                f"{part.name} LIKE '____-__-__ __:__:__.______'", name=f"ck_{name}_{part.name}"
            )
            for part in parts
            if isinstance(part, sa.Column) and part.type is MOMENT
        ]
    op.create_table(name, *parts, *forms)
    return True


def _partial(name: str, columns: list[Any], condition: str, *, unique: bool = False) -> None:
    where = sa.text(condition)
    op.create_index(
        name,
        "identity_memories",
        columns,
        unique=unique,
        sqlite_where=where,
        postgresql_where=where,
    )


def _people_and_projects() -> None:
    _create("users", _key("id"), _text("name"), sa.PrimaryKeyConstraint("id", name="pk_users"))
    _create(
        "projects",
        _key("id"),
        _text("name"),
        _text("repository_url", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
    )


def _tasks() -> None:
    is_ours = _create(
        "tasks",
        _key("id"),
        _key("user_id"),
        _key("project_id"),
        _key("parent_task_id", nullable=True),
        _text("status"),
        _text("goal", nullable=True),
        _text("prompt"),
        _text("result_text", nullable=True),
        _moment("created_at"),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        _moment("updated_at"),
        _text("rollout_uri", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'completed', 'failed', 'interrupted', 'merged')",
            name="ck_tasks_status",
        ),
    )
    if is_ours:
        op.create_index("ix_tasks_by_update", "tasks", ["updated_at", "id"])
        op.create_index("ix_tasks_by_user", "tasks", ["user_id", "updated_at", "id"])
    is_ours = _create(
        "task_followups",
        _key("id"),
        _key("task_id"),
        _key("from_task_id", nullable=True),
        _text("body"),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_task_followups"),
    )
    if is_ours:
        op.create_index("ix_task_followups_by_task", "task_followups", ["task_id"])


def _quotas() -> None:
    _create(
        "user_quotas",
        _key("user_id"),
        _key("month"),
        sa.Column("limit_usd", MONEY),
        sa.Column("used_usd", MONEY, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "month", name="pk_user_quotas"),
    )


def _settings_and_flags() -> None:
    table = "user_auto_memory_settings"
    _create(
        table,
        _key("user_id"),
        _flag("generate_memories", "false"),
        _flag("use_memories", "false"),
        _flag("disable_on_external_context", "true"),
        _number("min_rate_limit_remaining_percent", 20),
        _number("idle_seconds", 900),
        _number("min_duration_seconds", 30),
        _number("min_result_chars", 200),
        _text("extract_model", nullable=True),
        _text("consolidation_model", nullable=True),
        _text("recall_mode", default="newest"),
        sa.PrimaryKeyConstraint("user_id", name=f"pk_{table}"),
        sa.CheckConstraint(
            "min_rate_limit_remaining_percent BETWEEN 0 AND 100", name=f"ck_{table}_percent"
        ),
        sa.CheckConstraint("idle_seconds >= 0", name=f"ck_{table}_idle"),
        sa.CheckConstraint("min_duration_seconds >= 0", name=f"ck_{table}_duration"),
        sa.CheckConstraint("min_result_chars >= 0", name=f"ck_{table}_result"),
        sa.CheckConstraint("recall_mode IN ('newest', 'relevant')", name=f"ck_{table}_recall"),
    )
    _create(
        "task_auto_memory_flags",
        _key("task_id"),
        _flag("use_memories"),
        _flag("generate_memories"),
        sa.PrimaryKeyConstraint("task_id", name="pk_task_auto_memory_flags"),
    )


def _memories() -> None:
    table = "identity_memories"
    is_ours = _create(
        table,
        _key("id"),
        _text("level"),
        _key("user_id", nullable=True),
        _key("project_id", nullable=True),
        _text("kind"),
        _text("content"),
        _key("source_thread_id", nullable=True),
        _text("source"),
        _key("goal_key", nullable=True),
        _moment("created_at"),
        _key("superseded_by", nullable=True),
        _moment("deleted_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.CheckConstraint("level IN ('user', 'project')", name=f"ck_{table}_level"),
        sa.CheckConstraint("source IN ('auto', 'manual')", name=f"ck_{table}_source"),
        sa.CheckConstraint("content <> ''", name=f"ck_{table}_content"),
        sa.CheckConstraint(
            "level <> 'user' OR (source = 'manual' AND user_id IS NOT NULL AND project_id IS NULL)",
            name=f"ck_{table}_of_user",
        ),
        sa.CheckConstraint(
            "level <> 'project' OR project_id IS NOT NULL", name=f"ck_{table}_of_project"
        ),
        sa.CheckConstraint(
            "source <> 'auto' OR source_thread_id IS NOT NULL", name=f"ck_{table}_automatic"
        ),
    )
    if not is_ours:
        return
    newest = sa.text("created_at DESC")
    of_user, of_project = f"level = 'user' AND {LIVE}", f"level = 'project' AND {LIVE}"
    automatic = f"source = 'auto' AND {LIVE}"
    _partial("ix_identity_memories_of_user", ["user_id", newest, "id"], of_user)
    _partial("ix_identity_memories_of_project", ["project_id", newest, "id"], of_project)
    _partial("ux_identity_memories_by_thread", ["source_thread_id"], automatic, unique=True)
    _partial("ix_identity_memories_by_goal", ["project_id", "goal_key"], automatic)
    _partial("ix_identity_memories_deleted", ["deleted_at"], "deleted_at IS NOT NULL")
    _partial("ix_identity_memories_superseded", ["superseded_by"], "superseded_by IS NOT NULL")


def _log() -> None:
    is_ours = _create(
        "auto_memory_log",
        _key("task_id"),
        _key("user_id"),
        _key("project_id"),
        _text("outcome"),
        _text("reason"),
        _text("run_id"),
        _moment("attempted_at"),
        _key("memory_id", nullable=True),
        _text("extractor", default=""),
        _number("input_tokens", 0, sa.BigInteger()),
        _number("output_tokens", 0, sa.BigInteger()),
        _number("micro_usd", 0, sa.BigInteger()),
        sa.PrimaryKeyConstraint("task_id", name="pk_auto_memory_log"),
    )
    if is_ours:
        newest = sa.text("attempted_at DESC")
        for name, first in (("user", ["user_id"]), ("project", ["project_id"]), ("age", [])):
            columns: list[Any] = [*first, newest, "task_id"]
            op.create_index(f"ix_auto_memory_log_by_{name}", "auto_memory_log", columns)


def _audit() -> None:
    table = "auto_memory_audit"
    is_ours = _create(
        table,
        _key("id"),
        _moment("at"),
        _text("event"),
        _text("who"),
        _key("user_id", nullable=True),
        _key("project_id", nullable=True),
        _key("task_id", nullable=True),
        _text("before", nullable=True),
        _text("after", nullable=True),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    if is_ours:
        newest = sa.text("at DESC")
        op.create_index(f"ix_{table}_by_user", table, ["user_id", newest, "id"])
        op.create_index(f"ix_{table}_by_task", table, ["task_id", newest, "id"])
