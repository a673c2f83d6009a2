"""Where a thread comes from: who started it, and which repository it works on.

The trap: a remote URL is a favourite hiding place of tokens; only host and path are ever kept.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from automemory_dagster.domain.thread import SourceKind

_KIND_OF_WORD = {
    "cli": SourceKind.INTERACTIVE,
    "vscode": SourceKind.INTERACTIVE,
    "atlas": SourceKind.INTERACTIVE,
    "chatgpt": SourceKind.INTERACTIVE,
    "exec": SourceKind.EXEC,
    "mcp": SourceKind.MCP,
    "subagent": SourceKind.SUBAGENT,
    "guardian": SourceKind.GUARDIAN_REVIEW,
    "guardian_review": SourceKind.GUARDIAN_REVIEW,
    "internal": SourceKind.INTERNAL,
    "memory_consolidation": SourceKind.INTERNAL,
}
_NEVER_A_PERSON = frozenset({SourceKind.SUBAGENT, SourceKind.GUARDIAN_REVIEW, SourceKind.INTERNAL})
_OWN_ORIGINATOR = "automemory"
_EXEC_ORIGINATOR = "codex_exec"

_SCP_LIKE = re.compile(r"(?:[^/\s]*@)?(?P<host>\[[0-9a-fA-F:]+\]|[^/:@\s]{2,}):(?P<path>[^\s]+)")
_MAX_REPOSITORY = 300


def source_of(meta: Mapping[str, object]) -> tuple[SourceKind, str]:
    """Kind and plain name of what started a thread, from its ``session_meta`` payload.

    ``source`` is a string, an object or absent; what is under ``subagent`` is a string or an object
    again. ``thread_source`` and ``parent_thread_id`` can only take a person away, never add one.
    """
    path = _words(meta.get("source"))
    detail = ": ".join(path)
    kind = _kind_of_words(path, originator=_text(meta.get("originator")))
    second = _KIND_OF_WORD.get(_text(meta.get("thread_source")).lower())
    if second in _NEVER_A_PERSON and kind not in _NEVER_A_PERSON:
        return second, detail or _text(meta.get("thread_source"))
    has_parent = bool(_text(meta.get("parent_thread_id")))
    if has_parent and kind not in _NEVER_A_PERSON and meta.get("thread_source") != "user":
        return SourceKind.SUBAGENT, detail or "has a parent thread"
    return kind, detail


def repository_of(url: object) -> str:
    """``host/owner/name`` of a remote URL; empty for a local path and for what is no URL.

    Scheme, user, password, token, port, query and ``.git`` are dropped; the host is in lower case.
    """
    text = _text(url).strip()
    host, path = _host_and_path(text)
    parts = [part for part in path.split("/") if part]
    if not host or not parts:
        return ""
    parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    return "/".join([host.lower(), *parts])[:_MAX_REPOSITORY]


def _host_and_path(text: str) -> tuple[str, str]:
    if "://" in text:
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
        except ValueError:
            return "", ""
        return ("", "") if parts.scheme.lower() == "file" else (host, parts.path)
    found = _SCP_LIKE.fullmatch(text)
    # ``codecommit::region`` and ``C:/folder`` are no hosts.
    if found is None or found["path"].startswith((":", "\\")):
        return "", ""
    return found["host"].strip("[]"), found["path"].split("?")[0].split("#")[0]


def _kind_of_words(path: list[str], *, originator: str) -> SourceKind:
    own = originator.lower()
    if own.startswith(_OWN_ORIGINATOR):
        return SourceKind.INTERNAL
    if not path:
        # Nothing is said, as before version 0.40.
        return SourceKind.EXEC if own == _EXEC_ORIGINATOR else SourceKind.INTERACTIVE
    words = [word.lower() for word in path]
    head = words[0]
    if head == "custom":
        return (
            _KIND_OF_WORD.get(words[-1], SourceKind.OTHER) if len(words) > 1 else SourceKind.OTHER
        )
    if head == "subagent":
        last = _KIND_OF_WORD.get(words[-1], SourceKind.SUBAGENT)
        return last if last in _NEVER_A_PERSON else SourceKind.SUBAGENT
    return _KIND_OF_WORD.get(head, SourceKind.OTHER)


def _words(source: object) -> list[str]:
    """``{"subagent": {"other": "guardian"}}`` as ``subagent``, ``other``, ``guardian``.

    Two levels of keys at most: below them stand ids and paths, not kinds.
    """
    words: list[str] = []
    for _ in range(2):
        if not isinstance(source, dict) or not source:
            break
        key = next(iter(source))
        words.append(str(key))
        source = source[key]
    if isinstance(source, str) and source.strip():
        return [*words, source.strip()]
    return words if words or not source else ["unknown"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
