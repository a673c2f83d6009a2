"""Makes a handbook's task group of a project, within bounds, every bullet with its way back."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.merging import MemoryLine
from automemory_dagster.adapters.offline.statements import (
    Project,
    StatementKind,
    TaskKey,
    ThreadTask,
)
from automemory_dagster.domain.artifacts import rfc3339, summary_path
from automemory_dagster.domain.handbook import (
    HandbookLine,
    HandbookTask,
    SummaryReference,
    TaskGroup,
    plain_line,
)

_LINE_CHARACTERS = 500
_BEFORE_CHARACTERS = 140
_MAX_BEFORE = 3
_MAX_FOLDERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBounds:
    """How much of a project the handbook shows."""

    tasks: int
    lines: int
    """Of each of the three sections."""


ALL_BOUNDS = tuple(
    GroupBounds(tasks=tasks, lines=lines)
    for tasks, lines in ((400, 80), (150, 40), (60, 20), (25, 12), (10, 6), (3, 3), (1, 1))
)
"""From roomy to tight; the first that fits the file's limit is taken."""


def build_group(project: Project, lines: Sequence[MemoryLine], bounds: GroupBounds) -> TaskGroup:
    """One project as a task group. Lines come most used and newest first, and stay so.

    Tasks are numbered by time. The newest and those that a shown line rests on are shown.
    """
    shown = {kind: _of_kind(lines, kind)[: bounds.lines] for kind in StatementKind}
    numbers = _numbers(project, [line for group in shown.values() for line in group], bounds)
    sections = {
        kind: tuple(
            HandbookLine(
                text=line_text(line),
                tasks=tuple(sorted(numbers[key] for key in line.tasks if key in numbers)),
            )
            for line in group
        )
        for kind, group in shown.items()
    }
    return TaskGroup(
        title=project.name,
        scope=_scope(project),
        applies_to=_folders(project),
        reuse_rule=f"holds in {short_name(project.name)}; check before using it elsewhere",
        tasks=tuple(_task(item) for item in project.tasks if item.key in numbers),
        preferences=sections[StatementKind.PREFERENCE],
        knowledge=sections[StatementKind.KNOWLEDGE],
        failures=sections[StatementKind.FAILURE],
    )


def line_text(line: MemoryLine) -> str:
    """A line as the handbook shows it, with what it replaces and what outdates it."""
    text = _clip(line.text, _LINE_CHARACTERS)
    for by in reversed(line.outdated_by):
        words = _clip(core_words(by.text), _BEFORE_CHARACTERS)
        text = f"(partly outdated since {by.task.updated_at:%Y-%m-%d}: {words}) {text}"
    if line.replaced:
        wishes = [old for old in line.replaced if old.is_by_person] or line.replaced[:1]
        before = [_clip(core_words(old.text), _BEFORE_CHARACTERS) for old in wishes]
        shown = " / ".join(dict.fromkeys(before[:_MAX_BEFORE]))
        text = f"{text} (no longer: {shown})"
    return text


def bare_words(bullet: str) -> str:
    """A shown line's words without what ``line_text`` put around them."""
    text = re.sub(r"^(?:\(partly outdated since \d{4}-\d\d-\d\d: .*?\) )+", "", bullet)
    return re.sub(r" \(no longer: .*\)$", "", text)


def core_words(text: str) -> str:
    """What a person asked for, without the situation and the quote's lead-in."""
    if match := _ASKED.match(text):
        quote, default = match["quote"], match["default"]
        return default if _says_as_much(default, quote) else quote
    if text.startswith("the user ") and " -> " in text:
        return text.rsplit(" -> ", 1)[1]
    match = re.match(
        r"(?:on \S+ )?(?:after the agent said .*?, )?the user (?:decided|specified|said): "
        r'"(?P<quote>.*)"$',
        text,
    )
    return match["quote"] if match else text


_ASKED = re.compile(r'when .*?, the user asked: "(?P<quote>.*)" -> (?P<default>.*)$')
_NEGATION = re.compile(
    r"\b(?:not?|never|don't|stop|without|instead|rather|avoid)\b|不|别|勿|ない|ません|ずに",
    re.IGNORECASE,
)


def _says_as_much(default: str, quote: str) -> bool:
    """The wording of the default is the extractor's: it may neither lose a no nor a command."""
    has_lost_no = bool(_NEGATION.search(quote)) and not _NEGATION.search(default)
    has_lost_code = any(code not in default for code in re.findall(r"`[^`]+`", quote))
    return not (has_lost_no or has_lost_code or default == "make this the default")


def short_name(project: str) -> str:
    """The last part of a repository or folder."""
    return project.rstrip("/").rsplit("/", 1)[-1] or project


def _of_kind(lines: Sequence[MemoryLine], kind: StatementKind) -> list[MemoryLine]:
    return [line for line in lines if line.kind is kind]


def _numbers(
    project: Project, lines: Iterable[MemoryLine], bounds: GroupBounds
) -> dict[TaskKey, int]:
    cited: dict[TaskKey, None] = {}
    for line in lines:
        # The newest task of a line is enough of a way back when there is no room for all.
        for key in sorted(line.tasks, reverse=True)[:3]:
            cited.setdefault(key)
    newest = [item.key for item in reversed(project.tasks)]
    wanted = list(dict.fromkeys([*cited, *newest]))
    kept = set(wanted[: max(bounds.tasks, len(cited))])
    ordered = [item.key for item in project.tasks if item.key in kept]
    return {key: number for number, key in enumerate(ordered, start=1)}


def _task(item: ThreadTask) -> HandbookTask:
    thread = item.selected.thread
    return HandbookTask(
        title=f"{_clip(item.task.name, 160) or 'untitled'}, {item.task.outcome}",
        summaries=(
            SummaryReference(
                path=summary_path(item.selected),
                cwd=thread.cwd or "unknown",
                rollout_path=thread.rollout_path,
                updated_at=rfc3339(item.key.updated_at),
                thread_id=item.key.thread_id,
                note=f"branch {thread.branch}" if thread.branch else "",
            ),
        ),
        keywords=item.memory.keywords[:12] or (short_name(thread.project),),
    )


def _scope(project: Project) -> str:
    threads = {item.key.thread_id: item.key.updated_at for item in project.tasks}
    first, last = min(threads.values()), max(threads.values())
    span = (
        f"{first:%Y-%m-%d}"
        if first.date() == last.date()
        else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    )
    count = f"{len(threads)} threads" if len(threads) > 1 else "one thread"
    return f"work in {short_name(project.name)}, {count}, {span}; read it before working there"


def _folders(project: Project) -> str:
    # The value ends at the next semicolon, so none may be inside.
    folders = [folder.replace(";", ",") for folder in project.folders]
    more = len(folders) - _MAX_FOLDERS
    shown = ", ".join(folders[:_MAX_FOLDERS])
    return (f"{shown} and {more} more" if more > 0 else shown) or "unknown"


def _clip(text: str, limit: int) -> str:
    line = plain_line(text)
    if len(line) <= limit:
        return line
    cut = line[:limit]
    at = cut.rfind(" ")
    return (cut[:at] if at > limit * 2 // 3 else cut).rstrip() + " […]"
