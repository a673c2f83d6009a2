"""The errors that cross layers, as one small tree.

Adapters catch what their libraries raise and raise one of these ``from`` it; the pipeline catches
them only to mark the job; ``defs/reporting`` is the one place that turns them into Dagster
failures.
"""

from typing import Self


class AutomemoryError(Exception):
    """Something went wrong that the person or the next run can act on; the message says what, what
    was kept, what to do."""


class TransientError(AutomemoryError):
    """Trying again later may help; no attempt of the job's retry budget is used."""

    retry_after_seconds: int | None = None
    """How long the other side asked us to wait, when it did."""

    def after(self, seconds: int | None) -> Self:
        """The same error with the wait that the other side asked for."""
        self.retry_after_seconds = seconds
        return self


class ContextOverflow(TransientError):
    """The input is longer than the model takes; less of it may fit."""

    def __init__(self, message: str, *, overshoot_tokens: int | None = None) -> None:
        super().__init__(message)
        self.overshoot_tokens = overshoot_tokens
        """By how much, when the other side said so."""


class BudgetReached(TransientError):
    """The next model call could pass a spending limit, or its price is unknown: nothing was sent,
    and nothing is sent until the limit allows it. What was done before stays."""


class StateUnavailable(TransientError):
    """The state store is locked, gone or unreachable."""


class PermanentError(AutomemoryError):
    """The same input will fail again; one attempt of the job's retry budget is used."""


class RolloutUnreadable(PermanentError):
    """The rollout is gone, empty, or no line of it is a rollout item."""


class UnknownPrice(PermanentError):
    """No price of a model is known or configured, so what a call costs cannot be bounded; nothing
    was sent."""


class InvalidArtifacts(PermanentError):
    """A consolidation left files that break the format; nothing was published."""


class StateSchemaMismatch(PermanentError):
    """The state store was written by a newer version of this program."""


class LeaseLost(AutomemoryError):
    """Someone else owns the job now: stop, write nothing, mark nothing."""


class SettingsError(AutomemoryError):
    """A setting is wrong.

    Start-up only; names every wrong variable, never its value.
    """
