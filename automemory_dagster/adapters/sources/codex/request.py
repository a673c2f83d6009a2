"""The person's own words in one record, and the working folder that a record names.

For a thread's title and for the question whether a person asked for anything at all; which words
are evidence is the reader's to decide.
"""

import re
from collections.abc import Iterator, Mapping

from automemory_dagster.adapters.sources.codex.wrappers import human_parts, wrapper_of_kind

_CWD = re.compile(r"<cwd>([^<\n]+)</cwd>|^Current working directory: (.+)$", re.MULTILINE)


def human_words(kind: str, payload: Mapping[str, object]) -> str:
    """What a person says in one record; empty when nobody does."""
    match kind, payload.get("type"):
        case "response_item", "message":
            return _joined(payload) if payload.get("role") == "user" else ""
        case "event_msg", "user_message":
            return human_parts(_text(payload.get("message"))).human
        case "event_msg", "item_completed":
            item = payload.get("item")
            if isinstance(item, dict) and item.get("type") == "UserMessage":
                return _joined(item)
            return ""
        case _:
            return ""


def cwd_in(kind: str, payload: Mapping[str, object]) -> str:
    """The working folder that a turn's context or an environment block names; else empty."""
    if kind == "turn_context":
        return _text(payload.get("cwd"))
    if kind != "response_item" or payload.get("role") != "user":
        return ""
    for _, text in _parts(payload):
        if text.lstrip().startswith("<environment_context>") and (found := _CWD.search(text)):
            return (found.group(1) or found.group(2)).strip()
    return ""


def _joined(message: Mapping[str, object]) -> str:
    words = (
        human_parts(text).human
        for kind, text in _parts(message)
        if wrapper_of_kind(kind, text) is None
    )
    return "\n".join(text for text in words if text)


def _parts(message: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The text parts with the kind that Codex gave each; an empty kind where it gave none."""
    passthrough = message.get("internal_chat_message_metadata_passthrough")
    kinds = passthrough.get("content_item_kinds") if isinstance(passthrough, dict) else None
    content = message.get("content")
    if isinstance(content, str):
        yield "", content
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            kind = kinds[index] if isinstance(kinds, list) and index < len(kinds) else ""
            yield kind if isinstance(kind, str) else "", part["text"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
