"""``MEMORY.md`` as data, and its text form: Codex's handbook of task groups.

The trap: text that came out of a rollout and would read as structure. Everything rendered here is
one line of plain text without HTML comments, so no session can forge a heading or the mark of a
person's line. Source: ``reference/codex-memory-spec.md``, section 6.2.
"""

import re
from dataclasses import dataclass

KEEP_MARK = "<!-- keep -->"
"""A line that carries it is a person's: never changed, never held against the format."""

GROUP_HEADING = "# Task Group: "
TASK_HEADING = "## Task "
SUMMARY_FILES_HEADING = "### rollout_summary_files"
KEYWORDS_HEADING = "### keywords"
PREFERENCES_HEADING = "## User preferences"
KNOWLEDGE_HEADING = "## Reusable knowledge"
FAILURES_HEADING = "## Failures and how to do differently"
BLOCK_HEADINGS = (PREFERENCES_HEADING, KNOWLEDGE_HEADING, FAILURES_HEADING)
"""The block-level sections of a group, in their order; each may be absent."""

_TASK_REFERENCE = re.compile(r"\[Task (\d+)\]")
_COMMENT_MARKS = re.compile(r"<!--+|--+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryReference:
    """One line under ``rollout_summary_files``: the way from a task back to its thread."""

    path: str
    """``rollout_summaries/<stem>.md``."""
    cwd: str
    rollout_path: str
    updated_at: str
    thread_id: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandbookTask:
    """One task section; its number is its place in the group, from 1."""

    title: str
    summaries: tuple[SummaryReference, ...]
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandbookLine:
    """A block-level bullet and the tasks of its group that it rests on, ascending."""

    text: str
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """One block of the handbook."""

    title: str
    scope: str
    applies_to: str
    reuse_rule: str
    tasks: tuple[HandbookTask, ...]
    preferences: tuple[HandbookLine, ...] = ()
    knowledge: tuple[HandbookLine, ...] = ()
    failures: tuple[HandbookLine, ...] = ()


def render_handbook(groups: tuple[TaskGroup, ...]) -> str:
    """``MEMORY.md``; empty when there is no group."""
    return "\n".join(render_group(group) for group in groups)


def render_group(group: TaskGroup) -> str:
    """One block, ending in a newline."""
    parts = [
        GROUP_HEADING + plain_line(group.title),
        f"scope: {plain_line(group.scope)}\n"
        f"applies_to: cwd={plain_line(group.applies_to)}; "
        f"reuse_rule={plain_line(group.reuse_rule)}",
    ]
    for number, task in enumerate(group.tasks, start=1):
        parts.append(f"{TASK_HEADING}{number}: {plain_line(task.title)}")
        parts.append(SUMMARY_FILES_HEADING)
        parts.append("\n".join(render_reference(reference) for reference in task.summaries))
        parts.append(KEYWORDS_HEADING)
        parts.append("- " + ", ".join(plain_line(word) for word in task.keywords))
    for heading, lines in zip(
        BLOCK_HEADINGS, (group.preferences, group.knowledge, group.failures), strict=True
    ):
        if lines:
            parts.append(heading)
            parts.append("\n".join(render_line(line) for line in lines))
    return "\n\n".join(parts) + "\n"


def render_reference(reference: SummaryReference) -> str:
    """One bullet under ``rollout_summary_files``."""
    facts = [
        f"cwd={plain_line(reference.cwd)}",
        f"rollout_path={plain_line(reference.rollout_path)}",
        f"updated_at={reference.updated_at}",
        f"thread_id={plain_line(reference.thread_id)}",
    ]
    if reference.note:
        facts.append(plain_line(reference.note))
    return f"- {reference.path} ({', '.join(facts)})"


def render_line(line: HandbookLine) -> str:
    """One block-level bullet with its task references."""
    references = "".join(f"[Task {number}]" for number in line.tasks)
    return f"- {plain_line(line.text)} {references}".rstrip()


def plain_line(text: str) -> str:
    """Text as one line that cannot be read as structure, as a mark or as a task reference."""
    one_line = " ".join(_COMMENT_MARKS.sub(" ", text).split())
    return _TASK_REFERENCE.sub(r"(Task \1)", one_line)


def task_references(line: str) -> tuple[int, ...]:
    """The numbers in ``[Task n]`` of a line, in order."""
    return tuple(int(number) for number in _TASK_REFERENCE.findall(line))


def without_task_references(line: str) -> str:
    """A bullet's words without the references at its end."""
    return re.sub(r"(?:\s*\[Task \d+\])+\s*$", "", line)
