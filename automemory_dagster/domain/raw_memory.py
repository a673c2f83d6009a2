"""The raw memory of one thread as data, and the text form that stage-1 outputs keep it in.

The text form is Codex's: front matter between ``---`` lines, then a ``### Task <n>: <name>`` block
a task with four kinds of bullets. Source: ``reference/codex-memory-spec.md``, section 6.1.

The trap: a model writes this text as well, and writes it loosely. ``parse_raw_memory`` therefore
reads any text without complaint; what it does not understand is kept as a bullet or ignored, never
an error. Quality is judged elsewhere.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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
    lines += [f"{name}: {_quoted(value)}" for name, value in _front_matter(memory)]
    lines += [f"keywords: {', '.join(_keywords(memory.keywords))}", "---"]
    for number, task in enumerate(memory.tasks, start=1):
        lines += ["", f"### Task {number}: {_one_line(task.name)}", ""]
        lines += [
            f"task: {_one_line(task.name)}",
            f"task_group: {_one_line(memory.task_group)}",
            f"task_outcome: {_outcome(task.outcome)}",
        ]
        for title, bullets in _sections(task):
            kept = _bullets(bullets)
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
        task_outcome=_outcome(fields.get("task_outcome", "")),
        cwd=fields.get("cwd") or "unknown",
        keywords=_keywords(_split_keywords(fields.get("keywords", ""))),
        tasks=tasks,
    )


_SECTIONS = {
    "preference signals": "preference_signals",
    "preference signal": "preference_signals",
    "user preferences": "preference_signals",
    "preferences": "preference_signals",
    "reusable knowledge": "reusable_knowledge",
    "knowledge": "reusable_knowledge",
    "key steps": "reusable_knowledge",
    "failures and how to do differently": "failures",
    "failures & how to do differently": "failures",
    "failures": "failures",
    "references": "references",
    "reference": "references",
}
_FIELDS = ("description", "task", "task_group", "task_outcome", "cwd", "keywords")
_OUTCOME_WORDS = {
    "success": "success",
    "succeeded": "success",
    "successful": "success",
    "done": "success",
    "completed": "success",
    "partial": "partial",
    "partially": "partial",
    "mixed": "partial",
    "fail": "fail",
    "failed": "fail",
    "failure": "fail",
}
_NOTHING = frozenset({"none", "none.", "(none)", "n/a", "nothing", "-"})

_TASK_HEADING = re.compile(r"#{1,6}\s*(\**)\s*Task\b\s*\d*\s*[:：.\-–—)]?\s*(.*)", re.IGNORECASE)
_FIELD_LINE = re.compile(r"([A-Za-z][A-Za-z_]*)\s*[:：]\s*(.*)")
_BULLET = re.compile(r"(\s*)(?:[-*•+]|\d{1,3}[.)])\s+(.*)")
_SECTION_LINE = re.compile(r"[#*_\s]*([A-Za-z][A-Za-z &]*?)[*_\s]*(?:[:：][*_\s]*(.*))?")


@dataclass(slots=True)
class _OpenTask:
    name: str
    outcome: str = ""
    section: str = ""
    bullets: dict[str, list[str]] = field(default_factory=dict)

    def add(self, text: str) -> None:
        self.bullets.setdefault(self.section or "reusable_knowledge", []).append(_one_line(text))

    def extend(self, text: str) -> None:
        bullets = self.bullets.setdefault(self.section or "reusable_knowledge", [])
        if not bullets:
            bullets.append("")
        bullets[-1] = _one_line(f"{bullets[-1]} {text}")

    def closed(self, default_name: str) -> TaskMemory:
        def bullets(section: str) -> tuple[str, ...]:
            return _bullets(self.bullets.get(section, ()))

        return TaskMemory(
            name=self.name or default_name,
            outcome=_outcome(self.outcome),
            preference_signals=bullets("preference_signals"),
            reusable_knowledge=bullets("reusable_knowledge"),
            failures=bullets("failures"),
            references=bullets("references"),
        )


def _front_matter(memory: RawMemory) -> tuple[tuple[str, str], ...]:
    return (
        ("description", _one_line(memory.description)),
        ("task", _one_line(memory.task)),
        ("task_group", _one_line(memory.task_group)),
        ("task_outcome", _outcome(memory.task_outcome)),
        ("cwd", _one_line(memory.cwd) or "unknown"),
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
        match = _FIELD_LINE.fullmatch(line.strip())
        if match and match[1].lower() in _FIELDS:
            last = match[1].lower()
            fields[last] = _one_line(match[2])
        elif line.strip() == "---":
            last = ""
        elif last == "keywords" and (item := _BULLET.fullmatch(line)):
            fields[last] = f"{fields[last]}, {item[2]}"
        elif last and line.startswith(" "):
            fields[last] = _one_line(f"{fields[last]} {line}")
        elif _BULLET.fullmatch(line):
            loose.append(line)
    return {name: _unquoted(value) for name, value in fields.items()}, loose


def _read_tasks(lines: Iterable[str], default_name: str) -> tuple[TaskMemory, ...]:
    tasks: list[_OpenTask] = []
    for line in lines:
        heading = _TASK_HEADING.fullmatch(line.strip())
        if heading:
            name = heading[2].rstrip("* ") if heading[1] else heading[2]
            tasks.append(_OpenTask(name=_one_line(name)))
        elif line.strip() and line.strip() != "---":
            if not tasks:
                tasks.append(_OpenTask(name=""))
            _read_task_line(tasks[-1], line)
    return tuple(task.closed(default_name) for task in tasks)


def _read_task_line(task: _OpenTask, line: str) -> None:
    bullet = _BULLET.fullmatch(line)
    if bullet:
        is_nested = len(bullet[1]) >= 2 and bool(task.bullets.get(task.section))
        (task.extend if is_nested else task.add)(bullet[2])
        return
    section, rest = _section_of(line)
    if section:
        task.section = section
        if rest:
            task.add(rest)
        return
    named = _FIELD_LINE.fullmatch(line.strip())
    if named and not task.section and named[1].lower() in _FIELDS:
        if named[1].lower() == "task_outcome":
            task.outcome = named[2]
        elif named[1].lower() == "task":
            task.name = task.name or _one_line(named[2])
        return
    task.extend(line)


def _opens_body(line: str) -> bool:
    return bool(_TASK_HEADING.fullmatch(line.strip())) or bool(_section_of(line)[0])


def _section_of(line: str) -> tuple[str, str]:
    match = _SECTION_LINE.fullmatch(line.strip())
    if not match:
        return "", ""
    is_heading = line.lstrip().startswith(("#", "*")) or match[2] is not None
    section = _SECTIONS.get(match[1].strip().lower(), "") if is_heading else ""
    return section, _one_line(match[2] or "")


def _unfenced(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.strip().startswith("```")]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _bullets(texts: Iterable[str]) -> tuple[str, ...]:
    lines = (_one_line(text) for text in texts)
    return tuple(line for line in lines if line and line.lower() not in _NOTHING)


def _keywords(words: Iterable[str]) -> tuple[str, ...]:
    return _bullets(re.sub(r"[,，、]", " ", word) for word in words)


def _split_keywords(text: str) -> list[str]:
    is_list = text.startswith("[") and text.endswith("]")
    return re.split(r"[,，、]", text[1:-1] if is_list else text)


def _outcome(text: str) -> str:
    words = re.findall(r"[a-z]+", text.lower())
    return _OUTCOME_WORDS.get(words[0], "uncertain") if words else "uncertain"


def _is_quoted(text: str) -> bool:
    return len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"


def _quoted(text: str) -> str:
    # A value that is itself in quotes gets a second pair, so that reading takes off only ours.
    return f'"{text}"' if _is_quoted(text) else text


def _unquoted(text: str) -> str:
    return text[1:-1] if _is_quoted(text) else text
