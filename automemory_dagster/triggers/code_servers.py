"""One code server for the webserver and the daemon, instead of one each.

A code server is the process that imports the definitions and holds the run workers. Left alone, the
webserver and the daemon start one each, of the same code. Here the workspace file is read, each
Python location in it becomes one server on a Unix socket in a private folder, and a second
workspace file names the sockets. Measured in ``docs/decisions/guard.md``.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml  # type: ignore[import-untyped]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeServer:
    """One code server to start."""

    name: str
    socket: Path
    arguments: tuple[str, ...]
    """For ``python -m dagster``."""

    @property
    def is_answering(self) -> bool:
        """True when it takes connections, which it does once its code is loaded."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePlan:
    """The code servers to start and the workspace file that names them."""

    servers: tuple[CodeServer, ...]
    workspace_file: Path


def plan_code_servers(workspace_file: Path, folder: Path) -> CodePlan:
    """Share every Python location of a workspace file; anything else in it stays as it is.

    ``folder``: an empty private one with a short path, since a socket's path holds about 100 bytes.
    """
    entries = yaml.safe_load(workspace_file.read_text("utf-8"))["load_from"]
    servers: list[CodeServer] = []
    shared: list[object] = []
    for number, entry in enumerate(entries):
        arguments = _arguments(entry, workspace_file.resolve().parent)
        if arguments is None:
            # Relative paths in it are read against the file's folder: only the original serves.
            return CodePlan(servers=(), workspace_file=workspace_file)
        path = folder / f"code-{number}.sock"
        name = _location_name(entry)
        servers.append(
            CodeServer(
                name="code" if len(entries) == 1 else f"code-{number}",
                socket=path,
                arguments=(
                    *("api", "grpc", "--socket", str(path)),
                    *(("--location-name", name) if name else ()),
                    *arguments,
                ),
            )
        )
        location = {"location_name": name} if name else {}
        shared.append({"grpc_server": {"socket": str(path), **location}})
    plan = folder / "workspace.yaml"
    plan.write_text(json.dumps({"load_from": shared}), "utf-8")  # JSON is YAML
    return CodePlan(servers=tuple(servers), workspace_file=plan)


def _arguments(entry: object, folder: Path) -> tuple[str, ...] | None:
    match entry:
        case {"python_module": str(module)} | {"python_module": {"module_name": str(module)}}:
            target = ("--module-name", module)
        case {"python_file": str(file)} | {"python_file": {"relative_path": str(file)}}:
            target = ("--python-file", str(folder / file))
        case _:
            return None
    options = _options(entry)
    if set(options) - {"module_name", "relative_path", "location_name", "attribute"}:
        return None
    attribute = options.get("attribute")
    # Without a working folder nothing that lies about in the current one can shadow a library.
    return (
        *target,
        *(("--attribute", attribute) if attribute else ()),
        "--empty-working-directory",
    )


def _options(entry: object) -> Mapping[str, str]:
    match entry:
        case {"python_module": dict(options)} | {"python_file": dict(options)}:
            return options
        case _:
            return {}


def _location_name(entry: object) -> str:
    match entry:
        case {"python_module": str(module)}:
            return module
        case {"python_file": str(file)}:
            return Path(file).name
    options = _options(entry)
    named = options.get("location_name") or options.get("module_name")
    return named or Path(options.get("relative_path", "")).name
