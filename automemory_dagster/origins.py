"""The sources a deployment reads, each with its gates, put together from the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from automemory_dagster.adapters.home import HomeLayout, has_consent
from automemory_dagster.adapters.sources.codex.home import CodexSource
from automemory_dagster.adapters.sources.codex.sample_home import unpack_sample_home
from automemory_dagster.domain.eligibility import EligibilityPolicy
from automemory_dagster.domain.redaction import Redact
from automemory_dagster.domain.thread import SpaceId, Thread
from automemory_dagster.pipeline.gates import PolicyGates
from automemory_dagster.ports import Origin, ThreadCatalogue
from automemory_dagster.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChoice:
    """Which Codex home is read, and by which right."""

    codex_home: Path
    is_sample: bool
    is_generation_on: bool
    looked_for: Path
    """Where a Codex home was looked for; differs from ``codex_home`` when the sample stands in."""

    @property
    def name(self) -> str:
        """The source's name in the store, one a Codex home."""
        return "codex:sample" if self.is_sample else f"codex:{self.codex_home}"


def choose_source(settings: Settings, layout: HomeLayout) -> SourceChoice:
    """The person's Codex home when there is one, else the bundled sample.

    Generation is on for the sample; for a person's home only when the environment or an earlier
    word in this home says so.
    """
    known = settings.known_codex_home
    if known is None:
        home = unpack_sample_home(layout.sample_codex_home)
        is_on = True if settings.generate is None else settings.generate
    else:
        home = known
        said = settings.generate
        is_on = has_consent(layout.consent, home) if said is None else said
    return SourceChoice(
        codex_home=home,
        is_sample=known is None,
        is_generation_on=is_on,
        looked_for=settings.looked_for_codex_home,
    )


def codex_origin(
    settings: Settings,
    choice: SourceChoice,
    catalogue: ThreadCatalogue,
    *,
    policy: EligibilityPolicy,
    redact: Redact,
) -> Origin:
    """The Codex home with the gates of one policy."""
    source = CodexSource(
        choice.codex_home,
        name=choice.name,
        space_for=_spaces(settings, choice),
        redact=redact,
        mcp_allow=settings.mcp_allow,
        fetch_commands=settings.fetch_commands,
    )
    gates = PolicyGates(
        catalogue=catalogue,
        source=choice.name,
        policy=policy,
        is_external_context_refused=settings.disable_on_external_context,
    )
    return Origin(source=source, gates=gates, idle=policy.idle)


def _spaces(settings: Settings, choice: SourceChoice) -> Callable[[Thread], SpaceId]:
    if not settings.split_by_project:
        return lambda thread: SpaceId(choice.name)
    return lambda thread: SpaceId(f"{choice.name}#{thread.project}")
