"""Times a tick of both sensors over N threads: a tick must stay under 5 s at 10,000.

    python -P benchmarks/sensor_tick.py [--threads 10000] [--database-url postgresql://…]

Four states, each measured in a process that opens the deployment anew (cold) and again in the same
process (warm): nothing listed yet, all listed and due, all handled, one written on. Printed:
seconds a tick, what it asked for and the size of the cursor. The database must be empty; without a
URL it is SQLite in a temporary home. Exit code 1 when a tick takes longer than ``--most-seconds``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SESSION = (
    '{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"%s",'
    '"timestamp":"2026-03-01T10:00:00Z","cwd":"/home/dev/shop","source":"cli"}}\n'
    '{"timestamp":"2026-03-01T10:00:00.000Z","type":"event_msg","payload":'
    '{"type":"user_message","message":"Always run check %d before you commit."}}\n'
)
_STATES = ("nothing listed", "all due", "all handled", "one written on")


def main() -> None:
    """Bring the deployment from state to state and measure in each."""
    arguments = _arguments()
    if arguments.step:
        print(json.dumps(_STEPS[arguments.step]()))
        return
    slowest = 0.0
    print(f"{'state':<16} {'sensor':<15} {'cold s':>8} {'warm s':>8} {'asks':>5} {'cursor':>7}")
    with tempfile.TemporaryDirectory() as folder:
        _write_rollouts(Path(folder) / "codex", arguments.threads)
        for state, change in zip(_STATES, (None, "list", "handle", "touch"), strict=True):
            if change:
                _in_process(folder, change, arguments.database_url)
            for row in _in_process(folder, "tick", arguments.database_url):
                slowest = max(slowest, row["cold"], row["warm"])
                print(
                    f"{state:<16} {row['sensor']:<15} {row['cold']:>8.2f} {row['warm']:>8.2f} "
                    f"{row['asks']:>5} {row['cursor']:>7}"
                )
    print(f"slowest tick over {arguments.threads:,} threads: {slowest:.2f} s")
    sys.exit(slowest > arguments.most_seconds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--database-url", default="")
    parser.add_argument("--most-seconds", type=float, default=5.0)
    parser.add_argument("--step", choices=[*_STEPS], help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_process(folder: str, step: str, database_url: str) -> list[dict[str, Any]]:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("AUTOMEMORY_")},
        "AUTOMEMORY_HOME": str(Path(folder) / "home"),
        "AUTOMEMORY_CODEX_HOME": str(Path(folder) / "codex"),
        "AUTOMEMORY_GENERATE": "1",
        "AUTOMEMORY_MAX_ROLLOUT_AGE_DAYS": "0",
        **({"AUTOMEMORY_DATABASE_URL": database_url} if database_url else {}),
    }
    # -P: a benchmark beside this one is named like a module of the standard library.
    command = [sys.executable, "-P", __file__, "--step", step]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def _tick() -> list[dict[str, Any]]:
    import dagster as dg

    from automemory_dagster.contract import IDLE_SENSOR, PENDING_SENSOR
    from automemory_dagster.definitions import defs
    from automemory_dagster.wiring import open_automemory

    repository = defs.get_repository_def()
    rows = []
    with dg.DagsterInstance.local_temp() as instance:
        for name in (IDLE_SENSOR, PENDING_SENSOR):
            automemory, spent, context = open_automemory(), [], None
            for _ in range(2):
                context = dg.build_sensor_context(
                    instance=instance, definitions=defs, resources=_resources(automemory)
                )
                started = time.perf_counter()
                with context:
                    answer = repository.get_sensor_def(name)(context)
                spent.append(time.perf_counter() - started)
            is_skip = isinstance(answer, dg.SkipReason)
            rows.append(
                {
                    "sensor": name,
                    "cold": spent[0],
                    "warm": spent[1],
                    "asks": 0 if is_skip else len(answer.run_requests),
                    "cursor": 0 if is_skip else len(answer.cursor),
                }
            )
    return rows


def _resources(automemory: Any) -> Mapping[str, object]:
    from automemory_dagster.defs.deployment import DEPLOYMENT, Deployment

    return {DEPLOYMENT: Deployment(lambda: automemory)}


def _list() -> list[object]:
    from automemory_dagster.pipeline import sweep
    from automemory_dagster.wiring import open_automemory

    sweep.update_catalogue(open_automemory().sweep_world)
    return []


def _handle() -> list[object]:
    from automemory_dagster.pipeline import phase1, sweep
    from automemory_dagster.wiring import open_automemory

    automemory = open_automemory()
    while due := sweep.find_due(automemory.sweep_world, limit=2_000):
        ids = [state.thread.thread_id for state in due]
        for _ in phase1.extract_batch(ids, automemory.phase1_world()):
            pass
    return []


def _touch() -> list[object]:
    path = next(Path(os.environ["AUTOMEMORY_CODEX_HOME"]).rglob("*.jsonl"))
    path.write_text(path.read_text("utf-8") * 2, "utf-8")
    moment = time.time() - 3_600
    os.utime(path, (moment, moment))
    return []


_STEPS = {"tick": _tick, "list": _list, "handle": _handle, "touch": _touch}


def _write_rollouts(codex_home: Path, threads: int) -> None:
    """Small sessions over 28 days, idle for two hours: the size is nothing that a tick looks at."""
    for number in range(threads):
        thread_id = f"0195b000-0000-7000-8000-{number:012x}"
        folder = codex_home / "sessions" / "2026" / "03" / f"{1 + number % 28:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-03-01T10-00-00-{thread_id}.jsonl"
        path.write_text(_SESSION % (thread_id, number), "utf-8")
        moment = time.time() - 7_200 - number
        os.utime(path, (moment, moment))


if __name__ == "__main__":
    main()
