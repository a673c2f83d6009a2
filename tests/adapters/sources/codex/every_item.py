"""One session with every kind of item, each with a marker of its own in its words.

The same kinds in the same shapes as the session on which Codex was observed, written anew.
"""

import json

from tests.adapters.sources.codex.rollout_files import (
    Json,
    agent,
    at,
    event,
    jsonl,
    meta,
    user,
    user_parts,
)


def item(kind: str, **fields: object) -> Json:
    """A ``response_item``."""
    return at(3, "response_item", {"type": kind, **fields})


def wrapped(tag: str, words: str) -> Json:
    """A user message that is one block."""
    return user(f"<{tag}>\n{words}\n</{tag}>")


def agents_md(words: str, path: str = "") -> str:
    """The block in which Codex hands over an instruction file."""
    heading = f"# AGENTS.md instructions{path}\n\n"
    return f"{heading}<INSTRUCTIONS>\n{words}\n</INSTRUCTIONS>"


INSTRUCTIONS = [
    meta(base_instructions={"text": "MK_BASE_INSTRUCTIONS"}),
    item("message", role="developer", content=[{"type": "input_text", "text": "MK_DEVELOPER"}]),
    item("message", role="system", content=[{"type": "input_text", "text": "MK_SYSTEM_ROLE"}]),
    user(agents_md("MK_AGENTS_OLD", " for /srv/shop")),
    user(agents_md("MK_AGENTS_NEW")),
    wrapped("user_instructions", "MK_USER_INSTRUCTIONS"),
    wrapped("environment_context", "<cwd>/srv/MK_ENVCTX</cwd>"),
    wrapped("skill", "<name>deploy</name>\nMK_SKILL"),
    user_parts([agents_md("MK_MIXED_AGENTS"), "And MK_MIXED_REST"]),
    user("Please follow <skill>MK_SKILL_INLINE</skill> here"),
    wrapped("turn_aborted", "MK_TURN_ABORTED"),
    wrapped("user_shell_command", "<command>ls MK_USER_SHELL</command>"),
    wrapped("subagent_notification", "MK_SUBAGENT_NOTIF"),
    user("MK_KIND_CONTEXT", kinds=["environments.environment_context"]),
    user("MK_KIND_USER", kinds=["user.text"]),
    user("MK_KIND_MULTIAGENT", kinds=["multi_agent.message"]),
    at(2, "turn_context", {"cwd": "/srv", "user_instructions": "MK_TURN_CONTEXT"}),
    at(2, "world_state", {"state": "MK_WORLD_STATE"}),
]
IMAGE = "data:image/png;base64,"
WORK = [
    user("Do MK_USER"),
    item(
        "message",
        role="user",
        content=[
            {"type": "input_text", "text": "See MK_IMAGE_TEXT"},
            {"type": "input_image", "image_url": f"{IMAGE}MK_IMAGE_URL"},
        ],
    ),
    item(
        "reasoning",
        summary=[{"type": "summary_text", "text": "MK_REASONING_SUMMARY"}],
        content=[{"type": "reasoning_text", "text": "MK_REASONING_CONTENT"}],
        encrypted_content="MK_REASONING_ENC",
    ),
    event("agent_reasoning", text="MK_EVENT_REASONING"),
    agent("MK_COMMENTARY", phase="commentary"),
    item(
        "function_call",
        name="shell",
        call_id="a",
        arguments=json.dumps({"command": ["bash", "-lc", "echo MK_FC_ARGS"]}),
    ),
    item(
        "function_call_output",
        call_id="a",
        output=json.dumps({"output": "MK_FCO_JSON", "metadata": {"exit_code": 0}}),
    ),
    item(
        "function_call",
        name="exec_command",
        call_id="b",
        arguments=json.dumps({"cmd": "echo MK_EXEC_ARGS"}),
    ),
    item(
        "function_call_output",
        call_id="b",
        output=[
            {"type": "input_text", "text": "MK_FCO_LIST"},
            {"type": "input_image", "image_url": f"{IMAGE}MK_FCO_IMG"},
        ],
    ),
    item("custom_tool_call", name="apply_patch", call_id="c", input="MK_CTC_INPUT"),
    item("custom_tool_call_output", call_id="c", output="MK_CTCO"),
    item(
        "local_shell_call",
        call_id="d",
        status="completed",
        action={"type": "exec", "command": ["echo", "MK_LOCAL_SHELL"]},
    ),
    item("function_call_output", call_id="d", output="MK_LOCAL_SHELL_OUT"),
    item("web_search_call", id="e", action={"type": "search", "query": "MK_WEB_SEARCH"}),
    item("tool_search_call", call_id="f", arguments={"query": "MK_TOOL_SEARCH"}),
    item("tool_search_output", call_id="f", tools=[{"name": "MK_TOOL_SEARCH_OUT"}]),
    item("image_generation_call", id="g", result="MK_IMAGEGEN"),
    item("ghost_snapshot", ghost_commit={"id": "MK_GHOST"}),
    item("compaction", encrypted_content="MK_COMPACTION_ITEM"),
    item("compaction_summary", encrypted_content="MK_COMPACTION_SUMMARY_ITEM"),
    item("context_compaction", encrypted_content="MK_CONTEXT_COMPACTION"),
    item("agent_message", author="/root/a", content=[{"type": "text", "text": "MK_AGENT_MESSAGE"}]),
    item("dream", text="MK_UNKNOWN_ITEM"),
    at(4, "inter_agent_communication", {"author": "/root/b", "content": "MK_IAC_CONTENT"}),
    at(4, "inter_agent_communication", {"author": "/root/b", "encrypted_content": "MK_IAC_ENC"}),
    at(
        5,
        "compacted",
        {
            "message": "MK_COMPACTED_MESSAGE",
            "replacement_history": [user("MK_COMPACTED_REPL")["payload"]],
        },
    ),
    agent(
        "Paid, as noted.\n<oai-mem-citation><rollout_ids>MK_CITATION</rollout_ids>"
        "</oai-mem-citation>",
        phase="final_answer",
    ),
]
LATER = [
    user("And the weather?"),
    event("agent_message", message="MK_EVENT_AGENT_MESSAGE"),
    user("And the time?"),
    item(
        "function_call",
        name="request_user_input",
        call_id="h",
        arguments=json.dumps({"questions": [{"id": "q", "question": "MK_RUI_QUESTION"}]}),
    ),
    item(
        "function_call_output",
        call_id="h",
        output=json.dumps({"answers": {"q": {"answers": ["MK_RUI_ANSWER"]}}}),
    ),
    agent("MK_ASSISTANT_NOPHASE"),
    user("And to end?"),
    agent("MK_FINAL", phase="final_answer"),
    user("MK_ROLLED_BACK_USER"),
    agent("MK_ROLLED_BACK_ASSISTANT", phase="final_answer"),
    event("thread_rolled_back", num_turns=1),
]
BROKEN = b"\n".join(
    (
        jsonl(user("MK_BEFORE_BROKEN"))[:-1],
        b"{not json",
        b'["MK_WEIRD"]',
        b'{"timestamp":"2026-12-01T12:00:05.000Z","type":"response_item",'
        b'"payload":{"type":"message","role":"user","content":"MK_STRING_CONTENT"}}',
        b'{"type":"response_item","payload":{"type":"message","role":"user",'
        b'"content":[{"type":"input_text","text":"MK_NO_TIMESTAMP"}]}}',
        jsonl(user("MK_AFTER_BROKEN")),
    )
)
SESSION = jsonl(*INSTRUCTIONS, *WORK, *LATER) + BROKEN
"""The file; its last lines are broken or odd ones among whole ones."""
