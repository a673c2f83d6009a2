"""Numbers, citations and what falls with a forgotten session, kept right by code."""

from automemory_dagster.domain.handbook import SummaryReference
from automemory_dagster.domain.handbook_upkeep import (
    cited_paths,
    renumbered,
    with_true_citations,
    without_lost_tasks,
)

ONE = "rollout_summaries/2025-03-19T10-00-00-0001-fix_tax.md"
TWO = "rollout_summaries/2025-03-20T10-00-00-0002-add_test.md"
THREE = "rollout_summaries/2025-03-21T10-00-00-0003-deploy.md"


def a_task(number: int, *paths: str, title: str = "Fix it") -> str:
    files = "\n".join(f"- {path} (cwd=/shop)" for path in paths)
    return (
        f"## Task {number}: {title}, success\n\n### rollout_summary_files\n\n{files}\n\n"
        "### keywords\n\n- tax\n"
    )


def a_group(*parts: str, title: str = "shop") -> str:
    head = f"# Task Group: {title}\n\nscope: s\napplies_to: cwd=/shop; reuse_rule=here\n"
    return "\n".join((head, *parts))


HANDBOOK = a_group(
    a_task(1, ONE),
    a_task(2, TWO),
    a_task(3, TWO, THREE),
    "## User preferences\n\n- use uv [Task 1]\n- no emoji [Task 1][Task 2]\n- be brief [Task 3]\n",
    "## Reusable knowledge\n\n- tax is rounded up [Task 1]\n",
)


def test_nothing_falls_while_every_file_is_there() -> None:
    result = without_lost_tasks(HANDBOOK, {ONE, TWO, THREE})

    assert (result.text, result.groups, result.tasks, result.lines) == (HANDBOOK, (), 0, 0)


def test_a_task_falls_with_its_file_and_with_it_what_rested_on_it_alone() -> None:
    result = without_lost_tasks(HANDBOOK, {TWO, THREE})

    assert result.text == a_group(
        a_task(2, TWO),
        a_task(3, TWO, THREE),
        "## User preferences\n\n- no emoji [Task 2]\n- be brief [Task 3]\n",
    )
    assert (result.groups, result.tasks, result.lines) == (("shop",), 1, 2)


def test_a_task_stands_while_one_of_its_files_does() -> None:
    result = without_lost_tasks(HANDBOOK, {ONE, TWO})

    assert THREE not in result.text
    assert "## Task 3" in result.text
    assert "- be brief [Task 3]" in result.text


def test_a_group_falls_with_its_last_task() -> None:
    other = a_group(a_task(1, THREE), title="blog")

    result = without_lost_tasks(HANDBOOK + "\n" + other, {THREE})

    # The third task of the shop rests on the third file too.
    assert cited_paths(result.text) == {THREE}
    assert result.tasks == 2
    alone = without_lost_tasks(a_group(a_task(1, ONE)) + "\n" + other, {THREE})
    assert alone.text == other


def test_the_second_line_of_a_bullet_falls_with_it() -> None:
    text = a_group(
        a_task(1, ONE),
        a_task(2, TWO),
        "## Reusable knowledge\n\n- a [Task 1]\n  and more of it\n- b [Task 2]\n",
    )

    assert "more of it" not in without_lost_tasks(text, {TWO}).text


def test_what_a_person_keeps_never_falls() -> None:
    text = a_group(
        a_task(1, ONE),
        a_task(2, TWO),
        "## User preferences\n\n- mine [Task 1] <!-- keep -->\n- theirs [Task 1]\n",
    )

    left = without_lost_tasks(text, {TWO}).text

    assert "- mine [Task 1] <!-- keep -->" in left
    assert "theirs" not in left


def test_gaps_are_closed_and_references_follow() -> None:
    left = without_lost_tasks(HANDBOOK, {TWO, THREE}).text

    assert renumbered(left) == a_group(
        a_task(1, TWO),
        a_task(2, TWO, THREE),
        "## User preferences\n\n- no emoji [Task 1]\n- be brief [Task 2]\n",
    )


def test_tasks_that_stand_in_another_order_are_numbered_by_place() -> None:
    text = a_group(a_task(7, ONE), a_task(2, TWO), "## User preferences\n\n- x [Task 2][Task 7]\n")

    assert renumbered(text) == a_group(
        a_task(1, ONE), a_task(2, TWO), "## User preferences\n\n- x [Task 2][Task 1]\n"
    )


def test_a_group_with_a_reference_to_no_task_stays_to_be_judged() -> None:
    text = a_group(a_task(1, ONE), a_task(4, TWO), "## User preferences\n\n- x [Task 3]\n")

    assert renumbered(text) == text


def test_a_group_with_one_number_twice_stays_to_be_judged() -> None:
    text = a_group(a_task(2, ONE), a_task(2, TWO, title="Other"))

    assert renumbered(text) == text


def test_citations_get_the_facts_that_are_known() -> None:
    text = a_group("## Task 1: x, success\n\n### rollout_summary_files\n\n- " + ONE + "\n")
    reference = SummaryReference(
        path=ONE, cwd="/shop", rollout_path="/r/1.jsonl", updated_at="2026-01-01", thread_id="t1"
    )

    found = with_true_citations(text, {ONE: reference})

    assert (
        f"- {ONE} (cwd=/shop, rollout_path=/r/1.jsonl, updated_at=2026-01-01, thread_id=t1)\n"
        in found
    )


def test_a_file_that_was_renamed_is_cited_by_its_new_name_once() -> None:
    new = ONE.replace("fix_tax", "tax_of_orders")
    reference = SummaryReference(
        path=new, cwd="/shop", rollout_path="/r/1.jsonl", updated_at="2026-01-01", thread_id="t1"
    )
    text = a_group(a_task(1, ONE, new))

    assert cited_paths(with_true_citations(text, {new: reference})) == {new}
    assert with_true_citations(text, {new: reference}).count(new) == 1
