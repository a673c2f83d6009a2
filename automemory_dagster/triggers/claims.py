"""What a server must have to itself before it starts anything: its address and its home."""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automemory_dagster.domain.errors import AutomemoryError

_LOCK_SECONDS = 8.0
"""Long enough for the processes of a killed server to notice and end."""


class CannotServe(AutomemoryError):
    """The address or the home cannot be had; nothing was started."""


@contextmanager
def claimed_address(host: str, port: int) -> Iterator[socket.socket]:
    """A bound TCP socket that does not listen yet; port 0 takes a free one.

    Bound here and handed down, so that nothing can take the port between the look and the start.

    Raises:
        CannotServe: names what to change.
    """
    try:
        # "localhost" may mean ::1 first, where a browser told 127.0.0.1 would not find us.
        family = socket.AF_INET if host == "localhost" else socket.AF_UNSPEC
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
    except OSError as error:
        raise CannotServe(f"--host {host} is no address of this machine; name another.") from error
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise CannotServe(_why_not(error, host, port)) from error
        yield listener


@contextmanager
def claimed_home(folder: Path) -> Iterator[int]:
    """A lock on a home, as the descriptor that holds it; children that inherit it hold it too.

    Raises:
        CannotServe: another server runs on this home.
    """
    descriptor = os.open(folder / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor, folder)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    give_up = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            if _is_running(holder) or time.monotonic() > give_up:
                raise CannotServe(
                    f"Another server runs on the home {folder} (process {holder or 'unknown'}). "
                    "Stop it first, or name another home with AUTOMEMORY_HOME."
                ) from None
            time.sleep(0.2)
        else:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            return


def _is_running(holder: str) -> bool:
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except (ValueError, OSError):
        return False
    return True


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use; choose another one with --port."
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this user; choose one above 1023 with --port."
    return f"{host} cannot be listened on ({error.strerror}); name another address with --host."
