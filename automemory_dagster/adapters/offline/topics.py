"""The index of the memory summary: a topic a thread, under its project and its day."""

from collections.abc import Iterator, Sequence

from automemory_dagster.adapters.offline.entries import is_passing_story
from automemory_dagster.adapters.offline.grouping import core_words, short_name
from automemory_dagster.adapters.offline.merging import ProjectLines
from automemory_dagster.adapters.offline.statements import StatementKind, ThreadTask
from automemory_dagster.adapters.offline.text import clip
from automemory_dagster.domain.memory_summary import OlderScope, Topic

_MAX_DAYS = 3
"""Memory days a scope shows in the recent part. Codex's number."""


def recent_topics(item: ProjectLines) -> Iterator[tuple[str, Topic]]:
    """Day and topic, newest first, of the last memory days; one topic a thread."""
    threads: dict[str, list[ThreadTask]] = {}
    for task in reversed(item.project.tasks):
        threads.setdefault(task.key.thread_id, []).insert(0, task)
    days: list[str] = []
    for tasks in threads.values():
        day = f"{tasks[0].key.updated_at:%Y-%m-%d}"
        if day not in days:
            days.append(day)
        if len(days) > _MAX_DAYS:
            return
        yield day, _topic(item, tasks)


def _topic(item: ProjectLines, tasks: Sequence[ThreadTask]) -> Topic:
    keys = {task.key for task in tasks}
    # Pitfalls stand in the general tips too, so what was found out comes first.
    lines = sorted(item.lines, key=lambda line: line.kind is StatementKind.FAILURE)
    learnt = [
        clip(core_words(line.text), 130)
        for line in lines
        if line.tasks & keys
        and line.kind is not StatementKind.PREFERENCE
        and not (is_passing_story(line.text) or line.outdated_by)
    ]
    name = _topic_name(tasks[0], 70)
    learnt = [words for words in learnt if not words.startswith(name.rstrip("[…] "))]
    return Topic(
        name=name,
        keywords=_topic_keywords(tasks[0], 5),
        description=_outcomes(tasks),
        learnings="; ".join(learnt[:2]),
    )


def _outcomes(tasks: Sequence[ThreadTask]) -> str:
    """How each task of a thread ended; the first one is named by the topic."""
    rest = [f"{clip(task.task.name, 60)} ({task.task.outcome})" for task in tasks[1:4]]
    more = [f"{len(tasks) - 4} more"] if len(tasks) > 4 else []
    return "; then: ".join([tasks[0].task.outcome, *filter(None, ["; ".join([*rest, *more])])])


def _topic_name(task: ThreadTask, limit: int) -> str:
    # The first colon of an entry ends its name.
    return clip(task.memory.task or task.task.name, limit).replace(": ", " - ")


def _topic_keywords(task: ThreadTask, count: int) -> tuple[str, ...]:
    project = short_name(task.selected.thread.project)
    return tuple(word for word in task.memory.keywords if word != project)[:count]


def older_scope(item: ProjectLines) -> OlderScope:
    """A project by the name of its newest thread alone."""
    tasks = item.project.tasks
    topic = Topic(
        name=_topic_name(tasks[-1], 60), keywords=_topic_keywords(tasks[-1], 3), description=""
    )
    return OlderScope(scope=item.project.name, topics=(topic,))
