"""Dagster's web application, UI and GraphQL, as an ASGI application for someone else to serve.

The trap: Dagster's own command serves it bare. Whoever calls this puts the guard around it.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import dagster as dg
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette

_STATEMENT_TIMEOUT_MILLISECONDS = 15_000
_POOL_RECYCLE_SECONDS = 3_600
_POOL_MAX_OVERFLOW = 20
"""The three are the defaults of Dagster's own command."""


@contextmanager
def web_application(workspace_file: Path) -> Iterator[Starlette]:
    """The application over the instance in ``DAGSTER_HOME`` and the code locations of a workspace
    file; the locations are loaded when the context is entered."""
    with dg.DagsterInstance.get() as instance:
        instance.optimize_for_webserver(
            _STATEMENT_TIMEOUT_MILLISECONDS, _POOL_RECYCLE_SECONDS, _POOL_MAX_OVERFLOW
        )
        with WorkspaceProcessContext(
            instance,
            version=dg.__version__,
            read_only=False,
            workspace_load_target=WorkspaceFileTarget([str(workspace_file)]),
        ) as context:
            yield create_app_from_workspace_process_context(context, lifespan=_lifespan)


@asynccontextmanager
async def _lifespan(_: Starlette) -> AsyncIterator[None]:
    yield
