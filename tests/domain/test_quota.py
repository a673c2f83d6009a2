"""The quota of a month: read exactly, and closed when it cannot be read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from automemory_dagster.domain.quota import QuotaRow, month_of, read_quota, unreadable


@pytest.mark.parametrize(
    ("limit", "used", "percent", "passes"),
    [
        ("10.00", "8.00", 20, True),  # exactly at the threshold
        ("10.00", "8.000001", 20, False),
        ("10.00", "7.99", 20, True),
        ("10.00", "0", 100, True),
        ("10.00", "0.01", 100, False),
        ("10.00", "10.00", 0, True),
        ("10.00", "10.01", 0, False),
        ("0.3", "0.24", 20, True),  # in binary fractions this is a little less than a fifth
        ("3", "2", 33, True),
        ("3", "2", 34, False),
        ("0", "0", 0, True),
        ("0", "0", 1, False),  # a limit of nothing has nothing left
        ("0", "1", 0, False),
        (None, "1e9", 100, True),  # explicitly unlimited
        (None, None, 100, True),
    ],
)
def test_the_share_that_is_left(
    limit: str | None, used: str | None, percent: int, *, passes: bool
) -> None:
    quota = read_quota(QuotaRow(limit_usd=limit, used_usd=used))

    assert not quota.problem
    assert quota.has_left(percent) is passes


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("ten", "1"),
        ("10", "one"),
        ("10", None),
        ("10", ""),
        ("", "1"),
        ("NaN", "1"),
        ("10", "NaN"),
        ("Infinity", "1"),
        ("10", "-1"),
        ("-10", "1"),
        (None, "-1"),
        (None, "one"),
        ("1 0", "1"),
        ("0x10", "1"),
    ],
)
def test_a_row_that_cannot_be_read_has_nothing_left(limit: str | None, used: str | None) -> None:
    quota = read_quota(QuotaRow(limit_usd=limit, used_usd=used))

    assert quota.problem
    assert not quota.has_left(0)


def test_no_row_means_ten_dollars() -> None:
    quota = read_quota(None)

    assert quota.limit_usd == 10
    assert quota.has_left(100)


def test_a_table_that_cannot_be_read_has_nothing_left() -> None:
    assert not unreadable("no such table").has_left(0)


def test_the_month_is_utcs() -> None:
    east = datetime(2026, 12, 1, 1, tzinfo=timezone(timedelta(hours=8)))

    assert month_of(east) == "2026-11"
    assert month_of(datetime(2026, 1, 31, 23, 59, tzinfo=UTC)) == "2026-01"
