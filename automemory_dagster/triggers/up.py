"""``automemory up``: prepare the home, say plainly what will happen, and serve until Ctrl-C."""

import ipaddress
import os
from dataclasses import dataclass

from rich.console import Console

from automemory_dagster.adapters.home import (
    WORKSPACE_YAML,
    deployment_file,
    remember_consent,
    write_dagster_files,
)
from automemory_dagster.origins import choose_source
from automemory_dagster.pipeline import sweep
from automemory_dagster.triggers.server import serve
from automemory_dagster.triggers.views.status import stand_in_message
from automemory_dagster.wiring import Automemory, open_automemory, prepared_home


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """What the person asked for."""

    host: str
    port: int
    generate: bool | None
    """A word about consent, or None when nothing was said this time."""

    is_remote_allowed: bool


def up(options: UpOptions, *, console: Console, errors: Console) -> int:
    """Serve; gives the exit code: 0 stopped by Ctrl-C, 1 a process died, 2 wrong usage."""
    if not _is_loopback(options.host) and not options.is_remote_allowed:
        errors.print(_REMOTE_REFUSED.format(host=options.host), markup=False, highlight=False)
        return 2
    if options.generate is not None:
        _remember(options.generate)
    automemory = open_automemory()
    report = sweep.update_catalogue(automemory.sweep_world)
    folder = write_dagster_files(automemory.layout)
    _introduce(console, automemory, options, listed=report.listed)

    def tell_ready(address: str) -> None:
        automemory.layout.write_address(address)
        console.print(f"\nReady: {address}  (Ctrl-C stops everything)", markup=False)

    return serve(
        host=options.host,
        port=options.port,
        dagster_home=folder,
        workspace_file=deployment_file(WORKSPACE_YAML),
        log_folder=automemory.layout.logs,
        env={**os.environ, "AUTOMEMORY_HOME": str(automemory.layout.folder)},
        on_ready=tell_ready,
    )


def _remember(is_given: bool) -> None:
    settings, layout = prepared_home()
    choice = choose_source(settings, layout)
    if not choice.is_sample:
        remember_consent(layout.consent, choice.codex_home, is_given=is_given)


def _introduce(
    console: Console, automemory: Automemory, options: UpOptions, *, listed: int
) -> None:
    choice = automemory.choice
    lines = []
    if choice.is_sample:
        lines.append(stand_in_message(automemory))
    lines += [
        f"Source      {choice.codex_home} ({listed} rollout files)",
        f"Generation  {_generation(automemory)}",
        f"Gates       {_gates(automemory)}",
        f"Memory      {automemory.workspace.location(automemory.own_space)}",
        f"Database    {automemory.database_label}",
        f"Logs        {automemory.layout.logs}",
    ]
    if not _is_loopback(options.host):
        lines.append(_REMOTE_WARNING.format(host=options.host))
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _generation(automemory: Automemory) -> str:
    if automemory.choice.is_generation_on:
        return "on"
    return (
        "off: sessions are listed with their reasons, nothing is extracted. "
        "Say yes with `automemory up --generate`."
    )


def _gates(automemory: Automemory) -> str:
    policy = automemory.eligibility
    age = f"at most {policy.max_age.days} days old" if policy.max_age else "any age"
    kinds = ", ".join(sorted(policy.admitted_kinds))
    return f"idle for {int(policy.idle.total_seconds())} s, {age}, {kinds} threads"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_REMOTE_REFUSED = (
    "{host} may be reached by other machines, and there is no login: whoever reaches the port can "
    "read the memory and start runs. Nothing was started. Add --allow-remote if you want that."
)
_REMOTE_WARNING = (
    "WARNING     {host} may be reached by other machines, and there is no login: whoever reaches "
    "the port can read the memory and start runs. Put a proxy that asks for a login in front of it."
)
