"""Turns the bytes of a line into records of one shape, whichever generation of Codex wrote them.

The trap: a strict reader that stops, or loses the file, at the first odd line. Lines hold two
records, a torn one and a whole one, lone surrogates, control characters; each record that is whole
is found, each fragment is counted.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

BARE_ITEM_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
"""Types of the items that generations A and B write without a wrapper."""

_LENIENT = json.JSONDecoder(strict=False)
_RECORD_START = re.compile(
    # An object that is nested in a torn record follows one of these signs; a record does not.
    r'\{\s*"(?:timestamp|ordinal|record_type)"\s*:|(?<![\[:,\s])\{\s*"(?:type|payload|id)"\s*:'
)
_MOST_FRAGMENTS = 1000
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Record:
    """One record: kind and payload as generation C names them."""

    kind: str
    """``session_meta``, ``response_item``, ``event_msg``, …; empty for an object that is no
    record."""
    payload: dict[str, Any]
    timestamp: str | int | float | None = None
    ordinal: int | None = None


@dataclass(slots=True)
class ParsedLine:
    """What one line holds: its JSON objects in order, and how many fragments are none."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    fragments: int = 0


def parse_line(data: bytes) -> ParsedLine:
    """Read a line's JSON objects. A blank line gives neither objects nor fragments; never
    raises."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_broken(data)
    if isinstance(value, dict):
        return ParsedLine([value])
    return ParsedLine(fragments=1)


def record_of(value: dict[str, Any]) -> Record | None:
    """The record of one JSON object as generations C and D write it; None: see ``records_of``."""
    kind, payload = value.get("type"), value.get("payload")
    if type(kind) is not str or type(payload) is not dict:
        return None
    ordinal = value.get("ordinal")
    timestamp = value.get("timestamp")
    return Record(kind, payload, timestamp, ordinal if type(ordinal) is int else None)


def records_of(value: dict[str, Any]) -> Sequence[Record]:
    """The records of one JSON object: one, or many when it is a whole file of generation A."""
    record = record_of(value)
    if record is not None:
        return (record,)
    items = value.get("items")
    if isinstance(value.get("session"), dict) and isinstance(items, list):
        bare = [_bare(item) if isinstance(item, dict) else Record("", {}) for item in items]
        return [Record("session_meta", value["session"]), *bare]
    return (_bare(value),)


def without_surrogates(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD and NULs left out: fit for any store."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _bare(value: dict[str, Any]) -> Record:
    kind = value.get("type")
    if "record_type" in value:
        return Record("state", value)
    if kind in BARE_ITEM_TYPES or (kind is None and "role" in value and "content" in value):
        return Record("response_item", {"type": "message", **value})
    if kind is None and isinstance(value.get("id"), str) and "timestamp" in value:
        return Record("session_meta", value)
    return Record("", {"type": kind if isinstance(kind, str) else "untyped"})


def _parse_broken(data: bytes) -> ParsedLine:
    text = data.decode("utf-8", "replace").strip("\x00\ufeff \t\r\n")
    parsed = ParsedLine()
    position = 0
    while position < len(text) and len(parsed.objects) + parsed.fragments < _MOST_FRAGMENTS:
        try:
            value, end = _LENIENT.raw_decode(text, position)
        except (ValueError, RecursionError):
            value, end = None, None
        if isinstance(value, dict) and end is not None:
            parsed.objects.append(value)
            position = _skip_space(text, end)
            continue
        parsed.fragments += 1
        following = _RECORD_START.search(text, position + 1)
        if following is None:
            break
        position = following.start()
    return parsed


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n\x00,":
        position += 1
    return position
