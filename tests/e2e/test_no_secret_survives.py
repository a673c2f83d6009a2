"""After a whole pass and everything that shows it, no secret of any session is anywhere.

Fakes of every family are drawn from a seed and put into every place of a session that a person, a
tool or a model can write into; then every byte of the home is searched, compressed ones too.
"""

import gzip
import json
import random
import shutil
import sqlite3
import tarfile
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.adapters.secrets.families import FAMILIES, Family, draw, pem_block
from tests.adapters.secrets.surroundings import SURROUNDINGS
from tests.builders import Command, Patch, Raw, Said, Step, Turn, a_rollout, thread_id
from tests.deployment import DeploymentUnderTest
from tests.every_byte import places_of

CORPUS = Path(__file__).parents[3] / "shared" / "rollouts"
_TURNS_A_SESSION = 6


@dataclass
class Planted:
    """A Codex home and what was planted in it."""

    home: Path
    rng: random.Random = field(default_factory=lambda: random.Random("no secret survives"))
    values: list[str] = field(default_factory=list)

    def text(self, family: Family) -> str:
        """A new value of the family, in a surrounding that suits it."""
        suiting = [each for each in SURROUNDINGS if family.has_shape or not each.needs_shape]
        before, value, after = self.rng.choice(suiting).text(family, self.value(family))
        return before + value + after

    def value(self, family: Family) -> str:
        """A new value of the family."""
        value = family.make(self.rng)
        self.values.append(value)
        return value

    def block(self) -> str:
        """A new private key; its lines are the values."""
        block = pem_block(self.rng)
        self.values += block.split("\n")[1:-1]
        return block


def _turn(planted: Planted, family: Family) -> Turn:
    """The family in the request, the answer and every kind of step."""
    text = planted.text
    steps: list[Step] = [
        Said(text=f"Looking at it. {text(family)}"),
        Command(command=f"cat deploy/.env # {text(family)}", output=text(family)),
        Command(
            command="curl -s http://127.0.0.1/conf",
            output=json.dumps({"output": json.dumps({"log": text(family)})}),
            exit_code=1,
        ),
        Patch(body=f"*** Update File: conf/app.py\n@@\n-x = 1\n+{_one_line(text(family))}"),
    ]
    return Turn(
        request=f"Always run `just test` before you commit. By the way: {text(family)}",
        steps=steps,
        answer=f"Done, the deploy works now. The file says: {text(family)}",
    )


def _one_line(text: str) -> str:
    return text.replace("\n", "\n+")


def _a_home(folder: Path) -> Planted:
    planted = Planted(folder)
    groups = [FAMILIES[i : i + _TURNS_A_SESSION] for i in range(0, len(FAMILIES), _TURNS_A_SESSION)]
    shaped = [family for family in FAMILIES if family.has_shape]
    now = datetime.now(UTC)
    for number, group in enumerate(groups, start=1):
        with_shape = shaped[number % len(shaped)]
        token = planted.value(with_shape)
        a_rollout(
            folder,
            thread_id=thread_id(number),
            generation=("D", "C", "B")[number % 3],
            turns=[
                *(_turn(planted, family) for family in group),
                Turn(request=f"Keep this key safe:\n{planted.block()}", answer=planted.block()),
            ],
            cwd=f"/home/dev/{planted.value(with_shape)}/shop",
            branch=f"fix/{planted.value(with_shape)}",
            repository_url=f"https://dev:{token}@git.example.com/acme/shop-{number}.git",
            agents_md=f"Use uv. {planted.text(with_shape)}",
            now=now - timedelta(minutes=number),
        )
    _odd_session(planted, len(groups) + 1, now, source="cli")
    _odd_session(planted, len(groups) + 2, now, source={"custom": planted.value(shaped[0])})
    _index(planted, len(groups))
    return planted


def _odd_session(planted: Planted, number: int, now: datetime, *, source: object) -> None:
    """Secrets where nobody looks: names of tools, servers, records, files and authors."""
    by_name = {family.name: family for family in FAMILIES}

    def token() -> str:
        return planted.value(by_name["github_classic"])

    call = {
        "type": "function_call",
        "name": f"mcp__{token()}__get",
        "arguments": json.dumps({"password": planted.value(by_name["password"])}),
        "call_id": "call-1",
    }
    a_rollout(
        planted.home,
        thread_id=thread_id(number),
        turns=[
            Turn(
                request="Never push to main.",
                steps=[
                    Raw(record={"type": "response_item", "payload": call}),
                    Raw(record={"type": token(), "payload": {"text": token()}}),
                    Raw(record={"type": "response_item", "payload": {"type": token()}}),
                    Raw(record={"type": "event_msg", "payload": {"type": token()}}),
                    Command(command=f"./{token()}.sh", output=f"sh: {token()}: not found"),
                    Patch(body=f"*** Add File: conf/{token()}.txt\n+x"),
                ],
                answer="I will not.",
            )
        ],
        originator=token(),
        source=source,
        meta={"agent_nickname": token(), "forked_from_id": token()},
        extra_lines=[f'{{"type":"{token()}"'.encode()],
        now=now,
    )


def _index(planted: Planted, sessions: int) -> None:
    """Codex's own index, whose titles repeat what people wrote."""
    with (
        closing(sqlite3.connect(planted.home / "state_5.sqlite")) as connection,
        connection,
    ):
        connection.execute("CREATE TABLE threads (id TEXT, title TEXT, archived INTEGER, cwd TEXT)")
        for number in range(1, sessions + 1):
            family = FAMILIES[number * 3 % len(FAMILIES)]
            row = (thread_id(number), f"Fix it: {planted.text(family)}", 0, "/home/dev/shop")
            connection.execute("INSERT INTO threads VALUES (?, ?, ?, ?)", row)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Planted, DeploymentUnderTest, str]:
    """A whole pass over the generated home, and all that was printed about it."""
    folder = tmp_path_factory.mktemp("secrets")
    planted = _a_home(folder / "codex")
    deployment = DeploymentUnderTest(folder, planted.home, {"AUTOMEMORY_GENERATE": "1"})
    return planted, deployment, _pass_and_look(deployment)


def _pass_and_look(deployment: DeploymentUnderTest) -> str:
    """Run a pass and every command that shows something; gives all that they print."""
    ran = deployment.run("run", "--json")
    assert ran.returncode == 0, ran.stderr[-2_000:]
    printed = [ran.stdout, ran.stderr]
    threads = [entry["thread_id"] for entry in deployment.json("log")]
    commands = [("status",), ("log",), ("log", "--json"), ("show", "--json")]
    commands += [("why", each) for each in threads[:2]]
    commands += [("why", each, "--json") for each in threads[-2:]]
    for command in commands:
        shown = deployment.run(*command)
        printed += [shown.stdout, shown.stderr]
    return "".join(printed)


def test_the_pass_made_memory_of_every_session(
    generated: tuple[Planted, DeploymentUnderTest, str],
) -> None:
    planted, deployment, printed = generated

    sessions = len(list(planted.home.rglob("rollout-*")))
    outcomes = {row["outcome"]: row["threads"] for row in deployment.json("status")["outcomes"]}
    assert outcomes == {"extracted": sessions - 1, "skipped": 1}
    assert "[REDACTED:" in deployment.memory_files()["raw_memories.md"]
    assert "[REDACTED:" in printed
    assert len(planted.values) > 900


def test_no_value_is_in_any_byte_of_the_home(
    generated: tuple[Planted, DeploymentUnderTest, str],
) -> None:
    planted, deployment, _ = generated

    assert places_of(planted.values, deployment.home) == []


def test_no_value_is_printed(generated: tuple[Planted, DeploymentUnderTest, str]) -> None:
    planted, _, printed = generated

    assert sum(value.lower() in printed.lower() for value in planted.values) == 0


def test_the_scan_finds_nothing_either(
    generated: tuple[Planted, DeploymentUnderTest, str],
) -> None:
    _, deployment, _ = generated

    result = deployment.run("scan", "--json")

    assert (result.returncode, json.loads(result.stdout)["found"]) == (0, [])


def test_no_planted_value_of_the_recorded_sessions_survives(tmp_path: Path) -> None:
    if not (CORPUS / "planted-secrets.json.gz").exists():
        pytest.skip("the recorded rollouts are not beside this checkout")
    with tarfile.open(CORPUS / "codex-home.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    planted = json.loads(gzip.decompress((CORPUS / "planted-secrets.json.gz").read_bytes()))
    settings = {
        "AUTOMEMORY_GENERATE": "1",
        "AUTOMEMORY_IDLE_SECONDS": "0",
        "AUTOMEMORY_MAX_ROLLOUT_AGE_DAYS": "0",
        "AUTOMEMORY_ADMIT_KINDS": "exec",
    }
    deployment = DeploymentUnderTest(tmp_path, tmp_path / "codex-home", settings)

    printed = _pass_and_look(deployment)

    values = [piece for secret in planted["secrets"] for piece in _pieces(secret["value"])]
    assert len(values) > 20
    assert places_of(values, deployment.home) == []
    assert sum(value in printed for value in values) == 0
    shutil.rmtree(tmp_path / "codex-home")


def _pieces(secret: str) -> list[str]:
    lines = secret.split("\n")
    return lines[1:-1] if len(lines) > 2 else lines


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    value = draw(random.Random("search"), "abcdef0123456789", 40)
    (tmp_path / "note.txt").write_text(json.dumps({"x": f'"{value}"'}))
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (a BLOB)")
        connection.execute("INSERT INTO t VALUES (?)", (value,))

    assert len(places_of([value], tmp_path)) == 3
