"""What a person writes into the memory files, or takes out of them, outlives every rewriting."""

from collections.abc import Collection, Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automemory_dagster.adapters.offline.consolidator import OfflineConsolidator
from automemory_dagster.adapters.offline.deletions import (
    DELETIONS,
    Deletion,
    read_deletions,
    render_deletions,
)
from automemory_dagster.domain.stage1 import SelectedOutput
from automemory_dagster.domain.validation import validate
from automemory_dagster.pipeline.artifacts import sync_inputs
from tests.fakes.staging import FakeStaging
from tests.memories import SHOP, a_memory, a_selected_output, a_task, redact


def no_secrets(text: str) -> Collection[object]:
    return ()


def consolidate(
    selection: Sequence[SelectedOutput],
    *,
    baseline: FakeStaging | None = None,
    edits: dict[str, tuple[str, str]] | None = None,
) -> FakeStaging:
    """Consolidate over what was published, after a person replaced texts in it."""
    published = dict(baseline.files) if baseline else {}
    current = dict(published)
    for path, (old, new) in (edits or {}).items():
        assert old in current.get(path, "")
        current[path] = current.get(path, "").replace(old, new, 1)
    staging = FakeStaging(current, baseline=published)
    sync_inputs(staging, selection, redact=redact)
    OfflineConsolidator(redact=redact).rewrite(staging, selection)
    assert validate(staging.files, (), find_secrets=no_secrets) == ()
    return staging


def a_session(number: int = 1, *wishes: str, age_days: int = 5) -> SelectedOutput:
    return a_selected_output(
        number,
        raw_memory=a_memory(a_task(preferences=wishes, failures=("pip is not there",))),
        age=timedelta(days=age_days),
    )


USE_UV = a_session(1, "use uv for packages", "answer briefly")
LATER = a_session(2, "run `just lint` before each commit", age_days=1)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory_summary.md"])
def test_an_added_line_is_there_after_every_later_consolidation(path: str) -> None:
    published = consolidate([USE_UV])
    edit = {
        path: ("## User preferences\n\n", "## User preferences\n\n- ask Ann before a release\n")
    }

    once = consolidate([USE_UV, LATER], baseline=published, edits=edit)
    twice = consolidate([LATER], baseline=once)

    for staging in (once, twice):
        section = staging.files[path].split("## User preferences\n")[1].split("\n#")[0]
        assert "- ask Ann before a release <!-- keep -->\n" in section


def test_a_changed_line_stays_as_the_person_worded_it_and_its_first_form_is_gone() -> None:
    published = consolidate([USE_UV])
    edit = {"MEMORY.md": ("- use uv for packages [Task 1]", "- use uv, and lock with `uv lock`")}

    once = consolidate([USE_UV, LATER], baseline=published, edits=edit)
    twice = consolidate([USE_UV, LATER], baseline=once)

    for staging in (once, twice):
        memory = staging.files["MEMORY.md"]
        assert "- use uv, and lock with `uv lock` <!-- keep -->" in memory
        assert "use uv for packages" not in memory
        assert "use uv for packages" not in staging.files["memory_summary.md"]


def test_a_marked_line_is_never_changed_though_its_session_is_gone() -> None:
    published = consolidate([USE_UV])
    line = "- use uv for packages [Task 1]"
    edit = {"MEMORY.md": (line, f"{line} <!-- keep -->")}

    once = consolidate([USE_UV], baseline=published, edits=edit)
    twice = consolidate([LATER], baseline=once)

    assert once.files["MEMORY.md"].count("use uv for packages") == 1
    assert f"{line} <!-- keep -->\n" in twice.files["MEMORY.md"]


def test_a_persons_word_stands_against_every_session() -> None:
    session = a_session(1, "run the tests with `make test`")
    published = consolidate([session])
    edit = {"MEMORY.md": ("## User preferences\n\n", "## User preferences\n\n- make is gone\n")}

    after = consolidate([session], baseline=published, edits=edit)

    assert "make test" not in after.files["MEMORY.md"]
    assert "make test" not in after.files["memory_summary.md"]


def test_a_deleted_bullet_does_not_come_back_while_a_session_says_it() -> None:
    published = consolidate([USE_UV])
    edit = {"MEMORY.md": ("- use uv for packages [Task 1]\n", "")}

    once = consolidate([USE_UV], baseline=published, edits=edit)
    again = a_session(3, "Use uv for packages!", age_days=1)
    twice = consolidate([USE_UV, again, LATER], baseline=once)

    for staging in (once, twice):
        assert "uv for packages" not in staging.files["MEMORY.md"].lower()
        assert "uv for packages" not in staging.files["memory_summary.md"].lower()
        assert "- use uv for packages\n" in staging.files[DELETIONS]
    assert "- answer briefly [Task 1]" in twice.files["MEMORY.md"]


def test_a_bullet_deleted_from_the_summary_stays_in_the_handbook() -> None:
    published = consolidate([USE_UV])
    edit = {"memory_summary.md": ("- shop-api: use uv for packages\n", "")}

    once = consolidate([USE_UV], baseline=published, edits=edit)
    twice = consolidate([USE_UV, LATER], baseline=once)

    for staging in (once, twice):
        assert "use uv" not in staging.files["memory_summary.md"]
        assert "- use uv for packages [Task 1]" in staging.files["MEMORY.md"]


def test_a_deletion_is_forgotten_with_the_last_session_that_said_it() -> None:
    published = consolidate([USE_UV, LATER])
    edit = {"MEMORY.md": ("- use uv for packages [Task 1]\n", "")}
    once = consolidate([USE_UV, LATER], baseline=published, edits=edit)

    after = consolidate([LATER], baseline=once)

    assert DELETIONS not in after.files
    assert "uv for packages" not in "".join(after.files.values())


def test_a_line_returns_when_its_deletion_is_taken_back() -> None:
    published = consolidate([USE_UV])
    once = consolidate(
        [USE_UV],
        baseline=published,
        edits={"MEMORY.md": ("- use uv for packages [Task 1]\n", "")},
    )

    after = consolidate([USE_UV], baseline=once, edits={DELETIONS: ("- use uv for packages\n", "")})

    assert "- use uv for packages [Task 1]" in after.files["MEMORY.md"]
    assert DELETIONS not in after.files


def test_deleting_the_newest_word_does_not_bring_back_the_older_one() -> None:
    selection = [a_session(1, "use npm"), a_session(2, "use pnpm instead of npm", age_days=1)]
    published = consolidate(selection)
    (line,) = [x for x in published.files["MEMORY.md"].splitlines() if "use pnpm" in x]

    after = consolidate(selection, baseline=published, edits={"MEMORY.md": (line + "\n", "")})

    assert "npm" not in after.files["MEMORY.md"]
    assert "npm" not in after.files["memory_summary.md"]


def test_a_file_thrown_away_is_written_anew() -> None:
    published = consolidate([USE_UV])
    staging = FakeStaging(
        {path: text for path, text in published.files.items() if path != "MEMORY.md"},
        baseline=published.files,
    )

    OfflineConsolidator(redact=redact).rewrite(staging, [USE_UV])

    assert staging.files == published.files


def test_a_persons_own_files_are_left_alone() -> None:
    staging = FakeStaging({"skills/release/SKILL.md": "mine", "extensions/ad_hoc/notes/n.md": "x"})

    OfflineConsolidator(redact=redact).rewrite(staging, [USE_UV])

    assert staging.files["skills/release/SKILL.md"] == "mine"
    assert staging.files["extensions/ad_hoc/notes/n.md"] == "x"


def test_many_lines_of_a_person_leave_the_summary_within_its_bound() -> None:
    published = consolidate([USE_UV])
    mine = "".join(f"- rule {n} of the house, which is long enough to count\n" for n in range(100))
    edit = {"memory_summary.md": ("## User preferences\n\n", f"## User preferences\n\n{mine}")}

    after = consolidate([USE_UV, LATER], baseline=published, edits=edit)

    assert after.files["memory_summary.md"].count("of the house") == 100


def test_the_report_counts_the_lines_of_a_person() -> None:
    published = consolidate([USE_UV])
    files = dict(published.files)
    files["MEMORY.md"] += "\n## Mine\n\n- one\n- two\n"
    staging = FakeStaging(files, baseline=published.files)

    report = OfflineConsolidator(redact=redact).rewrite(staging, [USE_UV])

    assert report.kept_by_hand == 2


def test_the_list_of_deletions_is_read_back_as_it_was_written() -> None:
    deletions = (
        Deletion("MEMORY.md", SHOP, "run `make test`: always"),
        Deletion("MEMORY.md", "/home/dev/a: b", "提交信息用中文"),
        Deletion("memory_summary.md", "", "shop-api: use uv"),
    )

    text = render_deletions(deletions)

    assert read_deletions(text) == tuple(sorted(deletions))
    assert render_deletions(()) == ""


SCRIBBLES = st.lists(
    st.sampled_from(
        [
            "- a line",
            "prose",
            "",
            "# Notes",
            "## User preferences",
            "## Task 9: mine",
            "### keywords",
            "# Task Group: mine",
            "- rollout_summaries/gone.md",
            "- see [Task 99]",
            "v1",
        ]
    ),
    max_size=5,
)


@settings(max_examples=80, deadline=None)
@given(SCRIBBLES, st.integers(0, 30), st.sampled_from(["MEMORY.md", "memory_summary.md"]))
def test_whatever_a_person_scribbles_the_memory_can_be_published_and_comes_to_rest(
    scribbles: list[str], at: int, path: str
) -> None:
    published = consolidate([USE_UV, LATER])
    lines = published.files[path].splitlines()
    scribbled = "\n".join([*lines[:at], *scribbles, *lines[at:]]) + "\n"

    once = consolidate(
        [USE_UV, LATER], baseline=published, edits={path: (published.files[path], scribbled)}
    )
    twice = consolidate([USE_UV, LATER], baseline=once)

    assert twice.files == once.files
