"""What a statement is about, the values it gives, and the values it takes back.

No understanding is claimed: words, numbers, code spans and a few word lists of English, Chinese and
Japanese. It serves one question, asked by ``merging``: does a newer statement say the same thing as
an older one, or another value for the same subject? ``docs/memory-files.md`` tells the limits.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from automemory_dagster.adapters.offline.vocabulary import (
    CONCEPTS,
    DEPARTURES,
    FAMILIES,
    LANGUAGES,
    RETIREMENTS,
    STOP_WORDS,
    SUPERSESSION,
    VERB_LIKE_TOOLS,
)


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """One value, comparable with others of its kind."""

    kind: str
    """``number:<unit>``, ``colour``, ``language``, ``tool:<family>`` or ``code``."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a statement."""

    subject: frozenset[str]
    """Content words, concepts and pairs of CJK characters; values left out."""
    given: frozenset[Value]
    retired: frozenset[Value]
    """Values that the clause takes back: ``not 20.00``, ``make is gone``, ``不再用 npm``."""
    departed: frozenset[Value]
    """Those of ``retired`` that are reported to be gone: an agent may know that too."""
    is_change: bool
    """True when it says that something changes: from now on, instead of, 改用, 代わりに."""

    @property
    def concepts(self) -> frozenset[str]:
        """The part of the subject that is a known concept, such as ``commit message``."""
        return frozenset(word for word in self.subject if word.startswith("concept:"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A statement, read."""

    words: frozenset[str]
    """All content, values included: what near-identity is measured on."""
    clauses: tuple[Clause, ...]

    @property
    def given(self) -> frozenset[Value]:
        """Every value that some clause gives."""
        return frozenset().union(*(clause.given for clause in self.clauses))

    @property
    def retired(self) -> frozenset[Value]:
        """Every value that some clause takes back."""
        return frozenset().union(*(clause.retired for clause in self.clauses))


@lru_cache(maxsize=20_000)
def read_meaning(text: str) -> Meaning:
    """Read one statement. Deterministic; an empty text has no clauses and no words."""
    core = _SITUATION.sub("", unicodedata.normalize("NFKC", text).lower())
    clauses = tuple(_clause(part) for part in _split(core))
    values = {f"{value.kind}={value.text}" for c in clauses for value in c.given}
    retired = {f"not {value.kind}={value.text}" for c in clauses for value in c.retired}
    subject = {word for c in clauses for word in c.subject}
    return Meaning(words=frozenset(subject | values | retired), clauses=clauses)


# How the extractor introduces a person's words; the agent's words in it are not the person's.
_SITUATION = re.compile(
    r"^(?:when .*?, the user asked: |(?:on \d{4}-\d\d-\d\d )?(?:after the agent said .*?, )?"
    r"the user (?:decided|specified|said): )"
)
_WORKED_INSTEAD = re.compile(r"^`(?P<target>[^`]+)` failed.*` worked instead$")
_SPLIT = re.compile(
    r"(?<=[.;!?])\s+|[。；！？]|\s->\s|\s→\s|,\s+(?:and|but|also)\s+(?=\w+\s+\S)"
    r"|\s+and\s+(?=(?:always|never|don't|do\snot|use|run|keep|write|put|ask|show)\s)"
)
_CODE = re.compile(r"`([^`]+)`")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[t ][\d:]+\S*)?")
_NUMBER = re.compile(
    r"(?<![\w.#])(\d+(?:[.,]\d+)*)\s?"
    r"(%|percent\b|cents?\b|eur\b|euros?\b|usd\b|\$|€|seconds?\b|secs?\b|s\b|ms\b|minutes?\b|min\b"
    r"|hours?\b|h\b|days?\b|rows?\b|lines?\b|words?\b|mb\b|kb\b|gb\b|行|天|秒|分钟|字)?(?![\w])"
)
_WORD = re.compile(r"[a-zà-öø-ÿ0-9_][a-zà-öø-ÿ0-9_.+/-]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_UNITS = {
    "percent": "%",
    "euro": "eur",
    "€": "eur",
    "$": "usd",
    "second": "s",
    "sec": "s",
    "秒": "s",
    "minute": "min",
    "分钟": "min",
    "hour": "h",
    "行": "line",
    "天": "day",
    "字": "word",
}
_LANGUAGE = re.compile("|".join(rf"\b{name}\b" if name.isascii() else name for name in LANGUAGES))
_MONEY = frozenset({"", "eur", "usd"})


def _split(text: str) -> list[str]:
    if _WORKED_INSTEAD.match(text):
        return [text]
    return [part for part in _SPLIT.split(text) if part.strip(" \"'“”「」.。,，")]


def _clause(text: str) -> Clause:
    text = _DATE.sub(" ", text)
    retired: set[Value] = set()
    departed: set[Value] = set()
    spans: list[tuple[int, int]] = []
    for patterns, found in ((RETIREMENTS, retired), (DEPARTURES, departed)):
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            target = match["target"]
            if named := {*_values(target), *_named(target, text[match.end("target") :])}:
                found |= named
                spans.append(match.span("target"))
    retired |= departed
    if instead := _WORKED_INSTEAD.match(text):
        # The very command, not its tool: another way to call the tool may be what worked.
        retired.add(Value("code", instead["target"]))
        spans.append((instead.start("target") - 1, instead.end("target") + 1))
    rest = _without(text, spans)
    return Clause(
        subject=frozenset(_subject(rest)),
        given=frozenset(_values(rest)) - retired,
        retired=frozenset(retired),
        departed=frozenset(departed),
        is_change=bool(SUPERSESSION.search(text)) or bool(retired),
    )


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _values(text: str) -> Iterator[Value]:
    for match in _CODE.finditer(text):
        code = " ".join(match[1].split())
        yield Value("code", code)
        yield from _tools(code.split()[:1], in_code=True)
    bare = _CODE.sub(" ", text)
    for colour in _COLOUR.findall(bare):
        yield Value("colour", colour)
    for match in _NUMBER.finditer(_COLOUR.sub(" ", bare)):
        yield from _number(match[1], match[2] or "")
    for name in _LANGUAGE.findall(bare):
        yield Value("language", LANGUAGES[name])
    yield from _tools(_WORD.findall(bare), in_code=False)


def _named(target: str, following: str) -> Iterator[Value]:
    """A retired thing by its bare name: ``make is gone`` retires the tool, however it reads."""
    # "Don't make a mess" is no word against the tool; "no more make, please" is.
    is_object = not re.match(r"\s+(?!(?:is|are|was|were|any|again|here|now|and|or)\b)\w", following)
    yield from _tools(_WORD.findall(_CODE.sub(" ", target)), in_code=is_object)


def _tools(words: list[str], *, in_code: bool) -> Iterator[Value]:
    for word in words:
        word = word.rstrip(".-/")
        family = FAMILIES.get(word)
        if family and (in_code or word not in VERB_LIKE_TOOLS):
            yield Value(f"tool:{family}", word)


def _number(digits: str, unit: str) -> Iterator[Value]:
    unit = _UNITS.get(unit, unit)
    unit = _UNITS.get(unit.rstrip("s"), unit if len(unit) < 3 else unit.rstrip("s"))
    try:
        amount = Decimal(digits if digits.count(",") != 1 else digits.replace(",", "."))
    except InvalidOperation:
        return
    if unit == "cent":
        amount, unit = amount / 100, ""
    if unit in _MONEY:
        unit = ""
    yield Value(f"number:{unit}", f"{amount.normalize():f}")


def _subject(text: str) -> Iterator[str]:
    for code in _CODE.findall(text):
        for word in re.findall(r"[a-z]{2,}", code):
            if word not in STOP_WORDS and word not in FAMILIES:
                yield word
    bare = _COLOUR.sub(" ", _CODE.sub(" ", text))
    for pattern, concept in CONCEPTS:
        if pattern.search(bare):
            yield f"concept:{concept}"
            bare = pattern.sub(" ", bare)
    bare = _LANGUAGE.sub(" ", bare)
    for word in _WORD.findall(bare):
        for part in re.split(r"[_./+-]+", word):
            is_tool = part in FAMILIES and part not in VERB_LIKE_TOOLS
            if len(part) > 1 and not (part in STOP_WORDS or part.isdigit() or is_tool):
                yield _singular(part)
    for run in _CJK.findall(bare):
        pairs = [run[i : i + 2] for i in range(len(run) - 1)]
        yield from (pair for pair in pairs or [run] if pair not in STOP_WORDS)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
