"""The rollout summary: what happened in a thread, task by task, with its evidence.

Source of the format: ``reference/codex-memory-spec.md``, section 6.1.
"""

from collections.abc import Sequence

from automemory_dagster.adapters.offline.findings import lasting_answer
from automemory_dagster.adapters.offline.lesson import Lesson, Section
from automemory_dagster.adapters.offline.runs import Run, RunStatus
from automemory_dagster.adapters.offline.tasks import Task
from automemory_dagster.adapters.offline.text import clip, prose
from automemory_dagster.adapters.offline.turns import Turn
from automemory_dagster.domain.transcript import Transcript

_STEP_LIMIT = 240
_MAX_RUNS = 6
_MAX_FILES = 6


def key_steps(task: Task) -> list[Lesson]:
    """What was asked, done and answered in a task, as bullets whose section is ``REFERENCE``."""
    steps = []
    for turn in task.turns:
        for text, worth in _steps_of(turn):
            step = Lesson(section=Section.REFERENCE, text=text, worth=worth, turn=turn.number)
            steps.append(step)
    return steps


def render_summary(
    transcript: Transcript, title: str, tasks: Sequence[Task], lessons: Sequence[Lesson]
) -> str:
    """The summary, ending in a newline. ``lessons`` are the bullets and steps that have room."""
    lines = [f"# {title}", "", f"Rollout context: {_context(transcript, tasks)}"]
    kept = [(task, _of_task(lessons, task)) for task in tasks]
    for number, (task, own) in enumerate((pair for pair in kept if pair[1]), start=1):
        lines += ["", f"## Task {number}: {task.name}", "", f"Outcome: {task.outcome}"]
        for heading, section in (
            ("Preference signals", Section.PREFERENCE),
            ("Key steps", Section.REFERENCE),
            ("Failures and how to do differently", Section.FAILURE),
            ("Reusable knowledge", Section.KNOWLEDGE),
        ):
            texts = [lesson.text for lesson in own if lesson.section is section]
            if texts:
                lines += ["", f"{heading}:", *(f"- {text}" for text in texts)]
        references = _references(task, transcript.thread_id)
        if references:
            lines += ["", "References:"]
            lines += [f"{i}. {text}" for i, text in enumerate(references, start=1)]
    return "\n".join(lines) + "\n"


def _of_task(lessons: Sequence[Lesson], task: Task) -> list[Lesson]:
    numbers = {turn.number for turn in task.turns}
    return [lesson for lesson in lessons if lesson.turn in numbers]


def _context(transcript: Transcript, tasks: Sequence[Task]) -> str:
    count = sum(len(task.turns) for task in tasks)
    parts = [
        f"thread {transcript.thread_id}",
        f"in `{clip(transcript.cwd, 300)}`" if transcript.cwd else "",
        f"repository {clip(transcript.repository, 200)}" if transcript.repository else "",
        f"branch {clip(transcript.branch, 120)}" if transcript.branch else "",
        f"last written {transcript.updated_at}" if transcript.updated_at else "",
        f"{count} turn{'' if count == 1 else 's'} with a person",
    ]
    return ", ".join(part for part in parts if part) + "."


def _steps_of(turn: Turn) -> list[tuple[str, int]]:
    said = clip(prose(turn.request), _STEP_LIMIT)
    steps = [(f'the user: "{said}"', 60)] if said else []
    steps += [(_told(run), 30 if run.checks else 20) for run in _telling(turn.runs)]
    if turn.changed_files:
        steps.append((f"changed {_files(turn.changed_files)}", 35))
    steps += [(f"committed `{clip(commit, 120)}`", 30) for commit in turn.commits[:2]]
    if turn.is_aborted:
        steps.append(("the user stopped the turn", 50))
    elif turn.final:
        answer = clip(lasting_answer(turn), _STEP_LIMIT) or "with what held at that moment"
        steps.append((f"the agent answered: {answer}", 45))
    return steps


def _telling(runs: Sequence[Run]) -> list[Run]:
    telling = [run for run in runs if run.checks or run.status is RunStatus.FAILED]
    return telling[:2] + telling[2:][-(_MAX_RUNS - 2) :]


def _told(run: Run) -> str:
    if run.is_aborted:
        return f"ran `{run.command}`: stopped by the user"
    if run.status is RunStatus.FAILED:
        return f"ran `{run.command}`: failed" + (
            f" with {clip(run.error, 120)}" if run.error else ""
        )
    return f"ran `{run.command}`: {'passed' if run.status is RunStatus.OK else 'end unknown'}"


def _files(paths: Sequence[str]) -> str:
    more = len(paths) - _MAX_FILES
    return ", ".join(paths[:_MAX_FILES]) + (f" and {more} more" if more > 0 else "")


def _references(task: Task, thread_id: str) -> list[str]:
    """At most four lines: where in the thread the evidence stands."""
    numbers = [turn.number for turn in task.turns]
    span = f"turn {numbers[0]}" if len(numbers) == 1 else f"turns {numbers[0]} to {numbers[-1]}"
    references = [f"thread {thread_id}, {span}"]
    files = list(dict.fromkeys(path for turn in task.turns for path in turn.changed_files))
    if files:
        references.append(f"files: {_files(files)}")
    commits = [commit for turn in task.turns for commit in turn.commits]
    references += [f"commit: {clip(commit, 120)}" for commit in commits[:2]]
    return references
