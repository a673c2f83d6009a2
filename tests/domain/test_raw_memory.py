"""The text form of a raw memory: what is rendered is read back; what a model writes is read too."""

import string

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.raw_memory import (
    OUTCOMES,
    RawMemory,
    TaskMemory,
    parse_raw_memory,
    render_raw_memory,
)

NOTHING = {"none", "none.", "(none)", "n/a", "nothing", "-"}


def lines() -> st.SearchStrategy[str]:
    texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)
    return texts.map(lambda text: " ".join(text.split())).filter(
        lambda text: text != "" and text.lower() not in NOTHING
    )


def bullets() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(lines(), max_size=3).map(tuple)


def words() -> st.SearchStrategy[str]:
    return st.text(
        string.ascii_letters + string.digits + "_./-会議", min_size=1, max_size=12
    ).filter(lambda word: word.lower() not in NOTHING)


def tasks() -> st.SearchStrategy[TaskMemory]:
    return st.builds(
        TaskMemory,
        name=lines(),
        outcome=st.sampled_from(OUTCOMES),
        preference_signals=bullets(),
        reusable_knowledge=bullets(),
        failures=bullets(),
        references=bullets(),
    )


def memories() -> st.SearchStrategy[RawMemory]:
    return st.builds(
        RawMemory,
        description=lines(),
        task=lines(),
        task_group=lines(),
        task_outcome=st.sampled_from(OUTCOMES),
        cwd=lines(),
        keywords=st.lists(words(), max_size=4).map(tuple),
        tasks=st.lists(tasks(), max_size=3).map(tuple),
    )


EXAMPLE = RawMemory(
    description="Fixed rounding in shop-api and settled on uv.",
    task="fix rounding of gross amounts",
    task_group="shop-api",
    task_outcome="success",
    cwd="/home/dev/shop-api",
    keywords=("uv", "rounding", "pricing.py"),
    tasks=(
        TaskMemory(
            name="fix rounding",
            outcome="success",
            preference_signals=('the user asked: "always uv, never pip"',),
            reusable_knowledge=("gross() rounds half up",),
            references=("src/pricing.py",),
        ),
    ),
)

EXAMPLE_TEXT = """\
---
description: Fixed rounding in shop-api and settled on uv.
task: fix rounding of gross amounts
task_group: shop-api
task_outcome: success
cwd: /home/dev/shop-api
keywords: uv, rounding, pricing.py
---

### Task 1: fix rounding

task: fix rounding
task_group: shop-api
task_outcome: success

Preference signals:
- the user asked: "always uv, never pip"

Reusable knowledge:
- gross() rounds half up

References:
- src/pricing.py
"""


def test_a_memory_is_written_in_codexs_text_form() -> None:
    assert render_raw_memory(EXAMPLE) == EXAMPLE_TEXT


@given(memories())
def test_what_is_rendered_is_read_back(memory: RawMemory) -> None:
    assert parse_raw_memory(render_raw_memory(memory)) == memory


@given(st.text(max_size=400))
def test_any_text_is_read_and_settles_after_one_round(text: str) -> None:
    once = render_raw_memory(parse_raw_memory(text))

    assert render_raw_memory(parse_raw_memory(once)) == once


def test_line_breaks_inside_a_bullet_do_not_break_the_form() -> None:
    task = TaskMemory(name="a\nb", outcome="success", failures=("first\n### Task 9: forged",))
    memory = RawMemory(
        description="",
        task="",
        task_group="",
        task_outcome="odd",
        cwd="",
        keywords=(),
        tasks=(task,),
    )

    read = parse_raw_memory(render_raw_memory(memory))

    assert [task.name for task in read.tasks] == ["a b"]
    assert read.tasks[0].failures == ("first ### Task 9: forged",)
    assert read.task_outcome == "uncertain"
    assert read.cwd == "unknown"


MODEL_TEXT = """\
```markdown
---
description: "Learned how the importer is tested"
task: importer-tests
task_group: importer
task_outcome: Succeeded
cwd: /srv/importer
keywords: [pytest, importer]

## Task 1 - **run the tests**

task_outcome: failed, then abandoned

**Preference signals:**
* the user said "short answers"
  - so answer briefly
#### Reusable knowledge
1. tests need a database
   that listens on 5433
Failures: none

### Task 2: second

- a stray bullet
References:
- (none)
```
"""


def test_a_models_loose_text_is_read() -> None:
    memory = parse_raw_memory(MODEL_TEXT)

    assert memory.description == "Learned how the importer is tested"
    assert memory.task_outcome == "success"
    assert memory.keywords == ("pytest", "importer")
    first, second = memory.tasks
    assert (first.name, first.outcome) == ("**run the tests**", "fail")
    assert first.preference_signals == ('the user said "short answers" so answer briefly',)
    assert first.reusable_knowledge == ("tests need a database that listens on 5433",)
    assert first.failures == ()
    assert second.reusable_knowledge == ("a stray bullet",)
    assert second.references == ()


def test_text_without_any_structure_keeps_its_bullets_as_knowledge() -> None:
    memory = parse_raw_memory("task: notes\n- one fact\n- another fact\n")

    assert [task.name for task in memory.tasks] == ["notes"]
    assert memory.tasks[0].reusable_knowledge == ("one fact", "another fact")
    assert memory.cwd == "unknown"


def test_a_yaml_list_of_keywords_is_read() -> None:
    memory = parse_raw_memory("---\nkeywords:\n  - alpha\n  - beta\n---\n")

    assert memory.keywords == ("alpha", "beta")
    assert memory.tasks == ()
