"""Writes rollouts whose lines have the kinds, counts and sizes of a census of 1,041 public ones.

    python benchmarks/census_rollouts.py FOLDER [--files 40]

For each tool call and its output of 3.6 KB on average: 1.1 ``token_count``, 0.6 ``reasoning`` with
2 KB of cipher text, 0.4 ``turn_context`` with 2 KB of instructions, 0.35 messages of the agent told
twice, 0.14 of a person told twice, 0.3 ``agent_reasoning``; 20 KB of instructions at the start.
Invented words; the same bytes for the same arguments.
"""

import argparse
import base64
import json
import random
from pathlib import Path
from typing import Any

_SENTENCE = (
    "the test fails because price rounding uses int instead of Decimal so total is one cent short "
    "run make and fix function then commit with message error warning module import path value "
    "return def class self assert expected actual queue worker lease config build deploy"
)
_WORDS = _SENTENCE.split()
_MEDIAN_CALLS = 45
"""Of a file; with the sizes above a median file has about 280 KB."""


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=40)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for number in range(arguments.files):
        _write(arguments.folder, number)


def _write(folder: Path, number: int) -> None:
    dice = random.Random(number)
    thread_id = f"019d0000-0000-7000-8000-{number:012x}"
    session = _Session(dice, thread_id)
    for _ in range(max(3, int(dice.lognormvariate(0, 1) * _MEDIAN_CALLS))):
        session.step()
    path = folder / f"rollout-2026-11-19T16-00-00-{thread_id}.jsonl"
    path.write_text("\n".join(session.lines) + "\n", encoding="utf-8")


class _Session:
    def __init__(self, dice: random.Random, thread_id: str) -> None:
        self.dice, self.lines = dice, list[str]()
        text = {"text": self._words(3500)}
        meta = {"id": thread_id, "cwd": "/srv/app", "cli_version": "0.146.0", "source": "vscode"}
        self._write("session_meta", {**meta, "base_instructions": text})
        self._person()

    def step(self) -> None:
        roll = self.dice.random
        if roll() < 0.14:
            self._person()
        if roll() < 0.4:
            self._write("turn_context", {"cwd": "/srv/app", "user_instructions": self._words(370)})
        if roll() < 0.6:
            cipher = base64.b64encode(self.dice.randbytes(1500)).decode()
            self._item("reasoning", summary=[], content=None, encrypted_content=cipher)
        if roll() < 0.3:
            self._event("agent_reasoning", text=self._words(12))
        if roll() < 0.35:
            self._agent()
        self._call()
        usage = {"input_tokens": 15673, "cached_input_tokens": 7836, "output_tokens": 80}
        info = {"total_token_usage": usage, "last_token_usage": usage}
        self._event("token_count", info=info, rate_limits={"primary": {"used_percent": 12.0}})

    def _person(self) -> None:
        text = self._words(self.dice.randint(5, 150))
        content = [{"type": "input_text", "text": text}]
        self._item("message", role="user", content=content)
        self._event("user_message", message=text, images=[])

    def _agent(self) -> None:
        text = self._words(self.dice.randint(10, 90))
        content = [{"type": "output_text", "text": text}]
        self._event("agent_message", message=text)
        self._item("message", role="assistant", content=content, phase="commentary")

    def _call(self) -> None:
        call_id = f"call_{self.dice.getrandbits(96):024x}"
        arguments = json.dumps({"cmd": f"rg -n {self._words(4)} src && make test"})
        self._item("function_call", name="exec_command", arguments=arguments, call_id=call_id)
        code = int(self.dice.random() < 0.07)
        head = f"Chunk ID: 49\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
        size = min(int(self.dice.lognormvariate(7.5, 1.1)), 20_000)
        self._item("function_call_output", call_id=call_id, output=head + self._output(size))

    def _output(self, size: int) -> str:
        rows: list[str] = []
        while size > 0:
            rows.append(f"src/{self.dice.choice(_WORDS)}.py:{len(rows)}: {self._words(9)}")
            size -= len(rows[-1])
        return "\n".join(rows) + "\n"

    def _words(self, count: int) -> str:
        return " ".join(self.dice.choices(_WORDS, k=count))

    def _item(self, kind: str, **fields: Any) -> None:
        self._write("response_item", {"type": kind, **fields})

    def _event(self, kind: str, **fields: Any) -> None:
        self._write("event_msg", {"type": kind, **fields})

    def _write(self, kind: str, payload: dict[str, Any]) -> None:
        seconds = len(self.lines)
        time = f"2026-11-19T16:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"
        record = {"timestamp": time, "ordinal": seconds, "type": kind, "payload": payload}
        self.lines.append(json.dumps(record, separators=(",", ":")))


if __name__ == "__main__":
    main()
