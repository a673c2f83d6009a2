"""Estimates tokens without a tokenizer, on the safe side.

The trap: four bytes a token, which is right for English prose and far too low for JSON, code,
digits and CJK, so that a request that "fits" overflows the model's window. Here each class of
bytes has its own price, fitted so that no sample of prose, code, JSON, logs and nine languages is
estimated below what the dearest of four public tokenizers counts; see ``docs/evidence.md``.
"""

import math

_LOWER, _UPPER, _DIGIT, _SPACE, _LINE, _OTHER = range(6)
_LATIN, _TWO_BYTES, _THREE_BYTES, _FOUR_BYTES, _CONTINUED = range(6, 11)


def _class_of(byte: int) -> int:
    if byte >= 0x80:
        return _class_of_high(byte)
    character = chr(byte)
    if character.isalpha():
        return _LOWER if character.islower() else _UPPER
    if character.isdigit():
        return _DIGIT
    if character in " \t":
        return _SPACE
    return _LINE if character in "\r\n" else _OTHER


def _class_of_high(byte: int) -> int:
    # Priced at a character's first byte; accented Latin letters split words into many tokens.
    if byte < 0xC0:
        return _CONTINUED
    if byte >= 0xE0:
        return _FOUR_BYTES if byte >= 0xF0 else _THREE_BYTES
    return _TWO_BYTES if byte >= 0xCA else _LATIN


_CLASSES = bytes(_class_of(byte) for byte in range(256))
_PRICES = (
    (bytes([_LOWER]), 0.17),
    (bytes([_SPACE]), 0.245),
    (bytes([_OTHER]), 0.76),
    (bytes([_DIGIT]), 1.05),
    (bytes([_LINE]), 1.92),
    (bytes([_UPPER]), 0.72),
    (bytes([_CONTINUED]), 0.0),
    (bytes([_THREE_BYTES]), 1.125),
    (bytes([_TWO_BYTES]), 1.11),
    (bytes([_LATIN]), 2.83),
    (bytes([_FOUR_BYTES]), 3.66),
)
"""Tokens for each byte of a class, the commonest class first."""
_PAIR_PRICES = (
    (bytes([_LOWER, _UPPER]), 2.25),
    (bytes([_UPPER, _UPPER]), -0.9),
    (bytes([_SPACE, _SPACE]), -0.2),
)
"""A new word in camelCase costs more, a run of capitals or of spaces less than its parts."""


def estimate_tokens(text: str) -> int:
    """Tokens a model will count for this text, rather too many than too few; 0 for no text."""
    if not text:
        return 0
    rest = text.encode("utf-8", "surrogatepass").translate(_CLASSES)
    tokens = sum([price * rest.count(pair) for pair, price in _PAIR_PRICES])
    for kind, price in _PRICES:
        # Deleting a class and comparing lengths is several times faster than counting it.
        fewer = rest.translate(None, kind)
        tokens += price * (len(rest) - len(fewer))
        if not fewer:
            break
        rest = fewer
    return math.ceil(tokens)


def bytes_that_fit(text: str, budget_tokens: int) -> int:
    """How many bytes of a text like this one fit a budget, judged by the whole text's density."""
    size = len(text.encode("utf-8", "surrogatepass"))
    tokens = estimate_tokens(text)
    if tokens <= max(0, budget_tokens):
        return size
    return size * max(0, budget_tokens) // tokens
