"""``automemory scan``: what it finds in a home that an older version filled, and what ``--fix``
leaves."""

import fcntl
import json
import random
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.secrets.families import FAMILIES, pem_block
from tests.builders import a_rollout, a_turn, append_turn
from tests.deployment import COMMAND, DeploymentUnderTest
from tests.every_byte import places_of

_TOKEN = next(family for family in FAMILIES if family.name == "github_classic")
_PASSWORD = next(family for family in FAMILIES if family.name == "password")


@dataclass(frozen=True)
class Fouled:
    """A deployment whose home holds secrets that a redactor let through once."""

    deployment: DeploymentUnderTest
    values: tuple[str, ...]

    @property
    def home(self) -> Path:
        """The deployment's home."""
        return self.deployment.home

    def found(self) -> "Counts":
        """What the scan tells, by place and where."""
        return _counts(self.deployment.run("scan", "--json"))


Counts = dict[tuple[str, str], dict[str, int]]


@pytest.fixture(scope="module")
def _passed(tmp_path_factory: pytest.TempPathFactory) -> DeploymentUnderTest:
    """One pass for all tests, which takes longer than a scan."""
    folder = tmp_path_factory.mktemp("passed")
    turn = a_turn("Always use uv, never pip.", answer="Understood, done.")
    a_rollout(folder / "codex", turns=[turn], now=datetime.now(UTC))
    deployment = DeploymentUnderTest(folder, folder / "codex", {"AUTOMEMORY_GENERATE": "1"})
    assert deployment.run("run").returncode == 0
    return deployment


@pytest.fixture
def clean(tmp_path: Path, _passed: DeploymentUnderTest) -> DeploymentUnderTest:
    """A deployment after one pass over a session."""
    shutil.copytree(_passed.home, tmp_path / "home")
    return DeploymentUnderTest(tmp_path, _passed.codex_home, _passed.settings)


@pytest.fixture
def fouled(clean: DeploymentUnderTest) -> Fouled:
    """The same with a token in each kind of place, as if it had been stored before a rule knew
    it."""
    rng = random.Random("scan")
    values: list[str] = []

    def token() -> str:
        values.append(_TOKEN.make(rng))
        return values[-1]

    _foul_state(clean.home, token)
    _foul_memory(clean.home, token)
    _foul_dagster(clean.home, token)
    block = pem_block(rng)
    values.extend(block.split("\n")[1:-1])
    (clean.home / "logs" / "daemon.log").write_bytes(b"\xff ok\n" + block.encode() + b"\nend\n")
    return Fouled(clean, tuple(values))


def _foul_state(home: Path, token: Callable[[], str]) -> None:
    with closing(sqlite3.connect(home / "state.sqlite")) as connection, connection:
        connection.execute("UPDATE threads SET title = ?", (f"Use {token()}",))
        connection.execute("UPDATE jobs SET last_error = ?", (f"401 for {token()}",))
        connection.execute(
            "UPDATE stage1_outputs SET raw_memory = raw_memory || ?", (f"\n- {token()}\n",)
        )
        numbers = json.dumps({"lines_read": 1, token(): 2})
        connection.execute("UPDATE extraction_log SET numbers = ?", (numbers,))


def _foul_memory(home: Path, token: Callable[[], str]) -> None:
    """One in a published file and its baseline, one in history only, one in a person's note."""
    workspace = workspace_of(home)
    memory = workspace / "MEMORY.md"
    published = memory.read_text()
    memory.write_text(f"{published}\n{token()}\n")
    _commit(workspace, "an old version")
    new = f"{published}\nThe key is {token()}\n"
    memory.write_text(new)
    _commit(workspace, "a newer version")
    git(workspace, "update-ref", "refs/automemory/baseline", "HEAD")
    with closing(sqlite3.connect(home / "state.sqlite")) as connection, connection:
        connection.execute("UPDATE memory_contents SET text = ? WHERE text = ?", (new, published))
        head = git(workspace, "rev-parse", "HEAD").strip()
        connection.execute("UPDATE memory_versions SET git_commit = ?", (head,))
    git(workspace, "gc", "-q")
    (workspace / "my-notes.md").write_text(f"mine: {token()}\n")


def _foul_dagster(home: Path, token: Callable[[], str]) -> None:
    history = home / "dagster" / "history"
    with closing(sqlite3.connect(history / "runs" / "index.db")) as connection, connection:
        rows = connection.execute("SELECT id, event FROM event_logs ORDER BY id").fetchall()
        [title] = [(key, event) for key, event in rows if '"label": "title"' in event][:1]
        event = title[1].replace("Always use uv, never pip.", f'say \\"{token()}\\"')
        assert event != title[1]
        connection.execute("UPDATE event_logs SET event = ? WHERE id = ?", (event, title[0]))
    with closing(sqlite3.connect(history / "runs.db")) as connection, connection:
        connection.execute("UPDATE run_tags SET value = ? WHERE id = 1", (token(),))
        [(body,)] = connection.execute("SELECT snapshot_body FROM snapshots LIMIT 1").fetchall()
        snapshot = json.loads(zlib.decompress(body)) | {"description": f"made with {token()}"}
        connection.execute(
            "UPDATE snapshots SET snapshot_body = ? WHERE id = 1",
            (zlib.compress(json.dumps(snapshot).encode()),),
        )
    log = next((home / "dagster" / "storage").rglob("*.err"))
    log.write_text(f"fetching with {token()}\n")


def workspace_of(home: Path) -> Path:
    """The only workspace."""
    return next(path for path in (home / "memories").iterdir() if not path.name.startswith("."))


def git(workspace: Path, *arguments: str) -> str:
    """Run git as a person would."""
    identity = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "safe.directory=*"]
    command = ["git", *identity, "-C", str(workspace), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _commit(workspace: Path, message: str) -> None:
    git(workspace, "commit", "-q", "-a", "-m", message)


def _counts(result: "subprocess.CompletedProcess[str]") -> Counts:
    counts: Counts = {}
    for row in json.loads(result.stdout)["found"]:
        counts.setdefault((row["place"], row["where"]), {})[row["kind"]] = row["count"]
    return counts


def test_a_clean_home_holds_none(clean: DeploymentUnderTest) -> None:
    result = clean.run("scan")

    assert result.returncode == 0, result.stdout
    assert "no secret found" in result.stdout


def test_every_place_is_told_by_kind_and_number(fouled: Fouled) -> None:
    workspace = workspace_of(fouled.home).name
    log = next((fouled.home / "dagster" / "storage").rglob("*.err")).relative_to(fouled.home)
    one = {"github_token": 1}

    found = fouled.found()

    history = found.pop(("git history", workspace))
    assert history["github_token"] >= 2
    assert found == {
        ("state store", "threads.title"): one,
        ("state store", "jobs.last_error"): {"github_token": 2},
        ("state store", "stage1_outputs.raw_memory"): one,
        ("state store", "extraction_log.numbers"): one,
        ("state store", "memory_contents.text"): one,
        ("memory files", f"{workspace}/MEMORY.md"): one,
        ("memory files", f"{workspace}/my-notes.md"): one,
        ("Dagster", "event_logs.event"): one,
        ("Dagster", "run_tags.value"): one,
        ("Dagster", "snapshots.snapshot_body"): one,
        ("logs and other files", str(log)): one,
        ("logs and other files", "logs/daemon.log"): {"private_key": 1},
    }


def test_a_scan_tells_no_value_and_changes_nothing(fouled: Fouled) -> None:
    before = _contents(fouled.home)

    result = fouled.deployment.run("scan")

    assert result.returncode == 1
    assert "github_token" in result.stdout
    assert sum(value in result.stdout + result.stderr for value in fouled.values) == 0
    assert {**_contents(fouled.home), **before} == _contents(fouled.home)


def test_a_fix_leaves_no_value_in_any_byte(fouled: Fouled) -> None:
    assert len(places_of(fouled.values, fouled.home)) > 8

    result = fouled.deployment.run("scan", "--fix")

    assert result.returncode == 0, result.stdout + result.stderr
    assert places_of(fouled.values, fouled.home) == []
    assert fouled.deployment.run("scan").returncode == 0


def test_after_a_fix_the_deployment_goes_on_as_before(fouled: Fouled) -> None:
    fouled.deployment.run("scan", "--fix")
    workspace = workspace_of(fouled.home)

    status = fouled.deployment.json("status")
    assert [space["pending"] for space in status["spaces"]] == [False]
    assert "[REDACTED:github_token]" in fouled.deployment.json("show")["files"]["MEMORY.md"]
    assert git(workspace, "status", "--porcelain").split() == ["??", "my-notes.md"]
    assert len(git(workspace, "log", "--format=%h").split()) == 1
    [rollout] = (fouled.deployment.codex_home or Path()).rglob("rollout-*")
    append_turn(rollout, a_turn("Never push to main."), written_at=_an_hour_ago())
    report = fouled.deployment.json("run")
    assert len(report["published"]) == 1
    assert "Never push to main" in fouled.deployment.memory_files()["MEMORY.md"]
    assert fouled.deployment.run("scan").returncode == 0


def test_dagster_still_reads_its_events_after_a_fix(fouled: Fouled) -> None:
    fouled.deployment.run("scan", "--fix")

    script = (
        "import dagster as dg\n"
        "with dg.DagsterInstance.get() as instance:\n"
        "    key = dg.AssetKey('candidate_rollout')\n"
        "    [event] = instance.fetch_materializations(key, limit=1).records\n"
        "    print(event.asset_materialization.metadata['title'].text)\n"
        "    print(len(instance.get_runs()), len([instance.get_job_snapshot(r.job_snapshot_id)"
        " for r in instance.get_runs()]))\n"
    )
    environment = fouled.deployment.environment | {"DAGSTER_HOME": str(fouled.home / "dagster")}
    shown = subprocess.run(
        [COMMAND[0], "-c", script], env=environment, capture_output=True, text=True, check=False
    )

    assert shown.returncode == 0, shown.stderr[-2_000:]
    assert shown.stdout.splitlines() == ['say "[REDACTED:github_token]"', "2 2"]


def test_a_second_fix_finds_nothing_to_do(fouled: Fouled) -> None:
    fouled.deployment.run("scan", "--fix")
    before = {path: text for path, text in _contents(fouled.home).items() if ".git" in path.parts}

    result = fouled.deployment.run("scan", "--fix")

    assert result.returncode == 0
    assert "0 secrets removed" in result.stdout
    assert {path: text for path, text in _contents(fouled.home).items() if path in before} == before


def test_a_fix_is_refused_while_a_server_runs_on_the_home(fouled: Fouled) -> None:
    before = places_of(fouled.values, fouled.home)
    with (fouled.home / "server.lock").open("w+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("1\n")
        lock.flush()

        result = fouled.deployment.run("scan", "--fix")

    assert result.returncode == 2
    assert "Stop it first" in result.stderr
    assert places_of(fouled.values, fouled.home) == before


def test_what_cannot_be_changed_is_told_and_left(clean: DeploymentUnderTest) -> None:
    token = _TOKEN.make(random.Random("left"))
    workspace = workspace_of(clean.home)
    (workspace / f"{token}.md").write_text("my own\n")
    (workspace / "picture.bin").write_bytes(b"\0\1\2 " + token.encode() + b" \0")

    result = clean.run("scan", "--fix")

    assert result.returncode == 1
    assert "These are left" in result.stdout
    assert token not in result.stdout
    assert (workspace / "picture.bin").read_bytes().startswith(b"\0\1\2")
    assert (workspace / f"{token}.md").exists()


def test_people_are_found_only_when_the_setting_says_so(clean: DeploymentUnderTest) -> None:
    (workspace_of(clean.home) / "my-notes.md").write_text("write to mia.berg@acme-shop.de\n")
    strict = DeploymentUnderTest(
        clean.folder, clean.codex_home, {**clean.settings, "AUTOMEMORY_REDACT_PERSONAL": "1"}
    )

    assert clean.run("scan").returncode == 0
    assert strict.run("scan").returncode == 1
    assert strict.run("scan", "--fix").returncode == 0
    assert (workspace_of(clean.home) / "my-notes.md").read_text() == "write to [REDACTED:email]\n"


def test_markers_are_plain_when_the_setting_says_so(clean: DeploymentUnderTest) -> None:
    token = _TOKEN.make(random.Random("plain"))
    (workspace_of(clean.home) / "my-notes.md").write_text(f"mine: {token}\n")
    plain = DeploymentUnderTest(
        clean.folder, clean.codex_home, {**clean.settings, "AUTOMEMORY_PLAIN_MARKERS": "1"}
    )

    assert plain.run("scan", "--fix").returncode == 0
    assert (workspace_of(clean.home) / "my-notes.md").read_text() == "mine: [REDACTED]\n"


@pytest.mark.parametrize("seed", range(3))
def test_a_fix_that_is_killed_is_finished_by_the_next_one(fouled: Fouled, seed: int) -> None:
    delay = random.Random(seed).uniform(0.6, 1.6)
    process = subprocess.Popen(
        [*COMMAND, "scan", "--fix"], env=fouled.deployment.environment, cwd=fouled.home
    )
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with closing(sqlite3.connect(fouled.home / "state.sqlite")) as connection, connection:
        # A minute later: the killed one's lease has run out.
        connection.execute("UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL")

    result = fouled.deployment.run("scan", "--fix")

    assert result.returncode == 0, result.stdout + result.stderr
    assert places_of(fouled.values, fouled.home) == []


def _contents(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in _files(home)}


def _files(home: Path) -> Iterator[Path]:
    skipped: tuple[Any, ...] = ("-wal", "-shm")
    return (path for path in home.rglob("*") if path.is_file() and path.name[-4:] not in skipped)


def _an_hour_ago() -> datetime:
    return datetime.fromtimestamp(datetime.now(UTC).timestamp() - 3_600, UTC)
