"""Judges a value that stands under a secret's name: is it the secret, or does it only stand for it?

The trap: one measure for all notations. ``password: str`` is a type and ``password: sunshine`` in
a YAML file is not, so how the value was written decides how much it must prove.
"""

import re
from enum import Enum

from automemory_dagster.adapters.secrets.names import SecretName, Strength, judge_name
from automemory_dagster.adapters.secrets.placeholders import (
    is_code,
    is_path,
    is_placeholder,
    is_prose,
    is_vocabulary,
)
from automemory_dagster.adapters.secrets.randomness import (
    has_random_run,
    is_hash,
    is_uuid,
    is_wordy,
    looks_random,
)


class Style(Enum):
    """How the value was written."""

    QUOTED = "quoted"
    ENV = "env"
    """Unquoted, no space around the sign, at the start of a line or with a name in capitals."""
    LINE = "line"
    """Unquoted, alone behind a name that starts the line: YAML, INI, a header."""
    INLINE = "inline"
    """Unquoted, somewhere in a line: an URL, a call, a sentence."""


def is_secret(text: str, name: SecretName, style: Style, *, is_yaml: bool = False) -> bool:
    """True when the value is a secret under that name.

    ``is_yaml``: a colon led to it and no comma follows, so that it can be no expression.
    """
    if is_placeholder(text) or text.startswith("[REDACTED"):
        return False
    if style is not Style.QUOTED and is_code(text, in_shell=style is Style.ENV or is_yaml):
        return False
    if style is Style.QUOTED and re.search(r"\s", text):
        return name.strength is Strength.PASSWORD and not is_prose(text) and len(text) <= 300
    if name.strength is Strength.WEAK:
        if not re.fullmatch(r"[\w+/=.~%:@!#$^*-]+", text) or "==" in text[:-2]:
            return False
        if name.kind == "auth" and re.fullmatch(r"[\w.@+-]{1,64}:[^\s:]*\d[^\s:]*", text):
            return style in (Style.QUOTED, Style.ENV) and len(text) >= 8
        hash_counts = name.kind == "session_cookie" or (
            name.kind == "signature" and style is Style.ENV
        )
        return (
            looks_random(text, minimum=16)
            and (has_random_run(text) or not re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)+", text))
            and not is_uuid(text)
            and (hash_counts or not is_hash(text))
        )
    if name.strength is Strength.STRONG:
        return _is_strong_value(text, style)
    return _is_password(text, style)


def _is_strong_value(text: str, style: Style) -> bool:
    """A machine-made value: letters with digits, or letters alone that are no words."""
    if (
        len(text) < 6
        or re.fullmatch(r"[\d.,:+\-/ ]+", text)
        or re.fullmatch(r"v?\d+(?:\.\w+)+", text)
    ):
        return False
    if re.search(r"\d", text) and re.search(r"[A-Za-z]", text):
        return style in (Style.QUOTED, Style.ENV) or not is_wordy(text) or len(text) >= 20
    if style is Style.QUOTED:
        return (len(text) >= 8 and not is_wordy(text)) or (
            len(text) >= 16 and re.fullmatch(r"[a-z]+|[A-Z]+", text) is not None
        )
    if style is Style.ENV:
        return len(text) >= 8 and "_" not in text
    if not re.search(r"\d", text):
        return looks_random(text, minimum=12) and re.fullmatch(r"[\w+/-]+={0,2}", text) is not None
    return looks_random(text, minimum=12) or (
        len(text) >= 16 and re.search(r"[^\w.\-]", text) is not None
    )


def _is_password(text: str, style: Style) -> bool:
    """A value that a person may have chosen."""
    if style in (Style.QUOTED, Style.ENV):
        return len(text) >= 3 and not _names_a_password(text)
    if is_strong_password(text):
        return True
    if re.fullmatch(r"[\d.,]+", text) or is_path(text):
        return len(text) >= 6 and text.isdigit()
    if re.search(r"[A-Za-z]\d|\d[A-Za-z]", text):
        return len(text) >= 5 and not _names_a_password(text)
    plain_word = re.fullmatch(r"[a-z]{6,}", text) is not None
    return (
        style is Style.LINE
        and plain_word
        and not is_vocabulary(text)
        and not _names_a_password(text)
    )


def is_strong_password(text: str) -> bool:
    """Three classes of characters of which one is digits or a symbol that people add."""
    if len(text) < 6 or len({_kind(c) for c in text}) < 3:
        return False
    return re.search(r"\d", text) is not None or (
        len(text) >= 8 and re.search(r"[!@#^*%]", text) is not None
    )


def _names_a_password(text: str) -> bool:
    """``userPassword``, ``new_password``: a name again, not a value."""
    if not is_wordy(text) or re.search(r"\d", text):
        return False
    if judge_name(text) is not None:
        return True
    joined = re.search(r"[a-z][A-Z]|[_.-]", text) is not None
    return joined and re.search(r"(?i)pass(?:word|wd|phrase)|secret|token", text) is not None


def _kind(character: str) -> str:
    if character.isdigit():
        return "d"
    return ("l" if character.islower() else "u") if character.isalpha() else "o"
