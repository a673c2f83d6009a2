"""Finds what follows ``Bearer``, a cookie header, a command-line flag or an SQL ``PASSWORD``.

The trap: these are also ordinary words. "Bearer authentication" and ``--token-file x`` give
nothing away.
"""

import base64
import binascii
import re

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.names import SecretName, Strength, judge_name
from automemory_dagster.adapters.secrets.pattern import compile_bytes
from automemory_dagster.adapters.secrets.placeholders import is_code, is_path, is_placeholder
from automemory_dagster.adapters.secrets.randomness import is_uuid, is_wordy, looks_random
from automemory_dagster.adapters.secrets.value_reader import read_value

SCHEME_ANCHOR = (
    r"(?i:\b(?:proxy-)?authorization\\*[\"']?\]?\s*[:=,]\s*\\*[\"']?"
    r"|n?\bbearer(?:[ \t]|%20)|\bbasic[ \t]+[a-z0-9+/]{8})"
)
COOKIE_ANCHOR = (
    r"(?i:\b(?:set-)?cookie\\*[\"']?\s*[:=,]\s*\\*[\"']?"
    r"|(?:[ \t]-b|--cookie)[ \t=]+\\*[\"']?[a-z0-9_.-]+=)"
)
FLAG_ANCHOR = (
    r"(?i:[\s\"'`,\[(]--?(?:[a-z0-9]+[-_.]){0,4}(?:password|passwd|passphrase|pass|pwd|secret"
    r"|token|key|credentials?|pat)"
    r"\\*[\"']?(?:,\s*|[ \t]+(?:\\\r?\n\s*)?)|\bidentified[ \t]+by[ \t]+(?:password[ \t]+)?\\*[\"']"
    r"|\bpassword[ \t]+(?:to[ \t]+)?\\*['\"]"
    r"|\blogin[ \t]+\S{1,60}\s+password[ \t]+|\b(?:requirepass|masterauth)[ \t]+"
    r"|\bsshpass[ \t]+-p[ \t]*|\bmysql(?:dump|admin)?\b[^\n|;]{0,80}[ \t]-p"
    r"|\bredis-cli\b[^\n|;]{0,80}[ \t]-a[ \t]+"
    r"|\blogin\b[^\n|;]{0,120}[ \t]-p[ \t]+|\b(?:auth[ \t]*=[ \t]*"
    r"|basicauth)\([ \t]*[\"'][^\"'\n]{0,64}[\"'][ \t]*,[ \t]*"
    r"|\bconfig(?:ure)?[ \t]+(?:set[ \t]+)?(?:--[a-z]+[ \t]+)?[a-z0-9_./:@-]{0,60}(?:password"
    r"|secret|token|key)[ \t]+"
    r"|\becho[ \t]+(?:-n[ \t]+)?[^\n|]{6,200}\|[^\n|]{0,80}(?:--password-stdin|--with-token"
    r"|chpasswd|sudo -S|--passphrase-fd)"
    r"|\bcurl\b[^\n|;]{0,160}?[ \t](?:-u|--user)[ \t=]*\\*[\"']?[^\s:\"']{1,64}:)"
)
_SCHEME = compile_bytes(
    r"(?i)(bearer|basic|token|apikey|api-key|digest|negotiate|hmac|ssws|klaviyo-api-key"
    r"|aws4-hmac-sha256|bot|key)(?:[ \t]+|%20)"
)
_CREDENTIAL = compile_bytes(rb"[A-Za-z0-9._~+/=:|-]+")
_HEADER_CREDENTIAL = compile_bytes(rb"""[^\s"'`,;<>\\\x00\x1b]+""")
_FLAG_NAME = re.compile(rb"--?([A-Za-z0-9_.-]+)[\"'\\]*(?:,\s*|[ \t]+(?:\\\r?\n\s*)?)\Z")
_COOKIE_PAIR = re.compile(r"([^\s=;,\"']+)=([^\s;,\"'\\]+)")
_COOKIE_ATTRIBUTES = frozenset(
    {
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "secure",
        "httponly",
        "priority",
        "version",
    }
)


def read_scheme(data: bytes, start: int, end: int) -> list[Hit]:
    """The credential in an authorization header, or behind ``Bearer`` and ``Basic`` in a text."""
    anchor = data[start:end].lower()
    in_header = b"authorization" in anchor
    pos = end if in_header else start + (1 if anchor.startswith(b"nb") else 0)
    scheme = _SCHEME.match(data, pos, min(len(data), pos + 80))
    kind, begin = "authorization", pos
    if scheme is not None:
        word = (scheme.group(1) or b"").decode().lower()
        kind = {"bearer": "bearer_token", "basic": "basic_auth"}.get(word, "authorization")
        begin = scheme.end()
    elif not in_header:
        return []
    found = (_HEADER_CREDENTIAL if in_header else _CREDENTIAL).match(data, begin)
    if found is None:
        return []
    text = data[begin : min(found.end(), begin + 2048)].decode("latin-1").rstrip(".:")
    if in_header and b"," in data[start:end] and data[end - 1 : end] not in (b"'", b'"'):
        return []
    if not _is_credential(text, in_header=in_header, kind=kind):
        return []
    return [Hit(kind, begin, found.end() if found.end() - begin > 2048 else begin + len(text))]


def read_cookies(data: bytes, start: int, end: int) -> list[Hit]:
    """The values of a cookie header that identify a session; attributes and plain settings stay."""
    begin = (
        max(
            data.rfind(b" ", start, end), data.rfind(b"'", start, end), data.rfind(b'"', start, end)
        )
        + 1
    )
    if b"cookie" in data[start:end].lower() and not data[start:end].lstrip().startswith(b"-"):
        begin = end
    line = data[begin : min(len(data), begin + 4096)]
    stop = re.search(rb"(?i)[\r\n\"']|\\+[nr\"]|cookie", line)
    text = (line[: stop.start()] if stop else line).decode("latin-1")
    hits = []
    for pair in _COOKIE_PAIR.finditer(text):
        name, value = pair.group(1), pair.group(2)
        if name.lower() in _COOKIE_ATTRIBUTES or is_placeholder(value) or "[REDACTED" in value:
            continue
        known = judge_name(name) is not None or re.search(
            r"(?i)sess|sid|auth|token|csrf|remember", name
        )
        if looks_random(value, minimum=12) or (known and len(value) >= 8 and not is_wordy(value)):
            hits.append(Hit("session_cookie", begin + pair.start(2), begin + pair.end(2)))
    return hits


def read_flag(data: bytes, start: int, end: int) -> list[Hit]:
    """The argument of a flag or a statement that takes a password."""
    flag = _FLAG_NAME.search(data[start:end])
    if data[start : start + 4].lower() == b"echo":
        return _read_piped(data, start, end)
    name: SecretName | None = SecretName("password", Strength.PASSWORD)
    if flag is not None and data[start:end].lstrip(b" \t\r\n\"'`,[(").startswith(b"-"):
        name = judge_name(flag.group(1).decode("latin-1"))
    if name is None:
        return []
    if flag is None and data[end - 1 : end] in (b"'", b'"'):
        end -= 1
        while end > start and data[end - 1 : end] == b"\\":
            end -= 1
    value = read_value(data, end, tight=False)
    if value is None:
        return []
    text = data[value.start : value.end].decode("utf-8", "replace")
    if _is_no_argument(data[start:end], text, is_quoted=value.quoted):
        return []
    # In SQL a word in double quotes is a column's name.
    is_sql_name = data[value.start - 1 : value.start] == b'"' and re.fullmatch(r"[A-Za-z_]+", text)
    if data[start : start + 10] == b"identified" and is_sql_name:
        return []
    if not _is_worth_hiding(text, name, is_quoted=value.quoted):
        return []
    if data[start : start + 6].lower() == b"config" and not _looks_set(text):
        return []
    return [Hit(name.kind, value.start, value.end)]


def _is_no_argument(flag: bytes, text: str, *, is_quoted: bool) -> bool:
    """True for what follows a flag and is none of its values: code, a path, the next flag."""
    if text[:1].isspace() or text.startswith("-") or (b"," in flag and not is_quoted):
        return True
    is_shell_code = not is_quoted and is_code(text, in_shell=True)
    return is_placeholder(text) or is_shell_code or is_path(text)


def _is_worth_hiding(text: str, name: SecretName, *, is_quoted: bool) -> bool:
    is_password = name.strength is Strength.PASSWORD
    if not is_password and (re.search(r"\s", text) or is_wordy(text)):
        return False
    is_plain = re.fullmatch(r"[a-z]+|\d{1,3}|[A-Z][a-z]+", text) is not None
    if len(text) < 3 or (is_plain and not is_quoted):
        return False
    return name.strength is not Strength.WEAK or looks_random(text, minimum=16)


def _looks_set(text: str) -> bool:
    """True for the value of a ``config set``: anything may follow that word."""
    has_both = re.search(r"\d[!-~]*[!@#$%^*]|[!@#$%^*][!-~]*\d", text)
    return looks_random(text) or has_both is not None


def _read_piped(data: bytes, start: int, end: int) -> list[Hit]:
    """What ``echo`` hands to a command that reads a password from its input."""
    skip = re.match(rb"(?i)echo[ \t]+(?:-n[ \t]+)?", data[start:end])
    value = read_value(data, start + skip.end(), tight=False) if skip is not None else None
    if value is None:
        return []
    text = data[value.start : value.end].decode("utf-8", "replace")
    if is_placeholder(text) or len(text) < 5 or re.search(r"\s", text):
        return []
    return [Hit("password", value.start, value.end)]


def _is_credential(text: str, *, in_header: bool, kind: str) -> bool:
    if is_placeholder(text) or len(text) < 6:
        return False
    if kind == "basic_auth" and not in_header:
        return _is_basic(text)
    if is_uuid(text) or looks_random(text, minimum=12):
        return True
    if in_header and (is_code(text) or re.fullmatch(r"[A-Za-z]+(?:[-_][A-Za-z]+)+", text)):
        return False
    has_digit = any(c.isdigit() for c in text)
    if in_header:
        return (
            has_digit
            or re.search(r"[!@#^*$%]", text) is not None
            or (len(text) >= 16 and not is_code(text) and "_" not in text)
        )
    return (has_digit and len(text) >= 8 and not is_wordy(text)) or (
        len(text) >= 20 and "_" not in text and "-" not in text
    )


def _is_basic(text: str) -> bool:
    """Base64 of ``user:password``."""
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
