"""Which model a person chose: for the deployment, a space or a user."""

import re

OFFLINE = "offline"
"""The word that chooses the rules, without a model, where a wider scope names a model."""

_MODEL = re.compile(r"[a-z][a-z0-9-]*:[^\s:][^\s]*")


def model_choice(value: str) -> str:
    """``provider:name`` as it stands; empty for ``offline`` or nothing.

    Raises:
        ValueError: it is neither.
    """
    value = value.strip()
    if value in ("", OFFLINE):
        return ""
    if _MODEL.fullmatch(value) is None:
        raise ValueError(f"must be provider:name, such as openai:gpt-5-mini, or {OFFLINE}")
    return value
