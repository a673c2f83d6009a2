"""Commands that failed and what then worked, and the checks that pass here."""

from collections.abc import Sequence

from automemory_dagster.adapters.offline.lesson import Lesson, Section, Worth
from automemory_dagster.adapters.offline.runs import (
    Run,
    RunStatus,
    is_similar,
    serves_same_purpose,
)
from automemory_dagster.adapters.offline.text import clip, content_tokens, sentences
from automemory_dagster.adapters.offline.turns import Turn

_REASON_LIMIT = 160
_MAX_FILES = 4
_CHECK_PHRASES = {"test": "to run the tests", "lint": "to lint", "build": "to build"}


def lessons_of_failures(turns: Sequence[Turn]) -> list[Lesson]:
    """One bullet a failed command, with what worked later in the thread; probes are left out.

    Runs of one command that fail one after the other are one failure, told by its last error.
    """
    runs = [run for turn in turns for run in turn.runs]
    by_number = {turn.number: turn for turn in turns}
    lessons = []
    for i, run in enumerate(runs):
        if run.status is not RunStatus.FAILED or run.is_probe or run.is_aborted:
            continue
        later = runs[i + 1 :]
        if any(again.status is RunStatus.FAILED and _repeats(run, again) for again in later):
            continue
        solution = _solution(run, later)
        lessons.append(_failure(run, solution, turns, by_number[run.turn]))
    return lessons


def has_unsolved_failure(turns: Sequence[Turn]) -> bool:
    """True when some command that does the work failed for good and no check passed after it."""
    runs = [run for turn in turns for run in turn.runs if not run.is_probe]
    return any(
        run.status is RunStatus.FAILED
        and _solution(run, runs[i + 1 :]) is None
        and not any(later.checks and later.status is RunStatus.OK for later in runs[i + 1 :])
        for i, run in enumerate(runs)
    )


def lessons_of_checks(turns: Sequence[Turn]) -> list[Lesson]:
    """One bullet a check command whose last run in the thread went well, by first appearance."""
    last: dict[str, tuple[Run, str]] = {}
    for turn in turns:
        for run in turn.runs:
            for check in run.checks:
                last[check.command] = (run, check.kind)
    return [
        Lesson(
            section=Section.KNOWLEDGE,
            text=f"{_CHECK_PHRASES[kind]}: `{command}` (passed here)",
            worth=Worth.SPECIFIC_CHECK if _is_specific(command) else Worth.CHECK,
            turn=run.turn,
        )
        for command, (run, kind) in last.items()
        if run.status is RunStatus.OK
    ]


def _repeats(run: Run, again: Run) -> bool:
    return bool(run.parts & again.parts) and run.error[:40] == again.error[:40]


def _solution(run: Run, later: Sequence[Run]) -> Run | None:
    good = [other for other in later if other.status is RunStatus.OK and not other.is_probe]
    same = next((other for other in good if is_similar(run, other)), None)
    # Another tool for the same purpose counts only for the next few tries: later it is other work.
    return same or next((other for other in good[:3] if serves_same_purpose(run, other)), None)


def _failure(run: Run, solution: Run | None, turns: Sequence[Turn], turn: Turn) -> Lesson:
    text = f"`{_failed_command(run)}` failed"
    if run.error:
        text += f": {run.error}"
    if run.exit_code:
        text += f" (exit {run.exit_code})"
    if solution is None:
        reason = _reason(run, None, turn)
        return _lesson(run, f"{text}{reason}; not solved in this thread", Worth.UNSOLVED)
    files = _files_between(run, solution, turns)
    reason = _reason(run, solution, turn)
    if files:
        names = ", ".join(files[:_MAX_FILES]) + (" and others" if len(files) > _MAX_FILES else "")
        worked = _working_command(run, solution)
        end = "it passed" if worked == _failed_command(run) else f"`{worked}` passed"
        return _lesson(run, f"{text}{reason}; after a change to {names} {end}", Worth.FIXED)
    if _working_command(run, solution) == _failed_command(run):
        between = _between(run, solution, turns)
        after = f"passed after `{between.command}`" if between else "passed when run again"
        return _lesson(run, f"{text}{reason}; {after}", Worth.FIXED)
    worked = _working_command(run, solution)
    return _lesson(run, f"{text}{reason}; `{worked}` worked instead", Worth.ENVIRONMENT_FAILURE)


def _lesson(run: Run, text: str, worth: Worth) -> Lesson:
    return Lesson(section=Section.FAILURE, text=text, worth=worth, turn=run.turn)


def _failed_command(run: Run) -> str:
    """The command to name: a line's only check, else the line."""
    return run.checks[0].command if len(run.checks) == 1 else run.command


def _working_command(run: Run, solution: Run) -> str:
    failed = {check.command for check in run.checks}
    kinds = {check.kind for check in run.checks}
    same = [check.command for check in solution.checks if check.command in failed]
    alike = [check.command for check in solution.checks if check.kind in kinds]
    if len(run.checks) == 1 and (same or alike):
        return (same or alike)[0]
    return solution.command


def _files_between(run: Run, solution: Run, turns: Sequence[Turn]) -> list[str]:
    changes = (change for turn in turns for change in turn.changes)
    paths = (
        path
        for change in changes
        if run.position < change.position <= solution.position
        for path in change.paths
    )
    return list(dict.fromkeys(paths))


def _between(run: Run, solution: Run, turns: Sequence[Turn]) -> Run | None:
    """The last command that did something between a failure and its success."""
    runs = [other for turn in turns for other in turn.runs]
    done = runs[runs.index(run) + 1 : runs.index(solution)]
    useful = [o for o in done if o.status is RunStatus.OK and not o.is_probe and not o.checks]
    return useful[-1] if useful else None


def _reason(run: Run, solution: Run | None, turn: Turn) -> str:
    """The agent's own word on the failure, said between it and what solved it."""
    end = solution.position if solution else run.position + 200
    tokens = content_tokens(f"{run.command} {run.error}")
    for position, words in turn.commentary:
        if run.position < position <= end:
            for sentence in sentences(words):
                if len(tokens & content_tokens(sentence)) >= 2:
                    return f' ("{clip(sentence, _REASON_LIMIT)}")'
    return ""


def _is_specific(command: str) -> bool:
    return "::" in command or " -k " in command or len(command) > 90
