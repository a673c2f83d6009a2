"""One pass over a rollout's bytes for what the catalogue wants: whose it is, its first request, its
consent.

The trap: consent stands at the end. ``memory_mode`` is in no first line; it comes in
``session_meta`` records appended later, so the whole file is searched for the word, and only lines
that hold it are parsed. Memory stays bounded whatever the file: blocks of whole lines, and lines
over a limit are passed over.
"""

import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from automemory_dagster.adapters.sources.codex.blocks import (
    MAX_LINE_BYTES,
    DamagedFile,
    Readable,
    is_packed,
    unpacked,
    whole_lines,
)
from automemory_dagster.adapters.sources.codex.records import parse_line, records_of
from automemory_dagster.adapters.sources.codex.request import cwd_in, human_words
from automemory_dagster.adapters.sources.codex.state_database import memory_mode_of
from automemory_dagster.domain.thread import MemoryMode

PREFIX_BYTES = 4_096
MAX_HEAD_BYTES = 8 * 1024 * 1024
"""How far the first request is looked for; beyond it the reader decides whether there is one."""
MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
"""Generation A is parsed whole; it was written for two months in 2025 and stays far below this."""

_CONSENT_WORD = b'"memory_mode"'
_RECORD_TYPES = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
_HEAD_WORDS = (b"session_meta", b"user", b"UserMessage", b"turn_context", b"cwd")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutHead:
    """What one pass learned. Texts are neither cleaned nor redacted."""

    prefix_sha256: str = ""
    """Empty when the file could not be opened."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """The payload of the thread's own ``session_meta``, or what stood in its place in A and B."""
    first_request: str = ""
    is_request_certain: bool = True
    """False when the search for a first request ended before the file did."""
    cwd: str = ""
    """From a turn or an environment block, for rollouts whose ``session_meta`` has none."""
    memory_mode: MemoryMode | None = None
    """The last one that the thread's own ``session_meta`` records say."""
    problem: str = ""
    """Why nothing of it can be read, as one sentence."""


def read_head(path: str, thread_id: str | None = None) -> RolloutHead:
    """Read what the catalogue wants of one file; never raises for what is in it.

    ``thread_id``: whose ``session_meta`` counts, when the file's name says; else the first one's. A
    fork carries its parent's after its own.
    """
    prefix = ""
    try:
        with open(path, "rb") as raw:
            prefix = hashlib.sha256(raw.read(PREFIX_BYTES)).hexdigest()
            raw.seek(0)
            if os.fstat(raw.fileno()).st_size == 0:
                return RolloutHead(prefix_sha256=prefix, problem="The file is empty.")
            scan = _Scan(prefix, thread_id)
            if path.endswith(".json"):
                return scan.document(raw)
            if path.endswith(".zst") and not is_packed(raw):
                scan.no_record = "The file is named .zst, but what is in it is no zstd data."
            return scan.lines(unpacked(raw))
    except DamagedFile as error:
        problem = str(error)
    except OSError as error:
        prefix, problem = "", f"The file cannot be read ({error.strerror or error})."
    return RolloutHead(prefix_sha256=prefix, problem=problem)


class _Scan:
    """The state of one pass."""

    def __init__(self, prefix_sha256: str, thread_id: str | None) -> None:
        self._prefix_sha256 = prefix_sha256
        self._thread_id = thread_id
        self._own: Mapping[str, object] | None = None
        self._first: Mapping[str, object] | None = None
        self._modes: dict[str, MemoryMode] = {}
        self._request = ""
        self._cwd = ""
        self._has_record = False
        self._saw_exec_output = False
        self.no_record = "No line of the file is a rollout record."
        """What is said of a file without one."""

    def lines(self, stream: Readable) -> RolloutHead:
        """A file of one record a line."""
        read = 0
        for block in whole_lines(stream):
            if not self._is_head_known() and read < MAX_HEAD_BYTES:
                self._read_head_lines(block)
            if not self._has_record and read > MAX_HEAD_BYTES:
                break
            self._search_consent(block)
            read += len(block)
        if not read:
            limit = f"{MAX_LINE_BYTES // 1024**2} MiB"
            self.no_record = f"Every line of the file is longer than {limit}, so none was read."
        return self._result(is_whole=read <= MAX_HEAD_BYTES)

    def document(self, stream: BinaryIO) -> RolloutHead:
        """A generation-A file; one that holds lines after all is read as lines."""
        content = stream.read(MAX_DOCUMENT_BYTES + 1)
        if len(content) > MAX_DOCUMENT_BYTES:
            limit = f"{MAX_DOCUMENT_BYTES // 1024**2} MiB"
            return self._unreadable(f"The file is one JSON document of more than {limit}.")
        objects = parse_line(content).objects
        if len(objects) != 1 or not isinstance(objects[0].get("items"), list):
            return self.lines(io.BytesIO(content))
        self._look_at(objects[0])
        return self._result(is_whole=True)

    def _read_head_lines(self, block: bytes) -> None:
        start = 0
        while start < len(block) and not self._is_head_known():
            end = block.find(b"\n", start)
            end = len(block) if end < 0 else end
            line, start = block[start:end], end + 1
            # Until the file proves to be a rollout every line is parsed; then only what may matter.
            if self._has_record and not any(word in line for word in _HEAD_WORDS):
                continue
            for value in parse_line(line).objects:
                self._look_at(value)

    def _look_at(self, value: Mapping[str, object]) -> None:
        self._saw_exec_output |= value.get("type") == "thread.started" and "thread_id" in value
        for record in records_of(dict(value)):
            if record.kind not in _RECORD_TYPES:
                continue
            self._has_record = True
            if record.kind == "session_meta":
                self._take_meta(record.payload)
            self._request = self._request or human_words(record.kind, record.payload)
            self._cwd = self._cwd or cwd_in(record.kind, record.payload)

    def _take_meta(self, payload: Mapping[str, object]) -> None:
        if self._first is None:
            self._first = payload
        if self._own is None and self._is_own(payload):
            self._own = payload

    def _search_consent(self, block: bytes) -> None:
        at = block.find(_CONSENT_WORD)
        while at >= 0:
            start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
            end = len(block) if end < 0 else end
            line = block[start:end]
            if b"session_meta" in line:
                self._take_consent(line)
            at = block.find(_CONSENT_WORD, end)

    def _take_consent(self, line: bytes) -> None:
        for value in parse_line(line).objects:
            payload = value.get("payload")
            if value.get("type") != "session_meta" or not isinstance(payload, dict):
                continue
            self._take_meta(payload)
            if (mode := memory_mode_of(payload.get("memory_mode"))) is not None:
                self._modes[_id_of(payload)] = mode

    def _is_own(self, payload: Mapping[str, object]) -> bool:
        return _id_of(payload) == (self._thread_id or _id_of(self._first or payload))

    def _is_head_known(self) -> bool:
        return bool(self._own is not None and self._request and (self._cwd or self._own.get("cwd")))

    def _result(self, *, is_whole: bool) -> RolloutHead:
        if not self._has_record:
            if self._saw_exec_output:
                return self._unreadable("This is what `codex exec --json` prints, not a rollout.")
            return self._unreadable(self.no_record)
        # A file under another thread's name still speaks for the thread that is in it.
        meta = self._own or self._first or {}
        return RolloutHead(
            prefix_sha256=self._prefix_sha256,
            meta=meta,
            first_request=self._request,
            is_request_certain=is_whole or bool(self._request),
            cwd=self._cwd,
            memory_mode=self._modes.get(_id_of(meta)),
        )

    def _unreadable(self, problem: str) -> RolloutHead:
        return RolloutHead(prefix_sha256=self._prefix_sha256, problem=problem)


def _id_of(payload: Mapping[str, object]) -> str:
    value = payload.get("id")
    return value.lower() if isinstance(value, str) else ""
