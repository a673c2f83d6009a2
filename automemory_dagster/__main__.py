"""The entry point: the one place that knows both the command line and the Dagster definitions."""

from automemory_dagster.pipeline.pass_report import PassReport
from automemory_dagster.ports import Progress
from automemory_dagster.triggers import cli
from automemory_dagster.wiring import Automemory


def main() -> None:
    """Run ``automemory``."""
    cli.main(_run_pass)


def _run_pass(automemory: Automemory, progress: Progress) -> PassReport:
    # Dagster takes a second to import: only the command that needs it pays.
    from automemory_dagster.definitions import defs
    from automemory_dagster.defs.local_run import run_pass

    return run_pass(defs, automemory, progress)


if __name__ == "__main__":
    main()
