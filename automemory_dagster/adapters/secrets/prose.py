"""Finds a secret that a sentence tells: "the password is ...", 「数据库密码是 ...」.

The trap: most sentences about passwords tell none, so the value must look like one: letters with
digits or symbols, or words in quotes.
"""

import re

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.pattern import compile_bytes
from automemory_dagster.adapters.secrets.placeholders import is_path, is_placeholder, is_prose
from automemory_dagster.adapters.secrets.randomness import is_wordy, looks_random
from automemory_dagster.adapters.secrets.value_reader import read_bare, read_value

_CJK_NAMES = (
    "密码|密碼|口令|密钥|密鑰|秘钥|秘鑰|令牌|凭证|凭据|憑證|私钥|私鑰"
    "|パスワード|トークン|シークレット|暗証番号|鍵|キー|비밀번호|암호|토큰"
    "|[Cc]ontraseña|[Mm]ot de passe|(?:П|п)ароль|[Kk]ennwort|[Ss]enha"
)
_CJK_VERBS = (
    "是|为|為|:|：|=|＝|改成|改为|改為|设为|設為|设置为|设成|换成|等于|用的是|就是|叫"
    "|は|を|が|에|는|은|이|가"
)


def _with_escapes(alternatives: str) -> str:
    """The words, and the same words as JSON writes them when it keeps to ASCII."""
    words = [word for word in alternatives.split("|") if word.isalnum() and not word.isascii()]
    escaped = ("".join(rf"\\{{1,16}}u(?i:{ord(c):04x})" for c in word) for word in words)
    return "|".join((alternatives, *escaped))


_JSON_CHARACTER = r"\\{1,16}u[0-9a-fA-F]{4}"
CJK_ANCHOR = (
    rf"(?:{_with_escapes(_CJK_NAMES)})"
    rf"(?:{_JSON_CHARACTER}|[^\s\x00-\x2f\x3a-\x7f]|[ (]|[A-Za-z]){{0,24}}?[ \t]*"
    rf"(?:{_with_escapes(_CJK_VERBS)})(?:{_JSON_CHARACTER}|[ \t*:]|：|「|『|“|`|是|就|为|成|了)*"
)
LATIN_ANCHOR = (
    r"(?i:\b(?:password|passphrase|passcode|passwd|pwd|pw|pin|secret|token|api[ _-]?key"
    r"|access[ _-]?key|secret[ _-]?key"
    r"|credentials?|passwort|kennwort|contraseña|mot de passe|senha)s?(?:[ \t]+(?:for|to|of|von"
    r"|para|pour)[ \t]+[\w@./ -]{1,40}?)?"
    r"[ \t]+(?:is|was|are|to|ist|lautet|es|est|as|will be|should be|must be|has been (?:changed"
    r"|set|reset) to)(?::|[ \t]+now)?[ \t]+)"
)
_BARE_ASCII = compile_bytes(rb"[!-~]{4,}")
_MEASURE = re.compile(
    r"(?i)v?\d+(?:[.,:/-]\d+)*(?:[a-z]{1,3}|st|nd|rd|th)?|(?:base|sha|md|utf|rfc|oauth|http|ipv"
    r"|aes|es|rs|hs|k8|s3|x)-?\d+\w{0,4}"
)
_FILE = re.compile(r"[\w.\-/]+\.[A-Za-z]{1,5}")


def read_cjk(data: bytes, start: int, end: int) -> list[Hit]:
    """The ASCII run behind a Chinese, Japanese or Korean word for password."""
    value = read_value(data, end, tight=False)
    for opener in ("「", "『", "“", "`"):
        if (
            data[:end].endswith(opener.encode())
            if end < 8
            else data[end - len(opener.encode()) : end] == opener.encode()
        ):
            value = read_value(data, end - len(opener.encode()), tight=False) or value
    if value is None:
        return []
    if not value.quoted:
        ascii_run = _BARE_ASCII.match(data, value.start, value.end)
        if ascii_run is None:
            return []
        text = data[value.start : ascii_run.end()].decode("latin-1").rstrip(".,;:!?)")
    else:
        text = data[value.start : value.end].decode("utf-8", "replace")
    length = len(text.encode("utf-8", "replace"))
    if not _tells(text, quoted=value.quoted, cjk=True):
        return []
    return [
        Hit(
            "password" if _is_password(data[start:end]) else "secret",
            value.start,
            min(value.end, value.start + length),
        )
    ]


def read_latin(data: bytes, start: int, end: int) -> list[Hit]:
    """The word behind "the password is", if it looks like one."""
    value = read_value(data, end, tight=False) or read_bare(data, end, tight=False)
    if value is None:
        return []
    text = data[value.start : value.end].decode("utf-8", "replace")
    bare = text if value.quoted else text.rstrip(".!?)")
    if not _tells(bare, quoted=value.quoted, cjk=False):
        return []
    word = data[start:end].lower()
    chosen = word.startswith((b"pass", b"pw", b"secret", b"kenn", b"contra", b"mot", b"senha"))
    if not chosen and not re.search(r"[\d!@#$^*%]", bare) and not looks_random(bare):
        return []
    kind = (
        "token"
        if b"token" in word
        else "api_key"
        if b"key" in word
        else "secret"
        if b"secret" in word
        else "password"
    )
    return [
        Hit(
            kind,
            value.start,
            value.start + len(bare.encode("utf-8", "replace"))
            if len(bare) < len(text)
            else value.end,
        )
    ]


def _tells(text: str, *, quoted: bool, cjk: bool) -> bool:
    if cjk and text.isdigit() and len(text) >= 6:
        return True
    if (
        is_placeholder(text)
        or is_path(text)
        or _MEASURE.fullmatch(text)
        or text.startswith("[REDACTED")
    ):
        return False
    if _FILE.fullmatch(text) and not looks_random(text):
        return False
    if re.search(r"\s", text):
        return quoted and not is_prose(text) and len(text) <= 80
    if re.search(r"\d", text) and re.search(r"[^\d.,:/-]", text):
        return len(text) >= 6 and not (is_wordy(text) and len(text) < 7)
    if re.search(r"\d", text):
        return False
    if (
        len(text) >= 8
        and re.search(r"[A-Za-z][!@#$^*%]+[A-Za-z]", text)
        and not re.fullmatch(r"\S+@[\w-]+\.[\w.]+", text)
    ):
        return True
    if quoted:
        return (
            len(text) >= 6
            and re.fullmatch(r"\w+", text) is not None
            and "_" not in text
            and not text[:1].isupper()
        )
    return looks_random(text, minimum=12) or (
        cjk and re.fullmatch(r"[a-z]{8,}", text) is not None and not is_wordy(text + "x1y")
    )


def _is_password(name: bytes) -> bool:
    return any(
        word.encode() in name
        for word in (
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "비밀번호",
            "암호",
            "ontrase",
            "passe",
            "ароль",
            "ennwort",
            "enha",
        )
    )
