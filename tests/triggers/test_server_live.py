"""The real thing: code server, guarded webserver and daemon as processes, used, attacked, ended."""

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.triggers.live import Live, begin, live_server, make_home, processes_of, wait_until

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks for orphans in /proc"
)

LONGEST_STOP_SECONDS = 20
"""All waits of a stop together, and some for a machine that is busy; 2 to 8 on an idle one."""

SEEN = "mutation { setNuxSeen }"
"""A mutation whose effect ``is_new`` shows and that starts nothing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(make_home(tmp_path_factory.mktemp("served") / "home")) as running:
        yield running


def is_new(server: Live) -> bool:
    answer: bool = server.graphql("{ shouldShowNux }")["shouldShowNux"]
    return answer


# ---- use ----------------------------------------------------------------------------------------


def test_the_page_and_its_scripts_are_served(server: Live) -> None:
    page = httpx.get(server.address)
    script = next(part for part in page.text.split('"') if part.endswith(".js"))

    answer = httpx.get(f"{server.address}/{script.lstrip('/')}")

    assert page.status_code == 200
    assert page.headers["x-frame-options"] == "DENY"
    assert answer.status_code == 200
    assert "javascript" in answer.headers["content-type"]


def test_queries_are_answered_with_our_origin_and_without_one(server: Live) -> None:
    query = "{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }"

    bare = server.graphql(query)
    own = server.graphql(query, Origin=server.address)

    assert bare == own == {"repositoriesOrError": {"nodes": [{"name": "__repository__"}]}}


def test_the_daemon_runs_a_sensor_to_a_finished_run(server: Live) -> None:
    query = "{ runsOrError { ... on Runs { results { jobName status } } } }"

    def is_done() -> bool:
        runs = server.graphql(query)["runsOrError"]["results"]
        return {"jobName": "small_job", "status": "SUCCESS"} in runs

    wait_until(is_done)


def test_a_subscription_works_over_a_websocket_as_the_ui_opens_it(server: Live) -> None:
    run_id = server.launch("long_job")
    subscription = (
        "subscription($id: ID!) { pipelineRunLogs(runId: $id) { __typename "
        "... on PipelineRunLogsSubscriptionSuccess { messages { __typename } } } }"
    )

    with connect(
        f"ws://{server.host}/graphql",
        origin=Origin(server.address),
        subprotocols=[Subprotocol("graphql-ws")],
        proxy=None,
    ) as channel:
        channel.send(json.dumps({"type": "connection_init"}))
        greeting = json.loads(channel.recv(10))
        payload = {"query": subscription, "variables": {"id": run_id}}
        channel.send(json.dumps({"type": "start", "id": "1", "payload": payload}))
        logs = json.loads(channel.recv(10))

    assert greeting["type"] == "connection_ack"
    found = logs["payload"]["data"]["pipelineRunLogs"]
    assert {"__typename": "RunStartEvent"} in found["messages"]


# ---- attack -------------------------------------------------------------------------------------


def test_no_attack_changes_anything_and_our_own_page_does(server: Live) -> None:
    at = f"{server.address}/graphql"
    body = json.dumps({"query": SEEN})
    foreign = {"Origin": "https://attacker.example"}
    kind = {"Content-Type": "application/json"}

    with httpx.Client() as browser:
        answers = [
            browser.get(at, params={"query": SEEN}),
            browser.get(at, params={"query": SEEN}, headers={"X-HTTP-Method-Override": "POST"}),
            browser.get(f"{server.address}//graphql", params={"query": SEEN}),
            browser.get(f"{at}/", params={"query": SEEN}),
            browser.get(f"{server.address}/%67raphql", params={"query": SEEN}),
            browser.head(at, params={"query": SEEN}),
            browser.post(at, content=body, headers={**kind, **foreign}),
            browser.post(at, content=body, headers={**kind, "Origin": "null"}),
            browser.post(at, content=body, headers={**kind, "Host": "attacker.example"}),
            browser.post(at, content=body, headers={**kind, "Sec-Fetch-Site": "same-site"}),
            browser.post(at, content=body, headers={"Content-Type": "text/plain"}),
            browser.post(
                at, content=body, headers={"Content-Type": "text/plain; application/json"}
            ),
            browser.post(at, data={"query": SEEN}),
            browser.post(at, files={"query": (None, SEEN)}),
            browser.post(at, params={"query": SEEN}),
            browser.post(
                at, params={"query": SEEN}, headers={"Content-Type": "text/plain", **foreign}
            ),
            browser.get(at, headers={"X-Large": "x" * 200_000}),
        ]

    assert [answer.status_code for answer in answers if answer.status_code < 400] == []
    assert is_new(server)
    assert server.graphql(SEEN, Origin=server.address) == {"setNuxSeen": True}
    assert not is_new(server)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: user@127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: attacker.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: attacker.example\r\n\r\n",
        b"GET /graphql?query=mutation{setNuxSeen} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://localhost/graphql?query={version} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_requests_that_no_client_library_makes_are_refused(server: Live, head: bytes) -> None:
    host, port = server.host.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as wire:
        wire.sendall(head)
        status = wire.recv(64).split()[1]

    assert status in (b"400", b"403", b"405")


@pytest.mark.parametrize("origin", ["https://attacker.example", "null", "http://localhost:5173"])
def test_a_websocket_from_another_origin_is_not_opened(server: Live, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{server.host}/graphql", origin=Origin(origin), proxy=None)

    assert refused.value.response.status_code == 403


def test_a_mutation_over_a_websocket_is_an_error(server: Live) -> None:
    with connect(
        f"ws://{server.host}/graphql", subprotocols=[Subprotocol("graphql-ws")], proxy=None
    ) as channel:
        payload = {"query": 'mutation { freeConcurrencySlots(runId: "x") }'}
        channel.send(json.dumps({"type": "start", "id": "1", "payload": payload}))
        answer = json.loads(channel.recv(10))

    assert answer["type"] == "error"


# ---- the end ------------------------------------------------------------------------------------


def test_a_second_server_is_told_what_to_change(server: Live, tmp_path: Path) -> None:
    _, _, port = server.host.rpartition(":")

    same_port = _outcome(make_home(tmp_path / "home"), port=int(port))
    same_home = _outcome(server.home)
    no_address = _outcome(tmp_path / "home", host="192.0.2.1")

    assert same_port[0] == same_home[0] == no_address[0] == 2
    assert f"Port {port} on 127.0.0.1 is in use; choose another one with --port." in same_port[1]
    assert f"(process {server.process.pid})" in same_home[1]
    assert "--host" in no_address[1]
    assert not processes_of(tmp_path / "home")


def test_ctrl_c_cancels_the_runs_in_progress_and_ends_everything(tmp_path: Path) -> None:
    with live_server(make_home(tmp_path / "home")) as server:
        run_id = server.launch("long_job")

        seconds = server.signal(signal.SIGINT)

        assert server.process.returncode == 0
        assert processes_of(server.home) == []
        assert _status_on_disk(server.home, run_id) == "CANCELED"
        assert seconds < LONGEST_STOP_SECONDS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_everything_too(tmp_path: Path, number: signal.Signals) -> None:
    with live_server(make_home(tmp_path / "home")) as server:
        seconds = server.signal(number)

        assert server.process.returncode == 0
        assert processes_of(server.home) == []
        assert seconds < LONGEST_STOP_SECONDS


def test_a_run_that_does_not_listen_is_canceled_all_the_same(tmp_path: Path) -> None:
    with live_server(make_home(tmp_path / "home")) as server:
        run_id = server.launch("deaf_job")

        seconds = server.signal(signal.SIGTERM)

        assert server.process.returncode == 0
        assert processes_of(server.home) == []
        assert _status_on_disk(server.home, run_id) == "CANCELED"
        assert seconds < LONGEST_STOP_SECONDS


def test_nothing_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    with live_server(make_home(tmp_path / "home")) as server:
        server.launch("long_job")

        server.signal(signal.SIGKILL)
        wait_until(lambda: not processes_of(server.home), seconds=10)

        with live_server(server.home) as again:
            assert again.graphql("{ version }")["version"]


@pytest.mark.parametrize("module", ["dagster._daemon", "guarded_webserver", "dagster api grpc"])
def test_when_one_process_dies_all_end_and_its_last_words_are_told(
    tmp_path: Path, module: str
) -> None:
    with live_server(make_home(tmp_path / "home")) as server:
        os.kill(server.child(module), signal.SIGKILL)

        _, told = server.process.communicate(timeout=30)

        assert server.process.returncode == 1
        assert "ended by itself (killed by SIGKILL). Everything was stopped." in told
        assert str(server.home / "logs") in told
        assert processes_of(server.home) == []


def test_definitions_that_cannot_be_loaded_end_the_start_with_their_error(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    (home / "tiny_definitions.py").write_text("import no_such_thing\n", "utf-8")

    code, told = _outcome(home)

    assert code == 1
    assert "No module named 'no_such_thing'" in told
    assert processes_of(home) == []


def _outcome(home: Path, *, host: str = "127.0.0.1", port: int = 0) -> tuple[int, str]:
    process = begin(home, host=host, port=port)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


def _status_on_disk(home: Path, run_id: str) -> str:
    with sqlite3.connect(home / "history" / "runs.db") as database:
        row = database.execute("select status from runs where run_id = ?", (run_id,)).fetchone()
    return str(row[0])
