"""A consolidation's inputs on disk say what the selection says."""

from automemory_dagster.domain.artifacts import render_raw_memories, render_rollout_summary
from automemory_dagster.domain.redaction import RedactedText
from automemory_dagster.pipeline.artifacts import kept_paths, sync_inputs
from tests.fakes.staging import FakeStaging
from tests.memories import a_selected_output, redact

FIRST = "rollout_summaries/2025-03-19T20-02-24-0001-fix_tax.md"
SECOND = "rollout_summaries/2025-03-19T20-02-24-0002-fix_tax.md"


def test_each_selected_thread_gets_its_summary_file() -> None:
    staging = FakeStaging()
    selection = (a_selected_output(1), a_selected_output(2))

    sync_inputs(staging, selection, redact=redact)

    assert staging.files == {
        "raw_memories.md": render_raw_memories(selection),
        FIRST: render_rollout_summary(selection[0]),
        SECOND: render_rollout_summary(selection[1]),
    }


def test_a_thread_that_left_loses_its_file_and_other_kinds_of_file_stay() -> None:
    old = "rollout_summaries/2025-03-19T20-02-24-0009-gone.md"
    staging = FakeStaging(
        {
            old: "x",
            "rollout_summaries/notes.txt": "mine",
            "rollout_summaries/deep/kept.md": "mine",
            "MEMORY.md": "untouched",
        }
    )

    sync_inputs(staging, (a_selected_output(1),), redact=redact)

    assert staging.paths() == (
        "MEMORY.md",
        "raw_memories.md",
        FIRST,
        "rollout_summaries/deep/kept.md",
        "rollout_summaries/notes.txt",
    )


def test_a_second_sync_changes_nothing() -> None:
    staging = FakeStaging()
    sync_inputs(staging, (a_selected_output(1),), redact=redact)
    before = staging.files

    sync_inputs(staging, (a_selected_output(1),), redact=redact)

    assert staging.files == before


def test_a_secret_in_a_path_is_redacted_in_the_composed_file() -> None:
    staging = FakeStaging()

    def hide(text: str) -> RedactedText:
        return RedactedText(text.replace("hunter2", "[secret]"))

    sync_inputs(staging, (a_selected_output(1, cwd="/tmp/hunter2"),), redact=hide)

    assert "hunter2" not in "".join(staging.files.values())
    assert "cwd: /tmp/[secret]\n" in staging.files[FIRST]


def test_a_persons_files_and_published_ones_may_stay() -> None:
    staging = FakeStaging(
        {"MEMORY.md": "x", "notes/mine.txt": "new"}, baseline={"MEMORY.md": "x", "old.txt": "gone"}
    )

    assert kept_paths(staging) == {"MEMORY.md", "notes/mine.txt", "old.txt"}
