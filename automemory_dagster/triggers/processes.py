"""Child processes in groups of their own: started with a log file, watched, and ended whole."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

MAX_LOG_BYTES = 5 * 1024 * 1024
"""A longer log is put aside at the next start."""
KEPT_LOGS = 3
"""Logs put aside that are kept, as ``.1`` (the newest) and so on."""
_LAST_LINES = 15
_KILLED_SECONDS = 2.0
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A process that leads its own group."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    log_start_bytes: int
    """Where in the log its own lines begin."""

    @property
    def how_it_ended(self) -> str:
        """For a person; says "still running" when it did not."""
        code = self.process.poll()
        if code is None:
            return "still running"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    @property
    def is_gone(self) -> bool:
        """True when neither it nor any process it started is left in the group."""
        self.process.poll()
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            # macOS says so of a group of zombies.
            return self.process.returncode is not None
        return self.process.returncode is not None and not _has_living(self.process.pid)

    def last_lines(self) -> str:
        """The end of what it wrote to its log, for a person."""
        with suppress(OSError), self.log.open("rb") as file:
            file.seek(max(self.log_start_bytes, self.log.stat().st_size - 16_384))
            text = _COLOUR.sub("", file.read().decode("utf-8", "replace"))
            return "\n".join(text.splitlines()[-_LAST_LINES:])
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The children of one server; all of them end when it does."""

    log_folder: Path
    env: Mapping[str, str]
    lifeline: int
    """Read end of the pipe whose other end only this process holds."""
    held: tuple[int, ...] = ()
    """Descriptors every child keeps open, such as a lock."""
    children: list[Child] = field(default_factory=list)

    def start(
        self, name: str, module: str, arguments: Sequence[str], *, passed: tuple[int, ...] = ()
    ) -> Child:
        """Start ``python -m module`` as a child with a log of its name."""
        log = self.log_folder / f"{name}.log"
        put_long_log_aside(log)
        # -P: a file in the current folder cannot pass for a library of that name.
        launcher = (sys.executable, "-P", "-m", "automemory_dagster.triggers.child")
        with log.open("ab") as output:
            written = output.tell()
            process = subprocess.Popen(
                [*launcher, str(self.lifeline), module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(self.env),
                pass_fds=(self.lifeline, *self.held, *passed),
                process_group=0,
            )
        child = Child(name=name, process=process, log=log, log_start_bytes=written)
        self.children.append(child)
        return child

    def first_dead(self) -> Child | None:
        """A child that ended by itself, if any did."""
        return next((child for child in self.children if child.process.poll() is not None), None)

    def end(self, *, grace_seconds: float, is_impatient: Callable[[], bool]) -> None:
        """Ask every group to end, wait, and end what is left. Nothing is left afterwards."""
        _signal(self.children, signal.SIGTERM)
        _wait(self.children, grace_seconds, is_impatient)
        _signal(self.children, signal.SIGKILL)
        _wait(self.children, _KILLED_SECONDS, lambda: False)


@contextmanager
def crew(log_folder: Path, env: Mapping[str, str], held: tuple[int, ...] = ()) -> Iterator[Crew]:
    """A crew without children yet; whoever is left when the context ends is killed."""
    reading, writing = os.pipe()
    try:
        members = Crew(log_folder=log_folder, env=env, lifeline=reading, held=held)
        try:
            yield members
        finally:
            members.end(grace_seconds=0, is_impatient=lambda: True)
    finally:
        os.close(reading)
        os.close(writing)


def end_one(child: Child, *, grace_seconds: float, is_impatient: Callable[[], bool]) -> None:
    """Ask one group to end and wait a while; what is left of it goes on."""
    _signal([child], signal.SIGTERM)
    _wait([child], grace_seconds, is_impatient)


def put_long_log_aside(log: Path) -> None:
    """Rename a log that has grown long, and the ones put aside before it."""
    if not log.exists() or log.stat().st_size <= MAX_LOG_BYTES:
        return
    for number in range(KEPT_LOGS, 0, -1):
        older = log if number == 1 else log.with_name(f"{log.name}.{number - 1}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number}"))


def _has_living(group: int) -> bool:
    # In a container whose first process reaps nobody, the dead stay in their group for ever.
    stats = list(Path("/proc").glob("[0-9]*/stat"))
    if not stats:
        return True
    for stat in stats:
        with suppress(OSError):
            state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                return True
    return False


def _signal(children: Sequence[Child], number: signal.Signals) -> None:
    for child in children:
        if not child.is_gone:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.process.pid, number)


def _wait(children: Sequence[Child], seconds: float, is_impatient: Callable[[], bool]) -> None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and not is_impatient():
        if all(child.is_gone for child in children):
            return
        time.sleep(0.05)
