"""Counts the secrets in a text or a JSON-like value, by kind and never by value."""

import re
from collections import Counter
from typing import cast

from automemory_dagster.adapters.secrets.engine import Engine
from automemory_dagster.adapters.secrets.values import redact_structure

_KIND = re.compile(r"\[REDACTED:(\w+)\]")


def count_in_structure(value: object, engine: Engine) -> Counter[str]:
    """How many secrets of each kind stand in a value's strings and under its secret names.

    Empty when redacting changes nothing.
    """
    counts: Counter[str] = Counter()
    _compare(value, redact_structure(value, engine), engine, counts)
    return counts


def _compare(before: object, after: object, engine: Engine, counts: Counter[str]) -> None:
    if isinstance(before, str):
        found = engine.find(before)
        counts.update(finding.kind for finding in found)
        if not found and after != before:
            counts[_kind_of(after)] += 1
    elif isinstance(before, dict) and isinstance(after, dict):
        for (old_key, old), (new_key, new) in zip(before.items(), after.items(), strict=False):
            _compare(old_key, new_key, engine, counts)
            _compare(old, new, engine, counts)
    elif isinstance(before, list | tuple) and isinstance(after, list):
        for old, new in zip(cast("list[object]", before), after, strict=False):
            _compare(old, new, engine, counts)
    elif isinstance(after, str) and after != before:
        counts[_kind_of(after)] += 1


def _kind_of(marker: object) -> str:
    found = _KIND.search(str(marker))
    return found[1] if found else "secret"
