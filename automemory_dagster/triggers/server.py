"""The server: code server, guarded webserver and daemon as one thing that starts, stops and fails
together.

The trap: something left behind. Every child leads its own process group and holds a lifeline to
this process (``child``), so whether this one is asked to stop, fails or is killed, all of it ends.
"""

import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import httpx

from automemory_dagster.triggers.claims import CannotServe, claimed_address, claimed_home
from automemory_dagster.triggers.code_servers import CodePlan, plan_code_servers
from automemory_dagster.triggers.guard_rules import hosts_served_at
from automemory_dagster.triggers.processes import Child, Crew, crew, end_one
from automemory_dagster.triggers.run_stop import stop_runs

STOPPED, FAILED, WRONG_USAGE = 0, 1, 2

START_SECONDS = 90.0
"""For each of the two stages of the start."""
_RUNS_SECONDS = 4.0
_GRACE_SECONDS = 3.0
_LOOK_SECONDS = 0.2


class _StartTookTooLong(Exception):
    """A child neither answers nor ends."""


class _ChildDied(Exception):
    """A child ended by itself."""


class _StopAsked(Exception):
    """A person or the system asked to stop before everything had started."""


class StopSignals:
    """SIGINT, SIGTERM and SIGHUP, counted."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._count = 0

    def note(self, _signal: int, _frame: FrameType | None) -> None:
        """One more signal came."""
        self._count += 1
        self._asked.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the first signal; True when it has come."""
        return self._asked.wait(seconds)

    @property
    def is_asked(self) -> bool:
        """True from the first signal on."""
        return self._asked.is_set()

    def is_impatient(self) -> bool:
        """True from the second signal on: no more waiting for anyone."""
        return self._count > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Station:
    """One server in progress."""

    crew: Crew
    plan: CodePlan
    signals: StopSignals
    address: str


def serve(
    *,
    host: str,
    port: int,
    dagster_home: Path,
    workspace_file: Path,
    log_folder: Path,
    env: Mapping[str, str],
    on_ready: Callable[[str], None],
) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP, or until a process dies. In the main thread only.

    ``on_ready`` is called once with the address, when the webserver answers. A second signal
    cuts every waiting short.

    Returns:
        0 stopped as asked, 1 a process died or did not start, 2 the address or the home is taken.
        What went wrong is said on standard error.
    """
    with ExitStack() as stack:
        try:
            # The home first: who starts twice is told so, not sent to another port.
            lock = stack.enter_context(claimed_home(dagster_home))
            listener = stack.enter_context(claimed_address(host, port))
        except CannotServe as error:
            print(f"Nothing was started. {error}", file=sys.stderr)
            return WRONG_USAGE
        signals = stack.enter_context(_stop_signals())
        # In the system's temporary folder: a socket's path has to be short.
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="automemory-")))
        station = _Station(
            crew=stack.enter_context(crew(log_folder, _environment(env, dagster_home), (lock,))),
            plan=plan_code_servers(workspace_file, sockets),
            signals=signals,
            address=_address(host, listener.getsockname()[1]),
        )
        webserver_arguments = _webserver_arguments(station, host, listener.fileno())
        return _run(station, webserver_arguments, listener.fileno(), on_ready)


def _run(
    station: _Station,
    webserver_arguments: list[str],
    listener: int,
    on_ready: Callable[[str], None],
) -> int:
    daemon: Child | None = None
    try:
        for server in station.plan.servers:
            station.crew.start(server.name, "dagster", server.arguments)
        webserver = "automemory_dagster.guarded_webserver"
        station.crew.start("webserver", webserver, webserver_arguments, passed=(listener,))
        _until(station, lambda: all(server.is_answering for server in station.plan.servers))
        workspace = ("--workspace", str(station.plan.workspace_file))
        daemon = station.crew.start("daemon", "dagster._daemon", ("run", *workspace))
        _until(station, lambda: _is_answering(station.address))
        on_ready(station.address)
        _until(station, lambda: False, seconds=None)
    except _StopAsked:
        print("Stopping; press Ctrl-C again to stop at once.", file=sys.stderr)
        _stop(station, daemon)
        return STOPPED
    except (_ChildDied, _StartTookTooLong):
        return _failed(station, daemon)
    return STOPPED


def _until(
    station: _Station, is_reached: Callable[[], bool], *, seconds: float | None = START_SECONDS
) -> None:
    give_up = None if seconds is None else time.monotonic() + seconds
    while not is_reached():
        if station.signals.wait(_LOOK_SECONDS):
            raise _StopAsked
        if station.crew.first_dead():
            raise _ChildDied
        if give_up is not None and time.monotonic() > give_up:
            raise _StartTookTooLong


def _stop(station: _Station, daemon: Child | None) -> None:
    impatient = station.signals.is_impatient
    if daemon is not None:
        # The daemon first, so that nothing new is launched while the runs are being ended.
        end_one(daemon, grace_seconds=_GRACE_SECONDS, is_impatient=impatient)
        sockets = [server.socket for server in station.plan.servers]
        stop_runs(station.address, sockets, seconds=_RUNS_SECONDS, is_impatient=impatient)
    station.crew.end(grace_seconds=_GRACE_SECONDS, is_impatient=impatient)


def _failed(station: _Station, daemon: Child | None) -> int:
    dead = station.crew.first_dead()
    culprit = dead or station.crew.children[-1]
    what = (
        f"The {culprit.name} process ended by itself ({culprit.how_it_ended})."
        if dead
        else f"The server did not answer within {START_SECONDS:.0f} seconds."
    )
    _stop(station, daemon)
    print(
        f"{what} Everything was stopped. The end of {culprit.log}:\n\n{culprit.last_lines()}",
        file=sys.stderr,
    )
    return FAILED


@contextmanager
def _stop_signals() -> Iterator[StopSignals]:
    signals = StopSignals()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        # Under nohup the person wants it to outlive the terminal.
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, signals.note) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _webserver_arguments(station: _Station, host: str, listener: int) -> list[str]:
    allowed = [f"--allow-host={name}" for name in sorted(hosts_served_at(host))]
    workspace = str(station.plan.workspace_file)
    waited = [f"--wait-for={server.socket}" for server in station.plan.servers]
    return ["--fd", str(listener), "--workspace", workspace, *waited, *allowed]


def _environment(env: Mapping[str, str], dagster_home: Path) -> dict[str, str]:
    return {
        **env,
        "DAGSTER_HOME": str(dagster_home.resolve()),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "PYTHONUNBUFFERED": "1",
    }


def _address(host: str, port: int) -> str:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def _is_answering(address: str) -> bool:
    try:
        answer = httpx.get(f"{address}/server_info", trust_env=False, timeout=2)
    except httpx.HTTPError:
        return False
    return answer.status_code == httpx.codes.OK
