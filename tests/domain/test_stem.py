"""Names of rollout summary files; the vectors were worked out by hand from Codex's rules."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automemory_dagster.domain.stem import summary_stem
from automemory_dagster.domain.thread import ThreadId

UPDATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("thread_id", "slug", "stem"),
    [
        (
            "01a12088-d200-7000-8000-000000000001",
            "blog-writing-style",
            "2026-10-09T12-00-00-0001-blog_writing_style",
        ),
        ("019c7714-3b77-74d1-9866-e1f484aae2ab", None, "2026-02-19T18-05-40-Dc5t"),
        (
            "019c6e27-e55b-73d1-87d8-4e01f1f75043",
            "Fix: Überlauf!! ",
            "2026-02-18T00-30-34-JjOz-fix___berlauf",
        ),
        (
            "11111111-1111-4111-8111-1111deadbeef",
            "a" * 70,
            "2026-01-02T03-04-05-PzGf-" + "a" * 60,
        ),
    ],
)
def test_a_stem_is_the_one_that_codex_writes(thread_id: str, slug: str | None, stem: str) -> None:
    assert summary_stem(ThreadId(thread_id), UPDATED, slug) == stem


@pytest.mark.parametrize(
    "thread_id", ["5a5d0400-9b3d-11f0-8000-000000000001", "1f09b3d5-a5d0-6400-8000-000000000001"]
)
def test_the_time_inside_uuids_of_version_1_and_6_is_used(thread_id: str) -> None:
    # 0x1f09b3d5a5d0400 ticks of 100 ns after 1582-10-15.
    moment = datetime(1582, 10, 15, tzinfo=UTC) + timedelta(microseconds=0x1F09B3D5A5D0400 // 10)

    stem = summary_stem(ThreadId(thread_id), UPDATED, None)

    assert stem == f"{moment:%Y-%m-%dT%H-%M-%S}-0001"


def test_an_id_that_is_no_uuid_takes_the_time_of_its_version_and_a_hash_of_its_bytes() -> None:
    # 'ab': 97 * 31 + 98 = 3105 = 50 * 62 + 5; digit 50 of 0-9a-zA-Z is 'O'.
    assert summary_stem(ThreadId("ab"), UPDATED, None) == "2026-01-02T03-04-05-00O5"


def test_a_version_in_another_time_zone_is_written_in_utc() -> None:
    tokyo = UPDATED.astimezone(timezone(timedelta(hours=9)))

    assert summary_stem(ThreadId("ab"), tokyo, None) == "2026-01-02T03-04-05-00O5"


def test_a_slug_without_a_latin_letter_leaves_no_slug_part() -> None:
    assert summary_stem(ThreadId("ab"), UPDATED, "修复税率") == "2026-01-02T03-04-05-00O5"


def test_a_time_beyond_the_calendar_gives_way_to_the_version() -> None:
    far = ThreadId("ffffffff-ffff-7fff-8000-000000000001")

    assert summary_stem(far, UPDATED, None) == "2026-01-02T03-04-05-0001"


@given(st.uuids() | st.text(), st.none() | st.text())
def test_a_stem_is_always_a_plain_file_name(thread_id: UUID | str, slug: str | None) -> None:
    stem = summary_stem(ThreadId(str(thread_id)), UPDATED, slug)

    assert stem.replace("-", "").replace("_", "").isalnum()
    assert stem.isascii()
    assert len(stem) <= 19 + 5 + 61
