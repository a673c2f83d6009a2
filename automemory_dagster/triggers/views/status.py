"""``automemory status``."""

from rich.console import Console

from automemory_dagster.pipeline.inspection import Standing
from automemory_dagster.triggers.views.table import iso, moment, plural, print_json, table
from automemory_dagster.wiring import Automemory


def show_status(
    console: Console, automemory: Automemory, standing: Standing, *, as_json: bool
) -> None:
    """Print how the deployment stands."""
    if as_json:
        print_json(console, _json(automemory, standing))
        return
    choice = automemory.choice
    if choice.is_sample:
        console.print(stand_in_message(automemory), highlight=False, markup=False, soft_wrap=True)
    console.print(f"Source      {choice.codex_home}", highlight=False, markup=False)
    console.print(f"Generation  {'on' if choice.is_generation_on else _OFF}", markup=False)
    console.print(f"Home        {automemory.layout.folder}\n", highlight=False, markup=False)
    console.print(
        table(
            plural(standing.threads, "thread"),
            ("outcome", "reason", "threads"),
            [(outcome, reason, count) for (outcome, reason), count in _sorted(standing)],
        )
    )
    console.print()
    console.print(
        table(
            "Memory",
            ("space", "version", "last consolidation (UTC)", "outputs", "pending"),
            [
                (
                    space.space_id,
                    space.version,
                    moment(space.published_at),
                    space.output_count,
                    "yes" if space.has_pending_changes else "no",
                )
                for space in standing.spaces
            ],
        )
    )
    _say_what_is_read(console, standing, most=automemory.selection.max_inputs)
    console.print(f"\nSpent so far: {standing.spent_usd:.2f} USD", highlight=False)


def _say_what_is_read(console: Console, standing: Standing, *, most: int) -> None:
    if any(space.output_count > most for space in standing.spaces):
        console.print(
            f"A consolidation reads the {most} most used and newest outputs "
            "(AUTOMEMORY_MAX_CONSOLIDATION_INPUTS).",
            highlight=False,
        )


def say_stand_in(errors: Console, automemory: Automemory) -> None:
    """Say that the sample stands in for a Codex home, when it does."""
    if automemory.choice.is_sample:
        errors.print(stand_in_message(automemory), highlight=False, markup=False, soft_wrap=True)


def stand_in_message(automemory: Automemory) -> str:
    """One sentence on the sample and how to name a home of one's own."""
    return (
        f"No Codex home at {automemory.choice.looked_for}: reading the bundled sample instead "
        "(name yours with AUTOMEMORY_CODEX_HOME)."
    )


_OFF = "off; `automemory up --generate` turns it on, and nothing is extracted until then"


def _sorted(standing: Standing) -> list[tuple[tuple[str, str], int]]:
    return sorted(
        ((outcome.value, reason.value), count)
        for (outcome, reason), count in standing.outcomes.items()
    )


def _json(automemory: Automemory, standing: Standing) -> object:
    return {
        "source": str(automemory.choice.codex_home),
        "is_sample": automemory.choice.is_sample,
        "generation_on": automemory.choice.is_generation_on,
        "home": str(automemory.layout.folder),
        "threads": standing.threads,
        "due": standing.due,
        "outcomes": [
            {"outcome": outcome, "reason": reason, "threads": count}
            for (outcome, reason), count in _sorted(standing)
        ],
        "spaces": [
            {
                "space": space.space_id,
                "version": space.version,
                "published_at": iso(space.published_at),
                "outputs": space.output_count,
                "pending": space.has_pending_changes,
                "last_error": space.job.last_error if space.job else "",
            }
            for space in standing.spaces
        ],
        "spent_usd": standing.spent_usd,
    }
