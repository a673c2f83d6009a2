"""``automemory scan``."""

from rich.console import Console

from automemory_dagster.pipeline.scan import FixReport, ScanReport
from automemory_dagster.triggers.views.table import plural, print_json, table


def show_scan(console: Console, report: ScanReport, *, as_json: bool) -> int:
    """Print what a scan found; gives the exit code: 1 when there is anything to do."""
    if as_json:
        print_json(console, _json(report))
    else:
        _print(console, report)
        if report.tallies:
            console.print(
                "\n`automemory scan --fix` replaces them by markers, history included. "
                "Whoever held them has seen them: change them where they are valid, too.",
                highlight=False,
                soft_wrap=True,
            )
    return 0 if report.is_clean else 1


def show_fix(console: Console, report: FixReport, *, as_json: bool) -> int:
    """Print what was removed and what is left; gives the exit code: 1 when anything is left."""
    before, after = report.before, report.after
    if as_json:
        print_json(console, {"before": _json(before), "after": _json(after)})
    else:
        _print(console, before)
        removed = max(0, before.total - after.total)
        console.print(f"\n{plural(removed, 'secret')} removed.", highlight=False)
        if after.tallies:
            console.print(
                "These are left: they stand in names, keys or files that are no text. "
                "Rename or delete what holds them.\n",
                highlight=False,
                soft_wrap=True,
            )
        if not after.is_clean:
            _print(console, after)
    return 0 if after.is_clean else 1


def _print(console: Console, report: ScanReport) -> None:
    looked = f"{plural(report.looked_at, 'text')} looked at"
    if report.tallies:
        console.print(
            table(
                f"{looked}, {plural(report.total, 'secret')} found",
                ("place", "where", "kind", "count"),
                [(each.place, each.where, each.kind, each.count) for each in report.tallies],
            )
        )
    else:
        console.print(f"{looked}, no secret found.", highlight=False)
    for sentence in report.unreadable:
        console.print(sentence, style="red", markup=False, highlight=False, soft_wrap=True)


def _json(report: ScanReport) -> object:
    return {
        "looked_at": report.looked_at,
        "total": report.total,
        "found": [
            {"place": each.place, "where": each.where, "kind": each.kind, "count": each.count}
            for each in report.tallies
        ],
        "unreadable": list(report.unreadable),
    }
