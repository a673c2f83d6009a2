"""The plain files of a home: logs of the server and of runs, settings, whatever else lies there."""

from collections.abc import Collection, Iterator
from pathlib import Path

from automemory_dagster.adapters.scan.file_text import blocks, files_below, rewrite_file
from automemory_dagster.adapters.scan.rows import Change
from automemory_dagster.adapters.scan.sqlite_pages import COMPANIONS, is_sqlite
from automemory_dagster.adapters.workspace.disk import disk_errors
from automemory_dagster.ports import StoredValue

PLACE = "logs and other files"


class HomeFiles:
    """``StoredTexts`` over a folder, but for databases and some folders."""

    def __init__(self, folder: Path, *, without: Collection[Path]) -> None:
        """``without``: folders and files that are somebody else's to look through; never opened."""
        self._folder = folder
        self._without = without

    def values(self) -> Iterator[StoredValue]:
        """By path; the names of files too."""
        for path in self._paths():
            where = str(path.relative_to(self._folder))
            yield StoredValue(place=PLACE, where=where, value=where, key=None)
            try:
                for text in blocks(path):
                    yield StoredValue(place=PLACE, where=where, value=text, key=path)
            except OSError as error:
                problem = f"could not be read ({error.strerror})"
                yield StoredValue(place=PLACE, where=where, value="", key=None, problem=problem)

    def rewrite(self, key: object, change: Change) -> None:
        """Text files only; names stay."""
        if isinstance(key, Path) and key.exists():
            with disk_errors(key):
                rewrite_file(key, change)

    def scrub(self) -> None:
        """Nothing is left behind: a file is replaced whole."""

    def _paths(self) -> Iterator[Path]:
        for path in files_below(self._folder):
            if any(path.is_relative_to(folder) for folder in self._without):
                continue
            if not is_sqlite(path) and not _is_beside_sqlite(path):
                yield path


def _is_beside_sqlite(path: Path) -> bool:
    return any(
        path.name.endswith(ending) and is_sqlite(path.with_name(path.name.removesuffix(ending)))
        for ending in COMPANIONS
    )
