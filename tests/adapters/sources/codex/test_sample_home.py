"""The bundled sample home: unpacked with its times, safe to ship, made by its generator."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from automemory_dagster.adapters.secrets import find_secrets, redact
from automemory_dagster.adapters.sources.codex.home import CodexSource
from automemory_dagster.adapters.sources.codex.sample_home import (
    bundled_rollouts,
    unpack_sample_home,
)
from automemory_dagster.domain.errors import SettingsError
from automemory_dagster.domain.thread import MemoryMode, SourceKind, SpaceId, Thread
from tests.make_sample_home import make_sample_home, uuid7_of
from tests.sample_stories import STORIES


def plain(name: str, content: bytes) -> bytes:
    return zstandard.decompress(content) if name.endswith(".zst") else content


def threads_of(home: Path) -> list[Thread]:
    source = CodexSource(home, space_for=lambda _: SpaceId("codex:sample"), redact=redact)
    return list(source.compare({}).changed)


def stats_of(home: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in home.rglob("*"):
        if path.is_file():
            stat = path.stat()
            found[str(path.relative_to(home))] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return found


class TestUnpacking:
    def test_each_file_gets_the_time_of_its_last_record(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")

        versions = {thread.thread_id: thread.source_updated_at for thread in threads_of(home)}

        assert versions[uuid7_of(datetime(2026, 8, 24, 9, 5, tzinfo=UTC), "tide-tables")] == (
            datetime(2026, 8, 24, 9, 35, tzinfo=UTC)
        )
        assert versions[uuid7_of(datetime(2026, 8, 31, 7, 50, tzinfo=UTC), "tea-shop")] == (
            datetime(2026, 8, 31, 8, 20, tzinfo=UTC)
        )
        assert len(versions) == 12

    def test_a_second_time_touches_nothing(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")
        before = stats_of(home)

        unpack_sample_home(home)

        assert stats_of(home) == before

    def test_a_session_that_a_person_went_on_with_is_left_alone(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")
        path = next(home.rglob("*.jsonl"))
        path.write_bytes(path.read_bytes() + b"{}\n")
        before = stats_of(home)

        unpack_sample_home(home)

        assert stats_of(home) == before

    def test_a_damaged_or_missing_file_is_restored_with_its_time(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")
        before = {name: stat[1:] for name, stat in stats_of(home).items()}
        damaged, missing = sorted(home.rglob("*.jsonl"))[:2]
        damaged.write_bytes(b"torn")
        missing.unlink()

        unpack_sample_home(home)

        assert {name: stat[1:] for name, stat in stats_of(home).items()} == before

    def test_a_folder_that_cannot_be_made_is_a_plain_message(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(SettingsError, match="cannot be unpacked into"):
            unpack_sample_home(tmp_path / "file" / "sample")

    def test_no_temporary_file_stays_behind(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")

        assert [name for name in stats_of(home) if name.endswith(".part")] == []


class TestContent:
    def test_it_shows_every_kind_of_thread(self, tmp_path: Path) -> None:
        threads = threads_of(unpack_sample_home(tmp_path / "sample"))

        assert sum(thread.is_archived for thread in threads) == 1
        assert sum(thread.memory_mode is MemoryMode.DISABLED for thread in threads) == 1
        assert sum(thread.source_kind is SourceKind.EXEC for thread in threads) == 1
        assert sum(thread.rollout_path.endswith(".zst") for thread in threads) == 1
        assert {thread.problem for thread in threads} == {""}
        assert {thread.project for thread in threads} == {
            "git.example.com/mira/tide-tables",
            "git.example.com/mira/tea-shop",
            "git.example.com/mira/harbour-kiosk",
            "/home/mira/projects/scratch",
            "/home/mira/projects/diary",
        }

    def test_every_thread_can_be_read(self, tmp_path: Path) -> None:
        home = unpack_sample_home(tmp_path / "sample")
        source = CodexSource(home, space_for=lambda _: SpaceId("codex:sample"), redact=redact)

        readings = [source.read(thread) for thread in source.compare({}).changed]

        assert all(reading.items for reading in readings)
        assert sum(reading.report.malformed_lines for reading in readings) == 0

    def test_it_is_small_and_holds_no_secret(self) -> None:
        contents = [plain(path.name, content) for path, content in bundled_rollouts()]

        assert sum(map(len, contents)) < 400_000
        assert [find_secrets(content.decode()) for content in contents] == [[]] * 12

    def test_it_is_what_the_generator_makes(self, tmp_path: Path) -> None:
        make_sample_home(tmp_path)

        made = {
            str(path.relative_to(tmp_path)): plain(path.name, path.read_bytes())
            for path in tmp_path.rglob("*.jsonl*")
        }

        assert made == {str(path): plain(path.name, data) for path, data in bundled_rollouts()}
        assert len(made) == len(STORIES)

    def test_an_id_holds_its_sessions_time(self) -> None:
        # 2026-08-24T09:05:00Z is 1,787,562,300,000 ms, which is 0x01a033041260.
        assert uuid7_of(datetime(2026, 8, 24, 9, 5, tzinfo=UTC), "tide-tables").startswith(
            "01a03304-1260-7"
        )
