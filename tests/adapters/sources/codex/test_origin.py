"""Who started a thread, and a remote URL without what must not be kept."""

import pytest

from automemory_dagster.adapters.sources.codex.origin import repository_of, source_of
from automemory_dagster.domain.thread import SourceKind

PARENT = "019d0000-0000-7000-8000-0000000000aa"


@pytest.mark.parametrize(
    ("meta", "kind", "detail"),
    [
        ({"source": "cli"}, SourceKind.INTERACTIVE, "cli"),
        ({"source": "vscode", "originator": "codex-tui"}, SourceKind.INTERACTIVE, "vscode"),
        ({"source": "vscode", "thread_source": "user"}, SourceKind.INTERACTIVE, "vscode"),
        ({"source": {"custom": "atlas"}}, SourceKind.INTERACTIVE, "custom: atlas"),
        ({"source": {"custom": "chatgpt"}}, SourceKind.INTERACTIVE, "custom: chatgpt"),
        ({"source": {"custom": "my-bot"}}, SourceKind.OTHER, "custom: my-bot"),
        ({"source": "chatgpt"}, SourceKind.INTERACTIVE, "chatgpt"),
        ({}, SourceKind.INTERACTIVE, ""),
        ({"source": None}, SourceKind.INTERACTIVE, ""),
        ({"originator": "codex_exec"}, SourceKind.EXEC, ""),
        ({"source": "exec", "originator": "codex_exec"}, SourceKind.EXEC, "exec"),
        ({"source": "mcp"}, SourceKind.MCP, "mcp"),
        ({"source": "unknown"}, SourceKind.OTHER, "unknown"),
        ({"source": {}}, SourceKind.INTERACTIVE, ""),
        ({"source": ["cli"]}, SourceKind.OTHER, "unknown"),
        ({"source": "subagent"}, SourceKind.SUBAGENT, "subagent"),
        ({"source": {"subagent": "review"}}, SourceKind.SUBAGENT, "subagent: review"),
        (
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}},
            SourceKind.SUBAGENT,
            "subagent: thread_spawn",
        ),
        (
            {"source": {"subagent": {"other": "guardian"}}},
            SourceKind.GUARDIAN_REVIEW,
            "subagent: other: guardian",
        ),
        (
            {"source": {"subagent": "memory_consolidation"}},
            SourceKind.INTERNAL,
            "subagent: memory_consolidation",
        ),
        (
            {"source": {"internal": "memory_consolidation"}},
            SourceKind.INTERNAL,
            "internal: memory_consolidation",
        ),
        ({"source": "vscode", "thread_source": "subagent"}, SourceKind.SUBAGENT, "vscode"),
        (
            {"source": "vscode", "thread_source": "guardian_review"},
            SourceKind.GUARDIAN_REVIEW,
            "vscode",
        ),
        ({"thread_source": "subagent"}, SourceKind.SUBAGENT, "subagent"),
        ({"parent_thread_id": PARENT}, SourceKind.SUBAGENT, "has a parent thread"),
        (
            {"source": "cli", "parent_thread_id": PARENT, "thread_source": "user"},
            SourceKind.INTERACTIVE,
            "cli",
        ),
        ({"source": "cli", "originator": "automemory-phase2"}, SourceKind.INTERNAL, "cli"),
    ],
)
def test_every_form_of_source_has_a_kind(
    meta: dict[str, object], kind: SourceKind, detail: str
) -> None:
    assert source_of(meta) == (kind, detail)


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/acme/Shop-API.git", "github.com/acme/Shop-API"),
        ("https://GitHub.com/acme/shop", "github.com/acme/shop"),
        ("https://git.example.com/acme/shop.git/", "git.example.com/acme/shop"),
        ("http://git.example.com:8080/a/b/c.git", "git.example.com/a/b/c"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("github.com:acme/shop", "github.com/acme/shop"),
        ("ssh://git@git.example.com:2222/acme/shop.git", "git.example.com/acme/shop"),
        ("git+ssh://git@git.example.com/acme/shop", "git.example.com/acme/shop"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "ssh.dev.azure.com/v3/org/project/repo"),
        ("git@[2001:db8::1]:acme/shop.git", "2001:db8::1/acme/shop"),
        ("https://git.example.com/acme/.git", "git.example.com/acme/.git"),
        ("file:///srv/git/shop.git", ""),
        ("/srv/git/shop.git", ""),
        ("../shop", ""),
        ("C:/code/shop", ""),
        ("C:\\code\\shop", ""),
        ("codecommit::eu-west-1://profile@shop", ""),
        ("https://git.example.com", ""),
        ("https://[broken/acme/shop", ""),
        ("", ""),
        (None, ""),
        ({"url": "x"}, ""),
    ],
)
def test_a_remote_url_becomes_host_owner_and_name(url: object, repository: str) -> None:
    assert repository_of(url) == repository


@pytest.mark.parametrize(
    "url",
    [
        "https://{secret}@git.example.com/acme/shop.git",
        "https://dev:{secret}@git.example.com/acme/shop.git",
        "https://dev:p@ss{secret}@git.example.com/acme/shop.git",
        "https://git.example.com/acme/shop.git?private_token={secret}",
        "https://git.example.com/acme/shop.git#{secret}",
        "ssh://dev:{secret}@git.example.com:22/acme/shop.git",
        "dev:{secret}@git.example.com:acme/shop.git",
        "git@git.example.com:acme/shop.git?token={secret}",
    ],
)
def test_no_credential_in_a_remote_url_survives(url: str) -> None:
    repository = repository_of(url.format(secret="t0ps3cret"))

    assert "t0ps3cret" not in repository
    assert repository in ("git.example.com/acme/shop", "")
