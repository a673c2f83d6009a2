"""What the command line shows: for each question a table for people and the same as JSON."""

from automemory_dagster.triggers.views.log import show_log
from automemory_dagster.triggers.views.memory import show_memory
from automemory_dagster.triggers.views.progress import progress_bar
from automemory_dagster.triggers.views.run import show_pass
from automemory_dagster.triggers.views.scan import show_fix, show_scan
from automemory_dagster.triggers.views.status import show_status
from automemory_dagster.triggers.views.why import show_why

__all__ = [
    "progress_bar",
    "show_fix",
    "show_log",
    "show_memory",
    "show_pass",
    "show_scan",
    "show_status",
    "show_why",
]
