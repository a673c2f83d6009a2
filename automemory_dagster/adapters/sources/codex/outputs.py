"""Reads the five shapes of tool output and takes the noise out of them.

The trap: a reader that expects a string loses one output in twenty. Shapes: ``Exit code: N``…,
``Chunk ID``… with ``Process exited with code N``, a JSON string with ``output`` and ``metadata``, a
list of parts, free text.
"""

import re
from dataclasses import dataclass
from typing import Any

import orjson

_HEADER = re.compile(
    r"(?:(?:Exit code: -?\d+|Process exited with code -?\d+|Chunk ID: |Wall time:? "
    r"|Process running with session ID |Original token count: |Total output lines: "
    r"|Script (?:completed|failed|running))[^\n]*(?:\n|\Z))+(?:Output:[ \t]*(?:\n|\Z))?"
)
"""Header lines and the line that ends them; nested for a patch that a shell tool applied."""
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})", re.MULTILINE)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_REDRAWN = re.compile(r"[^\n]*\r(?=[^\n])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DATA_URL = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=_-]+")
_RUN_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_RUN_WINDOW = 512
_RUN_CHARS = 1024
_RUN = re.compile(rf"[A-Za-z0-9+/=_-]{{{_RUN_CHARS},}}")


@dataclass(slots=True)
class OutputText:
    """What a tool said and how it ended; ``exit_code`` is None when it does not tell."""

    text: str
    exit_code: int | None = None
    has_image: bool = False


def read_output(output: Any) -> OutputText:
    """Read any shape of output. Never raises; what is no text is left out."""
    if isinstance(output, list):
        return _read_parts(output)
    if isinstance(output, dict):
        return _read_object(output)
    text = output if isinstance(output, str) else ""
    if text[:1] in ("{", "["):
        return _read_json(text)
    return _read_headers(text)


def without_noise(text: str, *, has_escapes: bool = True) -> str:
    """The text without ANSI codes, overwritten progress lines, control characters and base64.

    ``has_escapes``: False when the JSON it came from held no ``\\u00`` escape, so that there can be
    neither ANSI codes nor control characters to look for, but the few that JSON writes otherwise.
    """
    if has_escapes:
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        text = _CONTROL.sub("", text)
    elif "\b" in text or "\f" in text or "\x7f" in text:
        text = _CONTROL.sub("", text)
    if "\r" in text:
        text = _REDRAWN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    if len(text) >= _RUN_CHARS and _may_hold_run(text) and _has_long_run(text):
        text = _RUN.sub("[base64 omitted]", text)
    return _DATA_URL.sub("[base64 omitted]", text) if ";base64," in text else text


def _read_headers(text: str) -> OutputText:
    position, exit_code = 0, None
    while (found := _HEADER.match(text, position)) is not None:
        for code in _EXIT_CODE.findall(found[0]):
            exit_code = int(code)
        position = found.end()
    return OutputText(text[position:] if position else text, exit_code)


def _read_json(text: str) -> OutputText:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return OutputText(text)
    if isinstance(value, dict) and "output" in value and isinstance(value.get("metadata"), dict):
        return _read_object(value)
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return _read_parts(value["content"])
    if isinstance(value, list) and value and all(_is_part(part) for part in value):
        return _read_parts(value)
    return OutputText(text)


def _read_object(value: dict[str, Any]) -> OutputText:
    inner = value.get("output", value.get("content", ""))
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    read = _read_parts(inner) if isinstance(inner, list) else OutputText(str(inner or ""))
    return OutputText(read.text, code if isinstance(code, int) else None, read.has_image)


def _read_parts(parts: list[Any]) -> OutputText:
    texts: list[str] = []
    exit_code, has_image = None, False
    for part in parts:
        if isinstance(part, str):
            part = {"text": part}
        if not isinstance(part, dict):
            continue
        text = part.get("text")
        if isinstance(text, str):
            read = _read_headers(text)
            exit_code = exit_code if read.exit_code is None else read.exit_code
            texts.append(read.text)
        else:
            has_image = has_image or "image" in str(part.get("type"))
    return OutputText("\n".join(text for text in texts if text), exit_code, has_image)


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _may_hold_run(text: str) -> bool:
    """False when blanks or line ends stand too close for a run; one look in about a thousand
    characters."""
    start, last = 0, len(text) - _RUN_CHARS
    while start <= last:
        end = start + _RUN_CHARS
        at = text.rfind(" ", start, end)
        if at < 0:
            at = text.rfind("\n", start, end)
        if at < 0:
            return True
        start = at + 1
    return False


def _has_long_run(text: str) -> bool:
    """True when an unbroken run of base64 characters fills a window: cheap, and sees every run
    twice as long."""
    for start in range(0, len(text) - _RUN_WINDOW + 1, _RUN_WINDOW):
        if not text[start : start + _RUN_WINDOW].strip(_RUN_CHARACTERS):
            return True
    return False
