"""Twice the text takes about twice the time, also for texts made to hurt."""

import time

import pytest

from automemory_dagster.adapters.secrets import redact

UNITS = [
    "password=",
    'password="',
    "token|",
    "key: ",
    "://a:",
    "://a:b@",
    "eyJ",
    "eyJaaaaaaaaaa.",
    "密码是",
    "Bearer a1",
    "Cookie: a=b;",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END RSA PRIVATE KEY-----",
    "aGVsbG8wd29ybGQxMjM0NQ\n-----END RSA PRIVATE KEY-----\n",
    "\\",
    '\\"',
    "a",
    "A0b1",
    "--token ",
    "curl -u a:",
    "echo aaaaaa|",
    "the password is ",
    "sk-aaaaaa",
    "sk-",
    "sk-proj-",
    "xoxb-",
    "glpat-",
    "AKIA",
    "0",
    "[REDACTED:token]",
    "password=[REDACTED:token]",
    "\ud800",
    "'''",
    'secret=["a1b2c3",',
    "$6$",
    "name: TOKEN\n value: ",
    'password="a" + "b1" ',
    "((((",
    "    ",
]
_HALF, _TWICE = 1 << 17, 1 << 19


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length(unit: str) -> None:
    redact("warm up: password=abc123x")

    short, long = _least_seconds(unit, _HALF), _least_seconds(unit, _TWICE)

    # Four times the text: linear is 4, quadratic 16.
    assert long <= 4 * 2.5 * max(short, 0.02)


def test_a_megabyte_of_the_worst_is_a_matter_of_seconds() -> None:
    assert (
        max(_seconds(unit, 1 << 18) for unit in ("password=", "密码是", "token|", "Cookie: a=b;"))
        < 10
    )


def _least_seconds(unit: str, length: int) -> float:
    """The least of three: a busy machine only ever adds, while a fault of ours is always there."""
    return min(_seconds(unit, length) for _ in range(3))


def _seconds(unit: str, length: int) -> float:
    text = (unit * (length // len(unit) + 1))[:length]
    start = time.process_time()
    redact(text)
    return time.process_time() - start
