"""Estimates tokens without a tokenizer, on the safe side.

The trap: four bytes a token, which is right for English prose and far too low for JSON, code,
digits and CJK, so that a request that "fits" overflows the model's window. Here each class of bytes
has its own price; see ``docs/evidence.md`` for how far the estimate is from real tokenizers.
"""

import math

_LETTER, _UPPER, _DIGIT, _SPACE, _LINE, _OTHER, _HIGH = range(7)


def _class_of(byte: int) -> int:
    character = chr(byte)
    if byte >= 0x80:
        return _HIGH
    if character.islower():
        return _LETTER
    if character.isupper():
        return _UPPER
    if character.isdigit():
        return _DIGIT
    if character in " \t":
        return _SPACE
    return _LINE if character in "\r\n" else _OTHER


_CLASSES = bytes(_class_of(byte) for byte in range(256))
_TOKENS_PER_BYTE = {
    _LETTER: 0.25,
    _UPPER: 0.45,
    _DIGIT: 0.62,
    _SPACE: 0.06,
    _LINE: 0.55,
    _OTHER: 0.72,
    _HIGH: 0.48,
}
"""Measured on prose, code, JSON, logs and CJK text against two public vocabularies, then rounded
up."""


_PRICES = tuple((bytes([kind]), price) for kind, price in _TOKENS_PER_BYTE.items())


def estimate_tokens(text: str) -> int:
    """Tokens a model will count for this text, rather too many than too few; 0 for an empty
    text."""
    if not text:
        return 0
    count = text.encode("utf-8", "surrogatepass").translate(_CLASSES).count
    return math.ceil(sum([price * count(kind) for kind, price in _PRICES]))


def bytes_that_fit(text: str, budget_tokens: int) -> int:
    """How many bytes of a text like this one fit a budget, judged by the whole text's density."""
    tokens = estimate_tokens(text)
    size = len(text.encode("utf-8", "surrogatepass"))
    return size if tokens <= budget_tokens else size * max(0, budget_tokens) // tokens
