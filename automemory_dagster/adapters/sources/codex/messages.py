"""Reads messages of any generation: a person's, the agent's, other agents'."""

import re
from dataclasses import dataclass
from typing import Any

import orjson

from automemory_dagster.adapters.sources.codex.records import without_surrogates
from automemory_dagster.adapters.sources.codex.wrappers import (
    Role,
    Wrapper,
    human_parts,
    wrapper_of_kind,
)

_METADATA = "internal_chat_message_metadata_passthrough"
_MAIL = re.compile(r"message[ _-]type:.*\ntask[ _-]name:.*\nsender:.*\npayload:", re.IGNORECASE)


@dataclass(slots=True)
class UserMessage:
    """A message in the user's role, taken apart."""

    human: str
    wrappers: tuple[Wrapper, ...] = ()
    has_image: bool = False
    is_labelled: bool = False
    """True when Codex itself labelled a part as the user's."""


def read_user_message(payload: dict[str, Any]) -> UserMessage:
    """Take the parts of a user message apart, by Codex's own labels where there are any."""
    human: list[str] = []
    wrappers: list[Wrapper] = []
    has_image = is_labelled = False
    kinds = content_kinds(payload)
    for index, part in enumerate(_parts(payload.get("content"))):
        kind = kinds[index] if index < len(kinds) else ""
        text = _part_text(part)
        if text is None:
            has_image = has_image or "image" in str(part.get("type"))
            continue
        if (wrapper := _wrapper(kind, text)) is not None:
            wrappers.append(wrapper)
            continue
        is_users = kind.startswith("user.")
        is_labelled = is_labelled or is_users
        split = human_parts(text, is_labelled=is_users)
        if split.wrappers:
            has_image = has_image or any(each.role is Role.IMAGE for each in split.wrappers)
            wrappers += split.wrappers
        if split.human:
            human.append(split.human)
    words = human[0] if len(human) == 1 else "\n".join(human)
    return UserMessage(words, tuple(wrappers), has_image, is_labelled)


def message_text(payload: dict[str, Any]) -> str:
    """All text parts of a message, joined by newlines; ``""`` when it has none."""
    texts = [_part_text(part) for part in _parts(payload.get("content"))]
    return "\n".join([text for text in texts if text])


def content_kinds(payload: dict[str, Any]) -> list[str]:
    """Codex's labels of the content parts, in order; empty when absent."""
    metadata = payload.get(_METADATA)
    kinds = metadata.get("content_item_kinds") if isinstance(metadata, dict) else None
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else []


def turn_id(payload: dict[str, Any]) -> str:
    """The id of the turn a record names, or ``""``."""
    direct = payload.get("turn_id")
    if isinstance(direct, str):
        return direct
    metadata = payload.get(_METADATA)
    inner = metadata.get("turn_id") if isinstance(metadata, dict) else None
    return inner if isinstance(inner, str) else ""


def read_answers(arguments: str, output: Any) -> list[tuple[str, str]]:
    """Pairs of question and answer of a ``request_user_input`` call; blank answers are left out."""
    answers = _object(output).get("answers")
    if not isinstance(answers, dict):
        return []
    questions = _questions(arguments)
    pairs = []
    for key, value in answers.items():
        text = "\n".join(word for word in _answer_words(value) if word.strip())
        if text:
            pairs.append((questions.get(str(key), ""), without_surrogates(text)))
    return pairs


def _wrapper(kind: str, text: str) -> Wrapper | None:
    if kind and (wrapper := wrapper_of_kind(kind, text)) is not None:
        return wrapper
    words = text.lstrip()
    if not words.startswith(("m", "M")) or _MAIL.match(words) is None:
        return None
    return Wrapper("agent", Role.OTHER_AGENT, text)


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, list):
        return []
    return [{"text": part} if isinstance(part, str) else part for part in content if part]


def _part_text(part: dict[str, Any]) -> str | None:
    if not isinstance(part, dict):
        return None
    text = part.get("text")
    if not isinstance(text, str):
        text = part.get("refusal")
        if not isinstance(text, str):
            return None
    return without_surrogates(text)


def _questions(arguments: str) -> dict[str, str]:
    listed = _object(arguments).get("questions")
    if not isinstance(listed, list):
        return {}
    return {
        str(each.get("id")): without_surrogates(str(each.get("question", "")))
        for each in listed
        if isinstance(each, dict)
    }


def _answer_words(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return _answer_words(value.get("answers", value.get("answer", "")))
    if isinstance(value, list):
        return [word for each in value for word in _answer_words(each)]
    return []


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}
