"""Finds secrets in text and replaces them by markers; the only maker of ``RedactedText``.

Four functions: ``redact`` for a text, ``redact_values`` for a JSON-like value, ``find_secrets``
for a check that must not change anything, ``make_redactor`` for other settings; ``secret_tools``
gives a deployment all of them with its settings.
``docs/secrets.md`` says what is found and what is left.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from automemory_dagster.adapters.secrets.counting import count_in_structure
from automemory_dagster.adapters.secrets.engine import Engine, engine_for
from automemory_dagster.adapters.secrets.finding import Finding
from automemory_dagster.adapters.secrets.values import redact_structure
from automemory_dagster.domain.redaction import Redact, RedactedText

__all__ = [
    "Finding",
    "SecretTools",
    "find_secrets",
    "make_redactor",
    "redact",
    "redact_values",
    "secret_tools",
]


def redact(text: str) -> RedactedText:
    """Replace every known kind of secret by ``[REDACTED:<kind>]``.

    Idempotent, deterministic, linear in the length of the text; never raises, also for lone
    surrogates and NULs. Safe to call from many threads.
    """
    return engine_for().redact(text)


def find_secrets(text: str) -> list[Finding]:
    """The secrets in the text in order, without overlap; empty for a redacted text.

    A finding names kind and place in characters, never the value.
    """
    return engine_for().find(text)


@cache
def make_redactor(*, plain_markers: bool = False, redact_personal: bool = False) -> Redact:
    """A ``redact`` with other settings; the same settings give the same function.

    Args:
        plain_markers: write ``[REDACTED]`` without the kind.
        redact_personal: also replace e-mail addresses and names of people where a place says it
        holds one.
    """
    return engine_for(plain_markers=plain_markers, redact_personal=redact_personal).redact


def redact_values(value: object) -> object:
    """A copy of a JSON-like value with every string redacted.

    What stands under a secret's name is replaced whole. Call it before JSON is made of the value.
    Placeholders, empty values and booleans stay; tuples become lists.
    """
    return redact_structure(value, engine_for())


@dataclass(frozen=True, slots=True)
class SecretTools:
    """What one deployment uses everywhere, with its settings; see the functions of these names."""

    redact: Redact
    engine: Engine

    def find(self, text: str) -> Sequence[Finding]:
        """As ``find_secrets``."""
        return self.engine.find(text)

    def redact_values(self, value: object) -> object:
        """As ``redact_values``; a text alone is a value too."""
        return redact_structure(value, self.engine)

    def count_values(self, value: object) -> Counter[str]:
        """Secrets in a JSON-like value by kind; empty when ``redact_values`` changes nothing."""
        return count_in_structure(value, self.engine)


def secret_tools(*, plain_markers: bool = False, redact_personal: bool = False) -> SecretTools:
    """The tools with these settings; for their meaning see ``make_redactor``."""
    redactor = make_redactor(plain_markers=plain_markers, redact_personal=redact_personal)
    engine = engine_for(plain_markers=plain_markers, redact_personal=redact_personal)
    return SecretTools(redactor, engine)
