"""Times the making of transcripts: read, filter, tier, cut and redact, without a database.

    python benchmarks/prepare.py FILE_OR_FOLDER [...] [--rounds 5] [--profile]

Printed a file group: megabytes a second on one core (decompressed bytes over CPU seconds), CPU
time as a ratio to ``orjson.loads`` of every line of the same bytes in the same run (goal: at most
8), and peak memory above the idle process. ``--profile`` prints where the time goes instead.
"""

import argparse
import cProfile
import io
import pstats
import re
import resource
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import zstandard

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.adapters.sources.codex.reader import read_rollout
from automemory_dagster.domain.errors import RolloutUnreadable
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId
from automemory_dagster.pipeline.transcript import build_transcript

_BUDGET_TOKENS = 150_000
_WHOLE_BYTES = 256 << 20
"""Files above this are not parsed whole for the comparison."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def main() -> None:
    """Time every file, print the totals."""
    arguments = _arguments()
    files = [path for given in arguments.paths for path in _rollouts(Path(given))]
    if arguments.profile:
        _profile(files)
        return
    redact("warm up: token=abcdefgh12345678")
    idle_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = sum(prepare(path, redact) for path in files)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    whole = _fastest(lambda: [prepare(path, redact) for path in files], arguments.rounds)
    bare = _fastest(lambda: [prepare(path, _unredacted) for path in files], arguments.rounds)
    print(f"files            {len(files)}")
    print(f"decompressed     {size / 1e6:.1f} MB")
    print(f"prepare          {size / 1e6 / whole:.1f} MB/s, {1000 * whole:.1f} ms CPU")
    print(f"  redaction      {1000 * (whole - bare):.1f} ms of it")
    print(f"peak above idle  {(peak_kb - idle_kb) / 1024:.0f} MB")
    if size <= _WHOLE_BYTES:
        lines = [line for path in files for line in _lines(path)]
        parse = _fastest(lambda: _parse(lines), arguments.rounds)
        print(f"orjson.loads     {size / 1e6 / parse:.1f} MB/s, {1000 * parse:.1f} ms CPU")
        print(f"ratio            {whole / parse:.1f}")


def prepare(path: Path, with_redact: Redact) -> int:
    """One transcript; gives the bytes read, 0 for a file that is no rollout."""
    found = _UUID.search(path.name)
    thread_id = ThreadId(found.group() if found else "")
    try:
        reading = read_rollout([path], thread_id=thread_id, home=path.parent)
    except RolloutUnreadable:
        return 0
    thread = Thread(
        thread_id=thread_id,
        source="codex",
        space_id=SpaceId("codex:default"),
        rollout_path=str(path),
        stamp=RolloutStamp(size_bytes=0, mtime_ns=0, prefix_sha256=""),
        source_updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    build_transcript(reading, thread, redact=with_redact, budget_tokens=_BUDGET_TOKENS)
    return reading.report.bytes_read


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    return parser.parse_args()


def _rollouts(path: Path) -> list[Path]:
    return sorted(path.rglob("rollout-*.json*")) if path.is_dir() else [path]


def _unredacted(text: str) -> RedactedText:
    return RedactedText(text)


def _fastest(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def _lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return [line for line in data.split(b"\n") if line.strip()]


def _parse(lines: list[bytes]) -> None:
    for line in lines:
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            continue


def _profile(files: list[Path]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    for path in files:
        prepare(path, redact)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
