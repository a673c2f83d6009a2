"""A Codex home as a source of threads: what is there, what changed, and the evidence of one thread.

Layout: ``sessions/YYYY/MM/DD/``, files directly under ``sessions/``, ``archived_sessions/``; plain,
zstd and generation-A files; Codex's own index beside them when there is one.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from automemory_dagster.adapters.sources.codex.discovery import (
    ThreadFiles,
    group_by_thread,
    has_changed,
    thread_id_in_name,
    vanished_threads,
)
from automemory_dagster.adapters.sources.codex.listing import Listing, RolloutFile, list_rollouts
from automemory_dagster.adapters.sources.codex.metadata import ThreadReader, thread_id_of
from automemory_dagster.adapters.sources.codex.reader import read_rollout
from automemory_dagster.adapters.sources.codex.state_database import (
    CachedThreadIndex,
    ThreadIndex,
)
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.rollout import FETCH_COMMANDS, Reading
from automemory_dagster.domain.thread import SpaceId, Thread, ThreadId
from automemory_dagster.ports import (
    CatalogueChanges,
    ChangedFile,
    KnownRollout,
    ThreadCatalogue,
)


class CodexSource:
    """One Codex home. Never writes to it. Safe to share between threads."""

    def __init__(
        self,
        home: Path,
        *,
        space_for: Callable[[Thread], SpaceId],
        redact: Redact,
        name: str = "codex",
        mcp_allow: Collection[str] = (),
        fetch_commands: Collection[str] = FETCH_COMMANDS,
    ) -> None:
        self._home = home
        self._name = name
        self._mcp_allow = frozenset(mcp_allow)
        self._fetch_commands = tuple(fetch_commands)
        self._reader = ThreadReader(source=name, redact=redact, space_for=space_for)
        self._index = CachedThreadIndex(home)
        self._ids: dict[tuple[str, int, int], ThreadId] = {}
        self._lock = threading.Lock()
        self._files_of: dict[ThreadId, ThreadFiles] | None = None

    @property
    def name(self) -> str:
        """The source's name in the store."""
        return self._name

    def look(self, catalogue: ThreadCatalogue) -> CatalogueChanges:
        """See ``RolloutSource.look``."""
        return self.compare(catalogue.known_rollouts(self.name))

    def compare(self, known: Mapping[str, KnownRollout]) -> CatalogueChanges:
        """What is there against what is known, by ``rollout_path``: a ``stat`` a file; one is
        opened only when size or time differ.

        A thread also counts as changed when Codex's index says something new of it, though its file
        stayed the same. ``changed_files`` leaves out files that could not be opened before: they
        are tried again by a sweep, but are no reason to start one.
        """
        listing = list_rollouts(self._home)
        groups = self._groups(listing, known)
        index = self._index.read()
        changed = [
            group
            for group in groups
            if has_changed(
                group, known.get(group.newest.path), index_digest=index.digest(group.thread_id)
            )
        ]
        return CatalogueChanges(
            changed=self._threads(changed, index, known),
            changed_files=tuple(
                ChangedFile(
                    path=group.newest.path,
                    size_bytes=group.newest.size_bytes,
                    mtime_ns=group.newest.mtime_ns,
                    index_digest=index.digest(group.thread_id),
                )
                for group in changed
                if not _is_known_unopened(group, known)
            ),
            vanished=vanished_threads(known, groups, listing),
            listed_count=len(listing.files),
            problems=listing.problems + ((index.problem,) if index.problem else ()),
        )

    def read(self, thread: Thread) -> Reading:
        """See ``RolloutSource.read``.

        Raises:
            TransientError: the home itself is not there, as when its disk is not mounted.
        """
        return read_rollout(
            self._paths_of(thread),
            thread_id=thread.thread_id,
            home=self._home,
            mcp_allow=self._mcp_allow,
            fetch_commands=self._fetch_commands,
        )

    def _paths_of(self, thread: Thread) -> list[Path]:
        """The thread's files as the last look saw them, oldest first."""
        with self._lock:
            if self._files_of is None:
                # A process that only reads has not looked: one walk serves all its reads.
                named = [
                    file
                    for file in list_rollouts(self._home).files
                    if thread_id_in_name(file.path) is not None
                ]
                self._files_of = _by_thread(group_by_thread(named, id_of=thread_id_of))
            group = self._files_of.get(thread.thread_id)
        paths = [Path(file.path) for file in reversed(group.files)] if group else []
        own = Path(thread.rollout_path)
        return paths if own in paths else [*paths, own]

    def _groups(
        self, listing: Listing, known: Mapping[str, KnownRollout]
    ) -> tuple[ThreadFiles, ...]:
        groups = group_by_thread(listing.files, id_of=lambda file: self._id_of(file, known))
        with self._lock:
            self._files_of = _by_thread(groups)
        return groups

    def _id_of(self, file: RolloutFile, known: Mapping[str, KnownRollout]) -> ThreadId:
        """The id of a file without one in its name; opened once a version of the file."""
        remembered = known.get(file.path)
        if remembered is not None and (
            (remembered.stamp.size_bytes, remembered.stamp.mtime_ns)
            == (file.size_bytes, file.mtime_ns)
        ):
            return remembered.thread_id
        key = (file.path, file.size_bytes, file.mtime_ns)
        if key not in self._ids:
            self._ids[key] = thread_id_of(file)
        return self._ids[key]

    def _threads(
        self, groups: list[ThreadFiles], index: ThreadIndex, known: Mapping[str, KnownRollout]
    ) -> Iterator[Thread]:
        for group in groups:
            yield self._reader.read(
                group,
                index.words.get(group.thread_id),
                index_digest=index.digest(group.thread_id),
                known=known.get(group.newest.path),
            )


def _by_thread(groups: Iterable[ThreadFiles]) -> dict[ThreadId, ThreadFiles]:
    return {group.thread_id: group for group in groups}


def _is_known_unopened(group: ThreadFiles, known: Mapping[str, KnownRollout]) -> bool:
    remembered = known.get(group.newest.path)
    return remembered is not None and not remembered.stamp.prefix_sha256
