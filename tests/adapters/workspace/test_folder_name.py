"""Folder names are readable, safe and never shared."""

from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.adapters.workspace.folder_name import folder_name
from automemory_dagster.domain.thread import SpaceId


def test_a_name_reads_like_its_space_and_ends_in_a_hash() -> None:
    # printf 'codex:default' | sha256sum | cut -c1-20 | xxd -r -p | base32 | tr A-Z a-z
    assert folder_name(SpaceId("codex:default")) == "codex-default-npt3mua34nqwj6og"


def test_ids_that_read_alike_get_different_folders() -> None:
    ids = ["project:a/b", "project:a-b", "project:A/B", "project:a:b", "project/a/b", "a-b", "a-b "]

    names = [folder_name(SpaceId(space_id)) for space_id in ids]

    assert len(set(names)) == len(ids)


def test_the_end_of_a_long_id_is_kept() -> None:
    space_id = SpaceId("codex:/home/ann/" + "x" * 200 + "#git.example.com/acme/shop-api")

    name = folder_name(space_id)

    assert "git-example-com-acme-shop-api-" in name
    assert len(name) <= 77


@given(st.text())
def test_any_id_makes_a_plain_name(space_id: str) -> None:
    name = folder_name(SpaceId(space_id))

    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 17 < len(name) <= 77
    assert not name.startswith("-")
