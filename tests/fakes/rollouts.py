"""A source whose rollouts are Readings in memory."""

from collections.abc import Iterable, Mapping, Sequence

from automemory_dagster.domain.errors import AutomemoryError, RolloutUnreadable
from automemory_dagster.domain.rollout import HumanRequest, Reading, ReadReport, RolloutItem
from automemory_dagster.domain.thread import Thread, ThreadId
from automemory_dagster.ports import (
    CatalogueChanges,
    ChangedFile,
    KnownRollout,
    ThreadCatalogue,
)


def a_reading(*words: str, **changes: object) -> Reading:
    """What a person said, a turn each."""
    items = tuple(
        RolloutItem(position=number, turn=number, body=HumanRequest(text=text))
        for number, text in enumerate(words, start=1)
    )
    report = ReadReport(bytes_read=100, lines_read=len(items), lines_kept=len(items))
    return Reading(**{"items": items, "report": report, **changes})  # type: ignore[arg-type]


class FakeSource:
    """``threads`` is what is there; ``readings`` what reading gives, or the error it raises."""

    name = "codex"

    def __init__(
        self,
        threads: Sequence[Thread] = (),
        readings: Mapping[ThreadId, Reading | AutomemoryError | Exception] | None = None,
    ) -> None:
        self.threads = {thread.thread_id: thread for thread in threads}
        self._readings = dict(readings or {})
        self._read: list[ThreadId] = []

    @property
    def read_ids(self) -> Sequence[ThreadId]:
        """The threads that were read, in order."""
        return tuple(self._read)

    def put(self, *threads: Thread) -> None:
        """Add or change threads."""
        self.threads.update({thread.thread_id: thread for thread in threads})

    def remove(self, thread_id: ThreadId) -> None:
        """Take a thread's file away."""
        del self.threads[thread_id]

    def look(self, catalogue: ThreadCatalogue) -> CatalogueChanges:
        known = catalogue.known_rollouts(self.name)
        changed = [
            thread
            for thread in self.threads.values()
            if known.get(thread.rollout_path) is None
            or known[thread.rollout_path].stamp != thread.stamp
        ]
        there = {thread.thread_id for thread in self.threads.values()}
        return CatalogueChanges(
            changed=iter(changed),
            changed_files=tuple(map(_file, changed)),
            vanished=tuple(sorted(_ids(known.values()) - there)),
            listed_count=len(self.threads),
        )

    def read(self, thread: Thread) -> Reading:
        self._read.append(thread.thread_id)
        reading = self._readings.get(thread.thread_id)
        if reading is None:
            raise RolloutUnreadable("the rollout is gone")
        if isinstance(reading, Exception):
            raise reading
        return reading


def _file(thread: Thread) -> ChangedFile:
    return ChangedFile(
        path=thread.rollout_path,
        size_bytes=thread.stamp.size_bytes,
        mtime_ns=thread.stamp.mtime_ns,
    )


def _ids(known: Iterable[KnownRollout]) -> set[ThreadId]:
    return {rollout.thread_id for rollout in known}
