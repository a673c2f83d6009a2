"""The gates of a source whose rules are one policy for all of its threads, such as a Codex home."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from automemory_dagster.domain.eligibility import EligibilityPolicy, Ruling, evaluate
from automemory_dagster.ports import ThreadCatalogue, ThreadState


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGates:
    """The ``Gatekeeper`` of one policy."""

    catalogue: ThreadCatalogue
    source: str
    policy: EligibilityPolicy
    is_external_context_refused: bool = False

    def possibly_due(self, *, now: datetime, limit: int) -> Sequence[ThreadState]:
        """Threads that are idle and not handled, newest first."""
        return self.catalogue.possibly_due(
            self.source,
            now=now,
            idle_seconds=int(self.policy.idle.total_seconds()),
            limit=limit,
            admitted_kinds=self.policy.admitted_kinds,
        )

    def judge(
        self, states: Sequence[ThreadState], *, now: datetime, is_asked_for: bool = False
    ) -> Sequence[Ruling]:
        """No query: thread, job and policy say it all."""
        return [
            Ruling(
                gates=evaluate(
                    state.thread, state.job, self.policy, now=now, is_asked_for=is_asked_for
                ),
                is_external_context_refused=self.is_external_context_refused,
            )
            for state in states
        ]
