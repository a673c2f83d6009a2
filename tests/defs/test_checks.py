"""The asset checks of ``memory``: each passes on what we publish, and each fails for real."""

import secrets
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy import select, update

from automemory_dagster.adapters.state import SqlStateStore
from automemory_dagster.adapters.state.table import memory_contents, memory_files
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.pipeline import sweep
from tests.defs.shell import Shell


@pytest.fixture
def published(shell: Shell) -> Shell:
    """A memory of one session."""
    shell.write(1)
    shell.sweep()
    assert shell.consolidate().success
    return shell


def test_all_pass_on_what_was_published(published: Shell) -> None:
    checks = _checks(published)

    assert {name: check.passed for name, check in checks.items()} == {
        "artifacts_valid": True,
        "no_secrets_in_artifacts": True,
        "no_thread_stuck": True,
    }


def test_all_pass_before_anything_was_published(shell: Shell) -> None:
    assert all(check.passed for check in _checks(shell).values())


def test_a_tampered_file_in_the_store_is_not_valid(published: Shell) -> None:
    _tamper(published, "memory_summary.md", lambda text: text.replace("v1\n", "v7\n", 1))

    check = _checks(published)["artifacts_valid"]

    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "memory_summary.md: the first line" in str(check.description)
    assert check.metadata["problems"].value == 1


def test_a_persons_own_file_in_the_workspace_is_valid(published: Shell) -> None:
    workspace = Path(published.automemory.workspace.location(SpaceId(published.space)))
    (workspace / "my-notes.md").write_text("Ask Kim about the tax rules.\n")
    assert published.consolidate(partition=published.space).success
    publication = published.automemory.store.publication(SpaceId(published.space))

    check = _checks(published)["artifacts_valid"]

    assert publication is not None
    assert "my-notes.md" in publication.files
    assert check.passed, check.description


def test_a_secret_in_a_published_file_is_found_and_not_repeated(published: Shell) -> None:
    secret = f"ghp_{secrets.token_hex(18)}"
    _tamper(published, "MEMORY.md", lambda text: f"{text}\n- The key is {secret}\n")

    check = _checks(published)["no_secrets_in_artifacts"]

    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "MEMORY.md" in str(check.description)
    assert secret not in str(check.description)


def test_a_thread_that_is_out_of_tries_is_stuck(tmp_path: Path) -> None:
    shell = Shell(tmp_path, retry_budget=1)
    thread_id = shell.write(1)
    sweep.update_catalogue(shell.automemory.sweep_world)
    shell.write_garbage_over(thread_id)
    shell.sweep()

    check = _checks(shell)["no_thread_stuck"]

    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.WARN
    assert f"{thread_id}: out of tries after" in str(check.description)


def _checks(shell: Shell) -> dict[str, dg.AssetCheckEvaluation]:
    result = shell.consolidate()
    assert result.success
    return {found.check_name: found for found in result.get_asset_check_evaluations()}


def _tamper(shell: Shell, path: str, change: object) -> None:
    """Change a published file where it is stored, as nobody who goes through us can."""
    store = shell.automemory.store
    assert isinstance(store, SqlStateStore)
    assert callable(change)
    with store.database.engine.begin() as connection:
        digest = connection.execute(
            select(memory_files.c.sha256).where(memory_files.c.path == path)
        ).scalar_one()
        is_file = memory_contents.c.sha256 == digest
        text = connection.execute(select(memory_contents.c.text).where(is_file)).scalar_one()
        changed = change(text)
        assert changed != text
        connection.execute(update(memory_contents).where(is_file).values(text=changed))
