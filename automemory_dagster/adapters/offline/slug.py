"""Short names for a thread: a slug for file names, and keywords for search."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from automemory_dagster.adapters.offline.text import word_set

SLUG_LIMIT = 60
_MAX_WORDS = 8
_MAX_KEYWORDS = 12
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?")
_CODE = re.compile(r"`([\w./@+=~-]+(?: [\w./@:+=~-]+){0,3})`")
_FILE = re.compile(r"(?<![\w/:])(?!//)[\w./-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}\b")
_IDENTIFIER = re.compile(r"\b(?:[a-z0-9]+_[a-z0-9_]+|[A-Z][a-z]+[A-Z]\w+|\w+(?:Error|Exception))\b")
_FILLERS = word_set(
    "a an the is are was were it its this that these those of to in on at for and or but with "
    "please i we you me my our your be been do does did can could would should will just have "
    "has had since why what how where when then so from by as into some any yesterday today now"
)


def slug_of(title: str, request: str, project: str, files: Sequence[str]) -> str | None:
    """A topic of lower-case ASCII words joined by ``-``, at most 60 characters.

    From the title, else the first request. A text without two ASCII words, as in Chinese, is helped
    by the project's name and the changed files. None when there is no ASCII word anywhere.
    """
    for text in (title, request):
        words = _words(text.split("\n", 1)[0])[:_MAX_WORDS]
        if len(words) >= 2:
            return _joined(words)
    helped = [*_words(project), *_words(title), *_words(request)[:4]]
    if len(helped) < 2:
        helped += [word for path in files[:2] for word in _words(path.rsplit("/", 1)[-1])]
    words = list(dict.fromkeys(helped))[:_MAX_WORDS]
    return _joined(words) if any(not word.isdigit() for word in words) else None


def keywords_of(project: str, names: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """At most twelve words to find the thread by: the project, then names, most frequent first.

    ``names``: files and commands, which count double. Ties go to the first to appear.
    """
    counts: Counter[str] = Counter()
    for name in names:
        counts[_short(name)] += 2
    for text in texts:
        for pattern in (_CODE, _FILE, _IDENTIFIER):
            counts.update(list(dict.fromkeys(_short(found) for found in pattern.findall(text))))
    ranked = sorted(counts, key=lambda word: -counts[word])
    useful = [word for word in ranked if len(word) > 1 and re.search(r"[^\W\d]", word)]
    return tuple(dict.fromkeys([project, *useful] if project else useful))[:_MAX_KEYWORDS]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    found = (word.lower().replace("'", "") for word in _ASCII_WORD.findall(plain))
    return [word for word in found if word not in _FILLERS]


def _joined(words: list[str]) -> str:
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:SLUG_LIMIT]
        if len(longer) > SLUG_LIMIT:
            break
        slug = longer
    return slug


def _short(name: str) -> str:
    """The name as a keyword; empty when it is too long to be one."""
    word = " ".join(re.sub(r"[,，、]", " ", name).split())
    return word if len(word) <= 40 else ""
