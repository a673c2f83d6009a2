"""Which code servers a workspace file asks for."""

import json
from pathlib import Path

from automemory_dagster.triggers.code_servers import plan_code_servers


def test_a_module_becomes_one_server_and_keeps_its_location_name(tmp_path: Path) -> None:
    workspace = _written(
        tmp_path, "load_from:\n- python_module: {module_name: a.b, location_name: here}\n"
    )

    plan = plan_code_servers(workspace, tmp_path)

    (server,) = plan.servers
    socket = str(tmp_path / "code-0.sock")
    assert server.name == "code"
    assert server.arguments == (
        *("api", "grpc", "--socket", socket, "--location-name", "here"),
        *("--module-name", "a.b", "--empty-working-directory"),
    )
    location = {"socket": socket, "location_name": "here"}
    assert json.loads(plan.workspace_file.read_text()) == {"load_from": [{"grpc_server": location}]}


def test_files_are_found_beside_the_workspace_file_and_short_forms_are_read(
    tmp_path: Path,
) -> None:
    workspace = _written(tmp_path, "load_from:\n- python_file: x.py\n- python_module: a.b\n")

    plan = plan_code_servers(workspace, tmp_path)

    assert [server.name for server in plan.servers] == ["code-0", "code-1"]
    assert str(tmp_path / "x.py") in plan.servers[0].arguments
    names = [entry["grpc_server"]["location_name"] for entry in _entries(plan.workspace_file)]
    assert names == ["x.py", "a.b"]


def test_a_workspace_with_anything_else_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    for entry in (
        "grpc_server: {host: elsewhere, port: 4000}",
        "python_module: {module_name: a, executable_path: /usr/bin/python3}",
    ):
        workspace = _written(tmp_path, f"load_from:\n- python_module: a.b\n- {entry}\n")

        plan = plan_code_servers(workspace, tmp_path)

        assert plan.servers == ()
        assert plan.workspace_file == workspace


def _written(folder: Path, text: str) -> Path:
    file = folder / "given.yaml"
    file.write_text(text, "utf-8")
    return file


def _entries(file: Path) -> list[dict[str, dict[str, str]]]:
    found: list[dict[str, dict[str, str]]] = json.loads(file.read_text())["load_from"]
    return found
