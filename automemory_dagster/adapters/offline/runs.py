"""Shell commands that ran: whether each went well, and the line of its output that says why not.

The trap: an exit code of 0 proves little. ``pytest | tail`` and ``check.sh; echo $?`` end with 0
when the check failed, and ``grep ERROR`` ends with 0 because it found errors. So the text decides
where the exit code cannot, and only for commands that do not merely read.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from automemory_dagster.adapters.offline.command_lines import (
    Check,
    Part,
    checks_in,
    shown_file,
    split_line,
    tidy,
)
from automemory_dagster.adapters.offline.text import CLIP_MARK, clip, one_line


class RunStatus(StrEnum):
    """How a command ended, as far as its exit code and its output tell."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One shell command line with its end."""

    position: int
    turn: int
    command: str
    """One line, without the parts that only show."""
    parts: frozenset[str]
    """The texts of its parts that do more than show."""
    status: RunStatus
    exit_code: int | None = None
    error: str = ""
    """The line of the output that says best what went wrong; empty when it did not fail."""
    checks: tuple[Check, ...] = ()
    is_probe: bool = False
    """It only reads or looks: its failure is an answer, not an error."""
    is_aborted: bool = False
    shown: tuple[str, str] | None = None
    """A small file that it wrote and then showed: the path and the content on one line."""


_WRAPPER = re.compile(r"^(?:bash|sh|zsh)\s+-l?c\s+(['\"])(.*)\1$", re.DOTALL)
_CODE_MODE = re.compile(r"exec_command\(\s*\{[^}]*?\"?cmd\"?\s*:\s*(\"(?:[^\"\\]|\\.)*\")")
_ECHOED_EXIT = re.compile(
    r"^\W*(?:exit|rc|status|code|ret)\w*\s*[=: ]\s*(\d{1,3})\s*$", re.M | re.I
)
_FAILED_CHECK = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?|problems?)\b|^(?:FAILED|FAIL|ERROR)\b|\bFAILURES\b"
    r"|^make(?:\[\d+\])?: \*\*\*|^error(?:\[|:)|Traceback \(most recent call last\)|npm ERR!",
    re.MULTILINE,
)
_FAILED_ANY = re.compile(
    r"command not found|: not found$|No module named|Traceback \(most recent call last\)"
    r"|^npm (?:error|ERR!)|^(?:fatal|error|ERROR):|^make(?:\[\d+\])?: \*\*\*|Failed to connect"
    r"|rejected: |Rejected\(|\b\w+ failed for `|Permission denied|^Script failed|^panic: "
    r"|ECONNREFUSED|EAI_AGAIN",
    re.MULTILINE,
)
_ABORTED = re.compile(r"\baborted by (?:the )?user\b", re.IGNORECASE)
_ERROR_RANKS = (
    (9, re.compile(r"(?<=rejected: )\S.*")),
    (8, re.compile(r"\b[A-Z]\w*(?:Error|Exception|Panic)\b: ?\S|^error(?:\[\w+\])?: ")),
    (8, re.compile(r": error[: ]| error TS\d+")),
    (7, re.compile(r"No rule to make|command not found|: not found|No such file|No module named")),
    (7, re.compile(r"Permission denied|[Rr]efus(?:ed|ing)|Failed to|Could ?n[o']t|[Cc]annot ")),
    (7, re.compile(r"^fatal: |panic: |EAI_AGAIN|ECONNREFUSED|timed? ?out|unknown (?:option|comm)")),
    (6, re.compile(r"^\S+:\d+(?::\d+)?:? ")),
    (5, re.compile(r"^FAILED |^FAIL\b|^not ok |^E  +\S")),
    (4, re.compile(r"\b(?:[Ee]rror|ERROR|[Ff]ailed|failure|invalid|missing|omitting)\b")),
    (1, re.compile(r"^make(?:\[\d+\])?: \*\*\*")),
)
_ADDRESSED_TO_AGENTS = re.compile(
    r"ignore (?:all |any )?(?:previous|prior|above)|\b(?:ai|coding|llm) (?:agents?|assistants?)\b"
    r"|remember (?:this |that )?(?:permanently|forever)|system prompt|your memory"
    r"|you (?:must|should) (?:now|always)|\|\s*(?:ba|z)?sh\b|忽略(?:之前|以上|所有)"
    r"|(?:以前|上記)の指示",
    re.IGNORECASE,
)
_ERROR_LIMIT = 180
_SHOWN_LIMIT = 200
_LONGEST_LINE = 2_000


def shell_commands(text: str, *, is_shell: bool) -> tuple[str, ...]:
    """The command lines inside a tool call: the call itself, or those that a script starts."""
    if is_shell:
        wrapped = _WRAPPER.match(text.strip())
        return (wrapped[2] if wrapped else text,)
    return tuple(_unescaped(match) for match in _CODE_MODE.findall(text))


def read_run(command: str, output: str, exit_code: int | None, *, position: int, turn: int) -> Run:
    """Judge one command line by its output and its exit code (None: the rollout does not tell)."""
    parts = split_line(command)
    echoed = _ECHOED_EXIT.findall(output) if "$?" in command else []
    code = int(echoed[-1]) if echoed else exit_code
    is_aborted = bool(_ABORTED.search(output)) and exit_code is None
    is_probe = all(part.only_reads for part in parts)
    checks = checks_in(parts)
    status = _status(output, code, parts, is_check=bool(checks), is_probe=is_probe)
    return Run(
        position=position,
        turn=turn,
        command=tidy(parts, command),
        parts=frozenset(part.text for part in parts if not part.only_reads),
        status=RunStatus.FAILED if is_aborted else status,
        exit_code=code,
        error=error_line(output) if status is RunStatus.FAILED else "",
        checks=checks,
        is_probe=is_probe,
        is_aborted=is_aborted,
        shown=_shown(parts, output) if status is RunStatus.OK else None,
    )


def error_line(output: str) -> str:
    """The most telling line of a failed command's output; empty when none tells, or none is safe.

    A line that talks to agents is data that wants to be an instruction: it is never quoted.
    """
    best, best_rank = "", 0
    for line in output.split("\n"):
        bare = re.sub(r"^E\s{2,}", "", line.strip()[:_LONGEST_LINE])
        for rank, pattern in _ERROR_RANKS:
            if rank <= best_rank:
                break
            found = pattern.search(bare)
            if found and not talks_to_agents(bare):
                best, best_rank = _around(bare, found.start()), rank
                break
    return best


def talks_to_agents(text: str) -> bool:
    """True when a text reads like an instruction planted for an agent."""
    return bool(_ADDRESSED_TO_AGENTS.search(text))


def is_similar(one: Run, other: Run) -> bool:
    """True when two runs try to do the same thing: they share a part, or most of their words."""
    if one.parts & other.parts or _git_verbs(one) & _git_verbs(other):
        return True
    words, others = _words(one.command), _words(other.command)
    return bool(words and others) and len(words & others) / len(words | others) >= 0.5


def serves_same_purpose(one: Run, other: Run) -> bool:
    """True when both runs hold a check of the same kind, whatever the tool."""
    return bool({check.kind for check in one.checks} & {check.kind for check in other.checks})


def _status(
    output: str, code: int | None, parts: tuple[Part, ...], *, is_check: bool, is_probe: bool
) -> RunStatus:
    if code not in (None, 0):
        return RunStatus.FAILED
    # A plain command's exit code is the truth; a pipe's or a list's is only that of its last part.
    is_proven = code == 0 and all(part.separator in ("", "&&") for part in parts)
    if not is_probe and not is_proven:
        has_failed_check = is_check and _FAILED_CHECK.search(output)
        if has_failed_check or _FAILED_ANY.search(output):
            return RunStatus.FAILED
    return RunStatus.OK if code == 0 or output.strip() else RunStatus.UNKNOWN


def _around(line: str, at: int) -> str:
    start = 0 if len(line) <= _ERROR_LIMIT or at < _ERROR_LIMIT // 3 else at
    head = CLIP_MARK.strip() + " " if start else ""
    rest = re.sub(r"[\\\"')}\s]+$", "", line[start:]) if start else line
    return head + clip(rest, _ERROR_LIMIT - len(head))


def _shown(parts: tuple[Part, ...], output: str) -> tuple[str, str] | None:
    path = shown_file(parts)
    lines = [one_line(line) for line in output.split("\n") if line.strip()]
    content = "; ".join(lines)
    if not path or not content or len(content) > _SHOWN_LIMIT or talks_to_agents(content):
        return None
    return path, content


def _git_verbs(run: Run) -> frozenset[str]:
    return frozenset(verb for part in run.parts for verb in re.findall(r"\bgit ([a-z-]+)", part))


def _words(command: str) -> frozenset[str]:
    return frozenset(word for word in command.split() if word not in ("&&", "-q"))


def _unescaped(literal: str) -> str:
    pairs = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda match: pairs.get(match[1], match[1]), literal[1:-1])
