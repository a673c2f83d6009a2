"""Statements: the single things that stage-1 outputs say, each with the way back to its task."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from automemory_dagster.domain.raw_memory import RawMemory, TaskMemory, parse_raw_memory
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.thread import ThreadId

_PERSON = re.compile(
    r"(?:on \d{4}-\d\d-\d\d )?(?:after the agent said .*?, )?the user (?:decided|specified|said): "
)


class StatementKind(IntEnum):
    """What a statement is; of the same thing said twice, the stronger kind is shown."""

    KNOWLEDGE = 1
    FAILURE = 2
    PREFERENCE = 3


@dataclass(frozen=True, slots=True, order=True)
class TaskKey:
    """One task of one thread, in the order of time: what a statement leads back to."""

    updated_at: datetime
    thread_id: ThreadId
    index: int
    """Place of the task in its thread, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One bullet of one task."""

    kind: StatementKind
    text: str
    task: TaskKey
    position: int
    """Place in its task and section, from 0."""
    usage_count: int = 0

    @property
    def is_by_person(self) -> bool:
        """True for a person's words; what an agent found does not outweigh them."""
        return self.kind is StatementKind.PREFERENCE or bool(_PERSON.match(self.text))

    @property
    def order(self) -> tuple[TaskKey, int, int, str]:
        """Time order, and a total one whatever order the inputs came in."""
        return (self.task, self.position, self.kind, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTask:
    """A task with its thread."""

    key: TaskKey
    task: TaskMemory
    memory: RawMemory
    selected: SelectedOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What the selection holds of one project."""

    name: str
    """The repository, else the working folder, else ``unknown``."""
    tasks: tuple[ThreadTask, ...]
    """By time, then thread id: a new thread's tasks follow, so the others keep their numbers."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Working folders of its threads, sorted."""
        return tuple(sorted({item.selected.thread.cwd for item in self.tasks} - {""}))

    @property
    def usage_count(self) -> int:
        """Citations of its threads."""
        return sum(
            {item.key.thread_id: item.selected.output.usage_count for item in self.tasks}.values()
        )

    @property
    def updated_at(self) -> datetime:
        """Version of its newest thread."""
        return max(item.key.updated_at for item in self.tasks)


def read_projects(selection: Sequence[SelectedOutput]) -> tuple[Project, ...]:
    """The selection by project, by name; threads whose raw memory holds no task are left out."""
    tasks: dict[str, list[ThreadTask]] = {}
    for selected in selection:
        name = " ".join(selected.thread.project.split()) or "unknown"
        for task in _thread_tasks(selected):
            tasks.setdefault(name, []).append(task)
    return tuple(
        Project(name=name, tasks=tuple(sorted(tasks[name], key=lambda item: item.key)))
        for name in sorted(tasks)
    )


def statements_of(project: Project) -> tuple[Statement, ...]:
    """Everything a project's tasks say, oldest first."""
    found = [statement for item in project.tasks for statement in _task_statements(item)]
    return tuple(sorted(found, key=lambda statement: statement.order))


def _thread_tasks(selected: SelectedOutput) -> Iterator[ThreadTask]:
    memory = parse_raw_memory(selected.output.raw_memory)
    for index, task in enumerate(memory.tasks):
        key = TaskKey(selected.output.source_updated_at, selected.output.thread_id, index)
        yield ThreadTask(key=key, task=task, memory=memory, selected=selected)


def _task_statements(item: ThreadTask) -> Iterator[Statement]:
    sections = (
        (StatementKind.PREFERENCE, item.task.preference_signals),
        (StatementKind.KNOWLEDGE, item.task.reusable_knowledge),
        (StatementKind.FAILURE, item.task.failures),
    )
    for kind, bullets in sections:
        for position, text in enumerate(bullets):
            # A statement that is nothing but marks teaches nothing.
            if re.search(r"\w", text):
                yield Statement(
                    kind=kind,
                    text=text,
                    task=item.key,
                    position=position,
                    usage_count=item.selected.output.usage_count,
                )
