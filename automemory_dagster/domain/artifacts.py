"""The two files that phase 2 writes before it consolidates, in Codex's exact form.

The texts inside are redacted already; the composed file must be redacted again by whoever writes
it, since a path or a join can make a secret whole. Source: ``reference/codex-memory-spec.md``,
section 5.4.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.stem import summary_stem

RAW_MEMORIES = "raw_memories.md"
MEMORY = "MEMORY.md"
MEMORY_SUMMARY = "memory_summary.md"
ROLLOUT_SUMMARIES = "rollout_summaries"

_TITLE = "# Raw Memories\n\n"
_INTRO = "Merged stage-1 raw memories (stable ascending thread-id order):\n\n"
_EMPTY = "No raw memories yet.\n"


def stem_of(selected: SelectedOutput) -> str:
    """The stem of a selected output's rollout summary file."""
    output = selected.output
    return summary_stem(output.thread_id, output.source_updated_at, output.rollout_slug)


def summary_path(selected: SelectedOutput) -> str:
    """``rollout_summaries/<stem>.md``."""
    return f"{ROLLOUT_SUMMARIES}/{stem_of(selected)}.md"


def render_raw_memories(selection: Sequence[SelectedOutput]) -> str:
    """``raw_memories.md``: a section a thread, in the order given (by thread id)."""
    if not selection:
        return _TITLE + _EMPTY
    return _TITLE + _INTRO + "".join(_raw_section(selected) for selected in selection)


def render_rollout_summary(selected: SelectedOutput) -> str:
    """One file of ``rollout_summaries/``: facts of the thread, then the summary as it is."""
    output, thread = selected.output, selected.thread
    facts = [
        f"thread_id: {output.thread_id}",
        f"updated_at: {rfc3339(output.source_updated_at)}",
        f"rollout_path: {_one_line(thread.rollout_path)}",
        f"cwd: {_one_line(thread.cwd)}",
    ]
    if thread.branch:
        facts.append(f"git_branch: {_one_line(thread.branch)}")
    return "\n".join(facts) + f"\n\n{output.rollout_summary}\n"


def rfc3339(moment: datetime) -> str:
    """UTC with the offset ``+00:00``, whole seconds: ``2026-11-29T22:49:49+00:00``."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat()


def _raw_section(selected: SelectedOutput) -> str:
    output, thread = selected.output, selected.thread
    return (
        f"## Thread `{output.thread_id}`\n"
        f"updated_at: {rfc3339(output.source_updated_at)}\n"
        f"cwd: {_one_line(thread.cwd)}\n"
        f"rollout_path: {_one_line(thread.rollout_path)}\n"
        f"rollout_summary_file: {stem_of(selected)}.md\n"
        "\n"
        f"{output.raw_memory.strip()}\n"
        "\n"
    )


def _one_line(text: str) -> str:
    # A folder's name may hold a newline; a forged header line must not come of it.
    return " ".join(text.splitlines())
