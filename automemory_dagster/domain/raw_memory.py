"""The raw memory of one thread as data, and the text form that stage-1 outputs keep it in.

The text form is Codex's: front matter between ``---`` lines, then a ``### Task <n>: <name>`` block
a task with four kinds of bullets. Source: ``reference/codex-memory-spec.md``, section 6.1.

The trap: a model writes this text as well, and writes it loosely. ``parse_raw_memory`` therefore
reads any text without complaint; what it does not understand is kept as a bullet or ignored, never
an error. Quality is judged elsewhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from automemory_dagster.domain.raw_memory_text import (
    BULLET,
    FIELD_LINE,
    FIELDS,
    TASK_HEADING,
    clean_bullets,
    clean_keywords,
    one_line,
    outcome_of,
    quoted,
    section_of,
    split_keywords,
    unquoted,
)

OUTCOMES = ("success", "partial", "fail", "uncertain")
"""The outcomes a task may have. Source: Codex's stage-one format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMemory:
    """What one task of a thread taught. Every tuple may be empty; every string is one line."""

    name: str
    outcome: str
    """``success``, ``partial``, ``fail`` or ``uncertain``."""
    preference_signals: tuple[str, ...] = ()
    reusable_knowledge: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """Symptom, cause and fix, and how to do it differently."""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawMemory:
    """One thread's memory before consolidation."""

    description: str
    task: str
    task_group: str
    task_outcome: str
    cwd: str
    keywords: tuple[str, ...]
    tasks: tuple[TaskMemory, ...]


def render_raw_memory(memory: RawMemory) -> str:
    """The text form, ending in a newline; ``parse_raw_memory`` gives the same memory back.

    White space inside a string, line breaks too, becomes one space; blank bullets and empty
    sections are left out; commas inside a keyword become spaces.
    """
    lines = ["---"]
    lines += [f"{name}: {quoted(value)}" for name, value in _front_matter(memory)]
    lines += [f"keywords: {', '.join(clean_keywords(memory.keywords))}", "---"]
    for number, task in enumerate(memory.tasks, start=1):
        lines += ["", f"### Task {number}: {one_line(task.name)}", ""]
        lines += [
            f"task: {one_line(task.name)}",
            f"task_group: {one_line(memory.task_group)}",
            f"task_outcome: {outcome_of(task.outcome)}",
        ]
        for title, bullets in _sections(task):
            kept = clean_bullets(bullets)
            if kept:
                lines += ["", f"{title}:", *(f"- {bullet}" for bullet in kept)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def parse_raw_memory(text: str) -> RawMemory:
    """Read the text form, written by ``render_raw_memory`` or, loosely, by a model. Never raises.

    Tolerated: a code fence around it, missing or unclosed front matter, other heading levels, bold
    headings, ``*`` and numbered bullets, wrapped and nested bullets (joined to their parent),
    bullets outside any section (knowledge) and outside any task (a task named by the front matter),
    other words for an outcome (else ``uncertain``). Missing fields are empty, ``cwd`` ``unknown``.
    """
    lines = _unfenced(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    start = next((i for i, line in enumerate(lines) if _opens_body(line)), len(lines))
    fields, loose = _read_front_matter(lines[:start])
    tasks = _read_tasks([*loose, *lines[start:]], default_name=fields.get("task", ""))
    return RawMemory(
        description=fields.get("description", ""),
        task=fields.get("task", ""),
        task_group=fields.get("task_group", ""),
        task_outcome=outcome_of(fields.get("task_outcome", "")),
        cwd=fields.get("cwd") or "unknown",
        keywords=clean_keywords(split_keywords(fields.get("keywords", ""))),
        tasks=tasks,
    )


@dataclass(slots=True)
class _OpenTask:
    name: str
    outcome: str = ""
    section: str = ""
    bullets: dict[str, list[str]] = field(default_factory=dict)

    def add(self, text: str) -> None:
        self.bullets.setdefault(self.section or "reusable_knowledge", []).append(one_line(text))

    def extend(self, text: str) -> None:
        bullets = self.bullets.setdefault(self.section or "reusable_knowledge", [])
        if not bullets:
            bullets.append("")
        bullets[-1] = one_line(f"{bullets[-1]} {text}")

    def closed(self, default_name: str) -> TaskMemory:
        def bullets(section: str) -> tuple[str, ...]:
            return clean_bullets(self.bullets.get(section, ()))

        return TaskMemory(
            name=self.name or default_name,
            outcome=outcome_of(self.outcome),
            preference_signals=bullets("preference_signals"),
            reusable_knowledge=bullets("reusable_knowledge"),
            failures=bullets("failures"),
            references=bullets("references"),
        )


def _front_matter(memory: RawMemory) -> tuple[tuple[str, str], ...]:
    return (
        ("description", one_line(memory.description)),
        ("task", one_line(memory.task)),
        ("task_group", one_line(memory.task_group)),
        ("task_outcome", outcome_of(memory.task_outcome)),
        ("cwd", one_line(memory.cwd) or "unknown"),
    )


def _sections(task: TaskMemory) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("Preference signals", task.preference_signals),
        ("Reusable knowledge", task.reusable_knowledge),
        ("Failures and how to do differently", task.failures),
        ("References", task.references),
    )


def _read_front_matter(lines: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The fields, and the bullets that stand among them without belonging to one."""
    fields: dict[str, str] = {}
    loose: list[str] = []
    last = ""
    for line in lines:
        match = FIELD_LINE.fullmatch(line.strip())
        if match and match[1].lower() in FIELDS:
            last = match[1].lower()
            fields[last] = one_line(match[2])
        elif line.strip() == "---":
            last = ""
        elif last == "keywords" and (item := BULLET.fullmatch(line)):
            fields[last] = f"{fields[last]}, {item[2]}"
        elif last and line.startswith(" "):
            fields[last] = one_line(f"{fields[last]} {line}")
        elif BULLET.fullmatch(line):
            loose.append(line)
    return {name: unquoted(value) for name, value in fields.items()}, loose


def _read_tasks(lines: Iterable[str], default_name: str) -> tuple[TaskMemory, ...]:
    tasks: list[_OpenTask] = []
    for line in lines:
        heading = TASK_HEADING.fullmatch(line.strip())
        if heading:
            name = heading[2].rstrip("* ") if heading[1] else heading[2]
            tasks.append(_OpenTask(name=one_line(name)))
        elif line.strip() and line.strip() != "---":
            if not tasks:
                tasks.append(_OpenTask(name=""))
            _read_task_line(tasks[-1], line)
    return tuple(task.closed(default_name) for task in tasks)


def _read_task_line(task: _OpenTask, line: str) -> None:
    bullet = BULLET.fullmatch(line)
    if bullet:
        is_nested = len(bullet[1]) >= 2 and bool(task.bullets.get(task.section))
        (task.extend if is_nested else task.add)(bullet[2])
        return
    section, rest = section_of(line)
    if section:
        task.section = section
        if rest:
            task.add(rest)
        return
    named = FIELD_LINE.fullmatch(line.strip())
    if named and not task.section and named[1].lower() in FIELDS:
        if named[1].lower() == "task_outcome":
            task.outcome = named[2]
        elif named[1].lower() == "task":
            task.name = task.name or one_line(named[2])
        return
    task.extend(line)


def _opens_body(line: str) -> bool:
    return bool(TASK_HEADING.fullmatch(line.strip())) or bool(section_of(line)[0])


def _unfenced(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.strip().startswith("```")]
