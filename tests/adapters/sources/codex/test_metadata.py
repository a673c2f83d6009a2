"""What the catalogue keeps of a thread: fields, cleaning, redaction, versions, consent."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.adapters.sources.codex.discovery import group_by_thread
from automemory_dagster.adapters.sources.codex.listing import RolloutFile, list_rollouts
from automemory_dagster.adapters.sources.codex.metadata import (
    ThreadReader,
    moment_of,
    thread_id_of,
)
from automemory_dagster.adapters.sources.codex.state_database import IndexWords
from automemory_dagster.domain.thread import (
    MemoryMode,
    RolloutStamp,
    SourceKind,
    SpaceId,
    Thread,
    ThreadId,
)
from automemory_dagster.ports import KnownRollout
from tests.builders import Generation, a_rollout, a_turn, thread_id

ONE, TWO = ThreadId(thread_id(1)), ThreadId(thread_id(2))
READER = ThreadReader(
    source="codex:test",
    redact=redact,
    space_for=lambda thread: SpaceId(f"space of {thread.project}"),
)


def read_only_thread(
    home: Path, words: IndexWords | None = None, *, known: KnownRollout | None = None
) -> Thread:
    (group,) = group_by_thread(list_rollouts(home).files, id_of=thread_id_of)
    return READER.read(group, words, index_digest="d1", known=known)


class TestFields:
    def test_a_rollout_gives_every_field(self, tmp_path: Path) -> None:
        path = a_rollout(
            tmp_path,
            turns=[a_turn("Make the parser faster.\nIt takes a minute.")],
            source="vscode",
            meta={"forked_from_id": TWO},
        )

        thread = read_only_thread(tmp_path)

        assert thread.thread_id == ONE
        assert thread.source == "codex:test"
        assert thread.space_id == "space of git.example.com/acme/shop-api"
        assert thread.rollout_path == str(path)
        assert thread.stamp.size_bytes == path.stat().st_size
        assert thread.stamp.mtime_ns == 1_796_122_800_000_000_000
        assert thread.stamp.index_digest == "d1"
        assert thread.source_updated_at == datetime(2026, 12, 1, 11, 0, tzinfo=UTC)
        assert thread.created_at == datetime(2026, 12, 1, 10, 30, tzinfo=UTC)
        assert thread.cwd == "/home/dev/projects/shop-api"
        assert thread.repository == "git.example.com/acme/shop-api"
        assert thread.branch == "main"
        assert thread.title == "Make the parser faster."
        assert (thread.source_kind, thread.source_detail) == (SourceKind.INTERACTIVE, "vscode")
        assert thread.memory_mode is MemoryMode.ENABLED
        assert thread.forked_from == TWO
        assert not thread.is_archived
        assert thread.has_human_request
        assert thread.problem == ""

    @pytest.mark.parametrize(
        ("generation", "cwd", "repository", "kind"),
        [
            ("A", "/home/dev/projects/shop-api", "", SourceKind.INTERACTIVE),
            (
                "B",
                "/home/dev/projects/shop-api",
                "git.example.com/acme/shop-api",
                SourceKind.INTERACTIVE,
            ),
        ],
    )
    def test_the_old_generations_give_what_they_have(
        self,
        tmp_path: Path,
        generation: Generation,
        cwd: str,
        repository: str,
        kind: SourceKind,
    ) -> None:
        a_rollout(tmp_path, generation=generation)

        thread = read_only_thread(tmp_path)

        assert (thread.cwd, thread.repository, thread.source_kind) == (cwd, repository, kind)
        assert thread.title == "Run the tests."
        assert thread.created_at == datetime(2026, 12, 1, 10, 30, tzinfo=UTC)

    def test_an_archived_rollout_is_archived(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, is_archived=True)

        assert read_only_thread(tmp_path).is_archived

    def test_history_base_names_the_parent_where_forked_from_does_not(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, meta={"history_base": {"thread_id": TWO.upper()}})

        assert read_only_thread(tmp_path).forked_from == TWO

    @pytest.mark.parametrize("base", [{"thread_id": ONE}, {"thread_id": 7}, "x", {}, None])
    def test_a_page_of_the_same_thread_is_no_fork(self, tmp_path: Path, base: object) -> None:
        a_rollout(tmp_path, meta={"history_base": base})

        assert read_only_thread(tmp_path).forked_from is None

    def test_an_unreadable_rollout_keeps_the_id_of_its_name(self, tmp_path: Path) -> None:
        a_rollout(tmp_path).write_bytes(b"")

        thread = read_only_thread(tmp_path)

        assert thread.thread_id == ONE
        assert thread.problem == "The file is empty."

    def test_a_thread_without_a_persons_request_says_so(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, turns=[a_turn(None)])

        thread = read_only_thread(tmp_path)

        assert not thread.has_human_request
        assert thread.title == ""


class TestTexts:
    def test_a_title_is_one_line_of_at_most_120_characters(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, turns=[a_turn("\n\n  word \t  " + "w" * 200 + "\nsecond line")])

        title = read_only_thread(tmp_path).title

        assert title == "word " + "w" * 114 + "…"
        assert len(title) == 120

    def test_the_title_of_the_index_goes_first(self, tmp_path: Path) -> None:
        a_rollout(tmp_path)

        thread = read_only_thread(tmp_path, IndexWords(title="  Tests\nand more"))

        assert thread.title == "Tests"

    def test_a_blank_title_of_the_index_leaves_the_request(self, tmp_path: Path) -> None:
        a_rollout(tmp_path)

        assert read_only_thread(tmp_path, IndexWords(title=" \n")).title == "Run the tests."

    def test_no_secret_reaches_title_folder_branch_or_repository(self, tmp_path: Path) -> None:
        # Put together here, so that no scanner finds a token in this file.
        token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
        token = token[:40]
        a_rollout(
            tmp_path,
            turns=[a_turn(f"Push with {token} please.")],
            cwd=f"/home/dev/{token}",
            branch=f"try-{token}",
            repository_url=f"https://dev:{token}@git.example.com/acme/{token}.git",
        )

        thread = read_only_thread(tmp_path, IndexWords(title=f"Push with {token}", cwd=f"/{token}"))

        assert thread.title.startswith("Push with [REDACTED")
        assert token not in repr(thread)

    def test_a_secret_at_the_cut_does_not_leave_half_of_itself(self, tmp_path: Path) -> None:
        token = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0" * 2
        token = token[:40]
        a_rollout(tmp_path, turns=[a_turn("x" * 100 + " " + token)])

        title = read_only_thread(tmp_path).title

        assert token[:10] not in title

    def test_nul_lone_surrogates_and_control_characters_are_removed(self, tmp_path: Path) -> None:
        a_rollout(
            tmp_path,
            turns=[a_turn("Say \x00hi\ud83d \x1b[31mred")],
            cwd="/a\x00b\ud800",
            branch="m\x07",
        )

        thread = read_only_thread(tmp_path)

        assert thread.title == "Say hi [31mred"
        assert (thread.cwd, thread.branch) == ("/ab", "m")
        repr(thread).encode()

    def test_words_beyond_ascii_are_kept_as_they_are(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, turns=[a_turn("译名表加一行 👩‍💻。")], cwd="/home/dev/译名表")

        thread = read_only_thread(tmp_path)

        assert (thread.title, thread.cwd) == ("译名表加一行 👩‍💻。", "/home/dev/译名表")

    def test_the_folder_comes_from_the_index_when_the_rollout_has_none(
        self, tmp_path: Path
    ) -> None:
        a_rollout(tmp_path, cwd="")

        thread = read_only_thread(tmp_path, IndexWords(cwd="\\\\?\\C:\\code\\shop"))

        assert thread.cwd == "C:\\code\\shop"


class TestVersion:
    def test_it_is_the_mtime_cut_to_whole_seconds(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        os.utime(path, ns=(0, 1_796_122_800_999_999_999))

        assert read_only_thread(tmp_path).source_updated_at == datetime(
            2026, 12, 1, 11, 0, 0, tzinfo=UTC
        )

    def test_growth_with_an_unchanged_time_is_a_newer_version(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path)
        stamp = RolloutStamp(
            size_bytes=path.stat().st_size - 10,
            mtime_ns=path.stat().st_mtime_ns,
            prefix_sha256="ab",
        )

        thread = read_only_thread(tmp_path, known=KnownRollout(thread_id=ONE, stamp=stamp))

        # The builder sets the mtime by hand, so the inode's change time is when this test ran.
        changed_at = int(path.stat().st_ctime)
        assert thread.source_updated_at == max(
            datetime(2026, 12, 1, 11, 0, tzinfo=UTC), datetime.fromtimestamp(changed_at, UTC)
        )

    def test_an_unknown_file_has_the_version_of_its_mtime(self, tmp_path: Path) -> None:
        a_rollout(tmp_path, idle_seconds=86_400)

        assert read_only_thread(tmp_path).source_updated_at == datetime(
            2026, 11, 30, 12, 0, tzinfo=UTC
        )


class TestConsent:
    @pytest.mark.parametrize(
        ("file", "index", "mode"),
        [
            (None, None, MemoryMode.ENABLED),
            (None, MemoryMode.ENABLED, MemoryMode.ENABLED),
            ("enabled", MemoryMode.DISABLED, MemoryMode.DISABLED),
            ("disabled", MemoryMode.ENABLED, MemoryMode.DISABLED),
            ("polluted", MemoryMode.ENABLED, MemoryMode.POLLUTED),
            (None, MemoryMode.POLLUTED, MemoryMode.POLLUTED),
            ("polluted", MemoryMode.DISABLED, MemoryMode.DISABLED),
        ],
    )
    def test_of_file_and_index_the_stricter_word_holds(
        self, tmp_path: Path, file: str | None, index: MemoryMode | None, mode: MemoryMode
    ) -> None:
        a_rollout(tmp_path, memory_mode=file)

        thread = read_only_thread(tmp_path, IndexWords(memory_mode=index))

        assert thread.memory_mode is mode

    def test_the_index_archives_a_thread_whose_file_did_not_move(self, tmp_path: Path) -> None:
        a_rollout(tmp_path)

        assert read_only_thread(tmp_path, IndexWords(is_archived=True)).is_archived


class TestSeveralFiles:
    def test_the_newest_page_speaks_and_older_ones_fill_in(self, tmp_path: Path) -> None:
        a_rollout(
            tmp_path,
            turns=[a_turn("The first wish.")],
            memory_mode="disabled",
            idle_seconds=7_200,
            file_name=f"rollout-a-{ONE}.jsonl",
        )
        newest = a_rollout(
            tmp_path,
            turns=[a_turn(None)],
            cwd="/moved",
            file_name=f"rollout-b-{ONE}_{TWO}.jsonl",
        )

        thread = read_only_thread(tmp_path)

        assert thread.rollout_path == str(newest)
        assert thread.source_updated_at == datetime(2026, 12, 1, 11, 0, tzinfo=UTC)
        assert thread.cwd == "/moved"
        assert thread.title == "The first wish."
        assert thread.has_human_request
        assert thread.memory_mode is MemoryMode.DISABLED

    def test_a_newer_page_can_give_consent_back(self, tmp_path: Path) -> None:
        a_rollout(
            tmp_path,
            memory_mode="disabled",
            idle_seconds=7_200,
            file_name=f"rollout-a-{ONE}.jsonl",
        )
        a_rollout(tmp_path, memory_mode="enabled", file_name=f"rollout-b-{ONE}_{TWO}.jsonl")

        assert read_only_thread(tmp_path).memory_mode is MemoryMode.ENABLED


class TestIdOfANamelessFile:
    def file(self, path: Path) -> RolloutFile:
        return RolloutFile(path=str(path), size_bytes=1, mtime_ns=1, ctime_ns=1, is_archived=False)

    def test_the_content_says_it(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, file_name="latest.jsonl")

        assert thread_id_of(self.file(path)) == ONE

    def test_a_plain_word_is_an_id_too(self, tmp_path: Path) -> None:
        path = a_rollout(tmp_path, thread_id="session_42", file_name="latest.jsonl")

        assert thread_id_of(self.file(path)) == "session_42"

    def test_without_a_usable_id_it_is_made_of_the_path(self, tmp_path: Path) -> None:
        odd = a_rollout(tmp_path, thread_id="../../etc", file_name="odd.jsonl")
        empty = tmp_path / "empty.jsonl"
        empty.touch()

        ids = [thread_id_of(self.file(path)) for path in (odd, empty)]

        assert len({*ids}) == 2
        assert ids == [thread_id_of(self.file(path)) for path in (odd, empty)]
        assert all(len(each) == 36 and each.count("-") == 4 for each in ids)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-12-01T11:00:00.250Z", datetime(2026, 12, 1, 11, 0, 0, 250_000, tzinfo=UTC)),
        ("2026-12-01T12:00:00+01:00", datetime(2026, 12, 1, 11, 0, tzinfo=UTC)),
        ("2026-12-01T11:00:00", datetime(2026, 12, 1, 11, 0, tzinfo=UTC)),
        (1_796_122_800, datetime(2026, 12, 1, 11, 0, tzinfo=UTC)),
        (1_796_122_800.5, datetime(2026, 12, 1, 11, 0, 0, 500_000, tzinfo=UTC)),
        (1_796_122_800_000, datetime(2026, 12, 1, 11, 0, tzinfo=UTC)),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
        (0, None),
        (1e300, None),
        (float("nan"), None),
        (10**400, None),
        (True, None),
        (None, None),
        ({}, None),
    ],
)
def test_times_come_in_several_forms(written: object, moment: datetime | None) -> None:
    assert moment_of(written) == moment
