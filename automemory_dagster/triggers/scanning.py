"""``automemory scan``: put the places of this deployment together, and keep a server away."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from automemory_dagster.adapters.scan import DagsterTexts, HomeFiles, MemoryFolders, StateTexts
from automemory_dagster.adapters.scan.sqlite_pages import with_companions
from automemory_dagster.adapters.state import open_state_store
from automemory_dagster.adapters.state.location import sqlite_path
from automemory_dagster.adapters.workspace import GitWorkspaces
from automemory_dagster.pipeline import scan
from automemory_dagster.pipeline.scan import FixReport, ScanReport, ScanWorld
from automemory_dagster.triggers.claims import claimed_home
from automemory_dagster.wiring import Automemory, state_url, system_clock


def look(automemory: Automemory) -> ScanReport:
    """Look through everything that the deployment keeps; changes nothing."""
    with _world(automemory) as world:
        return scan.look(world)


def fix(automemory: Automemory) -> FixReport:
    """Remove every secret found, history included.

    Raises:
        CannotServe: a server runs on this home; nothing was changed.
        TransientError: a consolidation is under way, or a place is in use; run it again.
    """
    with claimed_home(automemory.layout.folder), _world(automemory) as world:
        return scan.fix(world)


@contextmanager
def _world(automemory: Automemory) -> Iterator[ScanWorld]:
    layout, tools = automemory.layout, automemory.secrets
    url = state_url(automemory.settings, layout)
    file = sqlite_path(url)
    workspaces = GitWorkspaces(layout.memories, clock=system_clock, redact=tools.redact)
    with open_state_store(url) as store:
        yield ScanWorld(
            # The memory is rebuilt from the state store, so that one goes first.
            places=(
                StateTexts(store.database, sqlite_file=file),
                MemoryFolders(layout.memories, workspaces=workspaces, store=store),
                DagsterTexts(layout.dagster, database_url=None if file else url),
                HomeFiles(
                    layout.folder,
                    without=(
                        layout.memories,
                        # A source, not ours to change.
                        layout.sample_codex_home,
                        # Closing a second handle drops the locks of this process's connections.
                        *with_companions(layout.state_database),
                    ),
                ),
            ),
            count=tools.count_values,
            redact=tools.redact,
            redact_values=tools.redact_values,
            store=store,
            clock=system_clock,
            leases=automemory.leases,
            worker=f"{socket.gethostname()}:{os.getpid()}",
        )
