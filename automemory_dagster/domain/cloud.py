"""The names that cloud tasks have here: threads, spaces, and what makes two goals the same."""

import hashlib
import unicodedata

from automemory_dagster.domain.thread import SpaceId, ThreadId

CLOUD = "cloud"
"""The source's name."""
_THREAD, _SPACE = "cloud:", "project:"


def thread_of(task_id: str) -> ThreadId:
    """The thread of a task."""
    return ThreadId(_THREAD + task_id)


def task_of(thread_id: str) -> str | None:
    """The task of a thread, or None when it is no cloud task's."""
    return thread_id.removeprefix(_THREAD) if thread_id.startswith(_THREAD) else None


def space_of(project_id: str) -> SpaceId:
    """The memory space of a project."""
    return SpaceId(_SPACE + project_id)


def project_of(space_id: str) -> str | None:
    """The project of a space, or None when it is no project's."""
    return space_id.removeprefix(_SPACE) if space_id.startswith(_SPACE) else None


def first_line(goal: str | None, prompt: str) -> str:
    """The first line of the goal that says anything, else of the prompt; without outer blanks."""
    lines = (line.strip() for text in (goal or "", prompt) for line in text.splitlines())
    return next((line for line in lines if line), "")


def goal_key(line: str) -> str:
    """What two first lines share when they mean the same goal: a digest of the line without
    differences of case, width, white space and closing punctuation. Empty for an empty line."""
    folded = " ".join(unicodedata.normalize("NFKC", line).casefold().split())
    folded = folded.rstrip(".!?。") or folded
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest() if folded else ""
