"""The shape of the code, checked."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = _ROOT / "automemory_dagster"
_PYPROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
_LIMITS = _PYPROJECT["tool"]["automemory"]["limits"]


def _modules() -> list[Path]:
    return sorted(path for path in _PACKAGE.rglob("*.py") if "migrations" not in path.parts)


def _name(path: Path) -> str:
    return path.relative_to(_ROOT).as_posix()


def test_imports_point_down_only() -> None:
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_only_the_shell_imports_dagster(path: Path) -> None:
    if path.is_relative_to(_PACKAGE / "defs") or path == _PACKAGE / "definitions.py":
        return

    assert not [name for name in _imported(path) if name.split(".")[0].startswith("dagster")]


@pytest.mark.parametrize("path", sorted((_PACKAGE / "domain").glob("*.py")), ids=_name)
def test_the_domain_needs_the_standard_library_only(path: Path) -> None:
    foreign = {
        name
        for name in _imported(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith(("automemory_dagster.domain", "automemory_dagster.contract"))
    }

    assert foreign == set()


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_only_the_secrets_adapter_makes_redacted_text(path: Path) -> None:
    makers = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "RedactedText"
    ]

    is_allowed = path.is_relative_to(_PACKAGE / "adapters" / "secrets")
    # The state store gives back as redacted what it was given as redacted; the domain owns the
    # empty text.
    is_allowed |= _name(path) in _LIMITS["redacted_text_makers"]
    assert is_allowed or makers == []


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_only_settings_and_the_processes_it_starts_read_the_environment(path: Path) -> None:
    reads = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]

    assert reads == [] or _name(path) in _LIMITS["environment_readers"]


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_a_module_has_one_subject(path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())

    assert lines <= _LIMITS["module_lines"] or _name(path) in _LIMITS["longer_modules"]


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_a_function_reads_as_its_own_table_of_contents(path: Path) -> None:
    too_long = {
        f"{function.name} ({length})"
        for function in _functions(path)
        if (length := _body_lines(function)) > _LIMITS["function_lines"]
    }

    assert not too_long or _name(path) in _LIMITS["longer_functions"]


def test_every_exception_to_the_limits_is_still_needed() -> None:
    longer = {_name(path) for path in _modules() if _length(path) > _LIMITS["module_lines"]}
    functions = {
        _name(path)
        for path in _modules()
        if any(_body_lines(node) > _LIMITS["function_lines"] for node in _functions(path))
    }

    assert set(_LIMITS["longer_modules"]) <= longer
    assert set(_LIMITS["longer_functions"]) <= functions


def test_the_package_loads_in_a_clean_interpreter_without_touching_a_database(
    tmp_path: Path,
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import automemory_dagster.definitions"],
        env={"AUTOMEMORY_HOME": str(tmp_path / "home"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "home").exists()


def test_recall_and_the_command_line_do_not_pay_for_dagster() -> None:
    script = "import automemory_dagster.triggers.cli, sys; sys.exit('dagster' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _length(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
