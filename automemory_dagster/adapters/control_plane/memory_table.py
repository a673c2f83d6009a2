"""What automatic memory adds to a control plane: settings, flags, memories, log and audit.

Each index serves a query that repeats; the comment above it names the query.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Index,
    Integer,
    Table,
    text,
)

from automemory_dagster.adapters.control_plane.column import UtcMoment
from automemory_dagster.adapters.control_plane.plane_table import metadata
from automemory_dagster.adapters.state.column import CleanText, Identifier, JsonObject

user_auto_memory_settings = Table(
    "user_auto_memory_settings",
    metadata,
    Column("user_id", Identifier, primary_key=True),
    Column("generate_memories", Boolean, nullable=False, server_default=text("false")),
    Column("use_memories", Boolean, nullable=False, server_default=text("false")),
    Column("disable_on_external_context", Boolean, nullable=False, server_default=text("true")),
    Column("min_rate_limit_remaining_percent", Integer, nullable=False, server_default=text("20")),
    Column("idle_seconds", Integer, nullable=False, server_default=text("900")),
    Column("min_duration_seconds", Integer, nullable=False, server_default=text("30")),
    Column("min_result_chars", Integer, nullable=False, server_default=text("200")),
    Column("extract_model", CleanText),
    Column("consolidation_model", CleanText),
    Column("recall_mode", CleanText, nullable=False, server_default=text("'newest'")),
    CheckConstraint("min_rate_limit_remaining_percent BETWEEN 0 AND 100", name="percent"),
    CheckConstraint("idle_seconds >= 0", name="idle"),
    CheckConstraint("min_duration_seconds >= 0", name="duration"),
    CheckConstraint("min_result_chars >= 0", name="result"),
    CheckConstraint("recall_mode IN ('newest', 'relevant')", name="recall"),
)

task_auto_memory_flags = Table(
    "task_auto_memory_flags",
    metadata,
    Column("task_id", Identifier, primary_key=True),
    # Null follows the user's setting.
    Column("use_memories", Boolean),
    Column("generate_memories", Boolean),
)

IS_LIVE = "superseded_by IS NULL AND deleted_at IS NULL"
"""The same words stand in the partial indexes and in the queries, or else no planner uses them."""
IS_LIVE_OF_USER = f"level = 'user' AND {IS_LIVE}"
IS_LIVE_OF_PROJECT = f"level = 'project' AND {IS_LIVE}"
IS_LIVE_AUTOMATIC = f"source = 'auto' AND {IS_LIVE}"

identity_memories = Table(
    "identity_memories",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("level", CleanText, nullable=False),
    # Of a user-level memory: whose it is. Of a project-level one: who wrote it, or whose task.
    Column("user_id", Identifier),
    Column("project_id", Identifier),
    Column("kind", CleanText, nullable=False),
    Column("content", CleanText, nullable=False),
    Column("source_thread_id", Identifier),
    Column("source", CleanText, nullable=False),
    # What a newer result must share to supersede this one: a digest of the goal's first line.
    Column("goal_key", Identifier),
    Column("created_at", UtcMoment, nullable=False),
    Column("superseded_by", Identifier),
    Column("deleted_at", UtcMoment),
    CheckConstraint("level IN ('user', 'project')", name="level"),
    CheckConstraint("source IN ('auto', 'manual')", name="source"),
    CheckConstraint("content <> ''", name="content"),
    # What a task taught stays in its project: only people write for a user.
    CheckConstraint(
        "level <> 'user' OR (source = 'manual' AND user_id IS NOT NULL AND project_id IS NULL)",
        name="of_user",
    ),
    CheckConstraint("level <> 'project' OR project_id IS NOT NULL", name="of_project"),
    CheckConstraint("source <> 'auto' OR source_thread_id IS NOT NULL", name="automatic"),
)


def _index_of(
    condition: str, name: str, *columns: ColumnElement[Any], is_unique: bool = False
) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=is_unique, sqlite_where=where, postgresql_where=where)


_memory = identity_memories.c
# Recall, and the lists that people see: newest first.
_index_of(
    IS_LIVE_OF_USER,
    "ix_identity_memories_of_user",
    _memory.user_id,
    _memory.created_at.desc(),
    _memory.id,
)
_index_of(
    IS_LIVE_OF_PROJECT,
    "ix_identity_memories_of_project",
    _memory.project_id,
    _memory.created_at.desc(),
    _memory.id,
)
# One live memory a task.
_index_of(
    IS_LIVE_AUTOMATIC,
    "ux_identity_memories_by_thread",
    _memory.source_thread_id,
    is_unique=True,
)
# Superseding: which live memory has this goal?
_index_of(IS_LIVE_AUTOMATIC, "ix_identity_memories_by_goal", _memory.project_id, _memory.goal_key)
# Real deletion after the grace time, with what the deleted one had superseded.
_index_of("deleted_at IS NOT NULL", "ix_identity_memories_deleted", _memory.deleted_at)
_index_of("superseded_by IS NOT NULL", "ix_identity_memories_superseded", _memory.superseded_by)

auto_memory_log = Table(
    "auto_memory_log",
    metadata,
    Column("task_id", Identifier, primary_key=True),
    Column("user_id", Identifier, nullable=False),
    Column("project_id", Identifier, nullable=False),
    Column("outcome", CleanText, nullable=False),
    Column("reason", CleanText, nullable=False),
    Column("run_id", CleanText, nullable=False),
    Column("attempted_at", UtcMoment, nullable=False),
    Column("memory_id", Identifier),
    Column("extractor", CleanText, nullable=False, server_default=text("''")),
    Column("input_tokens", BigInteger, nullable=False, server_default=text("0")),
    Column("output_tokens", BigInteger, nullable=False, server_default=text("0")),
    Column("micro_usd", BigInteger, nullable=False, server_default=text("0")),
)

# log: newest first, of a user, of a project or of all.
Index(
    "ix_auto_memory_log_by_user",
    auto_memory_log.c.user_id,
    auto_memory_log.c.attempted_at.desc(),
    auto_memory_log.c.task_id,
)
Index(
    "ix_auto_memory_log_by_project",
    auto_memory_log.c.project_id,
    auto_memory_log.c.attempted_at.desc(),
    auto_memory_log.c.task_id,
)
Index("ix_auto_memory_log_by_age", auto_memory_log.c.attempted_at.desc(), auto_memory_log.c.task_id)

auto_memory_audit = Table(
    "auto_memory_audit",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("at", UtcMoment, nullable=False),
    Column("event", CleanText, nullable=False),
    # Who did it: a person, or the worker.
    Column("who", CleanText, nullable=False),
    Column("user_id", Identifier),
    Column("project_id", Identifier),
    Column("task_id", Identifier),
    Column("before", JsonObject),
    Column("after", JsonObject),
)

# audit: newest first, of a user or of a task.
Index(
    "ix_auto_memory_audit_by_user",
    auto_memory_audit.c.user_id,
    auto_memory_audit.c.at.desc(),
    auto_memory_audit.c.id,
)
Index(
    "ix_auto_memory_audit_by_task",
    auto_memory_audit.c.task_id,
    auto_memory_audit.c.at.desc(),
    auto_memory_audit.c.id,
)
