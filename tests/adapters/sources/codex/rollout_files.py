"""Rollout records written by hand, and a reader of what they become."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automemory_dagster.adapters.sources.codex.reader import read_rollout
from automemory_dagster.domain.rollout import (
    AgentMessage,
    HarnessContext,
    HumanRequest,
    OtherAgentMessage,
    Reading,
    ToolCall,
    ToolOutput,
)
from automemory_dagster.domain.thread import ThreadId

OWN = "019d0000-0000-7000-8000-000000000001"
PARENT = "019c0000-0000-7000-8000-000000000009"

Json = dict[str, Any]


def at(seconds: float, kind: str, payload: Json, **top: Any) -> Json:
    """A record of generation C or D, that many seconds after noon."""
    minutes, rest = divmod(seconds, 60)
    stamp = f"2026-12-01T12:{int(minutes):02d}:{rest:06.3f}Z"
    return {"timestamp": stamp, **top, "type": kind, "payload": payload}


def meta(thread: str = OWN, *, second: float = 0, **more: Any) -> Json:
    """A ``session_meta``."""
    payload = {"id": thread, "timestamp": "2026-12-01T12:00:00.000Z", "cwd": "/srv/shop"}
    return at(second, "session_meta", {**payload, "source": "cli", **more})


def user(text: str, *, second: float = 1, kinds: list[str] | None = None) -> Json:
    """A person's message as an item."""
    return user_parts([text], second=second, kinds=kinds)


def user_parts(texts: list[str], *, second: float = 1, kinds: list[str] | None = None) -> Json:
    """A message in the user's role with several text parts."""
    content = [{"type": "input_text", "text": text} for text in texts]
    payload: Json = {"type": "message", "role": "user", "content": content}
    if kinds:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return at(second, "response_item", payload)


def agent(text: str, *, second: float = 2, phase: str | None = None, id: str = "") -> Json:
    """The agent's message as an item."""
    content = [{"type": "output_text", "text": text}]
    payload: Json = {"type": "message", "role": "assistant", "content": content}
    payload |= {"phase": phase} if phase else {}
    payload |= {"id": id} if id else {}
    return at(second, "response_item", payload)


def call(call_id: str, command: str, *, second: float = 3) -> Json:
    """A shell command."""
    arguments = json.dumps({"cmd": command})
    payload = {"type": "function_call", "name": "exec_command", "arguments": arguments}
    return at(second, "response_item", {**payload, "call_id": call_id})


def output(call_id: str, text: Any, *, second: float = 4) -> Json:
    """A call's output."""
    payload = {"type": "function_call_output", "call_id": call_id, "output": text}
    return at(second, "response_item", payload)


def event(kind: str, *, second: float = 1.1, **fields: Any) -> Json:
    """An ``event_msg``."""
    return at(second, "event_msg", {"type": kind, **fields})


def completed(item: Json, *, second: float = 1.2) -> Json:
    """An ``item_completed`` event."""
    return event("item_completed", second=second, thread_id=OWN, turn_id="turn-1", item=item)


def jsonl(*records: Json) -> bytes:
    """The lines of a file."""
    return b"".join(line(record) + b"\n" for record in records)


def line(record: Json) -> bytes:
    """One line without its end, as Codex writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


@dataclass(frozen=True)
class Home:
    """A Codex home in a folder of the test's."""

    path: Path

    def write(
        self, data: bytes, *, thread: str = OWN, day: int = 1, suffix: str = ".jsonl"
    ) -> Path:
        """A rollout file of that thread."""
        folder = self.path / "sessions" / "2026" / "12" / f"{day:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-12-{day:02d}T12-00-00-{thread}{suffix}"
        path.write_bytes(data)
        return path

    def read(self, *paths: Path, thread: str = OWN, **options: Any) -> Reading:
        """What is read of the files, whose account is checked to add up."""
        reading = read_rollout(list(paths), thread_id=ThreadId(thread), home=self.path, **options)
        report = reading.report
        assert report.lines_kept + sum(report.dropped_lines.values()) == report.lines_read
        positions = [item.position for item in reading.items]
        assert positions == sorted(positions)
        assert len(set(positions)) == report.lines_kept
        return reading

    def reading(self, *records: Json) -> Reading:
        """What is read of a file with these records."""
        return self.read(self.write(jsonl(*records)))


def human(reading: Reading) -> list[str]:
    """A person's words, in order."""
    return [item.body.text for item in reading.items if isinstance(item.body, HumanRequest)]


def said(reading: Reading) -> list[str]:
    """The agent's words, in order."""
    return [item.body.text for item in reading.items if isinstance(item.body, AgentMessage)]


def finals(reading: Reading) -> list[str]:
    """The agent's answers, in order."""
    return [
        item.body.text
        for item in reading.items
        if isinstance(item.body, AgentMessage) and item.body.is_final
    ]


def mail(reading: Reading) -> list[str]:
    """Other agents' words, in order."""
    return [item.body.text for item in reading.items if isinstance(item.body, OtherAgentMessage)]


def context(reading: Reading) -> list[tuple[str, str]]:
    """Label and text of what the harness told."""
    return [
        (item.body.label, item.body.text)
        for item in reading.items
        if isinstance(item.body, HarnessContext)
    ]


def calls(reading: Reading) -> list[ToolCall]:
    """Tool calls, in order."""
    return [item.body for item in reading.items if isinstance(item.body, ToolCall)]


def outputs(reading: Reading) -> list[ToolOutput]:
    """Tool outputs, in order."""
    return [item.body for item in reading.items if isinstance(item.body, ToolOutput)]


def everything(reading: Reading) -> str:
    """All texts, to look for what must not be there."""
    return repr(reading.items)
