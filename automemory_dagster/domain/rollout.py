"""Rollout items in one vocabulary, whatever generation of file or whichever agent wrote them.

A source's reader turns records into these; nothing here is redacted yet, so nothing here may be
stored or sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from automemory_dagster.domain.thread import MemoryMode

FETCH_COMMANDS = (
    "curl",
    "wget",
    "aria2c",
    "lynx",
    "w3m",
    "httpie",
    "http",
    "https",
    "xh",
    "Invoke-WebRequest",
    "Invoke-RestMethod",
    "iwr",
    "irm",
)
"""Shell commands that read from the network, where no setting names others."""


class Tier(IntEnum):
    """How much a kind of evidence is worth; the budget is filled in this order, newest first inside
    a tier."""

    HUMAN = 1
    FINAL = 2
    OTHER_AGENT = 3
    COMMENTARY = 4
    CONTEXT = 5
    TOOL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanRequest:
    """Words of a person, free of what the harness or the IDE put around them."""

    text: str
    question: str = ""
    """The agent's question that these words answer, when they answer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """Words of the thread's own agent."""

    text: str
    is_final: bool
    """True for the answer that ends a turn; an older rollout that does not tell counts its last
    message of a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAgentMessage:
    """Mail from another agent: not a person's words."""

    author: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessContext:
    """What the harness told the agent: the environment, an aborted turn, a shell command the person
    ran."""

    label: str
    """``environment``, ``turn_aborted``, ``user_shell_command``, …"""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One use of a tool by the agent."""

    call_id: str
    tool: str
    """As the rollout names it: ``shell``, ``exec_command``, ``apply_patch``,
    ``mcp__server__tool``."""

    command: str
    """The shell command line when the tool runs one, else the arguments as text (a patch, JSON, a
    script)."""

    is_shell: bool = False
    changed_files: tuple[str, ...] = ()
    """Paths that a patch adds, updates, deletes or moves to, in the patch's order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool answered, without ANSI codes, progress-bar noise and base64."""

    call_id: str
    text: str
    exit_code: int | None = None
    """None when the output does not tell, or the command still runs."""

    omitted_bytes: int = 0
    """Cut by the reader from the middle of ``text``, where a mark stands."""


ItemBody = HumanRequest | AgentMessage | OtherAgentMessage | HarnessContext | ToolCall | ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutItem:
    """One record of a rollout that a memory may rest on."""

    position: int
    """Line number in the thread's own record, from 1; rises through a reading."""

    turn: int
    """Number of the human turn it belongs to, from 1; 0 before the first human request."""

    body: ItemBody

    @property
    def tier(self) -> Tier:
        """The tier of this item's kind."""
        match self.body:
            case HumanRequest():
                return Tier.HUMAN
            case AgentMessage(is_final=True):
                return Tier.FINAL
            case OtherAgentMessage():
                return Tier.OTHER_AGENT
            case AgentMessage():
                return Tier.COMMENTARY
            case HarnessContext():
                return Tier.CONTEXT
            case ToolCall() | ToolOutput():
                return Tier.TOOL


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """What one reading of a rollout took in and left out; the parts add up to the whole."""

    bytes_read: int = 0
    """Decompressed."""

    lines_read: int = 0
    lines_kept: int = 0
    dropped_lines: Mapping[str, int] = field(default_factory=dict)
    """Lines by the reason they gave no item: ``malformed``, ``unknown_type``, ``plumbing``,
    ``duplicate``, ``rolled_back``, ``copied_history``, ``injected``, ``own_memory``, ``image``,
    ``oversized``, … ``lines_kept`` plus these is ``lines_read``."""

    unknown_types: Mapping[str, int] = field(default_factory=dict)
    external_context: Mapping[str, int] = field(default_factory=dict)
    """Uses of sources outside the thread by kind: ``web_search``, ``mcp:<server>``,
    ``tool_search``, ``fetch``."""

    cited_threads: tuple[str, ...] = ()
    """Thread ids in memory citations, in order, each once: usage, never evidence."""

    @property
    def malformed_lines(self) -> int:
        """Lines that are no JSON object, cut ones among them."""
        return self.dropped_lines.get("malformed", 0) + self.dropped_lines.get("oversized", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The evidence of one thread, in file order and bounded in size, and the account of how it was
    come by."""

    items: tuple[RolloutItem, ...]
    report: ReadReport
    memory_mode: MemoryMode = MemoryMode.ENABLED
    """The last one the rollout says."""
