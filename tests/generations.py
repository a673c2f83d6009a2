"""The records of one session in each generation of Codex files, without their times.

Shapes: A is one JSON document, B has bare items, C wraps them in ``type`` and ``payload``, D adds
ordinals, item mirrors and kinds of content parts.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.session import Command, Patch, Said, Session, Step, Turn

Record = dict[str, Any]


def records_of_a(session: Session) -> list[Record]:
    """The head, then the items; the builder makes one document of them. No cwd, no git."""
    head = {"timestamp": session.started_at, "id": session.thread_id, "instructions": ""}
    return [head, *_bare_items(session)]


def records_of_b(session: Session) -> list[Record]:
    """The head as first line, bare items, a state marker after each turn. No cwd, no source."""
    head: Record = {
        "id": session.thread_id,
        "timestamp": session.started_at,
        "instructions": None,
    }
    if session.git:
        head["git"] = session.git
    return [head, *_bare_items(session), {"record_type": "state"}]


def records_of_c(session: Session) -> list[Record]:
    """Items with ``type`` and ``payload``, each message mirrored by an event."""
    records: list[Record] = [_meta(session, cli_version="0.77.0")]
    records += [_item(item) for item in _context_messages(session)]
    for index, turn in enumerate(session.turns, session.first_turn):
        records.append(
            {"type": "turn_context", "payload": {"cwd": session.cwd, "model": "gpt-5.2"}}
        )
        if turn.request is not None:
            records.append(_item(_user(turn.request)))
            records.append(_event("user_message", message=turn.request, images=[]))
        records += _steps_of_c(turn, index)
        if turn.answer is not None:
            records.append(_event("agent_message", message=turn.answer))
            records.append(_item(_assistant(turn.answer)))
        records.append(_event("token_count", info=None, rate_limits=None))
    return records + _consent(session, cli_version="0.77.0")


def records_of_d(session: Session) -> list[Record]:
    """What Codex 0.171 writes: ordinals, ``item_completed`` mirrors, kinds of content parts."""
    version = "0.171.0"
    records: list[Record] = [_meta(session, cli_version=version, history_mode="paginated")]
    for item in _context_messages(session):
        kinds = [
            "agents_md.instructions"
            if "AGENTS.md" in str(item)
            else "environments.environment_context"
        ]
        records.append(_item(_with_kinds(item, kinds)))
    for index, turn in enumerate(session.turns, session.first_turn):
        records += _turn_of_d(session, turn, index)
    records += _consent(session, cli_version=version)
    return [{"ordinal": ordinal, **record} for ordinal, record in enumerate(records)]


RECORDS_OF: dict[str, Callable[[Session], list[Record]]] = {
    "A": records_of_a,
    "B": records_of_b,
    "C": records_of_c,
    "D": records_of_d,
}


def _turn_of_d(session: Session, turn: Turn, index: int) -> list[Record]:
    ids = {"thread_id": session.thread_id, "turn_id": f"turn-{index}"}
    records = [
        _event("task_started", turn_id=ids["turn_id"], model_context_window=258_400),
        {"type": "turn_context", "payload": {"turn_id": ids["turn_id"], "cwd": session.cwd}},
    ]
    if turn.request is not None:
        content = [{"type": "text", "text": turn.request, "text_elements": []}]
        mirror = {"type": "UserMessage", "id": f"user-{index}", "content": content}
        records.append(_item(_with_kinds(_user(turn.request), ["user.text"])))
        records.append(_event("item_completed", **ids, item=mirror))
    for number, step in enumerate(turn.steps):
        records += _step_of_d(step, ids, f"{index}-{number}")
    if turn.answer is not None:
        records += _said_of_d(turn.answer, "final_answer", ids, f"answer-{index}")
    records.append(_event("task_complete", turn_id=ids["turn_id"], last_agent_message=turn.answer))
    return records


def _step_of_d(step: Step, ids: Record, key: str) -> list[Record]:
    match step:
        case Command():
            arguments = json.dumps({"cmd": step.command}, ensure_ascii=False)
            output = (
                f"Chunk ID: 494900\nWall time: 0.1000 seconds\n"
                f"Process exited with code {step.exit_code}\nOriginal token count: 29\n"
                f"Output:\n{step.output}"
            )
            return [
                _item(_call(f"call-{key}", "exec_command", arguments)),
                _item(_output(f"call-{key}", output)),
            ]
        case Patch():
            return _patch_records(step, key)
        case Said():
            return _said_of_d(step.text, "commentary", ids, f"said-{key}")
        case _:
            return [dict(step.record)]


def _said_of_d(text: str, phase: str, ids: Record, key: str) -> list[Record]:
    mirror = {
        "type": "AgentMessage",
        "id": key,
        "content": [{"type": "Text", "text": text}],
        "phase": phase,
    }
    item = _with_kinds({**_assistant(text), "id": key, "phase": phase}, ["unknown"])
    return [_event("item_completed", **ids, item=mirror), _item(item)]


def _steps_of_c(turn: Turn, index: int) -> list[Record]:
    records: list[Record] = []
    for number, step in enumerate(turn.steps):
        key = f"{index}-{number}"
        match step:
            case Command():
                arguments = json.dumps({"command": step.command}, ensure_ascii=False)
                output = (
                    f"Exit code: {step.exit_code}\nWall time: 1.1 seconds\nOutput:\n{step.output}"
                )
                records.append(_item(_call(f"call-{key}", "shell_command", arguments)))
                records.append(_item(_output(f"call-{key}", output)))
            case Patch():
                records += _patch_records(step, key)
            case Said():
                records.append(_event("agent_message", message=step.text))
                records.append(_item(_assistant(step.text)))
            case _:
                records.append(dict(step.record))
    return records


def _patch_records(step: Patch, key: str) -> list[Record]:
    call = {
        "type": "custom_tool_call",
        "status": "completed",
        "call_id": f"call-{key}",
        "name": "apply_patch",
        "input": f"*** Begin Patch\n{step.body}\n*** End Patch",
    }
    output = {
        "type": "custom_tool_call_output",
        "call_id": f"call-{key}",
        "output": f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{step.output}",
    }
    return [_item(call), _item(output)]


def _bare_items(session: Session) -> Iterator[Record]:
    yield from _context_messages(session)
    for index, turn in enumerate(session.turns, session.first_turn):
        if turn.request is not None:
            yield _user(turn.request)
        for number, step in enumerate(turn.steps):
            yield from _bare_step(step, f"{index}-{number}")
        if turn.answer is not None:
            yield _assistant(turn.answer)


def _bare_step(step: Step, key: str) -> Iterator[Record]:
    match step:
        case Command():
            yield from _old_shell(["bash", "-lc", step.command], step, key)
        case Patch():
            text = f"*** Begin Patch\n{step.body}\n*** End Patch"
            yield from _old_shell(["apply_patch", text], step, key)
        case Said():
            yield _assistant(step.text)
        case _:
            yield dict(step.record)


def _old_shell(command: list[str], step: Command | Patch, key: str) -> Iterator[Record]:
    arguments = json.dumps({"command": command}, ensure_ascii=False)
    exit_code = getattr(step, "exit_code", 0)
    metadata = {"exit_code": exit_code, "duration_seconds": 0.1}
    yield _call(f"call-{key}", "shell", arguments)
    yield _output(f"call-{key}", json.dumps({"output": step.output, "metadata": metadata}))


def _context_messages(session: Session) -> list[Record]:
    messages = []
    if session.agents_md is not None:
        rules = f"<INSTRUCTIONS>\n{session.agents_md}\n</INSTRUCTIONS>"
        messages.append(_user(f"# AGENTS.md instructions for {session.cwd}\n\n{rules}"))
    facts = f"  <cwd>{session.cwd}</cwd>\n  <shell>bash</shell>"
    return [*messages, _user(f"<environment_context>\n{facts}\n</environment_context>")]


def _meta(session: Session, **more: Any) -> Record:
    payload: Record = {
        "id": session.thread_id,
        "timestamp": session.started_at,
        "cwd": session.cwd,
        "originator": session.originator,
        **more,
    }
    if session.source is not None:
        payload["source"] = session.source
    if session.git:
        payload["git"] = session.git
    return {"type": "session_meta", "payload": {**payload, **session.meta}}


def _consent(session: Session, **more: Any) -> list[Record]:
    if session.memory_mode is None:
        return []
    record = _meta(session, **more)
    return [{**record, "payload": {**record["payload"], "memory_mode": session.memory_mode}}]


def _item(payload: Record) -> Record:
    return {"type": "response_item", "payload": payload}


def _event(kind: str, **fields: Any) -> Record:
    return {"type": "event_msg", "payload": {"type": kind, **fields}}


def _user(text: str) -> Record:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _assistant(text: str) -> Record:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content}


def _call(call_id: str, name: str, arguments: str) -> Record:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


def _output(call_id: str, output: str) -> Record:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _with_kinds(item: Record, kinds: list[str]) -> Record:
    return {**item, "internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}}
