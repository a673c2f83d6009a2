"""``memory_summary.md`` as data, and its text form: what every later session is handed.

The trap: readers cut it in the middle at 2,500 estimated tokens, so what does not fit 10,000 bytes
is not read at all. Source: ``reference/codex-memory-spec.md``, sections 6.3 and 7.
"""

from dataclasses import dataclass

from automemory_dagster.domain.handbook import plain_line

FORMAT_LINE = "v1"
MAX_SUMMARY_BYTES = 10_000
"""2,500 estimated tokens of four bytes: what Codex injects uncut."""

PROFILE_HEADING = "## User Profile"
PREFERENCES_HEADING = "## User preferences"
TIPS_HEADING = "## General Tips"
INDEX_HEADING = "## What's in Memory"
OLDER_HEADING = "### Older Memory Topics"
SECTION_HEADINGS = (PROFILE_HEADING, PREFERENCES_HEADING, TIPS_HEADING, INDEX_HEADING)
"""The four sections, in their order; each is always there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One entry of the index."""

    name: str
    keywords: tuple[str, ...]
    description: str
    learnings: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedScope:
    """A scope of the index; ``scope`` is a task group's title."""

    scope: str
    days: tuple[tuple[str, tuple[Topic, ...]], ...]
    """``YYYY-MM-DD`` and its topics, newest day first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderScope:
    """A scope that has left the recent part of the index: names and descriptions only."""

    scope: str
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySummary:
    """The whole summary."""

    profile: tuple[str, ...]
    """Sentences; one a line."""
    preferences: tuple[str, ...]
    tips: tuple[str, ...]
    recent: tuple[IndexedScope, ...]
    older: tuple[OlderScope, ...] = ()
    unlisted_groups: int = 0
    """Task groups for which the index had no room."""


def render_summary(summary: MemorySummary) -> str:
    """The file's text, sections in order, empty ones with their heading."""
    parts = [FORMAT_LINE, PROFILE_HEADING]
    parts.extend(_lines(summary.profile, bullet=""))
    parts.append(PREFERENCES_HEADING)
    parts.extend(_lines(summary.preferences, bullet="- "))
    parts.append(TIPS_HEADING)
    parts.extend(_lines(summary.tips, bullet="- "))
    parts.append(INDEX_HEADING)
    for recent in summary.recent:
        parts.append(f"### {plain_line(recent.scope)}")
        for day, topics in recent.days:
            parts.append(f"#### {day}")
            parts.append("\n".join(_topic(topic) for topic in topics))
    if summary.older or summary.unlisted_groups:
        parts.append(OLDER_HEADING)
    for older in summary.older:
        parts.append(f"#### {plain_line(older.scope)}")
        parts.append("\n".join(_older_topic(topic) for topic in older.topics))
    if summary.unlisted_groups:
        parts.append(unlisted_line(summary.unlisted_groups))
    return "\n\n".join(parts) + "\n"


def unlisted_line(count: int) -> str:
    """What the index says of groups that it had no room for."""
    return f'- {count} more in MEMORY.md: search it for "# Task Group:"'


def summary_bytes(summary: MemorySummary) -> int:
    """Size of the rendered file."""
    return len(render_summary(summary).encode())


def _lines(texts: tuple[str, ...], *, bullet: str) -> list[str]:
    return ["\n".join(bullet + plain_line(text) for text in texts)] if texts else []


def _topic(topic: Topic) -> str:
    words = ", ".join(plain_line(word) for word in topic.keywords)
    lines = [f"- {plain_line(topic.name)}: {words}".rstrip(": ")]
    lines.append(f"  - desc: {plain_line(topic.description)}")
    if topic.learnings:
        lines.append(f"  - learnings: {plain_line(topic.learnings)}")
    return "\n".join(lines)


def _older_topic(topic: Topic) -> str:
    words = ", ".join(plain_line(word) for word in topic.keywords)
    name = f"- {plain_line(topic.name)}: {words}".rstrip(": ")
    return f"{name}\n  - desc: {plain_line(topic.description)}" if topic.description else name
