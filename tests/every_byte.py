"""Everything that a folder's files say, also where they say it compressed.

Written without the code under test: SQLite cells by the driver, git objects by git itself.
"""

import json
import sqlite3
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path


def every_byte(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Where and what: each file as it lies there, then its decompressed parts."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            yield str(path), str(path.readlink()).encode()
        elif path.is_file():
            content = path.read_bytes()
            yield str(path), content
            yield f"{path} (name)", str(path.relative_to(folder)).encode()
            if (plain := _decompressed(content)) is not None:
                yield f"{path} (zlib)", plain
            if content.startswith(b"SQLite format 3\x00"):
                yield from _cells(path)
        elif (path / "objects").is_dir() and (path / "HEAD").is_file():
            yield f"{path} (objects)", _git_objects(path)


def places_of(values: Iterable[str], folder: Path) -> list[str]:
    """Where any of the values stands, as it is or JSON-escaped once or twice; never which one."""
    wanted = {form for value in values for form in _forms(value)}
    return [
        where for where, content in every_byte(folder) if any(form in content for form in wanted)
    ]


def _forms(value: str) -> Iterator[bytes]:
    once = json.dumps(value)[1:-1]
    for form in (value, once, json.dumps(once)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield form.encode()


def _cells(path: Path) -> Iterator[tuple[str, bytes]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for cell in row:
                    content = str(cell).encode() if not isinstance(cell, bytes) else cell
                    yield f"{path}: {table}", _decompressed(content) or content


def _git_objects(git_folder: Path) -> bytes:
    command = ["git", "-c", "safe.directory=*", f"--git-dir={git_folder}", "cat-file"]
    options = ["--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run([*command, *options], capture_output=True, check=True).stdout


def _decompressed(content: bytes) -> bytes | None:
    try:
        return zlib.decompress(content)
    except zlib.error:
        return None
