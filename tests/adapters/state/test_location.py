"""URLs and the labels that people see instead of them."""

import pytest

from automemory_dagster.adapters.state import (
    normalise_url,
    open_state_store,
    store_location_label,
)
from automemory_dagster.domain.errors import AutomemoryError, SettingsError

PASSWORD = "hunter2-swordfish"


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("postgres://u:p@db:5432/x", "postgresql+psycopg2://u:p@db:5432/x"),
        ("postgresql://u:p@db/x?sslmode=require", "postgresql+psycopg2://u:p@db/x?sslmode=require"),
        ("postgresql+psycopg2://u:p@db/x", "postgresql+psycopg2://u:p@db/x"),
        ("sqlite:////var/lib/a.sqlite", "sqlite:////var/lib/a.sqlite"),
        ("nonsense", "nonsense"),
    ],
)
def test_postgres_urls_get_the_driver_that_is_installed(url: str, normal: str) -> None:
    assert normalise_url(url) == normal
    assert normalise_url(normal) == normal


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("sqlite:////var/lib/state.sqlite", "SQLite at /var/lib/state.sqlite"),
        (
            f"postgres://me:{PASSWORD}@db.example.com:6432/memory",
            "PostgreSQL at db.example.com:6432, database memory",
        ),
        (f"postgresql://me:{PASSWORD}@db/memory", "PostgreSQL at db, database memory"),
        ("postgresql:///memory?host=/run/pg", "PostgreSQL at /run/pg, database memory"),
        (
            f"postgresql://db/memory?user=me&password={PASSWORD}&port=1",
            "PostgreSQL at db:1, database memory",
        ),
    ],
)
def test_a_label_says_where_without_the_password(url: str, label: str) -> None:
    assert store_location_label(url) == label


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        f"mysql://me:{PASSWORD}@db/x",
        f"postgresql://me:{PASSWORD}@db:port/x",
        f"postgresql+asyncpg://me:{PASSWORD}@db/x",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite+aiosqlite:///x",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_state_store(url)

    assert PASSWORD not in everything_said(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/x",
        f"postgresql://127.0.0.1:1/x?user=me&password={PASSWORD}",
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url: str) -> None:
    with pytest.raises(AutomemoryError, match="127") as caught:
        open_state_store(url)

    assert PASSWORD not in everything_said(caught.value)


def everything_said(error: BaseException | None) -> str:
    """All words of an error and of what it came from, as a traceback shows them."""
    said = ""
    while error is not None:
        said += f"{error!s} {error!r} "
        error = error.__cause__ or error.__context__
    return said
