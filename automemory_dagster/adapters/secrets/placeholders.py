"""Recognises values that only stand for a secret: placeholders, references, code and documentation.

The trap: treating every value under ``password`` as a secret turns ``password = get_password()``
into noise, and noise teaches the model (and people) to ignore the marker.
"""

import re
from functools import lru_cache

from automemory_dagster.adapters.secrets.randomness import has_random_run, is_wordy, looks_random
from automemory_dagster.adapters.secrets.words import (
    FUNCTION_WORDS,
    PLACEHOLDER_MARKS,
    PLACEHOLDER_WORDS,
)

MARKER = re.compile(r"\[REDACTED(?:[:_][A-Za-z0-9_]+)?\]")
"""Our markers, the plain one of the cloud source and Codex's own."""

_REFERENCE = re.compile(
    r"""(?xi)
    \$\{?[a-z_]\w*(?:[:?+\-=][^}\s]*)?\}? [;,)]* $        # $NAME ${NAME:-x}
    | \$\(                                                # $(cat file)
    | \$\{\{? | \{\{ | <% | %\( | \#\{                    # templates
    | %[a-z_]\w*% $ | %[sdrvq] $ | \{[a-z_][\w.!:\[\]]*\}? $     # %NAME%  %s  {name}
    | (?:os\.|process\.|import\.meta\.|deno\.|std::|system\.|bun\.)(?:env|getenv|environ)
    | (?:getenv|env|secrets?|vault|config|settings|var|local|data|module|inputs?
        |github|params?|ssm|self|this
        |ctx|args|opts|options|request|req|res|response|props|state|cfg|conf|app|user|window|document|event)
        (?:\.|\[|\(|->|\?\.|::)
    | !(?:ref|sub|getatt|secret|env|vault)\b | enc\[ | op://|vault:|ssm:|secretsmanager:|arn:aws
    | (?:aws-)?secret(?:s)?(?:manager)?:// | projects/[^/]+/secrets/ | @microsoft\.keyvault
    | file://|https?://|ssh://|git@
    """
)
_TEMPLATE = re.compile(r"\{[A-Za-z_][\w.]*\}|%[sdr]|%\(\w+\)s")
_EXPRESSION = re.compile(
    r"\[\^|\\+[wdsWDSb](?![A-Za-z0-9])|\(\?[:P<!=]|\[a-z0-9]-|\[[aA0]-[zZ9]|^\[.*\][+*?]?$|^qr/|(?:\\+x[0-9A-Fa-f]{2}.*){2}"
)
"""A regular expression for such a value, not the value."""
_NUMBER = re.compile(r"#[0-9a-fA-F]{3,8}|#[a-z]+|0[xX][0-9a-fA-F]{1,16}")
"""A colour, an address, a flag."""
_PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w.@+\-/ {}$*~%]*|[A-Za-z]:\\{1,4}[^\"']*"
    r"|(?:[\w.\-]+/)+[\w.\-]+\.[A-Za-z]{1,5}"
)
_CALL = re.compile(
    r"(?:await\s+|new\s+|&|\*|!)*[A-Za-z_$@][\w$]*(?:(?:\?\.|\.|::"
    r"|->)[A-Za-z_$][\w$]*)*[!?]?[(\[{<]"
)
_DOTTED = re.compile(r"[*&!]*[A-Za-z_$@][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[;,)\]}?:!]*")


def is_placeholder(value: str) -> bool:
    """True when the value is empty, a marker, a reference to elsewhere, or words that say "put it
    here".
    """
    return _is_placeholder(value[:512])


@lru_cache(maxsize=4096)
def _is_placeholder(value: str) -> bool:
    bare = value.strip().strip("\"'`").strip()
    if len(bare) < 2 or MARKER.match(bare) or _REFERENCE.match(bare):
        return True
    if bare[0] in "<[{(" and bare[-1] in ">]})" and not has_random_run(bare):
        return True
    if bare.startswith("<") and re.match(r"<[\w .:\-/|]{1,60}>", bare):
        return True
    if len(set(bare)) <= 2 and not bare.isdigit():
        return True
    if re.search(r"\*{3,}|\.{3,}|…|•{2}|#{4,}", bare):
        return True
    if re.search(r"(?i)x{4,}|_{4,}|0{6,}", bare) and not has_random_run(
        re.sub(r"(?i)x{4,}|0{6,}", "-", bare)
    ):
        return True
    if _TEMPLATE.search(bare) and not has_random_run(_TEMPLATE.sub("-", bare)):
        return True
    if _EXPRESSION.search(bare) or re.fullmatch(
        r"#[0-9a-fA-F]{3,8}|#[a-z]+|0[xX][0-9a-fA-F]{1,16}", bare
    ):
        return True
    if bare.endswith(("EXAMPLE", "EXAMPLEKEY")):
        return True
    return is_path(bare) or is_vocabulary(bare)


def is_path(value: str) -> bool:
    """True for a file path, absolute or relative; a key that happens to start with a slash is not
    one.
    """
    if not _PATH.fullmatch(value):
        return False
    return not any(
        looks_random(part, minimum=20) and not is_wordy(part) for part in re.split(r"[/\\]", value)
    )


def is_vocabulary(value: str) -> bool:
    """True when every word is one that documentation uses in place of a secret."""
    words = [
        word.lower()
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\x00-\x7f]+", value)
    ]
    if not words or re.search(r"[!@#$%^&*+~]", value):
        return False
    joined = re.sub(r"[^a-z]", "", value.lower())
    if joined in PLACEHOLDER_WORDS and not re.search(r"\d", value):
        return True
    if any(word in PLACEHOLDER_MARKS for word in words) and not has_random_run(value, minimum=16):
        return True
    return all(word in PLACEHOLDER_WORDS for word in words)


def is_code(value: str, *, in_shell: bool = False) -> bool:
    """True for an unquoted value that is an expression: a call, an index, a dotted name, a lambda.

    ``in_shell``: where a shell or an URL would take the characters as they are, a dotted name with
    digits is a value.
    """
    call = _CALL.match(value)
    if call and _is_callable_name(call.group()):
        return True
    dotted = _DOTTED.fullmatch(value)
    if value.startswith((")", "]", "}")):
        return True
    counted = re.search(r"\d", value) is not None
    if (
        dotted
        and not (counted and (in_shell or _mixes_humps(value)))
        and is_wordy(re.sub(r"\W+", "_", value).strip("_"))
    ):
        return True
    return value.startswith(
        ("lambda", "(", "[", "{", "->", "=>", "==", "&", "|", "@", "!", "?")
    ) and not re.search(r"\d", value[:64])


def _mixes_humps(value: str) -> bool:
    """Capitals that start no class name: ``egDzty62``, but not ``ed25519.Ed25519PrivateKey``."""
    parts = [part for part in re.split(r"\W+", value) if re.search(r"[A-Z]", part)]
    return not all(re.fullmatch(r"(?:[A-Z][a-z]*\d*)+|[A-Z_\d]+", part) for part in parts) and bool(
        parts
    )


def _is_callable_name(text: str) -> bool:
    """``b64decode(`` and ``sha256[``: words, each with one short number in it at most."""
    if text.endswith("("):
        return all(
            re.fullmatch(r"[A-Za-z$]*\d{0,5}[A-Za-z]*", part)
            for part in re.split(r"[^A-Za-z0-9$]+", text)
        )
    return is_wordy(re.sub(r"\W+", "_", text).strip("_") or "x")


def is_prose(value: str) -> bool:
    """True for several words of which one is a function word: a message to people, not a
    passphrase.
    """
    words = re.findall(r"[A-Za-z']+", value.lower())
    return (
        len(value.split()) > 1
        and len(words) > 1
        and (any(word in FUNCTION_WORDS for word in words) or is_vocabulary(value))
    )
