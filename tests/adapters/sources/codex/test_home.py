"""A Codex home as a source, end to end: looks that build on each other, and readings."""

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.adapters.sources.codex.home import CodexSource
from automemory_dagster.domain.errors import RolloutUnreadable, TransientError
from automemory_dagster.domain.rollout import HumanRequest
from automemory_dagster.domain.thread import MemoryMode, SpaceId, Thread, ThreadId
from automemory_dagster.ports import ChangedFile, KnownRollout
from tests.builders import NOON, a_rollout, a_turn, append_turn, thread_id

ONE, TWO, THREE = (ThreadId(thread_id(number)) for number in (1, 2, 3))


def a_source(home: Path) -> CodexSource:
    return CodexSource(home, space_for=lambda _: SpaceId("codex:test"), redact=redact)


@contextlib.contextmanager
def opened_files(*, under: Path) -> Iterator[list[str]]:
    """The files in a folder that this process opens meanwhile, one entry each time."""
    opened: list[str] = []
    is_watching = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        # A hook stays for good, so it has to know when to look away.
        if is_watching and event == "open" and str(arguments[0]).startswith(f"{under}{os.sep}"):
            opened.append(str(arguments[0]))

    sys.addaudithook(note)
    try:
        yield opened
    finally:
        is_watching = False


def remembered(threads: Iterable[Thread]) -> dict[str, KnownRollout]:
    return {
        thread.rollout_path: KnownRollout(thread_id=thread.thread_id, stamp=thread.stamp)
        for thread in threads
    }


def look_twice(source: CodexSource) -> dict[str, KnownRollout]:
    """What is known after a first look; a second look right behind it must find nothing new."""
    known = remembered(source.compare({}).changed)
    again = source.compare(known)
    assert list(again.changed) == []
    assert again.changed_files == ()
    assert again.vanished == ()
    return known


def set_index(home: Path, thread: str, **words: object) -> None:
    """Write or overwrite one row of Codex's index."""
    with contextlib.closing(sqlite3.connect(home / "state_5.sqlite")) as connection, connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, title TEXT DEFAULT '', "
            "archived INTEGER DEFAULT 0, memory_mode TEXT DEFAULT 'enabled')"
        )
        connection.execute("INSERT OR IGNORE INTO threads (id) VALUES (?)", (thread,))
        for column, value in words.items():
            connection.execute(f"UPDATE threads SET {column} = ? WHERE id = ?", (value, thread))
    # Two writes within one tick of the file system's clock must not look the same.
    later = (home / "state_5.sqlite").stat().st_mtime_ns + 1_000_000
    os.utime(home / "state_5.sqlite", ns=(later, later))


class TestLook:
    def test_a_first_look_finds_everything_once(self, tmp_path: Path) -> None:
        paths = [a_rollout(tmp_path, thread_id=thread_id(number)) for number in (1, 2, 3)]

        changes = a_source(tmp_path).compare({})

        assert [thread.thread_id for thread in changes.changed] == [ONE, TWO, THREE]
        assert changes.changed_files == tuple(
            ChangedFile(
                path=str(path),
                size_bytes=path.stat().st_size,
                mtime_ns=1_796_122_800_000_000_000,
                index_digest="none",
            )
            for path in paths
        )
        assert changes.listed_count == 3
        assert (changes.vanished, changes.problems) == ((), ())

    def test_nothing_changed_means_nothing_is_opened(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        source = a_source(tmp_path)
        known = look_twice(source)
        # Bytes change, size and time do not: only who opens the file can notice.
        before = path.stat()
        path.write_bytes(b"x" * before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        assert list(source.compare(known).changed) == []

    def test_an_appended_turn_changes_that_thread_alone(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, thread_id=ONE, turns=[a_turn("x" * 5_000)])
        a_rollout(tmp_path, thread_id=TWO)
        source = a_source(tmp_path)
        known = look_twice(source)
        append_turn(path, a_turn("And now?"), written_at=NOON, thread_id=ONE)

        changes = source.compare(known)

        (thread,) = changes.changed
        assert thread.thread_id == ONE
        assert thread.source_updated_at == NOON
        assert thread.stamp.prefix_sha256 == known[str(path)].stamp.prefix_sha256

    def test_a_rewritten_beginning_shows_in_the_prefix_hash(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        source = a_source(tmp_path)
        known = look_twice(source)
        a_rollout(tmp_path, cwd="/elsewhere", turns=[a_turn("Longer than before, and other.")] * 2)

        (thread,) = source.compare(known).changed

        assert thread.stamp.size_bytes > known[str(path)].stamp.size_bytes
        assert thread.stamp.prefix_sha256 != known[str(path)].stamp.prefix_sha256

    def test_growth_within_an_unchanged_time_is_noticed_and_is_a_newer_version(
        self, tmp_path: Path
    ) -> None:
        path = a_rollout(tmp_path, now=NOON - timedelta(days=3_650))
        source = a_source(tmp_path)
        known = look_twice(source)
        mtime_ns = path.stat().st_mtime_ns
        append_turn(path, a_turn("More."), written_at=NOON, thread_id=ONE)
        os.utime(path, ns=(mtime_ns, mtime_ns))

        (thread,) = source.compare(known).changed

        assert thread.stamp.mtime_ns == mtime_ns
        assert int(thread.source_updated_at.timestamp()) > mtime_ns // 1_000_000_000

    def test_archiving_moves_the_thread_and_loses_nothing(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        source = a_source(tmp_path)
        known = look_twice(source)
        (tmp_path / "archived_sessions").mkdir()
        moved = path.rename(tmp_path / "archived_sessions" / path.name)

        changes = source.compare(known)

        (thread,) = changes.changed
        assert (thread.thread_id, thread.rollout_path) == (ONE, str(moved))
        assert thread.is_archived
        assert changes.vanished == ()

    def test_packing_moves_the_thread_and_loses_nothing(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, turns=[a_turn("Keep me.")])
        source = a_source(tmp_path)
        known = look_twice(source)
        packed = a_rollout(tmp_path, turns=[a_turn("Keep me.")], is_compressed=True)

        while_both_exist = source.compare(known)
        assert list(while_both_exist.changed) == []
        assert while_both_exist.listed_count == 2

        path.unlink()
        (thread,) = source.compare(known).changed
        assert (thread.thread_id, thread.rollout_path) == (ONE, str(packed))
        assert thread.title == "Keep me."

    def test_a_deleted_rollout_has_vanished(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, thread_id=ONE)
        a_rollout(tmp_path, thread_id=TWO)
        source = a_source(tmp_path)
        known = look_twice(source)
        path.unlink()

        changes = source.compare(known)

        assert changes.vanished == (ONE,)
        assert list(changes.changed) == []

    def test_several_pages_of_a_thread_are_one_thread(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, idle_seconds=7_200, file_name=f"rollout-a-{ONE}.jsonl")
        page = a_rollout(
            tmp_path, file_name=f"rollout-b-{ONE}_{TWO}.jsonl", dated_folder="1999/01/01"
        )

        (thread,) = a_source(tmp_path).compare({}).changed

        assert thread.rollout_path == str(page)
        look_twice(a_source(tmp_path))

    def test_a_file_without_an_id_in_its_name_joins_its_thread(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, idle_seconds=7_200)
        nameless = a_rollout(tmp_path, file_name="latest.jsonl", dated_folder="")
        source = a_source(tmp_path)

        known = look_twice(source)

        assert set(known) == {str(nameless)}

    def test_a_nameless_file_that_another_session_took_over_is_that_thread(
        self, tmp_path: Path
    ) -> None:
        a_rollout(tmp_path, thread_id=ONE, file_name="latest.jsonl", dated_folder="")
        source = a_source(tmp_path)
        known = look_twice(source)
        a_rollout(
            tmp_path,
            thread_id=TWO,
            file_name="latest.jsonl",
            dated_folder="",
            turns=[a_turn("Another."), a_turn("Session.")],
        )

        changes = source.compare(known)

        assert [thread.thread_id for thread in changes.changed] == [TWO]
        assert changes.vanished == (ONE,)

    def test_one_bad_file_does_not_cost_the_others(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, thread_id=ONE)
        a_rollout(tmp_path, thread_id=TWO).write_bytes(b"\x00\xff" * 3_000)
        a_rollout(tmp_path, thread_id=THREE, is_compressed=True).write_bytes(b"no zstd")
        source = a_source(tmp_path)

        problems = {thread.thread_id: thread.problem for thread in source.compare({}).changed}

        assert problems == {
            ONE: "",
            TWO: "No line of the file is a rollout record.",
            THREE: "The file is named .zst, but what is in it is no zstd data.",
        }
        look_twice(source)

    def test_a_file_that_is_gone_before_it_is_read_does_not_cost_the_others(
        self, tmp_path: Path
    ) -> None:
        gone = a_rollout(tmp_path, thread_id=ONE)
        a_rollout(tmp_path, thread_id=TWO)
        changes = a_source(tmp_path).compare({})
        gone.unlink()

        first, second = changes.changed

        assert first.problem == "The file cannot be read (No such file or directory)."
        assert second.problem == ""

    def test_a_file_that_could_not_be_opened_is_tried_again_but_starts_no_sweep(
        self, tmp_path: Path
    ) -> None:
        path = a_rollout(tmp_path)
        source = a_source(tmp_path)
        changes = source.compare({})
        hidden = path.rename(tmp_path / "hidden")
        known = remembered(changes.changed)
        hidden.rename(path)

        again = source.compare(known)

        assert again.changed_files == ()
        assert [thread.problem for thread in again.changed] == [""]

    def test_a_home_that_is_not_there_changes_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(TransientError):
            a_source(tmp_path / "nowhere").compare({})


class TestIndex:
    @pytest.mark.parametrize(
        ("words", "field", "value"),
        [
            ({"archived": 1}, "is_archived", True),
            ({"memory_mode": "disabled"}, "memory_mode", MemoryMode.DISABLED),
            ({"title": "Renamed"}, "title", "Renamed"),
        ],
    )
    def test_new_words_change_the_thread_though_its_file_stayed(
        self, tmp_path: Path, words: dict[str, object], field: str, value: object
    ) -> None:
        a_rollout(tmp_path, thread_id=ONE)
        a_rollout(tmp_path, thread_id=TWO)
        set_index(tmp_path, ONE)
        source = a_source(tmp_path)
        known = look_twice(source)
        set_index(tmp_path, ONE, **words)

        changes = source.compare(known)

        (thread,) = changes.changed
        assert thread.thread_id == ONE
        assert getattr(thread, field) == value
        assert len(changes.changed_files) == 1
        assert list(source.compare(known | remembered([thread])).changed) == []

    def test_an_index_that_appears_later_changes_only_the_threads_it_has(
        self, tmp_path: Path
    ) -> None:
        a_rollout(tmp_path, thread_id=ONE)
        a_rollout(tmp_path, thread_id=TWO)
        source = a_source(tmp_path)
        known = look_twice(source)
        set_index(tmp_path, TWO, memory_mode="polluted")
        set_index(tmp_path, THREE, title="A row without a file")

        (thread,) = source.compare(known).changed

        assert (thread.thread_id, thread.memory_mode) == (TWO, MemoryMode.POLLUTED)

    def test_a_damaged_index_is_a_problem_that_changes_nothing(self, tmp_path: Path) -> None:
        a_rollout(tmp_path)
        set_index(tmp_path, ONE, memory_mode="disabled")
        known = look_twice(a_source(tmp_path))
        (tmp_path / "state_5.sqlite").write_bytes(b"torn" * 1_000)

        changes = a_source(tmp_path).compare(known)

        assert list(changes.changed) == []
        assert "state_5.sqlite cannot be read" in changes.problems[0]

    def test_an_opt_out_outlives_a_damaged_index(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        set_index(tmp_path, ONE, memory_mode="disabled")
        source = a_source(tmp_path)
        known = look_twice(source)
        (tmp_path / "state_5.sqlite").write_bytes(b"torn" * 1_000)
        append_turn(path, a_turn("More."), written_at=NOON, thread_id=ONE)

        (thread,) = source.compare(known).changed

        assert thread.memory_mode is MemoryMode.DISABLED

    def test_nothing_is_written_into_the_home(self, tmp_path: Path) -> None:
        a_rollout(tmp_path)
        set_index(tmp_path, ONE)
        before = sorted(tmp_path.rglob("*"))
        source = a_source(tmp_path)

        for thread in source.compare({}).changed:
            source.read(thread)

        assert sorted(tmp_path.rglob("*")) == before


class TestRead:
    def words(self, source: CodexSource, thread: Thread) -> list[str]:
        bodies = [item.body for item in source.read(thread).items]
        return [body.text for body in bodies if isinstance(body, HumanRequest)]

    def test_a_thread_is_read_after_a_look_and_without_one(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, turns=[a_turn("One."), a_turn("Two.")])
        source = a_source(tmp_path)
        (thread,) = source.compare({}).changed

        assert self.words(source, thread) == ["One.", "Two."]
        assert self.words(a_source(tmp_path), thread) == ["One.", "Two."]

    def test_all_pages_are_read_oldest_first(self, tmp_path: Path) -> None:
        a_rollout(
            tmp_path,
            turns=[a_turn("Old.")],
            idle_seconds=7_200,
            file_name=f"rollout-z-{ONE}.jsonl",
        )
        a_rollout(tmp_path, turns=[a_turn("New.")], file_name=f"rollout-a-{ONE}_{TWO}.jsonl")
        source = a_source(tmp_path)
        (thread,) = source.compare({}).changed

        assert self.words(source, thread) == ["Old.", "New."]

    def test_a_rollout_that_was_archived_since_the_look_is_found(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, turns=[a_turn("Still here.")])
        source = a_source(tmp_path)
        (thread,) = source.compare({}).changed
        (tmp_path / "archived_sessions").mkdir()
        path.rename(tmp_path / "archived_sessions" / path.name)

        assert self.words(source, thread) == ["Still here."]

    def test_a_rollout_that_is_gone_is_unreadable(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        source = a_source(tmp_path)
        (thread,) = source.compare({}).changed
        path.unlink()

        with pytest.raises(RolloutUnreadable):
            source.read(thread)


@settings(max_examples=25, deadline=None)
@given(
    before=st.sets(st.integers(1, 6)),
    after=st.sets(st.integers(1, 6)),
    touched=st.sets(st.integers(1, 6)),
)
def test_a_look_reports_exactly_what_differs(
    tmp_path_factory: pytest.TempPathFactory,
    before: set[int],
    after: set[int],
    touched: set[int],
) -> None:
    home = tmp_path_factory.mktemp("home")
    paths = {number: a_rollout(home, thread_id=thread_id(number)) for number in before | after}
    for number in after - before:
        paths[number].unlink()
    source = a_source(home)
    known = remembered(source.compare({}).changed)

    for number in before - after:
        paths[number].unlink()
    for number in after - before:
        a_rollout(home, thread_id=thread_id(number))
    for number in touched & before & after:
        append_turn(paths[number], a_turn("More."), written_at=NOON, thread_id=thread_id(number))
    changes = source.compare(known)

    expected = (after - before) | (touched & before & after)
    assert {thread.thread_id for thread in changes.changed} == {thread_id(n) for n in expected}
    assert set(changes.vanished) == {thread_id(number) for number in before - after}
    assert changes.listed_count == len(after)


def test_a_look_at_two_thousand_unchanged_files_opens_none(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "12" / "01"
    folder.mkdir(parents=True)
    content = a_rollout(tmp_path / "model").read_bytes()
    for number in range(2_000):
        path = folder / f"rollout-2026-12-01T10-30-00-{thread_id(number)}.jsonl"
        path.write_bytes(content.replace(ONE.encode(), thread_id(number).encode()))
    source = a_source(tmp_path)
    known = remembered(source.compare({}).changed)

    with opened_files(under=folder) as opened:
        changes = source.compare(known)
        assert list(changes.changed) == []
    assert opened == []

    with opened_files(under=folder) as opened:
        list(source.compare({}).changed)
    assert len(set(opened)) == 2_000
