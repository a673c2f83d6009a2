"""Separates a person's words from what harness, IDE and clients put around them.

The trap, both ways: a filter on "starts with < or #" deletes real prompts, and no filter makes the
rules of AGENTS.md things that the person said. Only shapes that Codex and its clients are known to
write count as wrappers.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What becomes of a wrapper."""

    CONTEXT = "context"
    """Kept, as harness context."""
    OTHER_AGENT = "other_agent"
    """Kept, as another agent's words."""
    INJECTED = "injected"
    """Instructions and copies: dropped."""
    OWN_MEMORY = "own_memory"
    """Memory given to the agent: dropped, or it would be learnt again."""
    IMAGE = "image"
    """A placeholder for a picture: dropped."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One block that no person wrote."""

    label: str
    role: Role
    text: str


@dataclass(slots=True)
class SplitText:
    """A user text part taken apart: the person's words (may be empty) and the blocks around them,
    in order."""

    human: str
    wrappers: tuple[Wrapper, ...] = ()


_TAGS: dict[str, Role] = {
    "environment_context": Role.CONTEXT,
    "turn_aborted": Role.CONTEXT,
    "user_shell_command": Role.CONTEXT,
    "user_action": Role.CONTEXT,
    "hook_prompt": Role.CONTEXT,
    "goal_context": Role.CONTEXT,
    "subagent_notification": Role.OTHER_AGENT,
    "user_instructions": Role.INJECTED,
    "instructions": Role.INJECTED,
    "recommended_plugins": Role.INJECTED,
    "skill": Role.INJECTED,
    "skills_instructions": Role.INJECTED,
    "plugins_instructions": Role.INJECTED,
    "apps_instructions": Role.INJECTED,
    "permissions": Role.INJECTED,
    "collaboration_mode": Role.INJECTED,
    "multi_agent_mode": Role.INJECTED,
    "app-context": Role.INJECTED,
    "personality_spec": Role.INJECTED,
    "model_switch": Role.INJECTED,
    "memory_context": Role.OWN_MEMORY,
    "automemory": Role.OWN_MEMORY,
    "oai-mem-citation": Role.OWN_MEMORY,
}
_KIND_FAMILIES: dict[str, tuple[str, Role]] = {
    "multi_agent": ("agent", Role.OTHER_AGENT),
    "environments": ("environment", Role.CONTEXT),
    "hook": ("hook", Role.CONTEXT),
    "hooks": ("hook", Role.CONTEXT),
}
_ANSWER_TAG = "send_user_message_question_reply"

_OPENING = re.compile(r"<([a-zA-Z][\w-]*)(?:\s[^<>]*)?>")
_IMAGE_LINE = re.compile(
    r"^(?:<image(?: name=\[Image #\d+\][^<>\n]*)?>(?:</image>)?|</image>)[ \t]*$\n?", re.MULTILINE
)
_AGENTS_MD = re.compile(r"# AGENTS\.md instructions\b")
_AGENTS_MD_OPEN, _AGENTS_MD_END = "<INSTRUCTIONS>", "</INSTRUCTIONS>"
_MY_REQUEST = re.compile(r"^## My request for Codex:?[ \t]*\n?", re.MULTILINE)
_IDE_HEADING = re.compile(r"# (?:Context from my IDE setup|Files mentioned by the user)\b")
_USER_INPUT = re.compile(r"^## User Input[ \t]*\n", re.MULTILINE)
_PRIOR_CONVERSATION = re.compile(r"## Prior conversation with C")
_QUOTED_THREADS = (
    ("guardian_review", "The following is the Codex agent history"),
    (
        "compaction_summary",
        "Another language model started to solve this problem and produced a summary",
    ),
)
_FIRST_SIGNS = ("#", *(opening for _, opening in _QUOTED_THREADS))
_MEMORY_BLOCK = re.compile(
    r"=+ MEMORY_SUMMARY BEGINS =+.*?(?:=+ MEMORY_SUMMARY ENDS =+|\Z)", re.DOTALL
)
_MOST_BLOCKS = 64


def human_parts(text: str, *, is_labelled: bool = False) -> SplitText:
    """Take one text part of a user message apart. Real prompts that start with ``<`` or ``#`` come
    back whole.

    ``is_labelled``: Codex itself says that the part is the user's, so only what clients put around
    it is taken off.
    """
    rest = text.strip()
    if _is_bare(rest):
        return SplitText(rest)
    for label, opening in _QUOTED_THREADS:
        if rest.startswith(opening):
            return SplitText("", (Wrapper(label, Role.INJECTED, rest),))
    rest, inner = _without_inner_blocks(rest)
    if is_labelled:
        peeled = _peel_client(rest)
        front, rest = ([peeled[0]], peeled[1]) if peeled else ([], rest)
        return SplitText(rest.strip(), (*front, *inner))
    front, rest = _peel_all(rest, _peel_front)
    back, rest = _peel_all(rest, _peel_back)
    return SplitText(rest.strip(), (*front, *inner, *reversed(back)))


def _is_bare(text: str) -> bool:
    """True for nearly every prompt: none of the signs that all wrappers bear."""
    if "<" in text or text.startswith(_FIRST_SIGNS):
        return False
    return "_" not in text or "MEMORY_SUMMARY BEGINS" not in text


def _peel_all(
    text: str, peel: Callable[[str], tuple[Wrapper, str] | None]
) -> tuple[list[Wrapper], str]:
    wrappers: list[Wrapper] = []
    while len(wrappers) < _MOST_BLOCKS and (peeled := peel(text)) is not None:
        wrapper, text = peeled
        wrappers.append(wrapper)
    return wrappers, text


def is_whole_block(text: str) -> str | None:
    """The tag's name when the text is one ``<tag>…</tag>`` block, of whatever tag; else None."""
    stripped = text.strip()
    if not stripped.startswith("<"):
        return None
    opening = _OPENING.match(stripped)
    if opening is not None and stripped.endswith(f"</{opening[1]}>"):
        return opening[1]
    return None


def wrapper_of_kind(kind: str, text: str) -> Wrapper | None:
    """The wrapper that Codex's own label of a content part names; None when the label leaves it
    open or is a user's."""
    family = kind.split(".", 1)[0]
    if family in ("user", "unknown", ""):
        return None
    if "memor" in kind:
        return Wrapper("memory", Role.OWN_MEMORY, text)
    split = human_parts(text)
    if not split.human and len(split.wrappers) == 1:
        return split.wrappers[0]
    if kind.endswith("instructions"):
        return Wrapper(kind, Role.INJECTED, text)
    return Wrapper(*_KIND_FAMILIES.get(family, (kind, Role.INJECTED)), text)


def _peel_front(text: str) -> tuple[Wrapper, str] | None:
    if text.startswith("<"):
        return _peel_tag(text)
    if not text.startswith("#"):
        return None
    if _AGENTS_MD.match(text) and _AGENTS_MD_OPEN in text:
        end = text.rfind(_AGENTS_MD_END)
        cut = len(text) if end < 0 else end + len(_AGENTS_MD_END)
        return Wrapper("agents_md", Role.INJECTED, text[:cut]), text[cut:].lstrip()
    return _peel_client(text)


def _peel_tag(text: str) -> tuple[Wrapper, str] | None:
    opening = _OPENING.match(text)
    if opening is None:
        return None
    name = opening[1]
    role = _TAGS.get(name.lower())
    if role is None:
        return None
    closing = f"</{name}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None
    label = _label(name)
    inner = text[opening.end() : end].strip()
    return Wrapper(label, role, inner), text[end + len(closing) :].lstrip()


def _peel_client(text: str) -> tuple[Wrapper, str] | None:
    request = _MY_REQUEST.search(text)
    if request is not None and text.startswith("# "):
        return Wrapper("ide", Role.CONTEXT, text[: request.start()].strip()), text[request.end() :]
    if _IDE_HEADING.match(text):
        return Wrapper("ide", Role.CONTEXT, text), ""
    if request is not None and request.start() == 0:
        return Wrapper("ide", Role.CONTEXT, ""), text[request.end() :]
    user_input = _USER_INPUT.search(text)
    if user_input is not None and user_input.start() == 0:
        return Wrapper("client", Role.INJECTED, ""), text[user_input.end() :]
    if _PRIOR_CONVERSATION.match(text):
        cut = len(text) if user_input is None else user_input.start()
        return Wrapper("prior_conversation", Role.INJECTED, text[:cut]), text[cut:]
    return None


def _peel_back(text: str) -> tuple[Wrapper, str] | None:
    if not text.endswith(">"):
        return None
    start = text.rfind("</")
    name = text[start + 2 : -1] if start >= 0 else ""
    role = _TAGS.get(name.lower())
    if role is None:
        return None
    opening = None
    for found in re.finditer(rf"^<{re.escape(name)}(?:\s[^<>]*)?>", text, re.MULTILINE):
        opening = found
    if opening is None:
        return None
    wrapper = Wrapper(_label(name), role, text[opening.end() : start].strip())
    return wrapper, text[: opening.start()].rstrip()


def _without_inner_blocks(text: str) -> tuple[str, list[Wrapper]]:
    inner: list[Wrapper] = []
    if "MEMORY_SUMMARY BEGINS" in text:
        inner += [Wrapper("memory", Role.OWN_MEMORY, m[0]) for m in _MEMORY_BLOCK.finditer(text)]
        text = _MEMORY_BLOCK.sub("", text)
    if "image>" in text or "<image" in text:
        inner += [Wrapper("image", Role.IMAGE, found[0]) for found in _IMAGE_LINE.finditer(text)]
        text = _IMAGE_LINE.sub("", text).strip()
    answer = f"<{_ANSWER_TAG}>"
    if answer in text:
        text = text.replace(answer, "").replace(f"</{_ANSWER_TAG}>", "")
    return text, inner


def _label(name: str) -> str:
    return "environment" if name.lower() == "environment_context" else name.lower()
