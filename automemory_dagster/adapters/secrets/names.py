"""Judges a name: does what it is given hold a secret, of which kind, and how sure is that?

The trap: substrings. ``tokenizer``, ``author``, ``max_tokens`` and ``password_file`` all contain a secret word and
hold none, so a name is taken apart into words and its *last* words decide.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


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
_TRAILING = frozenset(
    "prod production staging stage dev development test testing local live base value string text plain raw b64 "
    "base64 default old new current previous prev backup primary secondary main master rw ro v1 v2 v3 id2 env var "
    "confirm confirmation again repeat hash encrypted eu us cn".split()
)
_PASSWORD_WORDS = frozenset(
    "password passwd passcode passwort pwd psw passwords requirepass masterauth "
    "dbpass contrasena motdepasse mypass".split()
)
_PASSWORD_ENDINGS = ("password", "passwd")
_SECRET_WORDS = frozenset("secret secrets credential credentials creds mnemonic".split())
_KEY_QUALIFIERS = frozenset(
    "api access secret private encryption encrypt signing sign master account auth authentication "
    "client service deploy root shared storage admin consumer hmac aes jwt webhook bot app application subscription "
    "integration license server session personal team org write rest management ingest ingestion "
    "crypt cipher fernet cookie token apikey".split()
)
_KEY_NEUTRAL = frozenset(
    "public primary foreign cache sort partition idempotency run object row map dict hash index unique composite "
    "group lookup hot press enter arrow shortcut translation i18n message locale storagekey query sorting column "
    "publishable pub ssh-public host known foreignkey config setting redis bucket s3 file dedupe event".split()
)
_TOKEN_NEUTRAL = frozenset(
    "pad eos bos unk mask sep cls special stop end start image page next continuation cancellation cancel lexer "
    "current prev previous peek first last cursor sync total max min per input output cached reasoning completion "
    "prompt new next_page num n lease count design css color".split()
)
_SESSION_NAMES = frozenset(
    "sessionid session sid phpsessid jsessionid connectsid sessiontoken aspnetsessionid cfduid "
    "cfclearance".split()
)
_PASS_WORDS = frozenset({"pass", "pw", "pin", "otp"})
_GLUED_TOKENS = (
    "authtoken accesstoken refreshtoken bottoken apitoken idtoken sessiontoken usertoken usertoken logintoken "
    "bearertoken pushtoken deploytoken secrettoken".split()
)
_GLUED_KEYS = (
    "apikey secretkey accesskey privatekey authkey appkey accountkey signingkey encryptionkey masterkey "
    "sharedkey sharedaccesskey servicekey clientkey hashkey adminkey licensekey subscriptionkey".split()
)


@lru_cache(maxsize=4096)
def judge_name(name: str) -> SecretName | None:
    """What the name promises, or None when its value is nobody's secret."""
    words = [word.lower() for word in _SPLIT.findall(name)]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORD_WORDS or last.endswith(_PASSWORD_ENDINGS):
        return SecretName("password", Strength.PASSWORD)
    if last in _PASS_WORDS or (last == "word" and before == "pass"):
        return SecretName("password", Strength.STRONG if before else Strength.WEAK)
    if (
        last.endswith("passphrase")
        or last in ("phrase", "code")
        and before in ("pass", "seed", "recovery", "mnemonic")
    ):
        return SecretName("passphrase", Strength.PASSWORD)
    if last in _SECRET_WORDS or last.endswith("secret"):
        return SecretName("secret", Strength.STRONG)
    return (
        _judge_token(last, before)
        or _judge_key(last, before, words)
        or _judge_session(last, before, words)
    )


def _judge_token(last: str, before: str) -> SecretName | None:
    if last in ("jwt", "bearer") or (
        last == "pat" and before in ("github", "gitlab", "azure", "devops", "git", "gh")
    ):
        return SecretName("token", Strength.STRONG)
    if last == "token" and before not in _TOKEN_NEUTRAL:
        return SecretName("token", Strength.STRONG)
    if last in _GLUED_TOKENS:
        return SecretName("token", Strength.STRONG)
    return None


def _judge_key(last: str, before: str, words: list[str]) -> SecretName | None:
    if last in _GLUED_KEYS:
        return SecretName("private_key" if last == "privatekey" else "api_key", Strength.STRONG)
    if last == "key":
        if before in _KEY_QUALIFIERS:
            return SecretName("private_key" if before == "private" else "api_key", Strength.STRONG)
        if before and before not in _KEY_NEUTRAL:
            return SecretName("api_key", Strength.WEAK)
    if last in ("auth", "authorization") and words != ["authorization"]:
        return SecretName("auth", Strength.WEAK)
    if last in ("signature", "sig"):
        return SecretName("signature", Strength.WEAK)
    return None


def _judge_session(last: str, before: str, words: list[str]) -> SecretName | None:
    joined = "".join(words)
    if joined in _SESSION_NAMES or (last == "sid" and before) or (last == "session" and before):
        return SecretName("session_cookie", Strength.WEAK)
    return None
