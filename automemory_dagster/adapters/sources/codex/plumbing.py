"""Which records are plumbing: told by kind alone, and by a line's first bytes before it is parsed.

About a third of a rollout is written for the harness and never read here. Both ways of telling
give the same answer: a line is skipped only when it opens as Codex writes it, its braces balance
and no second record is on it; every other line is parsed. A test holds the two against each other.
"""

import re
from typing import Any

KINDS = {
    "turn_context": "plumbing",
    "world_state": "plumbing",
    "token_usage_record": "plumbing",
    "retained_context": "plumbing",
    "security_risk_score": "plumbing",
    "realtime_item": "plumbing",
    "inter_agent_communication_metadata": "plumbing",
    "state": "plumbing",
    "compacted": "compacted",
}
"""Top-level types that never give evidence, and the reason they are counted under."""

ITEMS = {
    "reasoning": "reasoning",
    "ghost_snapshot": "plumbing",
    "additional_tools": "plumbing",
    "configuration_update": "plumbing",
    "image_generation_call": "plumbing",
    "tool_search_output": "plumbing",
    "compaction": "compacted",
    "compaction_summary": "compacted",
    "context_compaction": "compacted",
    "compaction_trigger": "compacted",
}
"""Types of ``response_item`` that never give evidence."""

EVENTS = {
    "agent_reasoning": "reasoning",
    "agent_reasoning_raw_content": "reasoning",
    "agent_reasoning_section_break": "reasoning",
    **dict.fromkeys(
        (
            "background_event",
            "collab_agent_interaction_end",
            "collab_agent_spawn_end",
            "collab_waiting_end",
            "context_compacted",
            "entered_review_mode",
            "error",
            "exec_command_begin",
            "exec_command_output_delta",
            "exited_review_mode",
            "guardian_assessment",
            "item_started",
            "mcp_startup_complete",
            "mcp_startup_update",
            "mcp_tool_call_begin",
            "patch_apply_begin",
            "plan_update",
            "session_configured",
            "shutdown_complete",
            "stream_error",
            "sub_agent_activity",
            "task_complete",
            "task_started",
            "thread_goal_updated",
            "thread_name_updated",
            "thread_settings_applied",
            "token_count",
            "turn_aborted",
            "turn_complete",
            "turn_diff",
            "turn_started",
            "view_image_tool_call",
            "warning",
            "web_search_begin",
            "web_search_end",
        ),
        "plumbing",
    ),
}
"""Kinds of ``event_msg`` that never give evidence."""

COMPLETED = {
    "Reasoning": "reasoning",
    **dict.fromkeys(
        (
            "CollabAgentToolCall",
            "ContextCompaction",
            "DynamicToolCall",
            "EnteredReviewMode",
            "ExitedReviewMode",
            "HookPrompt",
            "ImageGeneration",
            "ImageView",
            "McpToolCall",
            "Plan",
            "WebSearch",
        ),
        "plumbing",
    ),
}
"""Types of a completed item that never give evidence: items tell the same, or nobody needs it."""

_OPENING = re.compile(
    rb'\{"timestamp":"[^"\\]{0,64}",(?:"ordinal":\d{1,12},)?"type":"'
    rb'(?:event_msg","payload":\{"type":"(\w+)"|response_item","payload":\{"type":"(\w+)"'
    rb'|(\w+)"(?:,"payload":\{)?)'
)
_BY_KIND = {"event_msg": EVENTS, "response_item": ITEMS}
_EVENT_BYTES = {kind.encode(): reason for kind, reason in EVENTS.items()}
_ITEM_BYTES = {kind.encode(): reason for kind, reason in ITEMS.items()}
_KIND_BYTES = {kind.encode(): reason for kind, reason in KINDS.items()}
_BY_GROUP = (_KIND_BYTES, _EVENT_BYTES, _ITEM_BYTES, _KIND_BYTES)


def reason_of(kind: str, payload: dict[str, Any]) -> str | None:
    """Why a record gives no evidence, when its kind alone tells; else None."""
    by_type = _BY_KIND.get(kind)
    if by_type is None:
        return KINDS.get(kind)
    name = payload.get("type")
    return by_type.get(name) if isinstance(name, str) else None


def reason_by_first_bytes(line: bytes) -> str | None:
    """The same, from a line as Codex writes it and without parsing; None: parse it."""
    opening = _OPENING.match(line)
    if opening is None:
        return None
    group = opening.lastindex or 0
    reason = _BY_GROUP[group].get(opening[group])
    if reason is None or not line.endswith(b"}"):
        return None
    end = opening.end()
    if line.find(b"{", end) < 0 and opening[0].count(b"{") == 2:
        # Nothing opens any more: the two that are open have to close at the line's end, and only
        # there. Finding one byte is many times faster than counting it.
        return reason if line.find(b"}", end) == len(line) - 2 and line[-2] == 0x7D else None
    if line.find(b'{"timestamp"', 1) >= 0 or line.find(b"}{", end) >= 0:
        return None
    return reason if line.count(b"{") == line.count(b"}") else None
