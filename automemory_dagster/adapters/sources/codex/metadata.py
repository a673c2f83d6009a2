"""What the catalogue knows of a thread, put together from its files and from Codex's index.

The trap: letting a person's text into the catalogue raw. Every text is cleaned of what a database
cannot hold and redacted before it is cut, so that half a secret cannot slip through at the edge.
"""

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from automemory_dagster.adapters.secrets import find_secrets
from automemory_dagster.adapters.sources.codex.discovery import ThreadFiles, thread_id_in_name
from automemory_dagster.adapters.sources.codex.head import RolloutHead, read_head
from automemory_dagster.adapters.sources.codex.listing import RolloutFile
from automemory_dagster.adapters.sources.codex.origin import repository_of, source_of
from automemory_dagster.adapters.sources.codex.state_database import IndexWords
from automemory_dagster.domain.plain_text import plain
from automemory_dagster.domain.redaction import NO_TEXT, Redact, RedactedText
from automemory_dagster.domain.thread import (
    MemoryMode,
    RolloutStamp,
    SpaceId,
    Thread,
    ThreadId,
)
from automemory_dagster.ports import KnownRollout

MAX_TITLE_CHARACTERS = 120

_MAX_TEXT_CHARACTERS = 4_000
_MAX_FILES_READ = 64
"""Files of one thread that are opened for its request and its consent, the newest first."""
_STRICTER_LAST = (MemoryMode.ENABLED, MemoryMode.POLLUTED, MemoryMode.DISABLED)
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff]")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_VERBATIM_PREFIX = "\\\\?\\"
_YEARS = range(2000, 2100)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadReader:
    """Turns a thread's files into what the catalogue keeps of it."""

    source: str
    redact: Redact
    space_for: Callable[[Thread], SpaceId]

    def read(
        self,
        group: ThreadFiles,
        words: IndexWords | None,
        *,
        index_digest: str = "",
        known: KnownRollout | None = None,
    ) -> Thread:
        """Read one thread; never raises for what is in its files.

        ``words``: what Codex's index says of it, if anything. Title and archived follow the index
        where it says something; of two memory modes the stricter one holds, since both are a
        person's word, and consent taken back in one place must not come back from the other.
        ``known``: what the catalogue remembers under this path.
        """
        heads = _heads_of(group)
        newest, head = group.newest, heads[0]
        meta = head.meta
        kind, detail = source_of(meta)
        git = meta.get("git")
        git = git if isinstance(git, dict) else {}
        request = next((each.first_request for each in heads if each.first_request), "")
        thread = Thread(
            thread_id=group.thread_id,
            source=self.source,
            space_id=SpaceId(""),
            rollout_path=newest.path,
            stamp=RolloutStamp(
                size_bytes=newest.size_bytes,
                mtime_ns=newest.mtime_ns,
                prefix_sha256=head.prefix_sha256,
                index_digest=index_digest,
            ),
            source_updated_at=_version(newest, known),
            created_at=moment_of(meta.get("timestamp")),
            cwd=self._folder(meta.get("cwd"), head.cwd, words.cwd if words else ""),
            repository=self.redact(_clean(repository_of(git.get("repository_url")))),
            branch=self._line(git.get("branch")),
            title=self._line(words.title if words else "") or self._line(request),
            source_kind=kind,
            source_detail=self._line(detail),
            memory_mode=_memory_mode(heads, words),
            is_archived=newest.is_archived or bool(words and words.is_archived),
            forked_from=self._id(_forked_from(meta, group.thread_id)),
            has_human_request=bool(request) or not all(each.is_request_certain for each in heads),
            problem=self.redact(head.problem),
        )
        return thread.moved_to(self.space_for(thread))

    def _line(self, text: object) -> RedactedText:
        """The first line that is not blank, redacted and then cut to a title's length."""
        if not isinstance(text, str):
            return NO_TEXT
        # Redacted as a whole first: a secret may span lines, and a line of it alone looks harmless.
        redacted = self.redact(plain(_clean(text[:_MAX_TEXT_CHARACTERS])))
        line = next((line for line in redacted.splitlines() if line.strip()), "")
        line = " ".join(line.split())
        if len(line) > MAX_TITLE_CHARACTERS:
            line = line[: MAX_TITLE_CHARACTERS - 1].rstrip() + "…"
        return self.redact(line)

    def _id(self, said: ThreadId | None) -> ThreadId | None:
        """An id as a file says it, unless it is shaped like a secret: ids are shown everywhere."""
        return ThreadId(said.lower()) if said and self.redact(said) == str(said) else None

    def _folder(self, *candidates: object) -> RedactedText:
        for text in candidates:
            if isinstance(text, str) and text.strip():
                shown = plain(_clean(text[:_MAX_TEXT_CHARACTERS]))
                return self.redact(shown.strip().removeprefix(_VERBATIM_PREFIX))
        return NO_TEXT


def thread_id_of(file: RolloutFile) -> ThreadId:
    """The id of a file without a UUID in its name: what its content says, else one made of its
    path."""
    said = read_head(file.path).meta.get("id")
    if isinstance(said, str):
        if (found := thread_id_in_name(said)) is not None:
            return found
        if _ID.fullmatch(said) and not find_secrets(said):
            return ThreadId(said)
    return ThreadId(str(uuid.UUID(bytes=hashlib.sha256(file.path.encode()).digest()[:16])))


def moment_of(value: object) -> datetime | None:
    """A time as rollouts write it: ISO 8601, or a number of seconds or milliseconds; None when it
    is none."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1_000 if value > 1e11 else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None


def _heads_of(group: ThreadFiles) -> list[RolloutHead]:
    named = thread_id_in_name(group.newest.path)
    return [read_head(file.path, named) for file in group.files[:_MAX_FILES_READ]]


def _memory_mode(heads: Sequence[RolloutHead], words: IndexWords | None) -> MemoryMode:
    # Newest file first: a page that says nothing leaves the word of an older one standing.
    said = next((head.memory_mode for head in heads if head.memory_mode), MemoryMode.ENABLED)
    indexed = (words.memory_mode if words else None) or MemoryMode.ENABLED
    return max(said, indexed, key=_STRICTER_LAST.index)


def _version(file: RolloutFile, known: KnownRollout | None) -> datetime:
    """The mtime in whole seconds, as Codex takes it.

    A file that grew with its time unchanged would pass for handled: then the inode's change time
    counts.
    """
    nanoseconds = file.mtime_ns
    if (
        known is not None
        and known.stamp.mtime_ns == file.mtime_ns
        and known.stamp.size_bytes != file.size_bytes
    ):
        nanoseconds = max(nanoseconds, file.ctime_ns)
    return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)


def _forked_from(meta: Mapping[str, object], thread_id: ThreadId) -> ThreadId | None:
    base = meta.get("history_base")
    parent = meta.get("forked_from_id") or (
        base.get("thread_id") if isinstance(base, dict) else None
    )
    if not isinstance(parent, str) or not _ID.fullmatch(parent) or parent.lower() == thread_id:
        return None
    # As it stands: in lower case a secret is not known again.
    return ThreadId(parent)


def _clean(text: str) -> str:
    return _NO_TEXT.sub("", text)
