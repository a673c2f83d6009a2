"""The input files of a consolidation, byte for byte as Codex writes them."""

from datetime import timedelta

from automemory_dagster.domain.artifacts import (
    render_raw_memories,
    render_rollout_summary,
    summary_path,
)
from tests.memories import a_selected_output, a_thread_id


def test_raw_memories_have_a_section_for_each_thread() -> None:
    selection = [
        a_selected_output(1, raw_memory="\n---\ntask: one\n---\n\n", slug=None),
        a_selected_output(2, raw_memory="two", slug="second", age=timedelta(days=2)),
    ]

    assert render_raw_memories(selection) == (
        "# Raw Memories\n"
        "\n"
        "Merged stage-1 raw memories (stable ascending thread-id order):\n"
        "\n"
        "## Thread `0195b000-0000-7000-8000-000000000001`\n"
        "updated_at: 2026-11-30T12:00:00+00:00\n"
        "cwd: /home/dev/projects/shop-api\n"
        "rollout_path: /home/dev/.codex/sessions/rollout-1.jsonl\n"
        "rollout_summary_file: 2025-03-19T20-02-24-0001.md\n"
        "\n"
        "---\n"
        "task: one\n"
        "---\n"
        "\n"
        "## Thread `0195b000-0000-7000-8000-000000000002`\n"
        "updated_at: 2026-11-29T12:00:00+00:00\n"
        "cwd: /home/dev/projects/shop-api\n"
        "rollout_path: /home/dev/.codex/sessions/rollout-2.jsonl\n"
        "rollout_summary_file: 2025-03-19T20-02-24-0002-second.md\n"
        "\n"
        "two\n"
        "\n"
    )


def test_no_selection_says_so() -> None:
    assert render_raw_memories([]) == "# Raw Memories\n\nNo raw memories yet.\n"


def test_a_rollout_summary_starts_with_the_facts_of_its_thread() -> None:
    selected = a_selected_output(7, rollout_summary="# A title\n\ntext", branch="fix/tax")

    assert render_rollout_summary(selected) == (
        f"thread_id: {a_thread_id(7)}\n"
        "updated_at: 2026-11-30T12:00:00+00:00\n"
        "rollout_path: /home/dev/.codex/sessions/rollout-7.jsonl\n"
        "cwd: /home/dev/projects/shop-api\n"
        "git_branch: fix/tax\n"
        "\n"
        "# A title\n"
        "\n"
        "text\n"
    )


def test_an_unknown_branch_leaves_no_line() -> None:
    assert "git_branch" not in render_rollout_summary(a_selected_output(branch=""))


def test_a_folder_with_a_newline_forges_no_fact() -> None:
    selected = a_selected_output(cwd="/tmp/a\nthread_id: other")

    text = render_rollout_summary(selected)

    assert "\ncwd: /tmp/a thread_id: other\n" in text


def test_the_path_of_a_summary_is_in_its_folder() -> None:
    assert (
        summary_path(a_selected_output(1, slug="Fix Tax"))
        == "rollout_summaries/2025-03-19T20-02-24-0001-fix_tax.md"
    )
