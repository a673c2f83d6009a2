"""Recognises memory that was given to the agent, and takes citations of it apart.

The trap: a memory builder that reads its own output back as new evidence. Codex's memory and ours
are told by their own marks; citations are usage, never evidence.
"""

import re
from typing import Any

_CITATION = re.compile(r"<oai-mem-citation>(.*?)(?:</oai-mem-citation>|\Z)", re.DOTALL)
_ROLLOUT_IDS = re.compile(r"<rollout_ids>(.*?)(?:</rollout_ids>|\Z)", re.DOTALL)
_THREAD_ID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_MEMORY_FILE = re.compile(
    r"memories(?:_v2)?/+(?:MEMORY\.md|memory_summary\.md|raw_memories\.md|rollout_summaries|extensions)"
    r"|\.codex/memories\b|\.automemory\b"
)


def split_citations(text: str) -> tuple[str, list[str]]:
    """The text without citation blocks, and the thread ids they name, in order."""
    if "<oai-mem-citation>" not in text:
        return text, []
    cited: list[str] = []
    for block in _CITATION.finditer(text):
        for ids in _ROLLOUT_IDS.finditer(block[1]):
            cited += _THREAD_ID.findall(ids[1])
    return _CITATION.sub("", text).rstrip(), cited


def cited_in(citation: Any) -> list[str]:
    """Thread ids in an event's ``memory_citation`` object."""
    if not isinstance(citation, dict):
        return []
    ids = citation.get("rollout_ids")
    return _THREAD_ID.findall(" ".join(map(str, ids))) if isinstance(ids, list) else []


def reads_memory(command: str) -> bool:
    """True when a command names a memory file of Codex's or ours."""
    if "memor" not in command:
        return False
    return _MEMORY_FILE.search(command) is not None


def is_memory_text(text: str) -> bool:
    """True when a text holds a memory file's own marks."""
    # One rare character is found, or found missing, many times faster than a phrase.
    return (
        "_" in text and ("rollout_summary_file" in text or "MEMORY_SUMMARY BEGINS =" in text)
    ) or ("(" in text and "M" in text and "Merged stage-1 raw memories (" in text)
