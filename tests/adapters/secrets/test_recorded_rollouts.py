"""Over the recorded rollouts, when they are there: every planted secret goes and nothing else does.

The generated families carry the suite; this only adds what real tools print. Without the corpus the
same claims are made about a thread that is built here.
"""

import gzip
import io
import json
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from automemory_dagster.adapters.secrets import find_secrets, redact, redact_values
from tests.adapters.secrets.families import FAMILIES, pem_block
from tests.adapters.secrets.surroundings import SURROUNDINGS

CORPUS = Path(__file__).parents[4] / "shared" / "rollouts"


def _built() -> tuple[list[object], list[str]]:
    """A thread of tool outputs around generated secrets, and those secrets."""
    rng = random.Random("thread")
    records: list[object] = []
    secrets: list[str] = []
    for family, surrounding in zip(FAMILIES, SURROUNDINGS * 3, strict=False):
        if not surrounding.needs_shape or family.has_shape:
            before, value, after = surrounding.text(family, family.make(rng))
            secrets.append(value)
            records.append(
                {
                    "type": "function_call_output",
                    "output": json.dumps({"output": before + value + after}),
                }
            )
    block = pem_block(rng)
    records.append({"type": "message", "content": [{"text": block}]})
    return records, [*secrets, block]


def _recorded() -> tuple[list[object], list[str]]:
    planted = json.loads(gzip.decompress((CORPUS / "planted-secrets.json.gz").read_bytes()))
    records: list[object] = []
    with tarfile.open(CORPUS / "codex-home.tar.gz") as archive:
        for member in archive:
            if ".jsonl" in member.name and (file := archive.extractfile(member)) is not None:
                content = file.read()
                if member.name.endswith(".zst"):
                    content = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read()
                records += [json.loads(line) for line in content.splitlines() if line.strip()]
    return records, [secret["value"] for secret in planted["secrets"]]


@pytest.fixture(scope="module", params=["built", "recorded"])
def thread(request: pytest.FixtureRequest) -> tuple[list[object], list[str]]:
    if request.param == "built":
        return _built()
    if not (CORPUS / "planted-secrets.json.gz").exists():
        pytest.skip("the recorded rollouts are not beside this checkout")
    return _recorded()


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _pieces(secret: str) -> list[str]:
    lines = secret.split("\n")
    return lines[1:-1] if len(lines) > 2 else lines


def test_no_planted_secret_survives(thread: tuple[list[object], list[str]]) -> None:
    records, secrets = thread
    pieces = [piece for secret in secrets for piece in _pieces(secret)]

    by_field = "\n".join(redact(text) for record in records for text in _strings(record))
    by_value = json.dumps([redact_values(record) for record in records], ensure_ascii=False)
    by_line = "\n".join(redact(json.dumps(record, ensure_ascii=False)) for record in records)

    for form in (by_field, by_value, by_line):
        assert sum(piece in form for piece in pieces) == 0


def test_nothing_but_planted_secrets_is_found(thread: tuple[list[object], list[str]]) -> None:
    records, secrets = thread

    strange = 0
    for record in records:
        for text in _strings(record):
            for finding in find_secrets(text):
                value = text[finding.start : finding.end]
                strange += not any(value in secret or secret in value for secret in secrets)

    assert strange == 0
