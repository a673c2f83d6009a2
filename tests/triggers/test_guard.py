"""The guard alone, in memory: what passes and what does not."""

import asyncio
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from automemory_dagster.triggers.guard import Guard
from automemory_dagster.triggers.guard_rules import hosts_served_at
from tests.triggers.asgi import HOME, LOCAL, Answer, Headers, Inner, ask, open_websocket

JSON = ("Content-Type", "application/json")
OWN = ("Origin", f"http://{HOME}")
FOREIGN = ("Origin", "https://attacker.example")
HOST = ("Host", HOME)

MUTATION = "mutation%7BlaunchRun%7D"


def post(*headers: tuple[str, str], target: str = "/graphql") -> Answer:
    return ask("POST", target, (HOST, *headers))


# ---- what people and their programs do ---------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/"),
        ("GET", "/runs?statuses=FAILURE&q=query"),
        ("GET", "/assets/a%2Fb/c?view=events"),
        ("GET", "/_next/static/chunks/main.js"),
        ("HEAD", "/favicon.png"),
        ("GET", "/server_info"),
        ("GET", "/graphql"),
        ("GET", "/logs/run/compute_logs/step.err"),
        ("GET", "/download_debug/run"),
    ],
)
def test_pages_files_and_downloads_are_served(method: str, target: str) -> None:
    assert ask(method, target).was_let_through


@pytest.mark.parametrize(
    "headers",
    [
        (JSON,),
        (OWN, JSON),
        (OWN, JSON, ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors")),
        (("Content-Type", "Application/JSON; charset=utf-8"),),
        (JSON, ("Referer", f"http://{HOME}/runs?x=1")),
    ],
)
def test_graphql_is_taken_from_the_ui_and_from_programs(headers: Headers) -> None:
    assert post(*headers).was_let_through


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:3000", "LOCALHOST:3000", "[::1]:3000", "[::1]", "127.0.0.1:80"]
)
def test_every_spelling_of_this_machine_is_known_at_any_port(host: str) -> None:
    assert ask("GET", "/", (("Host", host),)).was_let_through


def test_a_link_on_another_site_may_open_a_page() -> None:
    headers = [
        HOST,
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
        ("Referer", "https://tracker.example/issue/7"),
    ]

    assert ask("GET", "/runs/1", headers).was_let_through


def test_the_ui_names_its_queries_in_the_address() -> None:
    assert post(OWN, JSON, target="/graphql?op=RunRootQuery").was_let_through


def test_a_report_about_an_asset_is_taken_by_post() -> None:
    assert post(JSON, target="/report_asset_materialization/memory").was_let_through
    assert post(target="/report_asset_check/a/b?passed=true").was_let_through


def test_a_page_behind_a_proxy_that_speaks_tls_is_our_own() -> None:
    headers = [("Host", "memory.example"), ("Origin", "https://memory.example"), JSON]

    answer = ask("POST", "/graphql", headers, hosts=frozenset({"memory.example"}))

    assert answer.was_let_through


# ---- another name for this machine: DNS rebinding -----------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:3000",
        "127.0.0.1.attacker.example:3000",
        "localhost.attacker.example",
        "localhost.",
        "user@127.0.0.1:3000",
        "127.0.0.1:3000@attacker.example",
        "127.0.0.1:3000:80",
        "127.0.0.1:",
        "127.0.0.1:port",
        "127.1",
        "0.0.0.0:3000",
        "2130706433",
        "[::1",
        "::1",
        "[::ffff:7f00:1]:3000",
        "127.0.0.1/",
        "127.0.0.1, attacker.example",
        "127.0.0.1\x00",
    ],
)
def test_an_unknown_host_is_refused(host: str) -> None:
    answer = ask("GET", "/", (("Host", host),))

    assert not answer.was_let_through
    assert answer.status == 403
    assert host not in answer.body


@pytest.mark.parametrize("headers", [(), (("Host", ""),), (HOST, HOST), (HOST, ("host", "x"))])
def test_a_missing_or_repeated_host_is_refused(headers: Headers) -> None:
    answer = ask("GET", "/", headers)

    assert not answer.was_let_through
    assert answer.status == 400


def test_a_named_host_is_known_and_others_are_not() -> None:
    hosts = hosts_served_at("memory.lan")

    assert ask("GET", "/", (("Host", "Memory.LAN:3000"),), hosts=hosts).was_let_through
    assert not ask("GET", "/", (("Host", "other.lan:3000"),), hosts=hosts).was_let_through


@pytest.mark.parametrize("listening", ["0.0.0.0", "::"])
def test_listening_everywhere_answers_to_addresses_but_not_to_names(listening: str) -> None:
    hosts = hosts_served_at(listening)

    assert ask("GET", "/", (("Host", "192.168.1.7:3000"),), hosts=hosts).was_let_through
    assert ask("GET", "/", (("Host", "[fe80::7]:3000"),), hosts=hosts).was_let_through
    assert not ask("GET", "/", (("Host", "attacker.example:3000"),), hosts=hosts).was_let_through


# ---- another origin: CSRF -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "https://attacker.example",
        "null",
        "",
        "http://localhost:3000",
        "http://127.0.0.1:5173",
        "http://127.0.0.1",
        f"http://{HOME}.attacker.example",
        f"http://{HOME}/",
        f"http://user@{HOME}",
        f"file://{HOME}",
        f"http://{HOME} http://attacker.example",
    ],
)
def test_a_foreign_origin_is_refused_by_every_method(origin: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS", "PUT"):
        answer = ask(method, "/graphql", (HOST, JSON, ("Origin", origin)))

        assert not answer.was_let_through
        assert answer.status == 403


def test_two_origins_are_refused() -> None:
    assert post(OWN, FOREIGN, JSON).status == 400


def test_a_foreign_referer_is_refused_where_the_origin_is_kept_back() -> None:
    assert post(("Referer", "https://attacker.example/"), JSON).status == 403
    assert post(("Referer", "about:blank"), JSON).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unheard-of"])
def test_what_a_browser_marks_as_foreign_changes_nothing(site: str) -> None:
    assert post(("Sec-Fetch-Site", site), JSON).status == 403
    assert post(("Sec-Fetch-Site", site), target="/report_asset_check/a").status == 403


@pytest.mark.parametrize(
    ("mode", "destination"),
    [("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")],
)
def test_pages_elsewhere_may_not_embed_ours(mode: str, destination: str) -> None:
    marks = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode)]

    assert ask("GET", "/", (HOST, *marks, ("Sec-Fetch-Dest", destination))).status == 403


def test_a_link_elsewhere_may_not_post() -> None:
    marks = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ]

    assert post(*marks, JSON).status == 403


# ---- GraphQL by other ways than a JSON post -----------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        f"/graphql?query={MUTATION}",
        f"/graphql?query=query%7Bversion%7D&query={MUTATION}",
        f"/graphql?%71uery={MUTATION}",
        f"/graphql?x=1;query={MUTATION}",
        "/graphql?extensions=%7B%22persistedQuery%22%3A1%7D",
        "/graphql?mutation=1",
        "/graphql?variables=%7B%7D",
        f"/graphql/?query={MUTATION}",
        f"//graphql?query={MUTATION}",
        f"/GraphQL?query={MUTATION}",
        f"/%67raphql?query={MUTATION}",
        f"/%2Fgraphql?query={MUTATION}",
        f"/graphql%2F?query={MUTATION}",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "get"])
def test_graphql_is_never_asked_by_get(method: str, target: str) -> None:
    for extra in ((), (("Accept", "text/html"),), (JSON,)):
        answer = ask(method, target, (HOST, *extra))

        assert not answer.was_let_through
        assert answer.status == 405


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "text/plain; application/json",
        "text/plain;charset=application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "application/graphql",
        "application/jsonx",
        "application/json, text/plain",
        "",
    ],
)
def test_graphql_is_taken_as_json_only(kind: str) -> None:
    assert post(("Content-Type", kind)).status == 415
    assert post(OWN, ("Content-Type", kind), target=f"/graphql?query={MUTATION}").status == 415


def test_graphql_without_or_with_two_content_types_is_refused() -> None:
    assert post().status == 415
    assert post(JSON, ("Content-Type", "text/plain")).status == 400


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "X"])
def test_other_methods_are_refused_everywhere(method: str) -> None:
    for target in ("/", "/graphql", "/report_asset_check/a"):
        assert ask(method, target, (HOST, JSON)).status == 405


@pytest.mark.parametrize(
    "name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"]
)
def test_a_method_override_overrides_nothing(name: str) -> None:
    assert ask("GET", f"/graphql?query={MUTATION}", (HOST, JSON, (name, "POST"))).status == 405
    assert ask("PUT", "/graphql", (HOST, JSON, (name, "POST"))).status == 405


def test_forwarded_headers_make_no_host_known() -> None:
    headers = [("Host", "attacker.example"), ("X-Forwarded-Host", HOME), ("Forwarded", HOME)]

    assert ask("GET", "/", headers).status == 403


# ---- the other paths ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["materialization", "check", "observation"])
def test_a_report_about_an_asset_changes_nothing_by_get_or_from_elsewhere(kind: str) -> None:
    path = f"/report_asset_{kind}/memory"

    assert ask("GET", f"{path}?metadata=x").status == 405
    assert ask("HEAD", path).status == 405
    assert ask("GET", f"/{path}").status == 405
    assert post(FOREIGN, target=path).status == 403


def test_nothing_else_is_taken_by_post() -> None:
    for target in ("/", "/server_info", "/graphql/x", "/runs"):
        assert post(OWN, JSON, target=target).status == 405


@pytest.mark.parametrize("target", ["/notebook?path=/tmp/x.ipynb", "/dagit/notebook", "//notebook"])
def test_notebooks_of_this_disk_are_not_shown_under_our_origin(target: str) -> None:
    assert ask("GET", target).status == 404


@pytest.mark.parametrize(
    "target",
    [
        "/logs/../../x.err",
        "/logs/%2e%2e/x",
        "/logs%5C..%5Cx",
        "/a%00b",
        "/a%0d%0ab",
        "http://127.0.0.1:3000/graphql",
        "*",
    ],
)
def test_a_path_that_is_not_a_plain_one_is_refused(target: str) -> None:
    assert ask("GET", target).status == 400


def test_huge_headers_are_refused() -> None:
    assert ask("GET", "/", (HOST, ("Cookie", "x" * 40_000))).status == 431
    assert ask("GET", "/", (HOST, *[("X-Many", "y" * 100)] * 400)).status == 431


# ---- WebSockets ---------------------------------------------------------------------------------


def test_the_ui_and_programs_open_websockets() -> None:
    assert open_websocket([HOST, OWN, ("Sec-Fetch-Site", "same-origin")]).status == 101
    assert open_websocket([HOST]).status == 101


@pytest.mark.parametrize(
    "headers",
    [
        [("Host", "attacker.example")],
        [("Host", "attacker.example"), ("Origin", "http://attacker.example")],
        [HOST, FOREIGN],
        [HOST, ("Origin", "null")],
        [HOST, ("Origin", "http://127.0.0.1:5173")],
        [HOST, OWN, ("Sec-Fetch-Site", "same-site")],
        [HOST, ("Cookie", "a=b")],
        [HOST, ("Sec-Fetch-Mode", "websocket")],
    ],
)
def test_a_websocket_from_elsewhere_is_refused(headers: Headers) -> None:
    plain = open_websocket(headers)
    told = open_websocket(headers, has_denial=True)

    assert (plain.status, told.status) == (403, 403)
    assert not plain.was_let_through
    assert not told.was_let_through
    assert told.body.endswith(".\n")


def test_there_is_one_path_for_websockets() -> None:
    assert open_websocket([HOST], path="/logs", has_denial=True).status == 404


# ---- answers ------------------------------------------------------------------------------------


def test_every_answer_forbids_frames_and_sniffing() -> None:
    for answer in (ask("GET", "/"), ask("GET", "/", ())):
        assert answer.all("x-frame-options") == ["DENY"]
        assert answer.all("x-content-type-options") == ["nosniff"]
        assert answer.all("cross-origin-resource-policy") == ["same-origin"]
        assert "frame-ancestors 'none'" in answer.all("content-security-policy")
        assert not answer.all("access-control-allow-origin")


def test_the_page_keeps_its_own_policy_and_loses_a_weaker_referrer_rule() -> None:
    inner = Inner(
        headers=[
            (b"Content-Security-Policy", b"object-src 'none'"),
            (b"Referrer-Policy", b"unsafe-url"),
            (b"etag", b"1"),
        ]
    )

    answer = ask("GET", "/", inner=inner)

    assert answer.all("Content-Security-Policy") == ["object-src 'none'"]
    assert answer.all("Referrer-Policy") == []
    assert answer.all("referrer-policy") == ["same-origin"]
    assert answer.all("etag") == ["1"]


def test_a_refusal_is_one_plain_sentence() -> None:
    answer = ask("GET", "/graphql?query=x")

    assert answer.body == "GraphQL is answered by POST only, with a JSON body.\n"
    assert answer.all("content-type") == ["text/plain; charset=utf-8"]
    assert answer.all("allow") == ["GET, HEAD, POST"]


def test_a_kind_of_connection_without_rules_is_an_error() -> None:
    inner = Inner()

    async def nothing() -> dict[str, str]:
        return {}

    async def ignore(_: object) -> None: ...

    with pytest.raises(ValueError, match="webtransport"):
        asyncio.run(Guard(inner, allowed_hosts=LOCAL)({"type": "webtransport"}, nothing, ignore))

    assert inner.reached == []


# ---- for all requests ---------------------------------------------------------------------------

_HOST_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]@/\\ "
_names = st.sampled_from(["", "localhost", "127.0.0.1", "[::1]", "attacker."]).flatmap(
    lambda known: st.text(_HOST_CHARACTERS, max_size=20).map(lambda rest: known + rest)
)
_slashes = st.text("/", max_size=3)


@given(_names)
def test_no_host_outside_the_set_ever_passes(host: str) -> None:
    # Apart from long spellings of ::1, which mean it too.
    is_ours = re.fullmatch(r"(localhost|127\.0\.0\.1|\[[0:]*:0*1\])(:[0-9]{1,5})?", host.strip())

    answer = ask("GET", "/", (("Host", host),))

    assert answer.was_let_through == bool(is_ours)


@given(
    st.permutations([HOST, JSON, OWN]),
    st.sampled_from(["GET", "HEAD", "get", "Head"]),
    _slashes,
    _slashes,
    st.sampled_from(["graphql", "GRAPHQL", "%67raphql", "graph%71l"]),
    st.text("abquery=&%7B;", min_size=1),
)
def test_no_get_with_a_query_ever_reaches_graphql(
    headers: Headers, method: str, before: str, after: str, path: str, query: str
) -> None:
    answer = ask(method, f"/{before}{path}{after}?{query}", headers)

    assert not answer.was_let_through


@given(st.sampled_from(["POST", "PUT", "DELETE"]), st.text(max_size=30), _names)
def test_nothing_is_changed_by_another_origin(method: str, path: str, origin: str) -> None:
    assume(origin.strip() != HOME)
    headers = [HOST, JSON, ("Origin", f"http://{origin}")]

    answer = ask(method, "/" + path.encode("ascii", "ignore").decode(), headers)

    assert not answer.was_let_through
