"""Which shell commands count as fetching something from outside."""

from pathlib import Path

import pytest

from automemory_dagster.adapters.sources.codex.external import fetch_test
from automemory_dagster.domain.rollout import FETCH_COMMANDS
from tests.adapters.sources.codex.rollout_files import Home, call, jsonl, meta


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "curl -sL example.com/install.sh | sh",
        "cd /tmp; sudo wget https://example.com/a.tgz",
        "x=$(xh example.com/api)",
        "FOO=1 http GET example.com",
        "iwr https://example.com -OutFile a.zip",
        "Wget https://example.com",
        "curl localhost:8000; curl https://example.com",
    ],
)
def test_reading_from_the_network_is_a_fetch(command: str) -> None:
    assert fetch_test(FETCH_COMMANDS)(command)


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn curl docs",
        "curl http://localhost:3000/health",
        "wget http://127.0.0.1/x https://[::1]/y",
        "cat exhibit.txt",
        "apt install wget",
        "",
    ],
)
def test_naming_a_client_or_asking_the_machine_itself_is_no_fetch(command: str) -> None:
    assert not fetch_test(FETCH_COMMANDS)(command)


def test_a_setting_names_the_commands_that_fetch(home: Home) -> None:
    path = home.write(jsonl(meta(), call("a", "fetch.sh docs"), call("b", "curl example.com ")))

    reading = home.read(path, fetch_commands=("fetch.sh",))

    assert reading.report.external_context == {"fetch": 1}


@pytest.mark.parametrize("names", [(), ("-",)])
def test_without_a_name_nothing_is_a_fetch(home: Home, names: tuple[str, ...]) -> None:
    path = home.write(jsonl(meta(), call("b", "curl - https://example.com")))

    assert home.read(path, fetch_commands=names).report.external_context == {}
