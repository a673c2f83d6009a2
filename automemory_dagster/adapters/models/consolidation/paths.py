"""Which files the agent may see and change: a short list of names, compared letter by letter.

The trap: a name that some file system takes for another (another case, a look-alike letter, a
device). So nothing is normalised: a new name must be plain ASCII of a known form, and a name that
only differs in case from one that is there is refused.
"""

import re
from collections.abc import Collection

from automemory_dagster.domain.artifacts import (
    MEMORY,
    MEMORY_SUMMARY,
    RAW_MEMORIES,
    ROLLOUT_SUMMARIES,
)

SKILLS = "skills/"
_SKILL_FILE = re.compile(
    r"skills/[a-z0-9][a-z0-9-]{0,63}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}){1,3}", re.ASCII
)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


class Refused(Exception):
    """A tool call that changed nothing; the message is one sentence for the agent."""


def is_readable(path: str) -> bool:
    """True for the memory files, their inputs and skills; a person's other files are not shown."""
    if path in (MEMORY, MEMORY_SUMMARY, RAW_MEMORIES):
        return True
    folder, _, name = path.rpartition("/")
    return (folder == ROLLOUT_SUMMARIES and name.endswith(".md")) or path.startswith(SKILLS)


def check_writable(path: str, existing: Collection[str]) -> None:
    """Accept a path that the agent may write.

    Raises:
        Refused: it is none; says which are.
    """
    if path in (MEMORY, MEMORY_SUMMARY):
        return
    if path == RAW_MEMORIES or path.startswith(f"{ROLLOUT_SUMMARIES}/"):
        raise Refused(f"{path} is an input and cannot be changed; nothing was written.")
    parts = path.split("/")
    if not _SKILL_FILE.fullmatch(path) or any(
        part.endswith(".") or _DEVICE.fullmatch(part) for part in parts
    ):
        raise Refused(
            f"{shown(path)} cannot be written; nothing was. Only {MEMORY}, {MEMORY_SUMMARY} and "
            "skills/<name>/<file> can be, <name> of lower-case letters, digits and hyphens, "
            "<file> of letters, digits, '_', '-' and '.'."
        )
    for known in existing:
        if _differs_in_case_only(path, known):
            raise Refused(
                f"{path} differs only in case from {known}, which is there; nothing was written."
            )


def shown(path: str) -> str:
    """A path from outside, safe to repeat: escaped and not too long."""
    return ascii(path if len(path) <= 80 else path[:80] + "...")


def _differs_in_case_only(path: str, known: str) -> bool:
    # A folder that differs only in case is the same folder elsewhere, so each beginning counts.
    for one, other in zip(path.split("/"), known.split("/"), strict=False):
        if one != other:
            return one.casefold() == other.casefold()
    return False
