"""What the agent's tools do, on the staging copy and nothing else.

Every answer is bounded, so that what a call costs does not follow the memory's size. A refused call
says why in one sentence and changes nothing. What is read is redacted, what is written too.
"""

from collections.abc import Collection, Iterator, Sequence

from automemory_dagster.adapters.models.consolidation.paths import (
    SKILLS,
    Refused,
    check_writable,
    is_readable,
    shown,
)
from automemory_dagster.domain.artifacts import MEMORY, MEMORY_SUMMARY
from automemory_dagster.domain.cut import take_head
from automemory_dagster.domain.errors import InvalidArtifacts
from automemory_dagster.domain.memory_summary import MAX_SUMMARY_BYTES
from automemory_dagster.domain.plain_text import plain
from automemory_dagster.domain.redaction import Redact, RedactedText
from automemory_dagster.domain.validation import MAX_MEMORY_BYTES
from automemory_dagster.ports import Staging

MAX_ANSWER_BYTES = 16_000
"""Of one tool call."""
MAX_SKILL_BYTES = 32_000
"""Of one skill file."""
MAX_SKILL_FILES = 60
_MOST_LISTED = 100
_MOST_HITS = 40
_HIT_CHARACTERS = 240


class MemoryFiles:
    """The files of one staging copy as the agent may handle them."""

    def __init__(self, staging: Staging, *, redact: Redact, own_skills: Collection[str]) -> None:
        """``own_skills``: skill files that a model wrote before; all others are a person's."""
        self._staging = staging
        self._redact = redact
        self._own_skills = {path for path in own_skills if staging.read(path) is not None}

    @property
    def own_skills(self) -> Collection[str]:
        """Skill files that a model wrote and that are still there, sorted."""
        return tuple(sorted(self._own_skills))

    def list(self, folder: str = "", after: str = "") -> str:
        """Paths below ``folder`` that follow ``after``, with sizes."""
        start = f"{folder.strip('/')}/" if folder.strip("/") else ""
        paths = [path for path in self._readable() if path.startswith(start) and path > after]
        lines = [f"{path}  ({self._size(path):,} bytes)" for path in paths[:_MOST_LISTED]]
        if len(paths) > _MOST_LISTED:
            last = paths[_MOST_LISTED - 1]
            lines.append(f"{len(paths) - _MOST_LISTED} more; list again with after={last!r}")
        return "\n".join(lines) or f"No file is below {shown(folder)}."

    def read(self, path: str, first_line: int = 1, last_line: int | None = None) -> str:
        """Lines of a file, as many as an answer holds."""
        lines = self._text(path).splitlines()
        if not lines:
            return f"{path} is empty."
        first = max(1, first_line)
        last = min(len(lines), last_line or len(lines))
        if first > last:
            raise Refused(
                f"{path} has {len(lines)} lines; there are none from {first_line} to {last_line}."
            )
        taken: list[str] = []
        size = 0
        for line in lines[first - 1 : last]:
            size += len(line.encode("utf-8", "replace")) + 1
            if taken and size > MAX_ANSWER_BYTES:
                break
            taken.append(take_head(line, MAX_ANSWER_BYTES))
        until = first + len(taken) - 1
        rest = f"; read on from line {until + 1}" if until < last else ""
        head = f"{path}, lines {first} to {until} of {len(lines)}{rest}:"
        return self._redact("\n".join((head, *taken)))

    def search(self, text: str, path: str = "") -> str:
        """Lines that contain ``text``, case ignored, in one file, in a folder or everywhere."""
        if not text.strip():
            raise Refused("There is nothing to search for.")
        hits = list(self._hits(text.casefold(), path))
        if not hits:
            return f"No line contains {shown(text)}."
        lines = [f"{where}: {line.strip()[:_HIT_CHARACTERS]}" for where, line in hits[:_MOST_HITS]]
        if len(hits) > _MOST_HITS:
            lines.append(f"{len(hits) - _MOST_HITS} more lines contain it; search for more of it.")
        return self._redact("\n".join(lines))

    def replace(self, path: str, old: str, new: str) -> str:
        """Put ``new`` where ``old`` stands, which must be exactly one place."""
        self._check(path)
        text = self._text(path)
        old = plain(old)
        count = text.count(old) if old else 0
        if count != 1:
            raise Refused(f"Nothing was changed: {_why_not_once(path, text, old, count)}")
        return self._put(path, text.replace(old, plain(new)))

    def write(self, path: str, text: str) -> str:
        """Write a whole file, new or anew."""
        self._check(path)
        is_new = path.startswith(SKILLS) and path not in self._own_skills
        if is_new and len(self._own_skills) >= MAX_SKILL_FILES:
            raise Refused(
                f"There are {MAX_SKILL_FILES} skill files already, which is the most; nothing was "
                "written. Delete one that is no longer needed first."
            )
        return self._put(path, plain(text))

    def delete(self, path: str) -> str:
        """Remove a skill file that a model wrote."""
        self._check(path)
        if path in (MEMORY, MEMORY_SUMMARY):
            raise Refused(f"{path} must stay; write it anew instead. Nothing was deleted.")
        self._text(path)
        self._staging.delete(path)
        self._own_skills.discard(path)
        return f"{path} is deleted."

    def sizes(self) -> str:
        """How full the two files are."""
        return (
            f"{MEMORY} has {self._size(MEMORY):,} of at most {MAX_MEMORY_BYTES:,} bytes, "
            f"{MEMORY_SUMMARY} {self._size(MEMORY_SUMMARY):,} of at most "
            f"{MAX_SUMMARY_BYTES - 1:,}."
        )

    def _readable(self) -> Sequence[str]:
        return [path for path in self._staging.paths() if is_readable(path)]

    def _text(self, path: str) -> str:
        text = self._staging.read(path) if is_readable(path) else None
        if text is None:
            raise Refused(f"There is no file {shown(path)} that you can read.")
        return text

    def _size(self, path: str) -> int:
        return len((self._staging.read(path) or "").encode("utf-8", "replace"))

    def _hits(self, wanted: str, path: str) -> Iterator[tuple[str, str]]:
        below = path.rstrip("/")
        for candidate in self._readable():
            if below and candidate != below and not candidate.startswith(f"{below}/"):
                continue
            for number, line in enumerate(self._text(candidate).splitlines(), start=1):
                if wanted in line.casefold():
                    yield f"{candidate}:{number}", line

    def _check(self, path: str) -> None:
        paths = self._staging.paths()
        check_writable(path, paths)
        if not path.startswith(SKILLS) or path in self._own_skills:
            return
        folder = "/".join(path.split("/")[:2])
        if any(known.startswith(f"{folder}/") and known not in self._own_skills for known in paths):
            raise Refused(f"{folder} is a person's skill; nothing was changed.")

    def _put(self, path: str, text: str) -> str:
        size, limit = len(text.encode("utf-8", "replace")), _limit(path)
        if size > limit:
            raise Refused(
                f"{path} would have {size:,} bytes; at most {limit:,} are allowed. Nothing was "
                "written. Merge what says the same, and leave out what is used least."
            )
        redacted: RedactedText = self._redact(text)
        try:
            self._staging.write(path, redacted)
        except InvalidArtifacts as error:
            raise Refused(str(error)) from error
        if path.startswith(SKILLS):
            self._own_skills.add(path)
        secret = " What looked like a secret in it was replaced." if redacted != text else ""
        return f"{path} is written: {self._size(path):,} of at most {limit:,} bytes.{secret}"


def _limit(path: str) -> int:
    if path == MEMORY:
        return MAX_MEMORY_BYTES
    return MAX_SUMMARY_BYTES - 1 if path == MEMORY_SUMMARY else MAX_SKILL_BYTES


def _why_not_once(path: str, text: str, old: str, count: int) -> str:
    if not old:
        return "the text to be replaced is empty."
    if not count:
        return f"{path} does not contain the text to be replaced, exactly so. Read it again."
    at = -1
    places: list[str] = []
    while len(places) < 5 and (at := text.find(old, at + 1)) >= 0:
        places.append(str(text.count("\n", 0, at) + 1))
    return (
        f"{path} contains the text to be replaced {count} times (lines {', '.join(places)}"
        f"{' and more' if count > len(places) else ''}); take more of the text around it."
    )
