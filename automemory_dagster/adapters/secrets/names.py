"""Judges a name: does what it is given hold a secret, of which kind, and how sure is that?

The trap: substrings. ``tokenizer``, ``author``, ``max_tokens`` and ``password_file`` all contain a
secret word and hold none, so a name is taken apart into words and its *last* words decide.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from automemory_dagster.adapters.secrets.words import (
    GLUED_KEYS,
    GLUED_TOKENS,
    KEY_NEUTRAL,
    KEY_QUALIFIERS,
    PASSWORD_WORDS,
    SECRET_WORDS,
    SESSION_NAMES,
    TOKEN_NEUTRAL,
    TRAILING_WORDS,
)


class Strength(Enum):
    """How much the name alone proves."""

    PASSWORD = "password"
    """People choose the value: short and plain ones count."""
    STRONG = "strong"
    """A machine made the value: any run of letters with digits counts."""
    WEAK = "weak"
    """The name is common: only a value that looks random counts."""


@dataclass(frozen=True, slots=True)
class SecretName:
    """What a name promises about its value."""

    kind: str
    strength: Strength


_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PASSWORD_ENDINGS = ("password", "passwd")
_PASS_WORDS = frozenset({"pass", "pw", "pin", "otp"})


@lru_cache(maxsize=4096)
def judge_name(name: str) -> SecretName | None:
    """What the name promises, or None when its value is nobody's secret."""
    words = [word.lower() for word in _SPLIT.findall(name)]
    while len(words) > 1 and (words[-1] in TRAILING_WORDS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in PASSWORD_WORDS or last.endswith(_PASSWORD_ENDINGS):
        return SecretName("password", Strength.PASSWORD)
    if last in _PASS_WORDS or (last == "word" and before == "pass"):
        return SecretName("password", Strength.STRONG if before else Strength.WEAK)
    if last.endswith("passphrase") or (
        last in ("phrase", "code") and before in ("pass", "seed", "recovery", "mnemonic")
    ):
        return SecretName("passphrase", Strength.PASSWORD)
    if last in SECRET_WORDS or last.endswith("secret"):
        return SecretName("secret", Strength.STRONG)
    return (
        _judge_token(last, before, words)
        or _judge_key(last, before, words)
        or _judge_session(last, before, words)
    )


def _judge_token(last: str, before: str, words: list[str]) -> SecretName | None:
    if "public" in words:
        return None
    if last in ("jwt", "bearer") or (
        last == "pat" and before in ("github", "gitlab", "azure", "devops", "git", "gh")
    ):
        return SecretName("token", Strength.STRONG)
    if last == "token" and before not in TOKEN_NEUTRAL:
        return SecretName("token", Strength.STRONG)
    if last in GLUED_TOKENS:
        return SecretName("token", Strength.STRONG)
    return None


def _judge_key(last: str, before: str, words: list[str]) -> SecretName | None:
    if last in GLUED_KEYS:
        return SecretName("private_key" if last == "privatekey" else "api_key", Strength.STRONG)
    if last == "key":
        if before in KEY_QUALIFIERS:
            return SecretName("private_key" if before == "private" else "api_key", Strength.STRONG)
        if before and before not in KEY_NEUTRAL:
            return SecretName("api_key", Strength.WEAK)
    if last in ("auth", "authorization") and words != ["authorization"]:
        return SecretName("auth", Strength.WEAK)
    if last in ("signature", "sig"):
        return SecretName("signature", Strength.WEAK)
    return None


def _judge_session(last: str, before: str, words: list[str]) -> SecretName | None:
    joined = "".join(words)
    if joined in SESSION_NAMES or (last == "sid" and before) or (last == "session" and before):
        return SecretName("session_cookie", Strength.WEAK)
    return None
