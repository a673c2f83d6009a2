"""Which skill files a model wrote, and whether they are in shape.

The trap: once published, a person's skill looks like the model's. So what the model wrote is
recorded with a digest in a file of the memory itself; what is not recorded, or differs from its
record, is a person's and left alone.
"""

import hashlib
import re
from collections.abc import Collection, Iterator

from automemory_dagster.adapters.models.consolidation.paths import SKILLS
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.ports import Staging

RECORD = "extensions/model_skills/files.md"
_TITLE = "# Skill files that a model wrote"
_INTRO = (
    "A skill file that is not named here, or was edited since, is yours: it is left alone.\n"
    "Delete a line here to make its file yours."
)
_ENTRY = re.compile(r"- ([0-9a-f]{16}) (skills/\S+)")
_NAME = re.compile(r"name: *['\"]?([a-z0-9-]{1,64})['\"]? *")
_DESCRIPTION = re.compile(r"description: *\S.*")
MAX_SKILL_LINES = 500
"""Codex's number."""


def recorded_skills(staging: Staging) -> frozenset[str]:
    """Skill files that a model wrote and nobody touched since."""
    entries = _ENTRY.finditer(staging.read(RECORD) or "")
    return frozenset(
        match[2]
        for match in entries
        if match[2].startswith(SKILLS) and _digest(staging.read(match[2])) == match[1]
    )


def record_skills(staging: Staging, paths: Collection[str], *, redact: Redact) -> None:
    """Remember that a model wrote these files, as they stand."""
    if not paths:
        staging.delete(RECORD)
        return
    lines = "\n".join(f"- {_digest(staging.read(path))} {path}" for path in sorted(paths))
    staging.write(RECORD, redact(f"{_TITLE}\n\n{_INTRO}\n\n{lines}\n"))


def skill_problems(staging: Staging, paths: Collection[str]) -> Iterator[str]:
    """What is wrong with the skills these files belong to, one sentence each."""
    for name in sorted({path.split("/")[1] for path in paths}):
        text = staging.read(f"{SKILLS}{name}/SKILL.md")
        if text is None:
            yield f"skills/{name}/SKILL.md is missing"
            continue
        yield from _entry_problems(name, text)


def _entry_problems(name: str, text: str) -> Iterator[str]:
    where = f"skills/{name}/SKILL.md"
    lines = text.splitlines()
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        yield f"{where}: must begin with a block of front matter between two lines '---'"
        return
    front = lines[1 : lines.index("---", 1)]
    names = [match[1] for line in front if (match := _NAME.fullmatch(line))]
    if names != [name]:
        yield f"{where}: its front matter must have one line 'name: {name}'"
    if not any(_DESCRIPTION.fullmatch(line) for line in front):
        yield f"{where}: its front matter must have a line 'description: ...'"
    if not any(line.strip() for line in lines[len(front) + 2 :]):
        yield f"{where}: says nothing below its front matter"
    if len(lines) > MAX_SKILL_LINES:
        yield f"{where}: has {len(lines)} lines; at most {MAX_SKILL_LINES} are allowed"


def _digest(text: str | None) -> str:
    if text is None:
        return ""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
