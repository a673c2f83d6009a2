"""The command line. It only translates: words in, a call, tables or JSON out."""

import sys
from collections.abc import Callable
from importlib.metadata import version as distribution_version
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from automemory_dagster.adapters.secrets import redact
from automemory_dagster.domain.errors import AutomemoryError, SettingsError
from automemory_dagster.domain.thread import SpaceId, ThreadId
from automemory_dagster.pipeline import inspection
from automemory_dagster.pipeline.pass_report import PassReport
from automemory_dagster.ports import Progress
from automemory_dagster.triggers import scanning, views
from automemory_dagster.triggers.claims import CannotServe
from automemory_dagster.triggers.up import UpOptions, up
from automemory_dagster.wiring import Automemory, open_automemory, system_clock

DONE, FAILED, WRONG_USAGE = 0, 1, 2


RunPass = Callable[[Automemory, Progress], PassReport]

console = Console()
errors = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def build_app(run_pass: RunPass) -> typer.Typer:
    """The command line; ``run_pass`` comes from the layer above, which knows Dagster's jobs."""
    app = typer.Typer(
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        help=(
            "Turns the records of coding-agent work into a few well-kept memory files. "
            "Start with `automemory up`, or do one pass with `automemory run`."
        ),
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def every_command(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", is_eager=True)
        ] = False,
    ) -> None:
        if version:
            console.print(distribution_version("automemory-dagster"), highlight=False)
            raise typer.Exit(DONE)

    @app.command("up")
    def up_command(
        host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 3000,
        generate: Annotated[
            bool | None,
            typer.Option(
                "--generate/--no-generate",
                help="Say whether memory may be made from your sessions; remembered.",
            ),
        ] = None,
        allow_remote: Annotated[
            bool,
            typer.Option(
                "--allow-remote",
                help="Needed for a --host that other machines reach: there is no login.",
            ),
        ] = False,
    ) -> None:
        """Start the web UI and the daemon; sessions become memory by themselves until Ctrl-C."""
        options = UpOptions(host=host, port=port, generate=generate, is_remote_allowed=allow_remote)
        raise typer.Exit(up(options, console=console, errors=errors))

    @app.command("run")
    def run_command(as_json: Json = False) -> None:
        """Do one whole pass without a server: sweep, extract, consolidate.

        Exit code 0 when it is done, 1 when something failed, 2 when a setting is wrong.
        """
        automemory = open_automemory()
        views.say_stand_in(errors, automemory)
        before = system_clock()
        with views.progress_bar(errors) as progress:
            report = run_pass(automemory, progress)
        raise typer.Exit(
            views.show_pass(console, automemory, report, started=before, as_json=as_json)
        )

    @app.command("status")
    def status_command(as_json: Json = False) -> None:
        """How things stand: threads by outcome and reason, what waits, versions, spend."""
        automemory = open_automemory()
        standing = inspection.standing(automemory.store, automemory.origins, clock=system_clock)
        views.show_status(console, automemory, standing, as_json=as_json)

    @app.command("why")
    def why_command(
        thread: Annotated[str, typer.Argument(help="A thread id, or its first characters.")],
        as_json: Json = False,
    ) -> None:
        """Why a session became memory or did not: every gate, the job, the last run."""
        automemory = open_automemory()
        thread_id = _one_thread(automemory, thread)
        explanation = inspection.explain(
            automemory.store, automemory.origins, thread_id, clock=system_clock
        )
        if explanation is None:
            raise typer.Exit(_unknown_thread(thread))
        views.show_why(console, automemory, explanation, as_json=as_json)

    @app.command("log")
    def log_command(
        space: Annotated[str, typer.Option(help="Only this memory space.")] = "",
        limit: Annotated[int, typer.Option(help="At most this many rows.", min=1)] = 50,
        as_json: Json = False,
    ) -> None:
        """The extraction log: what became of each session, newest first."""
        automemory = open_automemory()
        if space and SpaceId(space) not in {known.space_id for known in automemory.store.spaces()}:
            raise typer.Exit(views.say_unknown_space(errors, automemory, space))
        entries = automemory.store.log(space_id=SpaceId(space) if space else None, limit=limit)
        views.show_log(console, automemory, entries, as_json=as_json)

    @app.command("show")
    def show_command(
        space: Annotated[str, typer.Option(help="Which memory, when there are several.")] = "",
        file: Annotated[
            str, typer.Option(help="The file to show: memory_summary.md, MEMORY.md, …")
        ] = "memory_summary.md",
        as_json: Json = False,
    ) -> None:
        """Show the published memory."""
        automemory = open_automemory()
        raise typer.Exit(
            views.show_memory(console, errors, automemory, space=space, file=file, as_json=as_json)
        )

    @app.command("scan")
    def scan_command(
        fix: Annotated[
            bool, typer.Option("--fix", help="Replace what is found by markers, history included.")
        ] = False,
        as_json: Json = False,
    ) -> None:
        """Look for secrets in all that is stored: database, memory, git history, runs, logs.

        Kinds and places are shown, never a value. Exit code 0 when there is none (left), else 1.
        """
        automemory = open_automemory()
        if not fix:
            raise typer.Exit(views.show_scan(console, scanning.look(automemory), as_json=as_json))
        try:
            report = scanning.fix(automemory)
        except CannotServe as error:
            _say(error)
            raise typer.Exit(WRONG_USAGE) from error
        raise typer.Exit(views.show_fix(console, report, as_json=as_json))

    return app


def main(run_pass: RunPass) -> NoReturn:
    """Run the command line on this process's arguments, and exit."""
    try:
        build_app(run_pass)()
    except SettingsError as error:
        _say(error)
        sys.exit(WRONG_USAGE)
    except (AutomemoryError, OSError) as error:
        # An OSError is the disk's: full, gone, forbidden; its own words name the file.
        _say(error)
        sys.exit(FAILED)
    sys.exit(DONE)


def _say(error: Exception) -> None:
    words = redact(str(error))
    errors.print(words, markup=False, highlight=False, style="red", soft_wrap=True)


def _one_thread(automemory: Automemory, prefix: str) -> ThreadId:
    found = automemory.store.find_threads(prefix)
    if len(found) == 1:
        return found[0]
    if not found:
        sys.exit(_unknown_thread(prefix))
    errors.print(f"{prefix} is the beginning of several threads:", highlight=False)
    for thread_id in found:
        errors.print(f"  {thread_id}", highlight=False)
    sys.exit(WRONG_USAGE)


def _unknown_thread(prefix: str) -> int:
    errors.print(
        f"No thread {prefix} is known. `automemory run` (or a running `automemory up`) lists what "
        "is there; `automemory log` shows the ids.",
        highlight=False,
    )
    return WRONG_USAGE
