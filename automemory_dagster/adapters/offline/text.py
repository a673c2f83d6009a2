"""Plain text handling for the offline extractor: sentences, clipping, comparison, language.

All of it is deterministic and works for scripts with and without spaces between words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

CLIP_MARK = " […]"
"""Stands where a text was cut; nothing is cut without it."""

_HEAD, _TAIL = 16_000, 8_000
"""Characters read of a long text: what people say stands around what they paste."""
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_LIST_MARKER = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_SKIPPED_LINE = re.compile(r"\s*(?:>|\||#{1,6}\s|---+\s*$|===+\s*$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|approx|incl|resp)|\b[A-Za-z])\.$", re.I)
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"`[^`\n]+`|[A-Za-z0-9_][A-Za-z0-9_./#%+-]*|[{_CJK}]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_MARK = re.compile(r"[`.!?。！？\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]")
"""Where a sentence may end: full stops, and emoji, which often stand for one."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_STOP_WORDS = word_set(
    "a an and are as at be been before but by can did do does for from had has have i in is "
    "it its me my no not now of on one or our please run so that the them then there they "
    "this to use was we were will with you your"
)


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def clip(text: str, limit: int) -> str:
    """One line of at most ``limit`` characters; cut between words where it can be, with a mark."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    head = line[: max(0, limit - len(CLIP_MARK))]
    at = head.rfind(" ")
    if at > len(head) * 2 // 3:
        head = head[:at]
    if head.count("`") % 2:
        head += "`"
    return head.rstrip() + CLIP_MARK


def prose(text: str) -> str:
    """The text without code blocks, quoted lines, tables and headings: what its author says."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    lines = _FENCE.sub("\n", text).split("\n")
    return "\n".join(line for line in lines if not _SKIPPED_LINE.match(line))


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of the prose in order, each one line; a list item ends with its line."""
    return tuple(sentence for sentence, _ in marked_sentences(text))


def marked_sentences(text: str) -> Iterator[tuple[str, bool]]:
    """As ``sentences``, each with whether it stands in a list item."""
    for line in prose(text).split("\n"):
        marker = _LIST_MARKER.match(line)
        for part in _split_line(line[marker.end() :] if marker else line):
            if re.search(r"\w", part):
                yield one_line(part), marker is not None


@lru_cache(maxsize=4_096)
def content_tokens(text: str) -> frozenset[str]:
    """What a text is about: code spans, words but the commonest, pairs of CJK characters."""
    found: set[str] = set()
    for token in _TOKEN.findall(text):
        if token.startswith("`"):
            found.add(token)
            for word in _TOKEN.findall(token.strip("`")):
                found.update(_word_tokens(word))
        elif re.match(rf"[{_CJK}]", token):
            found.update(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif token.lower().rstrip(".") not in _STOP_WORDS:
            found.update(_word_tokens(token))
    return frozenset(found)


def _word_tokens(word: str) -> list[str]:
    whole = word.lower().rstrip(".")
    return [whole, *(part for part in re.split(r"[./]", whole) if len(part) >= 5)]


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared share of two token sets, 0 to 1 (Jaccard); 0 when either is empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def language_of(text: str) -> str:
    """``Japanese``, ``Chinese`` or ``Korean`` when the script tells and dominates, else empty."""
    bare = re.sub(r"`[^`]*`|https?://\S+", " ", text)
    latin = len(_LATIN_WORD.findall(bare))
    kana, han, hangul = (len(p.findall(bare)) for p in (_KANA, _HAN, _HANGUL))
    if kana + han + hangul <= latin:
        return ""
    if hangul > kana + han:
        return "Korean"
    return "Japanese" if kana * 8 >= han and kana else "Chinese"


def without_trailing_stop(text: str) -> str:
    """The sentence without its closing full stop."""
    return text.rstrip(" .。;；,，、:：")


def _split_line(line: str) -> Iterator[str]:
    start = 0
    is_code = False
    for mark in _MARK.finditer(line):
        if mark[0] == "`":
            is_code = not is_code
        elif not is_code and _ends_sentence(line, mark.start()):
            yield line[start : mark.end()]
            start = mark.end()
    yield line[start:]


def _ends_sentence(line: str, i: int) -> bool:
    char = line[i]
    following = line[i + 1 : i + 2]
    if char in "。！？":
        return following not in ("」", "』", "”", "）", "。", "！", "？")
    if char in ".!?":
        if following and not following.isspace():
            # Full-width text may follow a half-width mark without a space.
            return char != "." and bool(re.match(rf"[{_CJK}]", following))
        return char != "." or not _ABBREVIATION.search(line[max(0, i - 8) : i + 1])
    return following.isspace()
