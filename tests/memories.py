"""Stage-1 outputs as phase 2 selects them; every field has a default."""

from datetime import UTC, datetime, timedelta

from automemory_dagster.domain.raw_memory import RawMemory, TaskMemory, render_raw_memory
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.domain.stage1 import SelectedOutput, Stage1Output
from automemory_dagster.domain.thread import RolloutStamp, SpaceId, Thread, ThreadId

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
SHOP = "git.example.com/acme/shop-api"
SPACE = SpaceId("codex:test")


def redact(text: str) -> RedactedText:
    """For texts that hold no secret."""
    return RedactedText(text)


def a_thread_id(number: int) -> ThreadId:
    """A UUID of version 7 from 2025-03-19, with this number at its end."""
    return ThreadId(f"0195b000-0000-7000-8000-{number:012x}")


def a_task(
    name: str = "Fix the tax of an order",
    *,
    outcome: str = "success",
    preferences: tuple[str, ...] = (),
    knowledge: tuple[str, ...] = (),
    failures: tuple[str, ...] = (),
) -> TaskMemory:
    """One task of a raw memory."""
    return TaskMemory(
        name=name,
        outcome=outcome,
        preference_signals=preferences,
        reusable_knowledge=knowledge,
        failures=failures,
    )


def a_memory(*tasks: TaskMemory, keywords: tuple[str, ...] = ("tax", "orders")) -> str:
    """The text of a raw memory."""
    return render_raw_memory(
        RawMemory(
            description="One thing was fixed and checked",
            task=tasks[0].name if tasks else "nothing",
            task_group="shop-api",
            task_outcome="success",
            cwd="/home/dev/projects/shop-api",
            keywords=keywords,
            tasks=tasks,
        )
    )


def a_selected_output(
    number: int = 1,
    *,
    raw_memory: str | None = None,
    rollout_summary: str = "# The tax of an order was fixed\n",
    slug: str | None = "fix-tax",
    age: timedelta = timedelta(days=1),
    usage_count: int = 0,
    used_ago: timedelta | None = None,
    repository: str = SHOP,
    cwd: str = "/home/dev/projects/shop-api",
    branch: str = "main",
    thread_id: ThreadId | None = None,
) -> SelectedOutput:
    """A stage-1 output with its thread; ``age`` and ``used_ago`` count back from ``NOON``."""
    identity = thread_id or a_thread_id(number)
    updated = NOON - age
    return SelectedOutput(
        output=Stage1Output(
            thread_id=identity,
            space_id=SPACE,
            source_updated_at=updated,
            raw_memory=redact(a_memory(a_task()) if raw_memory is None else raw_memory),
            rollout_summary=redact(rollout_summary),
            rollout_slug=None if slug is None else redact(slug),
            generated_at=updated,
            extractor="offline/1",
            usage_count=usage_count,
            last_usage=None if used_ago is None else NOON - used_ago,
        ),
        thread=Thread(
            thread_id=identity,
            source="codex:test",
            space_id=SPACE,
            rollout_path=f"/home/dev/.codex/sessions/rollout-{number}.jsonl",
            stamp=RolloutStamp(size_bytes=1, mtime_ns=1, prefix_sha256="00"),
            source_updated_at=updated,
            cwd=cwd,
            repository=repository,
            branch=branch,
        ),
    )
