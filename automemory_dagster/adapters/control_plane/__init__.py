"""A control plane's tables: users, projects, tasks, and what automatic memory adds to them."""

from automemory_dagster.adapters.control_plane.migration import (
    has_control_plane,
    init_control_plane,
)

__all__ = ["has_control_plane", "init_control_plane"]
