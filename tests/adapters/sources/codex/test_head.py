"""One pass over a rollout's bytes: whose it is, the first request, the last word on consent."""

import hashlib
import json
from pathlib import Path

import pytest
import zstandard

from automemory_dagster.adapters.sources.codex import blocks
from automemory_dagster.adapters.sources.codex.blocks import DamagedFile, ZstdStream, whole_lines
from automemory_dagster.adapters.sources.codex.head import read_head
from automemory_dagster.domain.thread import MemoryMode
from tests.builders import Command, Generation, Raw, a_rollout, a_turn, thread_id

ONE, TWO = thread_id(1), thread_id(2)
NO_RECORD = "No line of the file is a rollout record."


def a_meta(thread: str = ONE, **fields: object) -> bytes:
    payload = {"id": thread, "cwd": "/home/dev/projects/shop-api", **fields}
    record = {"timestamp": "2026-12-01T11:00:00Z", "type": "session_meta", "payload": payload}
    return json.dumps(record, separators=(",", ":")).encode()


class TestOwnSession:
    @pytest.mark.parametrize("generation", ["A", "B", "C", "D"])
    def test_every_generation_tells_its_id_and_first_request(
        self, tmp_path: Path, generation: Generation
    ) -> None:
        path = a_rollout(tmp_path, generation=generation, turns=[a_turn("Sort the tests.")])

        head = read_head(str(path), ONE)

        assert head.problem == ""
        assert head.meta["id"] == ONE
        assert head.first_request == "Sort the tests."

    @pytest.mark.parametrize("generation", ["A", "B"])
    def test_the_old_generations_tell_the_folder_in_the_environment(
        self, tmp_path: Path, generation: Generation
    ) -> None:
        path = a_rollout(tmp_path, generation=generation, cwd="/home/dev/old")

        assert read_head(str(path), ONE).cwd == "/home/dev/old"

    def test_a_forks_own_session_counts_not_its_parents(self, tmp_path: Path) -> None:
        path = tmp_path / "fork.jsonl"
        path.write_bytes(
            a_meta(ONE, cwd="/fork") + b"\n" + a_meta(TWO, cwd="/parent", memory_mode="disabled")
        )

        for named in (ONE, None):
            head = read_head(str(path), named)
            assert (head.meta["cwd"], head.memory_mode) == ("/fork", None)

    def test_the_name_decides_when_the_parents_session_stands_first(self, tmp_path: Path) -> None:
        path = tmp_path / "fork.jsonl"
        path.write_bytes(a_meta(TWO, cwd="/parent") + b"\n" + a_meta(ONE, cwd="/fork") + b"\n")

        assert read_head(str(path), ONE).meta["cwd"] == "/fork"

    def test_a_session_under_another_threads_name_still_speaks(self, tmp_path: Path) -> None:
        path = tmp_path / "renamed.jsonl"
        path.write_bytes(a_meta(TWO, cwd="/there", memory_mode="disabled") + b"\n")

        head = read_head(str(path), ONE)

        assert head.meta["cwd"] == "/there"
        assert head.memory_mode is MemoryMode.DISABLED

    def test_the_session_need_not_be_on_the_first_line(self, tmp_path: Path) -> None:
        path = tmp_path / "late.jsonl"
        event = b'{"timestamp":"2026-12-01T11:00:00Z","type":"event_msg","payload":{"type":"x"}}'
        path.write_bytes(b"\n".join([event, b"{torn", b"", a_meta(ONE, cwd="/late")]))

        assert read_head(str(path)).meta["cwd"] == "/late"


class TestConsent:
    def test_the_last_word_of_the_file_wins(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        words = ("disabled", "polluted", "enabled", "disabled")
        path.write_bytes(b"\n".join(a_meta(ONE, memory_mode=word) for word in words))

        assert read_head(str(path)).memory_mode is MemoryMode.DISABLED

    def test_a_later_session_record_without_the_word_leaves_it_standing(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "r.jsonl"
        path.write_bytes(
            b"\n".join(
                [a_meta(ONE, memory_mode="disabled"), a_meta(ONE, memory_mode=None), a_meta()]
            )
        )

        assert read_head(str(path)).memory_mode is MemoryMode.DISABLED

    def test_the_word_is_found_megabytes_behind_the_head(self, tmp_path: Path) -> None:
        filler = [Command(command="cat log", output="x" * 60_000) for _ in range(60)]
        path = a_rollout(tmp_path, turns=[a_turn("Go.", *filler)], memory_mode="polluted")

        assert path.stat().st_size > 3 * 1024 * 1024
        assert read_head(str(path), ONE).memory_mode is MemoryMode.POLLUTED

    def test_a_quoted_word_is_no_consent(self, tmp_path: Path) -> None:
        quoted = a_meta(ONE, memory_mode="disabled").decode()
        nested = {"type": "session_meta", "memory_mode": "disabled", "payload": {"id": ONE}}
        path = a_rollout(
            tmp_path,
            turns=[
                a_turn(
                    f"Why does this line say it? {quoted}",
                    Command(command=f"echo '{quoted}'", output=quoted),
                    Raw(
                        record={
                            "type": "event_msg",
                            "payload": {"type": "x", "memory_mode": "disabled"},
                        }
                    ),
                    Raw(record={"type": "event_msg", "payload": {"type": "x", "quoted": nested}}),
                )
            ],
        )

        assert read_head(str(path), ONE).memory_mode is None

    def test_a_record_spliced_onto_a_torn_one_counts(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        torn = b'{"timestamp":"2026-12-01T11:00:00Z","type":"event_msg","payl'
        path.write_bytes(a_meta() + b"\n" + torn + a_meta(ONE, memory_mode="disabled") + b"\n")

        assert read_head(str(path)).memory_mode is MemoryMode.DISABLED

    def test_an_unfinished_last_record_does_not_count_yet(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        path.write_bytes(a_meta() + b"\n" + a_meta(ONE, memory_mode="disabled")[:-1])

        assert read_head(str(path)).memory_mode is None


class TestFirstRequest:
    def test_the_frames_around_it_are_taken_off(self, tmp_path: Path) -> None:
        wrapped = (
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n"
            "## My request for Codex:\nRename the module."
        )
        path = a_rollout(tmp_path, generation="C", agents_md="Be brief.", turns=[a_turn(wrapped)])

        assert read_head(str(path), ONE).first_request == "Rename the module."

    @pytest.mark.parametrize("request_", ["<task>Fix it</task>", "# Plan\nDo it", "#!/bin/sh why?"])
    def test_a_persons_own_markup_survives(self, tmp_path: Path, request_: str) -> None:
        path = a_rollout(tmp_path, turns=[a_turn(request_)])

        assert read_head(str(path), ONE).first_request == request_

    @pytest.mark.parametrize("generation", ["A", "B", "C", "D"])
    def test_a_thread_without_a_persons_words_has_none_for_certain(
        self, tmp_path: Path, generation: Generation
    ) -> None:
        path = a_rollout(tmp_path, generation=generation, turns=[a_turn(None)], agents_md="Rules.")

        head = read_head(str(path), ONE)

        assert (head.first_request, head.is_request_certain) == ("", True)

    def test_a_search_that_gave_up_is_not_certain(self, tmp_path: Path) -> None:
        filler = [Command(command="cat log", output="x" * 900_000) for _ in range(11)]
        path = a_rollout(tmp_path, turns=[a_turn(None, *filler), a_turn("At last.")])

        head = read_head(str(path), ONE)

        assert (head.first_request, head.is_request_certain) == ("", False)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("r.jsonl", b"", "The file is empty."),
            ("r.jsonl", b"\0" * 5_000, NO_RECORD),
            ("r.jsonl", bytes(range(256)) * 50, NO_RECORD),
            ("r.jsonl", b'{"type":"user","message":{"role":"user"}}\n', NO_RECORD),
            ("r.jsonl", b'[1, 2]\n"x"\n3\n', NO_RECORD),
            (
                "r.jsonl",
                b'{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n'
                b'{"type":"item.completed","item":{"type":"agent_message","text":"hi"}}\n',
                "This is what `codex exec --json` prints, not a rollout.",
            ),
            ("r.json", b'{"session": {"id": "x"}, "items": [', NO_RECORD),
            ("r.json", b'{"other": 1}', NO_RECORD),
            (
                "r.jsonl.zst",
                b"\x28\xb5\x2f\xfd garbage",
                "The compressed file is damaged, or is no zstd file.",
            ),
            ("r.jsonl.zst", zstandard.compress(a_meta())[:-9], "The compressed file is cut short."),
            (
                "r.jsonl.zst",
                b"once upon a time",
                "The file is named .zst, but what is in it is no zstd data.",
            ),
            (
                "r.jsonl",
                b'{"type":"session_meta","payload":"' + b"x " * (3 << 20) + b'"}\n',
                "Every line of the file is longer than 4 MiB, so none was read.",
            ),
        ],
    )
    def test_what_is_no_rollout_is_one_plain_sentence(
        self, tmp_path: Path, name: str, content: bytes, problem: str
    ) -> None:
        path = tmp_path / name
        path.write_bytes(content)

        head = read_head(str(path))

        assert head.problem == problem
        assert head.prefix_sha256 == hashlib.sha256(content[:4096]).hexdigest()

    def test_a_file_that_cannot_be_opened_has_no_prefix_hash(self, tmp_path: Path) -> None:
        head = read_head(str(tmp_path / "gone.jsonl"))

        assert head.problem == "The file cannot be read (No such file or directory)."
        assert head.prefix_sha256 == ""

    def test_torn_lines_nuls_and_lone_surrogates_are_survived(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        message = (
            rb'{"type":"event_msg","payload":{"type":"user_message","message":"Hi \ud83d \u0000!"}}'
        )
        path.write_bytes(
            b"\xef\xbb\xbf" + a_meta() + b"\r\n\0\0\0\n{torn\n" + message + b"\n" + b"\0" * 3_772
        )

        head = read_head(str(path))

        assert head.problem == ""
        assert head.first_request.startswith("Hi ")

    def test_deep_nesting_is_survived(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        path.write_bytes(b'{"type":' + b"[" * 200_000 + b"\n" + a_meta() + b"\n")

        assert read_head(str(path)).meta["id"] == ONE

    def test_lines_after_a_huge_one_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "r.jsonl"
        huge = b'{"type":"event_msg","payload":{"x":"' + b"y" * 20_000_000 + b'"}}'
        path.write_bytes(a_meta() + b"\n" + huge + b"\n" + a_meta(ONE, memory_mode="disabled"))

        assert read_head(str(path)).memory_mode is MemoryMode.DISABLED


class TestBlocks:
    class Pieces:
        """A stream that gives its pieces one by one."""

        def __init__(self, *pieces: bytes) -> None:
            self._pieces = list(pieces)

        def read(self, size: int, /) -> bytes:
            return self._pieces.pop(0) if self._pieces else b""

    def test_lines_split_over_reads_come_back_whole(self) -> None:
        stream = self.Pieces(b"one\ntw", b"o", b"\nthree\nfo", b"ur")

        assert list(whole_lines(stream)) == [b"one\n", b"two\nthree\n", b"four"]

    def test_a_line_over_the_bound_is_left_out_and_the_next_one_kept(self) -> None:
        stream = self.Pieces(b"a\n" + b"x" * 10, b"x" * 10, b"x\nb\n", b"c")

        assert list(whole_lines(stream, max_line_bytes=8)) == [b"a\n", b"b\n", b"c"]

    def test_all_frames_of_a_packed_file_are_unpacked(self, tmp_path: Path) -> None:
        path = tmp_path / "two.zst"
        path.write_bytes(zstandard.compress(b"one\n") + zstandard.compress(b"two\n"))

        with path.open("rb") as file:
            assert ZstdStream(file).read() == b"one\ntwo\n"

    def test_a_bomb_is_refused_in_bounded_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.zst"
        packer = zstandard.ZstdCompressor().compressobj()
        with path.open("wb") as file:
            for _ in range(200):
                file.write(packer.compress(b"\0" * 1024 * 1024))
            file.write(packer.flush())

        with path.open("rb") as file:
            stream = ZstdStream(file, max_unpacked_bytes=100 * 1024 * 1024)
            pieces = iter(lambda: len(stream.read()), 0)
            largest = next(pieces)
            with pytest.raises(DamagedFile, match="unpacks to more than 100 MiB"):
                largest = max(largest, *pieces)

        assert path.stat().st_size < 20_000
        assert 0 < largest <= 34 * blocks.BLOCK_BYTES
