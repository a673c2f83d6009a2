"""Bullets that fit: near-identical ones folded, the least valuable dropped, none ever cut.

The trap: cutting the rendered text, which leaves half a statement that reads like a whole one.
"""

from collections.abc import Callable, Sequence

from automemory_dagster.adapters.offline.lesson import Lesson, Section
from automemory_dagster.adapters.offline.text import content_tokens, overlap

_SAME = 0.85
"""Share of common words from which two bullets of one section say the same."""
_MAX_LESSONS = 400
"""Bullets compared with each other; the lesser ones of a huge thread go before that."""


def without_repeats(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The bullets in order; of near-identical ones the worthiest, of equals the newest wording."""
    ranked = sorted(range(len(lessons)), key=lambda i: (-lessons[i].worth, -i))[:_MAX_LESSONS]
    kept: list[int] = []
    words: list[tuple[Section, frozenset[str]]] = []
    for i in ranked:
        tokens, section = content_tokens(lessons[i].text), lessons[i].section
        is_repeat = section is not Section.REFERENCE and any(
            other is section and overlap(tokens, known) >= _SAME for other, known in words
        )
        if not is_repeat:
            kept.append(i)
            words.append((section, tokens))
    return [lessons[i] for i in sorted(kept)]


def fit(
    lessons: Sequence[Lesson], render: Callable[[Sequence[Lesson]], str], limit_bytes: int
) -> str:
    """The most valuable bullets in their order, rendered, within ``limit_bytes`` of UTF-8.

    ``render`` must grow with its bullets and hold the limit with none of them. Of equal worth the
    older bullets go first.
    """
    order = sorted(range(len(lessons)), key=lambda i: (lessons[i].worth, lessons[i].turn, i))
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if _size(render(_without(lessons, order[:middle]))) <= limit_bytes:
            high = middle
        else:
            low = middle + 1
    return render(_without(lessons, order[:low]))


def _without(lessons: Sequence[Lesson], dropped: Sequence[int]) -> list[Lesson]:
    gone = frozenset(dropped)
    return [lesson for i, lesson in enumerate(lessons) if i not in gone]


def _size(text: str) -> int:
    return len(text.encode())
