"""The webserver's process: Dagster's web application behind the guard, on a socket handed down.

A module above the layers, like ``__main__``: the one place that knows both the guard and Dagster.
Run by ``triggers.server`` as ``python -m automemory_dagster.guarded_webserver``.
"""

import argparse
import logging
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import uvicorn

from automemory_dagster.defs.web_application import web_application
from automemory_dagster.triggers.guard import Guard
from automemory_dagster.triggers.guard_rules import MAX_HEADER_BYTES

_SHUTDOWN_SECONDS = 2
"""How long open requests may take to end; the UI's WebSockets never end by themselves."""


def main(arguments: Sequence[str]) -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="guarded_webserver", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="a bound TCP socket")
    parser.add_argument("--workspace", type=Path, required=True, help="the workspace file")
    parser.add_argument("--allow-host", action="append", default=[], help="may be repeated")
    parser.add_argument("--wait-for", type=Path, action="append", default=[], help="Unix sockets")
    options = parser.parse_args(arguments)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # uvicorn raises the signal again once it has stopped: this lets our contexts end then.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    _wait_for(options.wait_for)
    with (
        socket.socket(fileno=options.fd) as listener,
        web_application(options.workspace) as application,
    ):
        guard = Guard(application, allowed_hosts=frozenset(options.allow_host))
        uvicorn.Server(_config(guard)).run(sockets=[listener])


def _wait_for(sockets: Sequence[Path]) -> None:
    # Dagster takes seconds to import: that is done by now, while the code servers did the same.
    while not all(path.is_socket() for path in sockets):
        time.sleep(0.05)


def _config(guard: Guard) -> uvicorn.Config:
    # h11 is the strict parser: it refuses doubtful framing, and headers beyond its limit.
    # Headers a proxy would set are not believed, since anyone can send them here.
    return uvicorn.Config(
        guard,
        http="h11",
        h11_max_incomplete_event_size=2 * MAX_HEADER_BYTES,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


def _leave(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
