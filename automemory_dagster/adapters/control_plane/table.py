"""All tables of a control plane as the code sees them; ``migrations`` makes them.

On PostgreSQL they stand in the schema of the state store, so that one transaction can publish a
version and write the memories of its project.
"""

from automemory_dagster.adapters.control_plane.memory_table import (
    IS_LIVE,
    IS_LIVE_AUTOMATIC,
    IS_LIVE_OF_PROJECT,
    IS_LIVE_OF_USER,
    auto_memory_audit,
    auto_memory_log,
    identity_memories,
    task_auto_memory_flags,
    user_auto_memory_settings,
)
from automemory_dagster.adapters.control_plane.plane_table import (
    READ_ONLY,
    metadata,
    projects,
    task_followups,
    tasks,
    user_quotas,
    users,
)

__all__ = [
    "IS_LIVE",
    "IS_LIVE_AUTOMATIC",
    "IS_LIVE_OF_PROJECT",
    "IS_LIVE_OF_USER",
    "READ_ONLY",
    "auto_memory_audit",
    "auto_memory_log",
    "identity_memories",
    "metadata",
    "projects",
    "task_auto_memory_flags",
    "task_followups",
    "tasks",
    "user_auto_memory_settings",
    "user_quotas",
    "users",
]
