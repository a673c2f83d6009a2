"""Ending the runs in progress before their workers go, so that none stays "started" for ever.

A worker that is only killed leaves its run marked as started: Dagster's default launcher has no
way to tell. So the server asks through GraphQL, like a person who presses "terminate", and after a
while has what is left marked as canceled. Runs that wait in the queue stay there for the next
start.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

_LIVE_RUNS = """query($tags: [ExecutionTag!]!) { runsOrError(filter: {
  statuses: [STARTING, STARTED, CANCELING], tags: $tags}) {
  __typename ... on Runs { results { runId } } } }"""
_TERMINATE = """mutation($ids: [String!]!, $policy: TerminateRunPolicy!) {
  terminateRuns(runIds: $ids, terminatePolicy: $policy) { __typename } }"""
_LAUNCHER_TAG = ".dagster/grpc_info"
_CALL_SECONDS = 2.0


def stop_runs(
    address: str,
    sockets: Sequence[Path],
    *,
    seconds: float,
    is_impatient: Callable[[], bool] = lambda: False,
) -> int:
    """End the runs that the code servers on these sockets carry; gives how many there were.

    Other machines may share the database: their runs are left alone. Never raises: a server that
    cannot be asked any more must still be able to stop.
    """
    try:
        with httpx.Client(base_url=address, trust_env=False, timeout=_CALL_SECONDS) as client:
            return _stop(client, sockets, time.monotonic() + seconds, is_impatient)
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return 0


def _stop(
    client: httpx.Client,
    sockets: Sequence[Path],
    give_up: float,
    is_impatient: Callable[[], bool],
) -> int:
    live = _live_runs(client, sockets)
    count = len(live)
    if live:
        _terminate(client, live, "SAFE_TERMINATE")
    while live and time.monotonic() < give_up and not is_impatient():
        time.sleep(0.2)
        live = _live_runs(client, sockets)
    if live:
        _terminate(client, live, "MARK_AS_CANCELED_IMMEDIATELY")
    return count


def _live_runs(client: httpx.Client, sockets: Sequence[Path]) -> list[str]:
    live: list[str] = []
    for path in sockets:
        # The value the default launcher writes, and the only way to tell whose run it is.
        launcher = json.dumps({"host": "localhost", "socket": str(path)})
        tags = [{"key": _LAUNCHER_TAG, "value": launcher}]
        answer = _ask(client, _LIVE_RUNS, {"tags": tags})
        live += [run["runId"] for run in answer["data"]["runsOrError"]["results"]]
    return live


def _terminate(client: httpx.Client, runs: Sequence[str], policy: str) -> None:
    _ask(client, _TERMINATE, {"ids": list(runs), "policy": policy})


def _ask(client: httpx.Client, query: str, variables: object) -> Any:
    answer = client.post("/graphql", json={"query": query, "variables": variables})
    answer.raise_for_status()
    return answer.json()
