"""``automemory show``."""

from rich.console import Console

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.thread import SpaceId
from automemory_dagster.domain.workspace import Publication
from automemory_dagster.triggers.views.table import iso, print_json
from automemory_dagster.wiring import Automemory


def show_memory(
    console: Console,
    errors: Console,
    automemory: Automemory,
    *,
    space: str,
    file: str,
    as_json: bool,
) -> int:
    """Print one published file (as JSON: all of them); gives the exit code."""
    publication = _publication(errors, automemory, space)
    if publication is None:
        return 2
    if as_json:
        print_json(console, _json(publication))
        return 0
    text = publication.files.get(file)
    if text is None:
        errors.print(f"{file} is not among the published files:", highlight=False)
        for path in sorted(publication.files):
            errors.print(f"  {path}", highlight=False, markup=False)
        return 2
    console.out(redact(text), highlight=False)
    return 0


def say_unknown_space(errors: Console, automemory: Automemory, space: str) -> int:
    """Name the spaces there are; gives the exit code."""
    known: list[str] = [state.space_id for state in automemory.store.spaces()]
    errors.print(f"No memory space is called {space}. Known:", highlight=False, markup=False)
    for space_id in known or ["none yet"]:
        errors.print(f"  {space_id}", highlight=False, markup=False)
    return 2


def _publication(errors: Console, automemory: Automemory, space: str) -> Publication | None:
    published = [state.space_id for state in automemory.store.spaces() if state.version > 0]
    own = SpaceId(automemory.choice.name)
    if space:
        chosen = SpaceId(space)
    elif own in published:
        chosen = own
    elif len(published) == 1:
        chosen = published[0]
    else:
        _say_which(errors, published)
        return None
    publication = automemory.store.publication(chosen)
    if publication is None:
        _say_which(errors, published, asked=space)
    return publication


def _say_which(errors: Console, published: list[SpaceId], *, asked: str = "") -> None:
    if not published:
        errors.print("No memory was published yet. `automemory run` does a whole pass.")
        return
    start = f"Nothing is published for {asked}. " if asked else ""
    errors.print(f"{start}Name one of these with --space:", highlight=False, markup=False)
    for space_id in published:
        errors.print(f"  {space_id}", highlight=False, markup=False)


def _json(publication: Publication) -> object:
    return {
        "space": publication.space_id,
        "version": publication.version,
        "published_at": iso(publication.published_at),
        "consolidator": publication.consolidator,
        "commit": publication.commit,
        "files": dict(publication.files),
        "inputs": dict(publication.inputs),
    }
