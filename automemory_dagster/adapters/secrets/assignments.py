"""Finds values given to a secret-like name, in code, configuration, commands, tables and URLs.

The trap: one rule for all notations. ``password: str`` is a type, ``password: sunshine`` in a YAML
file is not, so how it was written is read here, and ``verdict.py`` decides by that how much the
value must prove.
"""

import re
import string

from automemory_dagster.adapters.secrets.finding import Hit
from automemory_dagster.adapters.secrets.names import SecretName, Strength, judge_name
from automemory_dagster.adapters.secrets.pattern import compile_bytes
from automemory_dagster.adapters.secrets.placeholders import (
    is_code,
    is_placeholder,
    is_prose,
)
from automemory_dagster.adapters.secrets.randomness import looks_random
from automemory_dagster.adapters.secrets.value_reader import Value, follow, read_value, rest_of_line
from automemory_dagster.adapters.secrets.verdict import Style, is_secret, is_strong_password

_WORDS = (
    r"pass(?:word|wd|phrase|code|wort)?s?|passwords?|passwd|p(?:s)?wd?|secrets?|token|key"
    r"|credentials?|creds?"
    r"|auth|mnemonic|(?:seed|recovery)[_ -]?phrase|jwt|bearer|pat|otp|signature|sig|requirepass"
    r"|masterauth"
    r"|session(?:id)?|sess|sid|contrasena|motdepasse"
)
_SUFFIX = (
    r"(?:[_.-]?(?:prod(?:uction)?|stag(?:e|ing)|dev(?:elopment)?|test(?:ing)?|local|live|base"
    r"|value|string|text|plain"
    r"|raw|b64|base64|default|old|new|current|previous|prev|backup|primary|secondary|main"
    r"|master|rw|ro|v?\d{1,3}"
    r"|env|var|confirm(?:ation)?|again|hash|encrypted|us|eu|cn)){0,2}"
)
_CLOSE = r"""(?:\\{0,40}["'`])?[\\"'`\])*]{0,8}"""
_VALUE_FIELD = r"""(?:parameter[_-]?)?value\\{0,40}["'`]{0,2}\s*[:=]"""
ANCHOR = (
    rf"(?i:(?:{_WORDS}){_SUFFIX})(?:{_CLOSE}[ \t]*(?:=>|:=|\?=|\+=|[!=]==?|:|=|->|：|＝|%3[dD]"
    rf"|\\u003[dD]|\|)"
    rf"|{_CLOSE}[nr]?(?i:\s|\\+[nrt]|,|-){{1,40}}\\{{0,40}}[\"'`]{{0,2}}(?i:{_VALUE_FIELD})"
    r"""|\\*["'`]\s{0,4},\s{0,4}\\*["'`]|>|\\*["'`]>)"""
)
"""From the last secret word of a name up to the sign that gives it a value."""

_PARTS = compile_bytes(
    rf"((?i:(?:{_WORDS}){_SUFFIX}))({_CLOSE})"
    rf"(?:[ \t]*(=>|:=|\?=|\+=|[!=]==?|:|=|->|：|＝|%3[dD]|\\u003[dD]|\|)"
    rf"|[nr]?(?i:\s|\\+[nrt]|,|-){{1,40}}\\{{0,40}}[\"'`]{{0,2}}(?i:({_VALUE_FIELD}))|(,)|(>))?"
)
_NAME_BYTES = (string.ascii_letters + string.digits + "_.-").encode()
_GAP = compile_bytes(rb"(?:[ \t]|\*{1,2}|\\+t)*")
_GAP_LINES = compile_bytes(rb"""(?:[ \t\r\n(]|\\+[nrt])*\[?\s*""")
_LINE_START = re.compile(
    rb"(?:^|\n|\\n|\\r)[ \t]*(?:[+\->#$*|]{1,3}[ \t]*)?(?:\d+[:|\t ]\s*)?"
    rb"(?:(?:export|set|setx|env|declare -x|local|ENV|ARG)[ \t]+)?[\"'`]?\Z"
)
_LIST = compile_bytes(rb"""\[(?:\s|\\+[nrt])*(\\*["'])""")
_NEXT_ITEM = compile_bytes(rb"""\s*,(?:\s|\\+[nrt])*""")
_JOINED = compile_bytes(rb"""[ \t]*[+.\\]?[ \t]*(?:\r?\n)?[ \t]*[+.]?[ \t]*["']""")

_CLOSES = re.compile(r"\s|[)\]};,]+(?:[\s\\)\]};,.:]|$)")
"""A text that starts like this is no value: the quote before it closed a literal that ends in
``password=``.
"""


def read_assignment(data: bytes, start: int, end: int) -> list[Hit]:
    """Hits for the value behind the name at the anchor; none when name or value is harmless."""
    parts = _PARTS.match(data, start, end)
    if parts is None:
        return []
    name_start = _name_start(data, start)
    name = judge_name(data[name_start : parts.end(1)].decode("latin-1"))
    if name is None:
        return []
    sign = (parts.group(3) or b"").decode("utf-8", "replace")
    if parts.group(6) or (not sign and data[end - 1 : end] == b">"):
        return _read_element(data, name_start, end, name)
    if not sign and not parts.group(4):
        end = data.rfind(b",", start, end) + 1
        sign = ","
    return _read_after_sign(data, name_start, end, name, sign)


def _read_after_sign(
    data: bytes, name_start: int, end: int, name: SecretName, sign: str
) -> list[Hit]:
    gap = _GAP.match(data, end, min(len(data), end + 64))
    value_start = gap.end() if gap is not None else end
    if (sign == ":" and data[end : end + 1] == b":") or (sign == "|" and value_start == end):
        return []
    spaced = value_start > end or data[end - len(sign) - 1 : end - len(sign)] in (b" ", b"\t")
    line_start = _LINE_START.search(data, max(0, name_start - 40), name_start) is not None
    query = data[name_start - 1 : name_start] in (b"?", b"&", b";") or sign.startswith(("%", "\\"))
    env = (sign == "=" and not spaced and not query) and (
        line_start or data[name_start:end].strip(b"=\"'").isupper()
    )
    flag = data[max(0, name_start - 2) : name_start] == b"--"
    items = _LIST.match(data, value_start, min(len(data), value_start + 24))
    if items is not None:
        return _read_list(data, items.end() - (items.end(1) - items.start(1)), name)
    value = read_value(
        data, value_start, tight=not (env or flag or (line_start and sign in (":", "=")))
    )
    if value is None or data[value.start : value.end] in (b"(", b"[", b"{"):
        lines = _GAP_LINES.match(data, value_start, min(len(data), value_start + 120))
        value = read_value(data, lines.end(), tight=True) if lines is not None else None
        if value is None or not value.quoted:
            return []
    if sign in ("==", "===", "!=", "!==", ",", "->", "+=") and not value.quoted:
        return []
    return _judge(data, value, name, sign, env=env or flag or query, line_start=line_start)


def _read_list(data: bytes, pos: int, name: SecretName) -> list[Hit]:
    """The items of a list of literals: ``["a", "b"]``."""
    hits: list[Hit] = []
    for _ in range(64):
        value = read_value(data, pos, tight=True)
        if value is None or not value.quoted or not value.closed:
            break
        if is_secret(data[value.start : value.end].decode("utf-8", "replace"), name, Style.QUOTED):
            hits.append(Hit(name.kind, value.start, value.end))
        comma = _NEXT_ITEM.match(data, value.after, min(len(data), value.after + 80))
        if comma is None:
            break
        pos = comma.end()
    return hits


def _judge(
    data: bytes, value: Value, name: SecretName, sign: str, *, env: bool, line_start: bool
) -> list[Hit]:
    text = data[value.start : value.end].decode("utf-8", "replace")
    if value.quoted:
        style = Style.QUOTED
        if _CLOSES.match(text) or (
            data[value.start - 1 : value.start] == b"`" and re.search(r"\s", text)
        ):
            return []
    elif env:
        style = Style.ENV
        value, text = _cut_connection_string(value, text)
    else:
        style, value, text = _bare_style(data, value, text, name, sign, line_start=line_start)
    if sign == "," and re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)+", text):
        return []
    if sign in (",", "|") and not _is_sure(text, sign):
        return []
    is_yaml = (
        style is Style.LINE and sign == ":" and data[value.end : value.end + 1] not in (b",", b";")
    )
    if not is_secret(text, name, style, is_yaml=is_yaml):
        return []
    last = follow(data, value, tight=style is Style.INLINE)
    hits = [Hit(name.kind, value.start, last)]
    if value.quoted and value.closed:
        hits += _joined_literals(data, value.after, name)
    return hits


def _is_sure(text: str, sign: str) -> bool:
    """Enough for a sign that mostly separates names: an argument list, the cells of a table."""
    if looks_random(text, minimum=8) or is_strong_password(text):
        return True
    return sign == "|" and len(text) >= 8 and re.search(r"[A-Za-z]\d", text) is not None


def _bare_style(
    data: bytes, value: Value, text: str, name: SecretName, sign: str, *, line_start: bool
) -> tuple[Style, Value, str]:
    """LINE when the value is all that follows; a passphrase of several words is taken whole."""
    line_end = rest_of_line(data, value.end)
    rest = data[value.end : line_end].split(b" #")[0].strip()
    if not line_start or sign not in (":", "=", "：", "＝"):
        return Style.INLINE, value, text
    if not rest:
        value, text = _cut_connection_string(value, text)
        return Style.LINE, value, text
    whole = data[value.start : line_end].split(b" #")[0].rstrip().decode("utf-8", "replace")
    phrase = (
        name.strength is Strength.PASSWORD
        and not is_prose(whole)
        and not rest.startswith((b"=", b"#", b"(", b"|", b"+ ", b"<<", b"* "))
        and not rest.endswith((b",", b";", b"{", b"("))
    )
    if phrase and (name.kind == "passphrase" or re.search(r"\d", whole)) and not is_code(text):
        end = value.start + len(whole.encode())
        return Style.QUOTED, Value(value.start, min(end, line_end), False, True, end), whole
    tight = read_value(data, value.start, tight=True)
    if tight is None:
        return Style.INLINE, value, text
    return Style.INLINE, tight, data[tight.start : tight.end].decode("utf-8", "replace")


def _cut_connection_string(value: Value, text: str) -> tuple[Value, str]:
    """``Password=x;Server=y`` is one bare word; only the part before the next pair is the value."""
    found = re.search(r"[;,&]\s*[A-Za-z][\w .\-]*[=:]", text)
    if found is None:
        return value, text
    end = value.start + len(text[: found.start()].encode("utf-8", "replace"))
    return Value(value.start, min(end, value.end), value.quoted, True, end), text[: found.start()]


def _joined_literals(data: bytes, pos: int, name: SecretName) -> list[Hit]:
    """Further pieces of a literal that was split over lines: ``"abc" + "def"``, ``"abc" \\`` and
    the next line.
    """
    hits: list[Hit] = []
    while (
        len(hits) < 64 and (glue := _JOINED.match(data, pos, min(len(data), pos + 80))) is not None
    ):
        value = read_value(data, glue.end() - 1, tight=True)
        if value is None or not value.closed:
            break
        text = data[value.start : value.end].decode("utf-8", "replace")
        if not re.search(r"\d", text) or re.search(r"\s", text) or is_placeholder(text):
            break
        hits.append(Hit(name.kind, value.start, value.end))
        pos = value.after
    return hits


def _name_start(data: bytes, start: int) -> int:
    """Where the whole name begins; the ``n`` of an escaped line break is not part of it."""
    low = max(0, start - 64)
    begin = low + len(data[low:start].rstrip(_NAME_BYTES))
    while (
        begin < start and data[begin - 1 : begin] == b"\\" and data[begin : begin + 1] in b"nrtbf"
    ):
        begin += 1
    while begin < start and data[begin : begin + 1] in (b"-", b"."):
        begin += 1
    return begin


def _read_element(data: bytes, name_start: int, end: int, name: SecretName) -> list[Hit]:
    """The text of an XML element: ``<password>x</password>`` or ``<entry
    key="password">x</entry>``.
    """
    if b"<" not in data[max(0, name_start - 60) : name_start]:
        return []
    close = data.find(b"<", end, min(len(data), end + 2048))
    text = data[end:close].decode("utf-8", "replace").strip() if close > end else ""
    if not text or data[close + 1 : close + 2] != b"/" or not is_secret(text, name, Style.QUOTED):
        return []
    return [Hit(name.kind, end, close)]
