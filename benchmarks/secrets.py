"""Prints how much the secrets engine catches, what it takes wrongly, and how fast it is.

Run it from the root of the checkout: ``python -m benchmarks.secrets [--seeds N] [path ...]``. Paths
are rollouts (JSONL) or folders of them; without any, speed is measured on a synthetic thread. Time
is CPU time of this process; the first call, which builds the automaton, is reported by itself.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from automemory_dagster.adapters.secrets import find_secrets, redact
from tests.adapters.secrets.families import FAMILIES
from tests.adapters.secrets.lookalikes import FRAMES, LOOKALIKES
from tests.adapters.secrets.surroundings import SURROUNDINGS

_PROSE = (
    "I looked at the failing test first. The handler reads the session from the request and "
    "refreshes the token when it is older than an hour, so the cache key has to carry the tenant. "
)
_CODE = (
    "def net_total(order: Order, *, rates: Mapping[str, Decimal]) -> Decimal:\n"
    "    lines = [line for line in order.lines if not line.is_cancelled]\n"
    "    if not lines:\n        raise EmptyOrder(order.number)\n"
    "    return sum((line.price * rates[line.country] for line in lines), Decimal(0))\n"
)
_DENSE = (
    "def handler(request: Request, *, password: str | None = None) -> Response:\n"
    "    user = users.get(request.form['user'], key=request.key)\n"
    "    if not user.check(password):\n        raise Forbidden('wrong password')\n"
    "    return Response(status=200, headers={'ETag': etag(user)})\n"
)
"""Code about passwords and nothing else: every third line stops the automaton."""
_LOG = (
    "2026-11-10T14:00:00.123Z INFO  worker-3 job=7f3a91 took 812 ms, lease_ttl=30s, tokens=5123\n"
)
_TESTS = (
    "tests/test_orders.py::test_tax_is_applied_once PASSED                              [ 41%]\n"
)
_DIFF = "diff --git a/app.py b/app.py\nindex 83db48f..bf2a1c0 100644\n@@ -1,4 +1,6 @@\n-import os\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="values per family and surrounding")
    parser.add_argument("paths", nargs="*", type=Path, help="rollouts to measure speed on")
    arguments = parser.parse_args()
    _print_start_up()
    _print_recall(arguments.seeds)
    _print_false_alarms(arguments.seeds)
    if arguments.paths:
        records = list(_records(arguments.paths))
        fields = [text for record in records for text in _strings(record)]
        lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    else:
        fields = _synthetic_fields()
        lines = "\n".join(json.dumps({"type": "response_item", "text": f}) for f in fields)
    _print_speed(fields, lines)


def _print_start_up() -> None:
    start = time.process_time()
    redact("the first call builds the automaton; password=abc123x")
    print(f"first call: {(time.process_time() - start) * 1000:.0f} ms\n")


def _print_recall(seeds: int) -> None:
    by_family: dict[str, Counter[bool]] = {f.name: Counter() for f in FAMILIES}
    by_surrounding: dict[str, Counter[bool]] = {s.name: Counter() for s in SURROUNDINGS}
    for family in FAMILIES:
        for surrounding in SURROUNDINGS:
            if surrounding.needs_shape and not family.has_shape:
                continue
            for seed in range(seeds):
                rng = random.Random(f"bench {seed} {family.name} {surrounding.name}")
                before, value, after = surrounding.text(family, family.make(rng))
                caught = value not in redact(before + value + after)
                by_family[family.name][caught] += 1
                by_surrounding[surrounding.name][caught] += 1
    _print_table(f"recall by family ({len(by_family)})", by_family)
    _print_table(f"recall by surrounding ({len(by_surrounding)})", by_surrounding)


def _print_false_alarms(seeds: int) -> None:
    by_family: dict[str, Counter[bool]] = {name: Counter() for name in LOOKALIKES}
    for name, make in LOOKALIKES.items():
        for frame, (before, after) in FRAMES.items():
            for seed in range(seeds):
                text = before + make(random.Random(f"bench {seed} {name} {frame}")) + after
                for form in (text, json.dumps(text), json.dumps(json.dumps({"output": text}))):
                    by_family[name][redact(form) == form] += 1
    _print_table(f"look-alikes left alone ({len(by_family)})", by_family)


def _print_table(title: str, rows: dict[str, Counter[bool]]) -> None:
    print(title)
    for name, row in sorted(
        rows.items(), key=lambda item: (item[1][True] / item[1].total(), item[0])
    ):
        print(f"  {name:28} {row[True]:6} of {row.total():6}   {row[True] / row.total():7.2%}")
    good, total = sum(r[True] for r in rows.values()), sum(r.total() for r in rows.values())
    print(f"  {'all':28} {good:6} of {total:6}   {good / total:7.2%}\n")


def _print_speed(fields: list[str], lines: str) -> None:
    size = sum(len(field.encode("utf-8", "surrogatepass")) for field in fields)
    found = sum(len(find_secrets(field)) for field in fields)
    clean = [redact(field) for field in fields]
    print(
        f"speed: {len(fields)} fields, {size / 1e6:.1f} MB, "
        f"mean {size / len(fields):.0f} bytes, {found} secrets"
    )
    _print_rate("field by field", size, lambda: [redact(field) for field in fields])
    _print_rate("field by field, redacted before", size, lambda: [redact(field) for field in clean])
    long = [field for field in fields if len(field) >= 200]
    long_size = sum(len(field.encode("utf-8", "surrogatepass")) for field in long)
    _print_rate("fields of 200 characters and more", long_size, lambda: [redact(f) for f in long])
    dense = _DENSE * 4000
    _print_rate("code about passwords only", len(dense), lambda: redact(dense))
    _print_rate(
        "all as one text", len(lines.encode("utf-8", "surrogatepass")), lambda: redact(lines)
    )


def _print_rate(title: str, size: int, work) -> None:  # type: ignore[no-untyped-def]
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    print(f"  {title:36} {size / max(best, 1e-9) / 1e6:8.1f} MB/s")


def _synthetic_fields() -> list[str]:
    """A thread like the recorded ones: many short fields, some long tool outputs, few secrets."""
    rng = random.Random("thread")
    fields: list[str] = []
    for turn in range(4000):
        fields += ["response_item", f"call_{rng.getrandbits(96):024x}", "2026-11-10T14:00:00.123Z"]
        body = rng.choice((_PROSE, _CODE, _LOG, _TESTS, _DIFF)) * rng.randrange(1, 40)
        if turn % 20 == 0:
            body += _DENSE
        if turn % 100 == 0:
            family, surrounding = rng.choice(FAMILIES), rng.choice(SURROUNDINGS[:40])
            body += "".join(surrounding.text(family, family.make(rng)))
        fields.append(body)
    return fields


def _records(paths: list[Path]) -> Iterator[object]:
    for path in paths:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                if line.strip():
                    yield json.loads(line)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


if __name__ == "__main__":
    main()
