"""``MEMORY.md`` and ``memory_summary.md`` as text, in Codex's form."""

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.handbook import (
    HandbookLine,
    HandbookTask,
    SummaryReference,
    TaskGroup,
    plain_line,
    render_group,
    render_handbook,
)
from automemory_dagster.domain.handbook_format import group_titles, handbook_problems
from automemory_dagster.domain.memory_summary import (
    IndexedScope,
    MemorySummary,
    OlderScope,
    Topic,
    render_summary,
)
from automemory_dagster.domain.validation import validate

FILE = "rollout_summaries/2025-03-19T20-02-24-0001-fix_tax.md"


def a_group(
    title: str = "git.example.com/acme/shop-api",
    *,
    task: str = "Fix the tax, success",
    text: str = "Tax is applied once per order",
) -> TaskGroup:
    return TaskGroup(
        title=title,
        scope="work in shop-api",
        applies_to="/home/dev/shop-api",
        reuse_rule="holds in shop-api",
        tasks=(
            HandbookTask(
                title=task,
                summaries=(
                    SummaryReference(
                        path=FILE,
                        cwd="/home/dev/shop-api",
                        rollout_path="/r.jsonl",
                        updated_at="2026-11-30T12:00:00+00:00",
                        thread_id="t",
                        note="branch main",
                    ),
                ),
                keywords=("tax", "orders"),
            ),
        ),
        preferences=(HandbookLine(text="run `just test`", tasks=(1,)),),
        failures=(HandbookLine(text=text, tasks=(1,)),),
    )


def test_a_group_has_the_handbooks_shape() -> None:
    assert render_group(a_group()) == (
        "# Task Group: git.example.com/acme/shop-api\n"
        "\n"
        "scope: work in shop-api\n"
        "applies_to: cwd=/home/dev/shop-api; reuse_rule=holds in shop-api\n"
        "\n"
        "## Task 1: Fix the tax, success\n"
        "\n"
        "### rollout_summary_files\n"
        "\n"
        f"- {FILE} (cwd=/home/dev/shop-api, rollout_path=/r.jsonl, "
        "updated_at=2026-11-30T12:00:00+00:00, thread_id=t, branch main)\n"
        "\n"
        "### keywords\n"
        "\n"
        "- tax, orders\n"
        "\n"
        "## User preferences\n"
        "\n"
        "- run `just test` [Task 1]\n"
        "\n"
        "## Failures and how to do differently\n"
        "\n"
        "- Tax is applied once per order [Task 1]\n"
    )


def test_text_of_a_session_cannot_forge_structure_a_mark_or_a_reference() -> None:
    assert plain_line("a\n# Task Group: b <!-- keep --> [Task 9]") == (
        "a # Task Group: b keep (Task 9)"
    )


@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_a_rendered_handbook_is_valid_whatever_the_sessions_said(
    title: str, task: str, text: str
) -> None:
    rendered = render_handbook((a_group(f"p {title}", task=f"t {task}", text=text), a_group()))

    assert list(handbook_problems(rendered, {FILE})) == []
    assert group_titles(rendered) == (
        plain_line(f"p {title}"),
        "git.example.com/acme/shop-api",
    )


def a_summary(*, text: str = "use uv", scope: str = "shop") -> MemorySummary:
    topic = Topic(name="Fix the tax", keywords=("tax",), description=text, learnings=text)
    return MemorySummary(
        profile=("Works in 2 projects.",),
        preferences=(text,),
        tips=(text,),
        recent=(IndexedScope(scope=scope, days=(("2026-11-30", (topic,)),)),),
        older=(
            OlderScope(scope="old", topics=(Topic(name="x", keywords=("y",), description=""),)),
        ),
        unlisted_groups=3,
    )


def test_a_summary_has_four_sections_and_an_index() -> None:
    assert render_summary(a_summary()) == (
        "v1\n\n## User Profile\n\nWorks in 2 projects.\n\n## User preferences\n\n- use uv\n\n"
        "## General Tips\n\n- use uv\n\n## What's in Memory\n\n### shop\n\n#### 2026-11-30\n\n"
        "- Fix the tax: tax\n  - desc: use uv\n  - learnings: use uv\n\n"
        "### Older Memory Topics\n\n#### old\n\n- x: y\n\n"
        '- 3 more in MEMORY.md: search it for "# Task Group:"\n'
    )


@given(st.text(max_size=200), st.text(max_size=50))
def test_a_rendered_summary_is_valid_whatever_the_sessions_said(text: str, scope: str) -> None:
    def no_secrets(text: str) -> Collection[object]:
        return ()

    files = {
        "MEMORY.md": render_handbook((a_group(f"p {scope}"),)),
        FILE: "",
        "memory_summary.md": render_summary(a_summary(text=text, scope=f"p {scope}")),
    }

    assert validate(files, (), find_secrets=no_secrets) == ()
