"""A thread's turns as tasks, each with its name and its outcome.

A turn that only corrects, prefers, confirms or follows up belongs to the task before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.cues import Cue, cue_of, is_correction
from automemory_dagster.adapters.offline.failures import has_unsolved_failure
from automemory_dagster.adapters.offline.findings import is_unable
from automemory_dagster.adapters.offline.phrases import without_lead_in
from automemory_dagster.adapters.offline.text import clip, sentences
from automemory_dagster.adapters.offline.turns import Turn

NAME_LIMIT = 90
_WORK = frozenset({Cue.REQUEST, Cue.QUESTION, Cue.REQUIREMENT, Cue.FACT, Cue.NONE, Cue.DECISION})
_FOLLOWS_UP = re.compile(
    r"^\W*(?:and|now|then|also|ok(?:ay)?|yes|fix (?:it|this|that|the \w+ then)|commit|push|do it"
    r"|go on|continue|try again|again|merge it|run it|ship it|where were we)\b"
    r"|^(?:提交|现在提交|继续|再|然后|コミット|続け|もう一度|あと)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Turns that pursue one aim."""

    name: str
    turns: tuple[Turn, ...]
    outcome: str
    """``success``, ``partial``, ``fail`` or ``uncertain``."""


def split_into_tasks(turns: Sequence[Turn]) -> tuple[Task, ...]:
    """The turns as tasks, in order; every turn is in exactly one."""
    groups: list[list[Turn]] = []
    for turn in turns:
        if groups and not _opens_task(turn):
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return tuple(
        Task(name=task_name(group[0]), turns=tuple(group), outcome=_outcome(group))
        for group in groups
    )


def overall_outcome(tasks: Sequence[Task]) -> str:
    """The outcome on which all tasks agree; else ``partial`` when any failed; else the best."""
    outcomes = {task.outcome for task in tasks}
    if len(outcomes) == 1:
        return outcomes.pop()
    if outcomes & {"fail", "partial"}:
        return "partial"
    return "success" if "success" in outcomes else "uncertain"


def task_name(turn: Turn) -> str:
    """The person's words that opened a task, as one short line."""
    parts = [part for part in sentences(turn.request) if cue_of(part) is not Cue.SMALL_TALK]
    name = ""
    for part in parts:
        joint = " " if name.endswith((".", "!", "?", "。", "！", "？", ":", "：")) else "; "
        longer = f"{name}{joint}{part}" if name else part
        if name and len(longer) > NAME_LIMIT:
            break
        name = longer
    return clip(without_lead_in(name), NAME_LIMIT) if name else f"turn {turn.number}"


def _opens_task(turn: Turn) -> bool:
    parts = [part for part in sentences(turn.request) if cue_of(part) is not Cue.SMALL_TALK]
    if not parts or any(map(is_correction, parts[:2])) or _FOLLOWS_UP.search(parts[0]):
        return False
    if not any(cue_of(part) in _WORK for part in parts):
        return False
    return turn.tool_calls > 0 and cue_of(parts[0]) in _WORK


def _outcome(turns: Sequence[Turn]) -> str:
    last = turns[-1]
    has_changes = any(turn.changes for turn in turns)
    if has_unsolved_failure(turns) or is_unable(last.final):
        return "partial" if has_changes else "fail"
    if last.is_aborted or not last.final:
        return "uncertain"
    return "success"
