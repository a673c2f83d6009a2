"""Whose skill is it, and is it in shape."""

import pytest

from automemory_dagster.adapters.models.consolidation.skills import (
    RECORD,
    record_skills,
    recorded_skills,
    skill_problems,
)
from automemory_dagster.adapters.secrets import redact
from tests.fakes.staging import FakeStaging

PATH = "skills/deploy/SKILL.md"
SKILL = "---\nname: deploy\ndescription: How to deploy the shop.\n---\n\n1. Run it.\n"


def test_what_a_model_wrote_is_its_own_until_a_person_edits_it() -> None:
    staging = FakeStaging({PATH: SKILL, "skills/theirs/SKILL.md": "x"})
    record_skills(staging, [PATH], redact=redact)

    assert recorded_skills(staging) == {PATH}

    staging.write(PATH, redact(SKILL + "2. Look.\n"))
    assert recorded_skills(staging) == frozenset()


def test_a_record_of_nothing_is_no_file() -> None:
    staging = FakeStaging({PATH: SKILL})
    record_skills(staging, [PATH], redact=redact)

    record_skills(staging, [], redact=redact)

    assert staging.read(RECORD) is None


def test_a_record_names_skill_files_only() -> None:
    staging = FakeStaging({"MEMORY.md": "x", RECORD: "- 2d711642b726b044 MEMORY.md\n"})

    assert recorded_skills(staging) == frozenset()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Go.\n", "must begin with a block of front matter"),
        ("---\nname: deploy\n", "must begin with a block of front matter"),
        ("---\nname: other\ndescription: d\n---\nGo.\n", "one line 'name: deploy'"),
        ("---\ndescription: d\n---\nGo.\n", "one line 'name: deploy'"),
        ("---\nname: deploy\ndescription:\n---\nGo.\n", "a line 'description: ...'"),
        ("---\nname: deploy\ndescription: d\n---\n\n", "says nothing"),
        (SKILL + "x\n" * 495, "has 501 lines; at most 500"),
    ],
)
def test_a_skill_out_of_shape_is_told(text: str, problem: str) -> None:
    [found] = skill_problems(FakeStaging({PATH: text}), [PATH])

    assert found.startswith(f"{PATH}: ")
    assert problem in found


def test_a_skill_in_shape_has_no_problem() -> None:
    assert list(skill_problems(FakeStaging({PATH: SKILL}), [PATH])) == []


def test_a_skill_without_its_entry_file_is_told() -> None:
    staging = FakeStaging({"skills/deploy/run.sh": "x"})

    assert list(skill_problems(staging, ["skills/deploy/run.sh"])) == [f"{PATH} is missing"]
