"""The name of a thread's rollout summary file, as Codex names it.

The trap: a name that changes breaks every pointer to it, so time and hash come from the thread id
alone where they can; only a new slug renames the file. Source: ``reference/codex-memory-spec.md``,
section 5.4.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from automemory_dagster.domain.thread import ThreadId

MAX_SLUG_CHARACTERS = 60
"""Codex's number."""

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HASH_CHARACTERS = 4
_TIME_FORMAT = "%Y-%m-%dT%H-%M-%S"
_GREGORIAN_EPOCH = datetime(1582, 10, 15, tzinfo=UTC)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def summary_stem(thread_id: ThreadId, source_updated_at: datetime, slug: str | None) -> str:
    """``<time>-<hash>`` or ``<time>-<hash>-<slug>``, safe as a file name on every system.

    The time is the one inside the thread's UUID (versions 1, 6 and 7), else ``source_updated_at``;
    UTC.
    """
    identity = _parse_uuid(thread_id)
    moment = (_uuid_time(identity) if identity else None) or source_updated_at.astimezone(UTC)
    seed = identity.int & 0xFFFFFFFF if identity else _polynomial(thread_id)
    parts = [moment.strftime(_TIME_FORMAT), _base62(seed)]
    if clean := _clean_slug(slug or ""):
        parts.append(clean)
    return "-".join(parts)


def _parse_uuid(thread_id: str) -> UUID | None:
    try:
        return UUID(thread_id)
    except ValueError:
        return None


def _uuid_time(identity: UUID) -> datetime | None:
    value = identity.int
    version = (value >> 76) & 0xF
    try:
        if version == 7:
            return _UNIX_EPOCH + timedelta(milliseconds=value >> 80)
        if version == 1:
            return _GREGORIAN_EPOCH + timedelta(microseconds=identity.time // 10)
        if version == 6:
            ticks = ((value >> 80) << 12) | ((value >> 64) & 0xFFF)
            return _GREGORIAN_EPOCH + timedelta(microseconds=ticks // 10)
    except OverflowError:
        # 48 bits of milliseconds reach the year 10889, which no calendar of ours holds.
        return None
    return None


def _polynomial(text: str) -> int:
    seed = 0
    for byte in text.encode("utf-8", "surrogatepass"):
        seed = (seed * 31 + byte) & 0xFFFFFFFF
    return seed


def _base62(seed: int) -> str:
    value = seed % len(_ALPHABET) ** _HASH_CHARACTERS
    digits = []
    for _ in range(_HASH_CHARACTERS):
        value, digit = divmod(value, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def _clean_slug(slug: str) -> str:
    written = slug[:MAX_SLUG_CHARACTERS]
    return "".join(
        character.lower() if character.isascii() and character.isalnum() else "_"
        for character in written
    ).rstrip("_")
