"""What a walk finds, how files become threads, and what counts as a change."""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from automemory_dagster.adapters.sources.codex.discovery import (
    ThreadFiles,
    group_by_thread,
    has_changed,
    thread_id_in_name,
    vanished_threads,
)
from automemory_dagster.adapters.sources.codex.listing import RolloutFile, list_rollouts
from automemory_dagster.domain.errors import TransientError
from automemory_dagster.domain.thread import RolloutStamp, ThreadId
from automemory_dagster.ports import KnownRollout
from tests.builders import a_rollout, thread_id

ONE = ThreadId(thread_id(1))
TWO = ThreadId(thread_id(2))


def a_file(
    path: str, *, mtime_ns: int = 5, size: int = 7, is_archived: bool = False
) -> RolloutFile:
    return RolloutFile(
        path=path, size_bytes=size, mtime_ns=mtime_ns, ctime_ns=9, is_archived=is_archived
    )


def never_asked(file: RolloutFile) -> ThreadId:
    raise AssertionError(f"{file.path} has its id in its name")


class TestWalk:
    def test_every_place_and_form_of_rollout_is_listed_by_path(self, tmp_path: Path) -> None:
        dated = a_rollout(tmp_path, thread_id=thread_id(1))
        packed = a_rollout(tmp_path, thread_id=thread_id(2), is_compressed=True)
        old = a_rollout(tmp_path, thread_id=thread_id(3), generation="A")
        archived = a_rollout(tmp_path, thread_id=thread_id(4), is_archived=True)

        listing = list_rollouts(tmp_path)

        assert [(file.path, file.is_archived) for file in listing.files] == sorted(
            [(str(dated), False), (str(packed), False), (str(old), False), (str(archived), True)]
        )
        assert listing.problems == ()

    def test_other_files_hidden_files_and_half_written_ones_are_not_listed(
        self, tmp_path: Path
    ) -> None:
        folder = a_rollout(tmp_path).parent
        for name in ("notes.txt", "._rollout.jsonl", "rollout.jsonl.part", "rollout.jsonl.zst.tmp"):
            (folder / name).write_text("x")
        (tmp_path / "history.jsonl").write_text("{}")

        assert len(list_rollouts(tmp_path).files) == 1

    def test_a_folder_that_cannot_be_listed_is_passed_over_with_a_problem(
        self, tmp_path: Path
    ) -> None:
        readable = a_rollout(tmp_path, dated_folder="2026/12/01", thread_id=thread_id(1))
        hidden = a_rollout(tmp_path, dated_folder="2026/11/30", thread_id=thread_id(2)).parent

        # Root may list any folder, so the refusal comes from the scan.
        def refusing(folder: str) -> Iterable[os.DirEntry[str]]:
            if folder == str(hidden):
                raise PermissionError(13, "Permission denied")
            return os.scandir(folder)

        listing = list_rollouts(tmp_path, scan=refusing)

        assert [file.path for file in listing.files] == [str(readable)]
        assert listing.unlisted_folders == (str(hidden),)
        assert listing.problems == (f"The folder '{hidden}' cannot be listed (Permission denied).",)

    def test_a_home_that_is_not_there_is_worth_another_try(self, tmp_path: Path) -> None:
        with pytest.raises(TransientError):
            list_rollouts(tmp_path / "nowhere")

    def test_a_home_without_sessions_is_empty(self, tmp_path: Path) -> None:
        assert list_rollouts(tmp_path).files == ()

    def test_a_linked_sessions_folder_is_walked(self, tmp_path: Path) -> None:
        a_rollout(tmp_path / "disk")
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "sessions").symlink_to(tmp_path / "disk" / "sessions")

        assert len(list_rollouts(tmp_path / "home").files) == 1

    def test_links_below_it_are_followed_only_to_files_of_the_same_folder(
        self, tmp_path: Path
    ) -> None:
        inside = a_rollout(tmp_path / "home")
        outside = a_rollout(tmp_path / "elsewhere", thread_id=thread_id(2))
        (inside.parent / "inside.jsonl").symlink_to(inside)
        (inside.parent / "outside.jsonl").symlink_to(outside)
        (inside.parent / "folder").symlink_to(outside.parent)
        (inside.parent / "loop").symlink_to(inside.parent)
        (inside.parent / "broken.jsonl").symlink_to(tmp_path / "nothing")

        listing = list_rollouts(tmp_path / "home")

        names = [os.path.basename(file.path) for file in listing.files]
        assert names == ["inside.jsonl", inside.name]
        assert sorted(listing.problems) == sorted(
            [
                f"The link '{inside.parent}/outside.jsonl' leads out of its folder; left out.",
                f"The link '{inside.parent}/broken.jsonl' leads out of its folder; left out.",
                f"The linked folder '{inside.parent}/folder' is not followed; left out.",
                f"The linked folder '{inside.parent}/loop' is not followed; left out.",
            ]
        )

    def test_what_is_no_plain_file_is_left_out_and_said(self, tmp_path: Path) -> None:
        folder = a_rollout(tmp_path).parent
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "nowhere.jsonl").symlink_to(folder / "gone")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "s.jsonl"))
        inner = folder / "folder.jsonl"
        inner.mkdir()
        (inner / f"rollout-{TWO}.jsonl").write_text("{}")

        listing = list_rollouts(tmp_path)

        assert len(listing.files) == 2
        assert sorted(listing.problems) == sorted(
            [
                f"'{folder}/pipe.jsonl' is a pipe; left out.",
                f"'{folder}/s.jsonl' is a socket; left out.",
                f"The link '{folder}/nowhere.jsonl' leads nowhere (No such file or directory); "
                "left out.",
                f"'{inner}' is a folder though it is named like a rollout; what is in it is read.",
            ]
        )

    def test_a_file_name_that_is_not_utf8_is_left_out_with_a_problem(self, tmp_path: Path) -> None:
        folder = a_rollout(tmp_path).parent
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.jsonl")).write_bytes(b"{}")

        listing = list_rollouts(tmp_path)

        assert len(listing.files) == 1
        assert "not UTF-8" in listing.problems[0]


class TestThreadIdInName:
    @pytest.mark.parametrize(
        "name",
        [
            f"rollout-2026-12-01T10-30-00-{ONE}.jsonl",
            f"rollout-2025-05-07-{ONE}.json",
            f"rollout-2026-12-01T10-30-00-{ONE}_{TWO}.jsonl",
            f"rollout-2026-12-01T10-30-00-{ONE.upper()}.jsonl.zst",
            f"{ONE}.jsonl",
        ],
    )
    def test_the_first_uuid_counts_in_lower_case(self, name: str) -> None:
        assert thread_id_in_name(f"/home/dev/.codex/sessions/{name}") == ONE

    def test_folders_and_dates_are_no_ids(self) -> None:
        assert thread_id_in_name(f"/{ONE}/rollout-2026-12-01T10-30-00.jsonl") is None


class TestGrouping:
    def test_the_newest_page_of_a_thread_is_its_rollout(self) -> None:
        old = a_file(f"/s/rollout-a-{ONE}.jsonl", mtime_ns=1)
        new = a_file(f"/s/rollout-b-{ONE}_{TWO}.jsonl", mtime_ns=2)

        (group,) = group_by_thread([old, new], id_of=never_asked)

        assert group == ThreadFiles(thread_id=ONE, files=(new, old))

    def test_the_plain_file_wins_over_its_packed_twin_even_when_that_is_newer(self) -> None:
        plain = a_file(f"/s/rollout-{ONE}.jsonl", mtime_ns=1)
        packed = a_file(f"/s/rollout-{ONE}.jsonl.zst", mtime_ns=2)

        (group,) = group_by_thread([packed, plain], id_of=never_asked)

        assert group.files == (plain,)

    def test_a_packed_page_without_a_plain_twin_stays(self) -> None:
        page = a_file(f"/s/rollout-a-{ONE}.jsonl.zst", mtime_ns=1)
        newer = a_file(f"/s/rollout-b-{ONE}.jsonl", mtime_ns=2)

        (group,) = group_by_thread([page, newer], id_of=never_asked)

        assert group.files == (newer, page)

    def test_at_equal_times_the_file_that_is_not_archived_wins(self) -> None:
        archived = a_file(f"/archived_sessions/a-{ONE}.jsonl", is_archived=True)
        active = a_file(f"/sessions/b-{ONE}.jsonl")

        (group,) = group_by_thread([archived, active], id_of=never_asked)

        assert group.newest == active

    def test_a_file_without_an_id_in_its_name_is_asked_for_it(self) -> None:
        named = a_file(f"/s/rollout-{ONE}.jsonl", mtime_ns=1)
        nameless = a_file("/s/copy.jsonl", mtime_ns=2)

        (group,) = group_by_thread([nameless, named], id_of=lambda _: ONE)

        assert group.files == (nameless, named)


class TestHasChanged:
    GROUP = ThreadFiles(thread_id=ONE, files=(a_file("/s/r.jsonl", mtime_ns=5, size=7),))

    def known(
        self,
        *,
        size: int = 7,
        mtime_ns: int = 5,
        prefix: str = "ab",
        digest: str = "d1",
        thread: ThreadId = ONE,
    ) -> KnownRollout:
        return KnownRollout(
            thread_id=thread,
            stamp=RolloutStamp(
                size_bytes=size, mtime_ns=mtime_ns, prefix_sha256=prefix, index_digest=digest
            ),
        )

    def test_equal_size_time_and_index_are_no_change(self) -> None:
        assert not has_changed(self.GROUP, self.known(), index_digest="d1")

    def test_an_unknown_path_is_a_change(self) -> None:
        assert has_changed(self.GROUP, None, index_digest="d1")

    def test_a_path_known_for_another_thread_is_a_change(self) -> None:
        assert has_changed(self.GROUP, self.known(thread=TWO), index_digest="d1")

    def test_growth_with_an_unchanged_time_is_a_change(self) -> None:
        assert has_changed(self.GROUP, self.known(size=6), index_digest="d1")

    def test_another_time_with_the_same_size_is_a_change(self) -> None:
        assert has_changed(self.GROUP, self.known(mtime_ns=4), index_digest="d1")

    def test_new_words_of_the_index_are_a_change(self) -> None:
        assert has_changed(self.GROUP, self.known(digest="d0"), index_digest="d1")

    def test_an_index_that_became_readable_is_a_change(self) -> None:
        assert has_changed(self.GROUP, self.known(digest="unread"), index_digest="d1")

    def test_an_index_that_cannot_be_read_is_no_change(self) -> None:
        assert not has_changed(self.GROUP, self.known(digest="d0"), index_digest="unread")

    def test_a_stamp_that_never_asked_the_index_is_no_change(self) -> None:
        assert not has_changed(self.GROUP, self.known(digest=""), index_digest="d1")

    def test_a_file_that_could_not_be_opened_is_tried_again(self) -> None:
        assert has_changed(self.GROUP, self.known(prefix=""), index_digest="d1")


class TestVanished:
    def known_at(self, path: str, thread: ThreadId) -> dict[str, KnownRollout]:
        stamp = RolloutStamp(size_bytes=1, mtime_ns=1, prefix_sha256="ab")
        return {path: KnownRollout(thread_id=thread, stamp=stamp)}

    def test_a_known_thread_without_a_file_has_vanished(self, tmp_path: Path) -> None:
        known = self.known_at("/s/two.jsonl", TWO) | self.known_at("/s/one.jsonl", ONE)

        assert vanished_threads(known, [], list_rollouts(tmp_path)) == (ONE, TWO)

    def test_a_thread_that_moved_has_not_vanished(self, tmp_path: Path) -> None:
        group = ThreadFiles(thread_id=ONE, files=(a_file("/archived_sessions/one.jsonl"),))

        known = self.known_at("/sessions/one.jsonl", ONE)

        assert vanished_threads(known, [group], list_rollouts(tmp_path)) == ()

    def test_nothing_in_a_folder_that_cannot_be_listed_has_vanished(self, tmp_path: Path) -> None:
        (tmp_path / "sessions").mkdir()

        def refusing(folder: str) -> Iterable[os.DirEntry[str]]:
            raise PermissionError(13, "Permission denied")

        listing = list_rollouts(tmp_path, scan=refusing)
        known = self.known_at(f"{tmp_path}/sessions/2026/one.jsonl", ONE)

        assert vanished_threads(known, [], listing) == ()
