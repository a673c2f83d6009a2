"""Times one whole pass over N synthetic rollouts, and tells whether its cost grows with N.

    python benchmarks/whole_pass.py [--sizes 100 1000] [--kilobytes 100]

Each size runs in a process of its own on a new home with SQLite. Printed: seconds, milliseconds a
thread, peak memory, a second pass in which nothing changed, and the ratio of the time a thread at
the largest size to that at the smallest (1.0 is linear). A size without a memory stops it all.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_OLD = 7_200


def main() -> None:
    """Run every size and print the table."""
    arguments = _arguments()
    if arguments.home:
        _run_pass(Path(arguments.home))
        return
    rows = [_measure(size, arguments.kilobytes) for size in arguments.sizes]
    print(f"{'threads':>8} {'pass s':>8} {'ms/thread':>10} {'again s':>8} {'peak MB':>8}")
    for row in rows:
        per_thread = 1000 * row["seconds"] / row["threads"]
        print(
            f"{row['threads']:>8} {row['seconds']:>8.1f} {per_thread:>10.1f} "
            f"{row['again_seconds']:>8.1f} {row['peak_mb']:>8.0f}"
        )
    first, last = rows[0], rows[-1]
    ratio = (last["seconds"] / last["threads"]) / (first["seconds"] / first["threads"])
    print(f"time a thread at {last['threads']} over that at {first['threads']}: {ratio:.2f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--kilobytes", type=int, default=100)
    parser.add_argument("--home", help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(threads: int, kilobytes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        codex_home = Path(folder) / "codex"
        write_rollouts(codex_home, threads, kilobytes)
        first = _pass_in_process(folder, codex_home)
        again = _pass_in_process(folder, codex_home)
    if not first["published"] or again["published"]:
        told = f"{first['problems']} {again['problems']}"
        sys.exit(f"{threads} threads: the first pass must publish, the second must not: {told}")
    return {
        "threads": threads,
        "seconds": first["seconds"],
        "peak_mb": first["peak_mb"],
        "again_seconds": again["seconds"],
    }


def _pass_in_process(folder: str, codex_home: Path) -> dict[str, Any]:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("AUTOMEMORY_")},
        "AUTOMEMORY_HOME": str(Path(folder) / "home"),
        "AUTOMEMORY_CODEX_HOME": str(codex_home),
        "AUTOMEMORY_GENERATE": "1",
    }
    # -P: the benchmark beside this one is named like a module of the standard library.
    command = [sys.executable, "-P", __file__, "--home", folder]
    output = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout
    return dict(json.loads(output.splitlines()[-1]))


def _run_pass(folder: Path) -> None:
    started = time.perf_counter()
    from automemory_dagster.definitions import defs
    from automemory_dagster.defs.local_run import run_pass
    from automemory_dagster.ports import no_progress
    from automemory_dagster.wiring import open_automemory

    report = run_pass(defs, open_automemory(), no_progress)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "published": len(report.published),
                "problems": list(report.problems),
                "peak_mb": peak_kb / 1024,
            }
        )
    )


def write_rollouts(codex_home: Path, threads: int, kilobytes: int) -> None:
    """Invented sessions of about this size, in twenty projects, idle for two hours."""
    for number in range(threads):
        thread_id = f"0195b000-0000-7000-8000-{number:012x}"
        folder = codex_home / "sessions" / "2026" / "03" / f"{1 + number % 28:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-03-01T10-00-00-{thread_id}.jsonl"
        path.write_text(_rollout(thread_id, number, kilobytes * 1024), "utf-8")
        moment = time.time() - _OLD - number
        os.utime(path, (moment, moment))


def _rollout(thread_id: str, number: int, size: int) -> str:
    cwd = f"/home/dev/projects/project-{number % 20}"
    meta = {"id": thread_id, "timestamp": "2026-03-01T10:00:00Z", "cwd": cwd, "source": "cli"}
    lines = [
        _line("session_meta", {**meta, "originator": "codex_cli_rs", "cli_version": "0.145.0"})
    ]
    length, turn = len(lines[0]), 0
    while length < size:
        turn += 1
        added = _turn(number, turn)
        lines += added
        length += sum(map(len, added))
    return "".join(lines)


def _turn(number: int, turn: int) -> list[str]:
    call = f"call_{number}_{turn}"
    ask = (
        f"Always run `check-{number % 50} --fast` before you commit part {turn} of module {number}."
    )
    noise = "\n".join(f"line {index}: processed item {index * turn}" for index in range(80))
    output = f"Exit code: 0\nWall time: 0.2 seconds\nOutput:\n{noise}\n12 passed in 0.4s"
    answer = f"Part {turn} of module {number} works; `check-{number % 50} --fast` passes."
    return [
        _message("user", "input_text", ask),
        _line("event_msg", {"type": "user_message", "message": ask}),
        _line(
            "response_item",
            {
                "type": "function_call",
                "name": "shell_command",
                "call_id": call,
                "arguments": json.dumps({"command": f"check-{number % 50} --fast"}),
            },
        ),
        _line(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": call,
                "output": output,
            },
        ),
        _message("assistant", "output_text", answer),
    ]


def _message(role: str, kind: str, text: str) -> str:
    content = [{"type": kind, "text": text}]
    return _line("response_item", {"type": "message", "role": role, "content": content})


def _line(kind: str, payload: dict[str, object]) -> str:
    record = {"timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload}
    return json.dumps(record, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    main()
