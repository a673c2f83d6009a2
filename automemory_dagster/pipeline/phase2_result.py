"""What came of one try to consolidate a space: a closed list, each with its data."""

from dataclasses import dataclass
from typing import assert_never

from automemory_dagster.domain.job import (
    Claimed,
    Phase2ClaimOutcome,
    SkippedBackoff,
    SkippedCooldown,
    SkippedRunning,
    SkippedUpToDate,
)
from automemory_dagster.domain.workspace import Publication, WorkspaceDiff
from automemory_dagster.ports import ConsolidationReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """A new version was published."""

    publication: Publication
    diff: WorkspaceDiff
    report: ConsolidationReport
    selected: int
    was_repaired: bool
    """The workspace had to be made to agree with the store first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingChanged:
    """The files say what the outputs say already; no consolidator was asked."""

    version: int
    selected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedNoConsent:
    """Generation is off for the source of this space, or it is not the source that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Not allowed, another worker's turn, or not yet time."""

    outcome: Phase2ClaimOutcome | SkippedNoConsent

    @property
    def why(self) -> str:
        """One sentence for a person."""
        return _skip_message(self.outcome)


Phase2Result = Consolidated | NothingChanged | Skipped


def _skip_message(outcome: Phase2ClaimOutcome | SkippedNoConsent) -> str:
    match outcome:
        case SkippedNoConsent():
            return "generation is off for its source; only forgetting goes on"
        case SkippedUpToDate():
            return "nothing changed since the last consolidation"
        case SkippedRunning(lease_until=until):
            return f"another worker consolidates; its lease runs until {until:%H:%M:%S} UTC"
        case SkippedBackoff(retry_at=at, last_error=error):
            return f"failed before ({error}); next try at {at:%Y-%m-%d %H:%M:%S} UTC"
        case SkippedCooldown(until=until):
            return f"consolidated a short while ago; resting until {until:%H:%M:%S} UTC"
        case Claimed():
            raise AssertionError("a claim is no skip")
        case _ as unhandled:
            assert_never(unhandled)
