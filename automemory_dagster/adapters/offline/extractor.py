"""The offline extractor: one transcript in, one memory out, without a model.

Rules only, so that the same transcript always gives the same bytes and costs nothing. What it knows
of meaning is in ``cues`` (a person's words), ``findings`` (the agent's answers), ``failures`` (the
commands); ``docs/offline-extractor.md`` tells what it sees and what it cannot.
"""

from collections.abc import Sequence
from itertools import pairwise

from automemory_dagster.adapters.offline.budget import fit, without_repeats
from automemory_dagster.adapters.offline.cues import is_correction
from automemory_dagster.adapters.offline.failures import lessons_of_checks, lessons_of_failures
from automemory_dagster.adapters.offline.findings import after_correction, lessons_of_agent
from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.preferences import Surroundings, lessons_of_person
from automemory_dagster.adapters.offline.slug import keywords_of, slug_of
from automemory_dagster.adapters.offline.summary import key_steps, render_summary
from automemory_dagster.adapters.offline.tasks import Task, overall_outcome, split_into_tasks
from automemory_dagster.adapters.offline.text import clip, language_of, one_line, sentences
from automemory_dagster.adapters.offline.turns import Turn, read_turns
from automemory_dagster.domain.raw_memory import RawMemory, TaskMemory, render_raw_memory
from automemory_dagster.domain.spend import Work
from automemory_dagster.domain.stage1 import ExtractedMemory, Extraction, NoOutput, ParsedAnswer
from automemory_dagster.domain.transcript import Transcript

RAW_MEMORY_LIMIT_BYTES = 6_000
"""UTF-8 bytes of a raw memory at most."""
SUMMARY_LIMIT_BYTES = 8_000
"""UTF-8 bytes of a rollout summary at most."""
_MAX_TASKS = 12
_MAX_FILES = 8


class OfflineExtractor:
    """Finds what is worth remembering by rules. Pure and safe to share between threads."""

    @property
    def version(self) -> str:
        """``offline/1``; a change of the rules that changes outputs changes the number."""
        return "offline/1"

    def extract(self, transcript: Transcript, work: Work) -> Extraction:
        """See the port for the contract. It costs nothing, so ``work`` is not read."""
        return Extraction(answer=self.answer(transcript))

    def answer(self, transcript: Transcript) -> ParsedAnswer:
        """The thread's memory, or ``NoOutput`` when no bullet is worth keeping. Never raises."""
        turns = read_turns(transcript)
        if not turns:
            return NoOutput(why="no words of a person")
        tasks = _at_most(split_into_tasks(turns), _MAX_TASKS)
        project = project_of(transcript)
        lessons = without_repeats(_lessons(tasks, transcript, project))
        if max((lesson.worth for lesson in lessons), default=0) < Worth.KEEP_FROM:
            return NoOutput(why="no preference, failure or finding worth keeping")
        return ExtractedMemory(
            raw_memory=_raw_memory(transcript, project, tasks, lessons),
            rollout_summary=_summary(transcript, tasks, lessons),
            rollout_slug=slug_of(transcript.title, turns[0].request, project, _files(turns)),
        )


def project_of(transcript: Transcript) -> str:
    """The short name of a thread's project: the repository's last part, else the folder's."""
    place = transcript.repository or transcript.cwd
    return clip(place.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1], 80)


def _lessons(tasks: Sequence[Task], transcript: Transcript, project: str) -> list[Lesson]:
    turns = [turn for task in tasks for turn in task.turns]
    found: list[Lesson] = []
    previous: Turn | None = None
    corrections = _corrections(turns)
    for task in tasks:
        for turn in task.turns:
            around = Surroundings(
                project=project,
                task=task.name,
                date=transcript.updated_at[:10],
                previous=previous,
                thread_uses_tools=any(turn.tool_calls for turn in turns),
            )
            found += lessons_of_person(turn, around)
            findings = lessons_of_agent(turn, task.name)
            found += after_correction(findings, corrections.get(turn.number, []))
            previous = turn
        found += _traces(task)
    found += lessons_of_failures(turns) + lessons_of_checks(turns) + _language(turns)
    return sorted(found, key=lambda lesson: lesson.turn)


def _corrections(turns: Sequence[Turn]) -> dict[int, list[str]]:
    """Number of a turn to the sentences of the next one that turn against it."""
    return {
        turn.number: [part for part in sentences(following.request) if is_correction(part)]
        for turn, following in pairwise(turns)
    }


def _traces(task: Task) -> list[Lesson]:
    last = task.turns[-1].number
    files = _files(task.turns)
    commits = [commit for turn in task.turns for commit in turn.commits]
    lines = []
    if files:
        more = f" and {len(files) - _MAX_FILES} more" if len(files) > _MAX_FILES else ""
        lines.append((f"changed files: {', '.join(files[:_MAX_FILES])}{more}", Worth.CHANGED))
    shown = dict(run.shown for turn in task.turns for run in turn.runs if run.shown)
    lines += [(f"{path} then held: {text}", Worth.CHANGED) for path, text in shown.items()]
    lines += [(f"commit: {clip(commit, 120)}", Worth.COMMIT) for commit in commits[-2:]]
    return [
        Lesson(section=Section.REFERENCE, text=text, worth=worth, turn=last)
        for text, worth in lines
    ]


def _language(turns: Sequence[Turn]) -> list[Lesson]:
    """The language of a person who writes no English at all, as a weak wish for answers in it."""
    languages = {language_of(turn.request) for turn in turns if turn.request}
    answers = {language_of(turn.final) for turn in turns if turn.final}
    if len(languages) != 1 or languages == {""} or not languages >= answers:
        return []
    language = languages.pop()
    text = f"the user wrote only {language} and was answered in {language} -> answer in {language}"
    return [
        Lesson(section=Section.PREFERENCE, text=text, worth=Worth.LANGUAGE, turn=turns[0].number)
    ]


def _files(turns: Sequence[Turn]) -> list[str]:
    return list(dict.fromkeys(path for turn in turns for path in turn.changed_files))


def _raw_memory(
    transcript: Transcript, project: str, tasks: Sequence[Task], lessons: Sequence[Lesson]
) -> str:
    best = max(lessons, key=lambda lesson: lesson.worth)
    main = tasks[0].name
    names = [path for task in tasks for turn in task.turns for path in turn.changed_files]
    names += [c.command for t in tasks for turn in t.turns for run in turn.runs for c in run.checks]
    keywords = keywords_of(project, names, [lesson.text for lesson in lessons])

    def render(kept: Sequence[Lesson]) -> str:
        memory = RawMemory(
            description=clip(f"{main}; {_headline(best)}", 280),
            task=main,
            task_group=project or "unknown",
            task_outcome=overall_outcome(tasks),
            cwd=clip(transcript.cwd, 500) or "unknown",
            keywords=tuple(clip(word, 60) for word in keywords),
            tasks=_task_memories(tasks, kept),
        )
        return render_raw_memory(memory)

    return fit(lessons, render, RAW_MEMORY_LIMIT_BYTES)


def _headline(lesson: Lesson) -> str:
    """A bullet in short: of a preference only the person's words."""
    _, asked, rest = lesson.text.partition(", the user asked: ")
    if not asked or lesson.section is not Section.PREFERENCE:
        return lesson.text
    return f"the user asked: {rest.partition(' -> ')[0]}"


def _task_memories(tasks: Sequence[Task], kept: Sequence[Lesson]) -> tuple[TaskMemory, ...]:
    memories = []
    for task in tasks:
        numbers = {turn.number for turn in task.turns}
        own = [lesson for lesson in kept if lesson.turn in numbers]
        if own:
            memories.append(_task_memory(task, own))
    return tuple(memories)


def _task_memory(task: Task, own: Sequence[Lesson]) -> TaskMemory:
    def texts(section: Section) -> tuple[str, ...]:
        return tuple(one_line(lesson.text) for lesson in own if lesson.section is section)

    return TaskMemory(
        name=task.name,
        outcome=task.outcome,
        preference_signals=texts(Section.PREFERENCE),
        reusable_knowledge=texts(Section.KNOWLEDGE),
        failures=texts(Section.FAILURE),
        references=texts(Section.REFERENCE),
    )


def _summary(transcript: Transcript, tasks: Sequence[Task], lessons: Sequence[Lesson]) -> str:
    steps = [step for task in tasks for step in key_steps(task)]
    facts = [lesson for lesson in lessons if lesson.section is not Section.REFERENCE]
    bullets = sorted([*facts, *steps], key=lambda lesson: lesson.turn)
    title = tasks[0].name
    if len(tasks) > 1:
        title = clip(f"{title}; then {tasks[1].name}", 160)
    return fit(
        bullets,
        lambda kept: render_summary(transcript, title, tasks, kept),
        SUMMARY_LIMIT_BYTES,
    )


def _at_most(tasks: tuple[Task, ...], limit: int) -> tuple[Task, ...]:
    """The tasks; those of a long thread joined to as few groups of neighbours."""
    if len(tasks) <= limit:
        return tasks
    size = -(-len(tasks) // limit)
    groups = [tasks[i : i + size] for i in range(0, len(tasks), size)]
    return tuple(
        Task(
            name=clip(group[0].name, 90),
            turns=tuple(turn for task in group for turn in task.turns),
            outcome=overall_outcome(group),
        )
        for group in groups
    )
