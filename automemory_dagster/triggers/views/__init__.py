"""What the command line shows: for each question a table for people and the same as JSON."""

from automemory_dagster.triggers.views.log import show_log
from automemory_dagster.triggers.views.memory import say_unknown_space, show_memory
from automemory_dagster.triggers.views.progress import progress_bar
from automemory_dagster.triggers.views.run import show_pass
from automemory_dagster.triggers.views.scan import show_fix, show_scan
from automemory_dagster.triggers.views.status import say_stand_in, show_status
from automemory_dagster.triggers.views.why import show_why

__all__ = [
    "progress_bar",
    "say_stand_in",
    "say_unknown_space",
    "show_fix",
    "show_log",
    "show_memory",
    "show_pass",
    "show_scan",
    "show_status",
    "show_why",
]
