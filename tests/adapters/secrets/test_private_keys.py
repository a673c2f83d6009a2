"""Private-key blocks in every form in which a tool prints one, whole or cut."""

import json
import random

import pytest

from automemory_dagster.adapters.secrets import find_secrets, redact
from tests.adapters.secrets.families import pem_block

LABELS = ["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED ", "DSA "]
FORMS = {
    "plain": lambda b: b,
    "indented yaml": lambda b: (
        "key: |\n" + "".join(f"    {line}\n" for line in b.split("\n")) + "port: 80\n"
    ),
    "json": lambda b: json.dumps({"private": b, "port": 80}),
    "json in json": lambda b: json.dumps({"output": json.dumps({"private": b, "port": 80})}),
    "json in json in json": lambda b: json.dumps(
        {"o": json.dumps({"output": json.dumps({"private": b})})}
    ),
    "env with escapes": lambda b: 'PRIVATE_KEY="' + b.replace("\n", "\\n") + '"\nPORT=80\n',
    "diff": lambda b: (
        "@@ -0,0 +1 @@\n" + "".join(f"+{line}\n" for line in b.split("\n")) + "+end\n"
    ),
    "removed in diff": lambda b: "".join(f"-{line}\n" for line in b.split("\n")),
    "quoted mail": lambda b: "".join(f"> {line}\n" for line in b.split("\n")),
    "numbered": lambda b: "".join(f"{n:6}\t{line}\n" for n, line in enumerate(b.split("\n"), 1)),
    "python literal": lambda b: (
        "KEY = (\n" + "".join(f'    "{line}\\n"\n' for line in b.split("\n")) + ")\n"
    ),
    "joined literal": lambda b: " +\n".join(f"'{line}\\n'" for line in b.split("\n")),
    "windows line ends": lambda b: b.replace("\n", "\r\n"),
    "grep with file names": lambda b: "".join(
        f"keys/a.pem:{n}:{line}\n" for n, line in enumerate(b.split("\n"), 1)
    ),
}


def _body_lines(block: str) -> list[str]:
    return [line for line in block.split("\n") if not line.startswith("-")]


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("form", FORMS)
def test_no_line_of_a_block_survives(form: str, label: str) -> None:
    for seed in range(3):
        block = pem_block(random.Random(f"{form}{label}{seed}"), label)

        redacted = redact(FORMS[form](block))

        assert not any(
            line[:24] in redacted or line[-24:] in redacted for line in _body_lines(block)
        )
        assert "[REDACTED:private_key]" in redacted
        assert find_secrets(redacted) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_block_that_was_cut_behind_its_head_is_taken_as_far_as_it_goes(form: str) -> None:
    block = pem_block(random.Random(form))
    cut = "\n".join(block.split("\n")[:5])[:-7]

    redacted = redact(FORMS[form](cut))

    assert not any(line[:24] in redacted for line in _body_lines(cut))


def test_a_block_whose_head_was_cut_off_is_taken_from_its_tail() -> None:
    block = pem_block(random.Random(5))
    tail = "\n".join(block.split("\n")[3:])

    redacted = redact("... truncated ...\n" + tail + "\nnext line\n")

    assert redacted == "... truncated ...\n[REDACTED:private_key]\nnext line\n"


def test_text_around_a_block_stays() -> None:
    block = pem_block(random.Random(6))

    redacted = redact(f"before\n{block}\nafter\n")

    assert redacted == "before\n[REDACTED:private_key]\nafter\n"


def test_two_blocks_are_two_findings() -> None:
    first, second = pem_block(random.Random(7)), pem_block(random.Random(8), "EC ")

    findings = find_secrets(f"{first}\nplain text between\n{second}\n")

    assert [f.kind for f in findings] == ["private_key", "private_key"]


def test_a_pgp_block_and_a_putty_key_are_taken() -> None:
    body = pem_block(random.Random(9)).split("\n")[1:-1]
    dashes = "-" * 5
    pgp = "\n".join(
        [
            f"{dashes}BEGIN PGP PRIVATE KEY BLOCK{dashes}",
            "Version: 1",
            "",
            *body,
            f"{dashes}END PGP PRIVATE KEY BLOCK{dashes}",
        ]
    )
    putty = "\n".join(
        ["PuTTY-User-Key-File-3: ssh-rsa", "Private-Lines: 6", *body, "Private-MAC: 0"]
    )

    assert body[0] not in redact(pgp)
    assert body[2] not in redact(putty)
