"""One tick of a sensor, as the daemon makes it, and what came of it."""

import json
from dataclasses import dataclass
from typing import Any

import dagster as dg

from automemory_dagster.definitions import defs
from automemory_dagster.defs.deployment import DEPLOYMENT
from tests.defs.shell import Shell


@dataclass(frozen=True)
class Tick:
    """What a tick asked for, or why it asked for nothing, and the cursor after it."""

    requests: tuple[dg.RunRequest, ...]
    skipped: str
    cursor: str

    @property
    def run_key(self) -> str:
        """The key of the only request."""
        [request] = self.requests
        return str(request.run_key)


def tick(shell: Shell, sensor: str, cursor: str = "") -> Tick:
    """Evaluate a sensor over the shell's instance; an empty cursor is none."""
    definition = defs.get_repository_def().get_sensor_def(sensor)
    context = dg.build_sensor_context(
        instance=shell.instance,
        cursor=cursor or None,
        definitions=defs,
        resources={DEPLOYMENT: shell.deployment},
    )
    with context:
        answer = definition(context)
    if isinstance(answer, dg.SkipReason):
        return Tick((), answer.skip_message or "", cursor)
    assert isinstance(answer, dg.SensorResult)
    return Tick(tuple(answer.run_requests or ()), "", answer.cursor or "")


def earlier(cursor: str, *, seconds: int) -> str:
    """The cursor as it would be had the tick been this long ago."""
    said: dict[str, Any] = json.loads(cursor)
    return json.dumps(said | {"asked_at": said["asked_at"] - seconds})
