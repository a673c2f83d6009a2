"""The rollout files of a Codex home, grouped by thread and compared with what is known.

The trap: opening files to learn that nothing changed. A look at an unchanged home costs one
``stat`` a file; only a file without a thread id in its name is opened to be grouped, and only when
it is new.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from automemory_dagster.adapters.sources.codex.listing import Listing, RolloutFile
from automemory_dagster.adapters.sources.codex.state_database import UNREAD
from automemory_dagster.domain.thread import ThreadId
from automemory_dagster.ports import KnownRollout

_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFiles:
    """The files of one thread, newest first: the first one is the thread's rollout.

    A ``.zst`` file beside its plain twin is left out: both hold the same records.
    """

    thread_id: ThreadId
    files: tuple[RolloutFile, ...]

    @property
    def newest(self) -> RolloutFile:
        """The file with the newest mtime; at a draw not archived, then plain, then by path."""
        return self.files[0]


def thread_id_in_name(path: str) -> ThreadId | None:
    """The first UUID in the file's name, in lower case; with two of them the second names a
    page."""
    found = _UUID.search(os.path.basename(path).lower())
    return ThreadId(found.group()) if found else None


def group_by_thread(
    files: Iterable[RolloutFile], *, id_of: Callable[[RolloutFile], ThreadId]
) -> tuple[ThreadFiles, ...]:
    """One entry a thread, in the order of the threads' first files.

    ``id_of`` is asked for files that have no UUID in their name.
    """
    groups: dict[ThreadId, list[RolloutFile]] = {}
    for file in files:
        groups.setdefault(thread_id_in_name(file.path) or id_of(file), []).append(file)
    return tuple(
        ThreadFiles(thread_id=thread_id, files=_newest_first(group))
        for thread_id, group in groups.items()
    )


def has_changed(group: ThreadFiles, known: KnownRollout | None, *, index_digest: str) -> bool:
    """Whether a thread is new, grown, rewritten, moved, or spoken of differently by the index.

    ``known``: what is remembered under the path of the group's newest file. Size and time are both
    compared, since a file can grow with its time unchanged. A file that could not be opened has no
    prefix hash and counts as changed until it can.
    """
    if known is None or known.thread_id != group.thread_id:
        return True
    stamp, newest = known.stamp, group.newest
    if (stamp.size_bytes, stamp.mtime_ns) != (newest.size_bytes, newest.mtime_ns):
        return True
    if not stamp.prefix_sha256:
        return True
    # An unreadable index says nothing new; a stamp without a digest has nothing to compare.
    return index_digest != UNREAD and stamp.index_digest not in ("", index_digest)


def vanished_threads(
    known: Mapping[str, KnownRollout], groups: Iterable[ThreadFiles], listing: Listing
) -> tuple[ThreadId, ...]:
    """Known threads none of whose files is there any more, ascending."""
    present = {group.thread_id for group in groups}
    hidden = tuple(f"{folder}{os.sep}" for folder in listing.unlisted_folders)
    gone = {
        remembered.thread_id
        for path, remembered in known.items()
        if remembered.thread_id not in present and not path.startswith(hidden)
    }
    return tuple(sorted(gone))


def _newest_first(files: list[RolloutFile]) -> tuple[RolloutFile, ...]:
    if len(files) == 1:
        return tuple(files)
    plain = {os.path.basename(file.path) for file in files if not file.is_compressed}
    kept = [
        file
        for file in files
        if not file.is_compressed or os.path.basename(file.path).removesuffix(".zst") not in plain
    ]
    return tuple(
        sorted(
            kept, key=lambda file: (-file.mtime_ns, file.is_archived, file.is_compressed, file.path)
        )
    )
