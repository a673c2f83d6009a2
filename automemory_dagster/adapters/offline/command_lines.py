"""A shell command line taken apart: its parts, which of them only read, which are checks.

No shell grammar: quotes are respected, here-documents cut off, the rest is split at ``&&``, ``||``,
``;``, ``|`` and line breaks. That is enough to say what a line was for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from automemory_dagster.adapters.offline.text import clip, one_line, word_set

_COMMAND_LIMIT = 160
_LONGEST_LINE = 4_000

READERS = word_set(
    "awk basename bat cat cut date df diff dirname du echo egrep env export fd fgrep file find "
    "git-log grep head hexdump jq less ls man more nl od printenv printf ps pwd readlink "
    "realpath rg sed set sleep sort source stat strings tail test tr tree true type uname uniq "
    "wc which whoami xargs xxd cd [ :"
)
"""Programs that only show: their output may be full of other programs' errors."""

_NOISE = frozenset({"cd", "echo", "set", "head", "tail", "true", "sleep", "less", "export", "sort"})
_GIT_READERS = frozenset(
    ("blame", "branch", "config", "diff", "grep", "log", "ls-files", "rev-parse", "show", "status")
)
_SHOWS = re.compile(
    r"(?:sudo )?(?:systemctl (?:status|list|is-|show)|journalctl|kubectl (?:get|describe|logs)"
    r"|docker (?:ps|logs|images|inspect)|crontab -l|pip3? (?:show|list)|npm (?:ls|view|list))\b"
)
_TOKEN = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|&&|\|\||;|\||\n|[^'\"&|;\n]+|.", re.DOTALL)
_SEPARATORS = frozenset({"&&", "||", ";", "|", "\n"})
_REDIRECTION = re.compile(r"\s*(?:\d?>&\d|\d?>>?\s*/dev/null|&>\s*/dev/null)")
_ENV_PREFIX = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*")
_WRITES = re.compile(r">>?\s*([\w./\u3040-\u9fff-]+)|\btee\b|\bsed\b.*\s-i")

_RUNNER = r"(?:npm|pnpm|yarn|bun|make|gmake|just|task|poe|hatch|invoke|gradle|\./gradlew)"
_CHECK_PATTERNS = (
    (
        "lint",
        re.compile(
            r"\b(?:ruff|flake8|pylint|eslint|prettier|mypy|pyright|tsc|golangci-lint|clippy|biome"
            r"|shellcheck|black --check|rubocop|stylelint|hadolint|yamllint|markdownlint|vale"
            rf"|go vet|ktlint|{_RUNNER}(?:\s+run)?\s+\S*(?:lint|typecheck|fmt|format)\S*)"
            r"(?![\w./-]*\.\w)",
            re.IGNORECASE,
        ),
    ),
    (
        "test",
        re.compile(
            r"\b(?:py\.?test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest"
            r"|busted)\b|\b(?:go|cargo|dotnet|swift|bazel|mix|rake|deno|bun|mvn|zig|flutter|dart"
            r"|lein|stack|cabal)\s+test\b"
            rf"|\b{_RUNNER}(?:\s+run)?\s+\S*(?:test|check|spec|verify)\S*"
            r"|(?:^|[\s/])[\w.-]*(?:test|check)[\w-]*\.(?:sh|py|js)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "build",
        re.compile(
            r"\b(?:cargo|go|docker|bazel|dotnet|swift|zig|mkdocs|hugo|flutter)\s+build\b"
            rf"|\bcmake --build\b|\b{_RUNNER}(?:\s+run)?\s+\S*build\S*"
            r"|\b(?:mvn|gradle)\s+(?:package|install|assemble)\b|\bterraform (?:validate|plan)\b"
            r"|\bhelm lint\b|^make(?:\s+-\S+)*$",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A test, lint, type or build command inside a command line."""

    kind: str
    """``test``, ``lint`` or ``build``."""
    command: str


@dataclass(frozen=True, slots=True)
class Part:
    """One command of a line, with the separator before it; empty for the first."""

    separator: str
    text: str

    @property
    def program(self) -> str:
        """The program's base name; ``git-log`` for the git commands that only show."""
        words = _ENV_PREFIX.sub("", self.text, count=1).split()
        if not words:
            return ""
        if words[0] == "git" and len(words) > 1:
            return "git-log" if words[1] in _GIT_READERS else "git"
        return words[0].rsplit("/", 1)[-1]

    @property
    def only_reads(self) -> bool:
        """True when it shows and changes nothing."""
        if _WRITES.search(self.text):
            return False
        return self.program in READERS or bool(_SHOWS.match(self.text))


def split_line(line: str) -> tuple[Part, ...]:
    """The parts of a command line in order, without redirections of streams; may be empty."""
    parts: list[Part] = []
    separator, text = "", ""
    for token in _TOKEN.findall(_REDIRECTION.sub("", line.split("<<", 1)[0][:_LONGEST_LINE])):
        if token not in _SEPARATORS:
            text += token
            continue
        if text.strip():
            parts.append(Part(separator, one_line(text)))
            separator = token
        text = ""
    if text.strip():
        parts.append(Part(separator, one_line(text)))
    return tuple(parts)


def tidy(parts: Sequence[Part], whole: str) -> str:
    """The line as a person would retype it for its effect: without what merely shows or waits."""
    working = [part for part in parts if not part.only_reads]
    kept = working or [part for part in parts if part.program not in _NOISE] or list(parts)
    text = ""
    for part in kept:
        joint = ";" if part.separator == "\n" else part.separator
        text += part.text if not text else f"{'' if joint == ';' else ' '}{joint} {part.text}"
    return clip(text or whole, _COMMAND_LIMIT)


def checks_in(parts: Sequence[Part]) -> tuple[Check, ...]:
    """The checks among the parts, in order."""
    found = []
    for part in parts:
        if part.only_reads or part.program in ("git", "apply_patch"):
            continue
        kind = next((kind for kind, pattern in _CHECK_PATTERNS if pattern.search(part.text)), "")
        if kind:
            found.append(Check(kind=kind, command=clip(part.text, _COMMAND_LIMIT)))
    return tuple(found)


def shown_file(parts: Sequence[Part]) -> str:
    """The file that the line wrote and then showed; empty when it did not."""
    written = {match[1] for part in parts for match in _WRITES.finditer(part.text) if match[1]}
    for part in parts[1:]:
        words = part.text.split()
        if part.program == "cat" and len(words) == 2 and words[1] in written:
            return words[1]
    return ""
