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
_LOWERS, _UPPERS, _DIGITS, _SPACES, _LINES, _OTHERS, _LATINS, _TWOS, _THREES, _FOURS = (
    bytes(byte for byte in range(256) if _CLASSES[byte] == kind) for kind in range(10)
)
_HIGH_PRICES = ((_THREES, 1.125), (_TWOS, 1.11), (_LATINS, 2.83), (_FOURS, 3.66))
"""Tokens for the first byte of a character beyond ASCII, class by class."""
_HUMP, _CAPITALS, _BLANKS = (
    bytes(pair) for pair in ((_LOWER, _UPPER), (_UPPER, _UPPER), (_SPACE, _SPACE))
)
_FEW = 32
"""With fewer capitals than one in so many bytes, visiting each is faster than two searches."""


def estimate_tokens(text: str) -> int:
    """Tokens a model will count for this text, rather too many than too few; 0 for no text."""
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    # Deleting a class and comparing lengths is several times faster than counting it.
    no_lowers = data.translate(None, _LOWERS)
    no_spaces = no_lowers.translate(None, _SPACES)
    no_others = no_spaces.translate(None, _OTHERS)
    no_digits = no_others.translate(None, _DIGITS)
    no_lines = no_digits.translate(None, _LINES)
    high = no_lines.translate(None, _UPPERS)
    spaces, capitals = len(no_lowers) - len(no_spaces), len(no_lines) - len(high)
    tokens = (
        _pairs(data, capitals, spaces)
        + 0.17 * (len(data) - len(no_lowers))
        + 0.245 * spaces
        + 0.76 * (len(no_spaces) - len(no_others))
        + 1.05 * (len(no_others) - len(no_digits))
        + 1.92 * (len(no_digits) - len(no_lines))
        + 0.72 * capitals
    )
    for members, price in _HIGH_PRICES if high else ():
        tokens += price * (len(high) - len(high.translate(None, members)))
    return math.ceil(tokens)


def _pairs(data: bytes, capitals: int, spaces: int) -> float:
    """A new word in camelCase costs more, a run of capitals or of spaces less than its parts.

    Searching for a pair is the dearest step of all, so each search has to be needed.
    """
    if not capitals and b"\t" not in data:
        return -0.2 * data.count(b"  ") if spaces > 1 else 0.0
    classes = data.translate(_CLASSES)
    humps = doubles = 0
    if capitals * _FEW < len(data):
        pieces = classes.split(_CAPITALS[:1])
        humps = len([piece for piece in pieces[:-1] if piece.endswith(_HUMP[:1])])
        doubles = classes.count(_CAPITALS) if b"" in pieces[1:-1] else 0
    elif capitals:
        humps, doubles = classes.count(_HUMP), classes.count(_CAPITALS)
    return 2.25 * humps + -0.9 * doubles + -0.2 * classes.count(_BLANKS)


def bytes_that_fit(text: str, budget_tokens: int) -> int:
    """How many bytes of a text like this one fit a budget, judged by the whole text's density."""
    size = len(text.encode("utf-8", "surrogatepass"))
    tokens = estimate_tokens(text)
    if tokens <= max(0, budget_tokens):
        return size
    return size * max(0, budget_tokens) // tokens
