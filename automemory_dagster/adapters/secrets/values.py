"""Redacts the strings inside a JSON-like value before JSON is made of it.

The trap: redacting the JSON text. There a secret is escaped, a pattern that eats a backslash
breaks the document, and the name of a field stands far from a value that is itself a list or a
document.
"""

import re
from typing import TypeAlias, cast

from automemory_dagster.adapters.secrets.engine import Engine
from automemory_dagster.adapters.secrets.names import SecretName, Strength, judge_name
from automemory_dagster.adapters.secrets.placeholders import is_placeholder, is_prose
from automemory_dagster.adapters.secrets.randomness import is_uuid
from automemory_dagster.adapters.secrets.verdict import Style, is_secret

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"

_DEEPEST = 200
"""Deeper structures are no data of ours; what lies below is replaced as a whole, so that recursion
has an end.
"""


def redact_structure(value: object, engine: Engine) -> object:
    """A copy of the value in which every string, also a key, is redacted."""
    return _redact(value, engine, 0)


def _redact(value: object, engine: Engine, depth: int) -> object:
    if isinstance(value, str):
        return engine.redact(value)
    if isinstance(value, dict):
        if depth >= _DEEPEST:
            return engine.marker("too_deep")
        pairs = cast("dict[object, object]", value).items()
        return {_redact_key(k, engine): _redact_field(k, v, engine, depth + 1) for k, v in pairs}
    if isinstance(value, list | tuple):
        if depth >= _DEEPEST:
            return engine.marker("too_deep")
        return [_redact(item, engine, depth + 1) for item in cast("list[object]", value)]
    return value


def _redact_key(key: object, engine: Engine) -> object:
    return engine.redact(key) if isinstance(key, str) else key


def _redact_field(key: object, value: object, engine: Engine, depth: int) -> object:
    name = judge_name(key) if isinstance(key, str) and _is_name(key) else None
    if name is None or value is None or isinstance(value, bool):
        return _redact(value, engine, depth)
    if name.strength is Strength.WEAK:
        plain = isinstance(value, str) and is_secret(value, name, Style.QUOTED)
        return engine.marker(name.kind) if plain else _redact(value, engine, depth)
    return (
        engine.marker(name.kind) if _is_secret_under(value, name) else _redact(value, engine, depth)
    )


def _is_name(key: str) -> bool:
    """A key that is itself a sentence or holds a marker names nothing."""
    return (
        len(key) <= 100 and "REDACTED" not in key and re.fullmatch(r"[\w .:/$@-]+", key) is not None
    )


def _is_secret_under(value: object, name: SecretName) -> bool:
    """True unless the value under a secret's name says of itself that it is none."""
    if isinstance(value, str):
        return (
            not is_placeholder(value)
            and not is_prose(value)
            and (len(value) >= 3 or is_uuid(value))
        )
    if isinstance(value, int | float):
        return name.strength is Strength.PASSWORD and not isinstance(value, bool)
    if isinstance(value, dict):
        items = list(cast("dict[object, object]", value).items())
        if any(str(k) in ("type", "$ref", "description", "title") for k, _ in items):
            return False
        return any(_is_secret_under(v, name) for _, v in items)
    if isinstance(value, list | tuple):
        return any(_is_secret_under(v, name) for v in cast("list[object]", value))
    return False
