"""Shell commands of a rollout: what a command line runs, whether it went well, and the line that says why not.

The trap: an exit code of 0 proves little. ``pytest | tail`` and ``check.sh; echo $?`` end with 0
when the check failed, and ``grep ERROR`` ends with 0 because it found errors. So the text decides
where the exit code cannot, and only for commands that do not merely read.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from automemory_dagster.adapters.offline.text import clip, one_line


class RunStatus(StrEnum):
    """How a command ended, as far as its exit code and its output tell."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A test, lint, type or build command inside a command line."""

    kind: str
    """``test``, ``lint`` or ``build``."""
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One shell command line with its end."""

    position: int
    turn: int
    command: str
    """One line, without redirections and pipes into pagers."""
    status: RunStatus
    exit_code: int | None = None
    error: str = ""
    """The line of the output that says best what went wrong; empty when it did not fail."""
    checks: tuple[Check, ...] = ()
    is_probe: bool = False
    """It only reads or looks: its failure is an answer, not an error."""
    is_aborted: bool = False


READERS = frozenset(
    "awk basename bat cat cut diff dirname du df echo egrep env fgrep file find fd git-log grep head "
    "hexdump jq less ls man more nl od printenv printf ps pwd readlink realpath rg sed sort stat "
    "strings tail test tr tree type uname uniq wc which whoami xxd date true xargs cd set export "
    "sleep source [ :".split()
)
"""Programs that only show: their output may be full of other programs' errors."""

_GIT_READERS = frozenset(
    "log show diff status branch grep blame remote config rev-parse ls-files".split()
)
_SEPARATOR = re.compile(r"\s*(&&|\|\||;|\|(?!\|)|\n)\s*")
_REDIRECTION = re.compile(r"\s*(?:\d?>&\d|\d?>>?\s*/dev/null|&>\s*/dev/null)")
_ENV_PREFIX = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*")
_WRAPPER = re.compile(r"^(?:bash|sh|zsh)\s+-l?c\s+(['\"])(.*)\1$", re.DOTALL)
_CODE_MODE = re.compile(r"exec_command\(\s*\{[^}]*?\"?cmd\"?\s*:\s*(\"(?:[^\"\\]|\\.)*\")")
_ECHOED_EXIT = re.compile(
    r"^\W*(?:exit|rc|status|code|ret)\w*\s*[=: ]\s*(\d{1,3})\s*$", re.M | re.I
)

_CHECK_PATTERNS = (
    (
        "test",
        re.compile(
            r"\b(?:py\.?test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|busted"
            r"|(?:go|cargo|dotnet|swift|bazel|mix|rake|deno|bun|mvn|zig|flutter|dart|lein|stack|cabal)"
            r"\s+test|(?:npm|pnpm|yarn|bun|gradle|\./gradlew|make|just|task|poe|invoke|hatch)"
            r"(?:\s+run)?\s+\S*(?:test|check|spec|verify)\S*)|(?:^|/)\S*(?:test|check)\w*\.(?:sh|py|js)\b",
            re.I,
        ),
    ),
    (
        "lint",
        re.compile(
            r"\b(?:ruff|flake8|pylint|eslint|prettier|mypy|pyright|tsc|golangci-lint|clippy|shellcheck"
            r"|black --check|biome|rubocop|stylelint|hadolint|yamllint|markdownlint|vale|go vet|ktlint"
            r"|(?:npm|pnpm|yarn|bun|make|just|task|poe|hatch)(?:\s+run)?\s+\S*(?:lint|typecheck|fmt|format)\S*)"
            r"(?![\w./-]*\.\w)",
            re.I,
        ),
    ),
    (
        "build",
        re.compile(
            r"\b(?:(?:cargo|go|docker|bazel|dotnet|swift|zig|mkdocs|hugo|flutter)\s+build|cmake --build"
            r"|(?:npm|pnpm|yarn|bun|make|just|gradle|\./gradlew|task)(?:\s+run)?\s+\S*build\S*"
            r"|(?:mvn|gradle)\s+(?:package|install|assemble)|terraform (?:validate|plan)|helm lint)\b"
            r"|^make(?:\s+-\S+)*$",
            re.I,
        ),
    ),
)

_FAILED_CHECK = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?|problems?)\b|^(?:FAILED|FAIL|ERROR)\b|\bFAILURES\b"
    r"|^make(?:\[\d+\])?: \*\*\*|^error(?:\[|:)|Traceback \(most recent call last\)|npm ERR!",
    re.M,
)
_FAILED_ANY = re.compile(
    r"command not found|: not found$|No module named|Traceback \(most recent call last\)|^npm (?:error|ERR!)"
    r"|^(?:fatal|error|ERROR):|^make(?:\[\d+\])?: \*\*\*|Failed to connect|rejected: |Rejected\("
    r"|\b\w+ failed for `|Permission denied|^Script failed|^panic: |ECONNREFUSED|EAI_AGAIN",
    re.M,
)
_ABORTED = re.compile(r"\baborted by (?:the )?user\b", re.I)

_ERROR_RANKS = (
    (9, re.compile(r"\b(?:Rejected\(|rejected: )")),
    (8, re.compile(r"\b[A-Z]\w*(?:Error|Exception|Panic)\b: ?\S|^error(?:\[\w+\])?: |: error[: ]| error TS\d+")),
    (7, re.compile(r"No rule to make|command not found|: not found|No such file|No module named"
                   r"|Permission denied|[Rr]efus(?:ed|ing)|Failed to|Could ?n[o']t|[Cc]annot |can't "
                   r"|^fatal: |panic: |EAI_AGAIN|ECONNREFUSED|timed? ?out|unknown (?:option|command)")),
    (6, re.compile(r"^\S+:\d+(?::\d+)?:? ")),
    (5, re.compile(r"^FAILED |^FAIL\b|^not ok |^E  +\S")),
    (4, re.compile(r"\b(?:[Ee]rror|ERROR|[Ff]ailed|failure|invalid|missing|unrecognized|omitting)\b")),
    (1, re.compile(r"^make(?:\[\d+\])?: \*\*\*")),
)  # fmt: skip
_ADDRESSED_TO_AGENTS = re.compile(
    r"ignore (?:all |any )?(?:previous|prior|above)|\b(?:ai|coding|llm) (?:agents?|assistants?|models?)\b"
    r"|remember (?:this |that )?(?:permanently|forever)|system prompt|your memory|you (?:must|should) (?:now|always)"
    r"|\|\s*(?:ba|z)?sh\b|忽略(?:之前|以上|所有)|(?:以前|上記)の指示",
    re.I,
)
_ERROR_LIMIT = 180
_COMMAND_LIMIT = 160


def shell_commands(text: str, *, is_shell: bool) -> tuple[str, ...]:
    """The command lines inside a tool call: the call itself, or those that a script starts."""
    if is_shell:
        wrapped = _WRAPPER.match(text.strip())
        return (wrapped[2] if wrapped else text,)
    return tuple(_unescaped(match) for match in _CODE_MODE.findall(text))


def read_run(command: str, output: str, exit_code: int | None, *, position: int, turn: int) -> Run:
    """Judge one command line by its output and its exit code (None: the rollout does not tell)."""
    parts = _segments(command)
    is_probe = all(_is_reader(part) for part in parts)
    echoed = _ECHOED_EXIT.findall(output) if "$?" in command else []
    code = int(echoed[-1]) if echoed else exit_code
    checks = _checks(parts)
    is_aborted = bool(_ABORTED.search(output)) and exit_code is None
    status = _status(
        output, code, bool(checks), is_probe, is_piped="|" in command or ";" in command
    )
    return Run(
        position=position,
        turn=turn,
        command=tidy_command(command),
        status=RunStatus.FAILED if is_aborted else status,
        exit_code=code,
        error=error_line(output) if status is RunStatus.FAILED else "",
        checks=checks,
        is_probe=is_probe,
        is_aborted=is_aborted,
    )


def tidy_command(command: str) -> str:
    """A command as a person would retype it: one line, no redirections, no pipe into a pager."""
    kept = [part for part in _segments(command) if not _is_noise(part)]
    return clip(" && ".join(kept) or one_line(command), _COMMAND_LIMIT)


def error_line(output: str) -> str:
    """The most telling line of a failed command's output; empty when none tells, or none is safe.

    A line that talks to agents is data that wants to be an instruction: it is never quoted.
    """
    best, best_rank = "", 0
    for line in output.split("\n"):
        bare = line.strip()
        rank = next((rank for rank, pattern in _ERROR_RANKS if pattern.search(bare)), 0)
        if rank > best_rank and not talks_to_agents(bare):
            best, best_rank = bare, rank
    return clip(re.sub(r"^E\s{2,}", "", best), _ERROR_LIMIT)


def talks_to_agents(text: str) -> bool:
    """True when a text reads like an instruction planted for an agent."""
    return bool(_ADDRESSED_TO_AGENTS.search(text))


def is_similar(one: Run, other: Run) -> bool:
    """True when two runs try to do the same thing: the same check, or mostly the same words."""
    if {check.command for check in one.checks} & {check.command for check in other.checks}:
        return True
    words, others = _words(one.command), _words(other.command)
    return bool(words and others) and len(words & others) / len(words | others) >= 0.5


def serves_same_purpose(one: Run, other: Run) -> bool:
    """True when both runs hold a check of the same kind, whatever the tool."""
    return bool({check.kind for check in one.checks} & {check.kind for check in other.checks})


def _segments(command: str) -> list[str]:
    if "<<" in command:
        command = command.split("<<", 1)[0]
    return [
        part
        for piece in _SEPARATOR.split(_REDIRECTION.sub("", command))
        if (part := piece.strip()) and part not in ("&&", "||", ";", "|")
    ]


def _program(part: str) -> str:
    words = _ENV_PREFIX.sub("", part, count=1).split()
    if not words:
        return ""
    if words[0] == "git" and len(words) > 1:
        return "git-log" if words[1] in _GIT_READERS else "git"
    return words[0].rsplit("/", 1)[-1]


def _is_reader(part: str) -> bool:
    if _program(part) == "sed":
        return " -i" not in part
    return _program(part) in READERS


def _is_noise(part: str) -> bool:
    program = _program(part)
    return program in {"cd", "echo", "set", "head", "tail", "true", "sleep", "less", "export"}


def _checks(parts: list[str]) -> tuple[Check, ...]:
    found = []
    for part in parts:
        if _is_reader(part):
            continue
        kind = next((kind for kind, pattern in _CHECK_PATTERNS if pattern.search(part)), "")
        if kind:
            found.append(Check(kind=kind, command=clip(part, _COMMAND_LIMIT)))
    return tuple(found)


def _status(
    output: str, code: int | None, is_check: bool, is_probe: bool, *, is_piped: bool
) -> RunStatus:
    if code not in (None, 0):
        return RunStatus.FAILED
    # The exit code of a plain command is the truth; that of a pipe or a list is only its last part's.
    is_proven = code == 0 and not is_piped
    if not is_probe and not is_proven:
        pattern = _FAILED_CHECK if is_check else _FAILED_ANY
        if pattern.search(output) or (is_check and _FAILED_ANY.search(output)):
            return RunStatus.FAILED
    return RunStatus.OK if code == 0 or output.strip() else RunStatus.UNKNOWN


def _words(command: str) -> frozenset[str]:
    return frozenset(word for word in command.split() if word not in ("&&", "-q"))


def _unescaped(literal: str) -> str:
    pairs = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda match: pairs.get(match[1], match[1]), literal[1:-1])
