"""The raw memory of one thread as data, and the text form that stage-1 outputs keep it in.

The text form is Codex's: front matter between ``---`` lines, then a ``### Task <n>: <name>`` block a task with four kinds
of bullets. Source: ``reference/codex-memory-spec.md``, section 6.1.
"""

from dataclasses import dataclass


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
