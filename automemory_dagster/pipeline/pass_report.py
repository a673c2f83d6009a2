"""What one whole pass did: sweep, phase 1, phase 2."""

from dataclasses import dataclass

from automemory_dagster.domain.thread import SpaceId


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """The runs of a pass and what came of them."""

    run_ids: tuple[str, ...]
    published: tuple[SpaceId, ...]
    """The spaces that got a new version."""
    restored: tuple[SpaceId, ...] = ()
    """The spaces whose files were gone and are back as they were published."""
    problems: tuple[str, ...] = ()
    """What went wrong beyond single threads, one sentence each."""
