"""Which process works, told so that another one on the same machine can tell when it is gone.

The trap: a process id alone is given out again. The start time goes with it, and the namespace
that the number belongs to; what cannot be judged from here counts as alive, and its lease ends it.
"""

import os
import socket
from pathlib import Path

_FIELDS = 4
_START_TIME_FIELD = 19
"""Of ``/proc/<pid>/stat`` behind the name in brackets: in clock ticks since the machine started."""


def own_process() -> str:
    """This process: host, process-id namespace, process id, start time; empty where unknown."""
    pid = os.getpid()
    return "|".join((socket.gethostname(), _namespace(), str(pid), _start_time(pid)))


def is_gone(process: str) -> bool:
    """True only for a process of this machine that certainly runs no more."""
    parts = process.split("|")
    if len(parts) != _FIELDS:
        return False
    host, namespace, pid, started = parts
    here = _namespace()
    if not here or not started or (host, namespace) != (socket.gethostname(), here):
        return False
    return _start_time(int(pid)) != started if pid.isdecimal() else False


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    # A zombie has ended; its parent has only not asked yet.
    return "" if fields[0] == "Z" else fields[_START_TIME_FIELD]
