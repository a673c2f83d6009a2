"""The memory workspaces on disk: folders that people read, each with its git history."""

from automemory_dagster.adapters.workspace.workspaces import GitWorkspaces

__all__ = ["GitWorkspaces"]
