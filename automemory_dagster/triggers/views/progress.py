"""The progress bar of a pass."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from automemory_dagster import ports


@contextmanager
def progress_bar(console: Console) -> Iterator[ports.Progress]:
    """A bar on ``console`` while the block runs; silent where there is no terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("Looking for due threads", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, description="Extracting", completed=done, total=total)

        yield tell
