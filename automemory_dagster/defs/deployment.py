"""The deployment as a Dagster resource: opened at the first use, so that loading the definitions
touches no database."""

from collections.abc import Callable
from dataclasses import dataclass

from automemory_dagster.ports import Progress, no_progress
from automemory_dagster.wiring import Automemory, shared_automemory

DEPLOYMENT = "deployment"
"""Its resource key."""


@dataclass(frozen=True)
class Deployment:
    """What ops, sensors and checks get."""

    open: Callable[[], Automemory] = shared_automemory
    progress: Progress = no_progress
