"""The invented sessions of the bundled sample home: three projects of one person, a few weeks long.

Nobody here is real. Each story says what a careful reader would keep of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.builders import Generation
from tests.session import Command, Patch, Said, Turn


@dataclass(frozen=True, kw_only=True)
class Story:
    """One session of the sample home."""

    begun_at: datetime
    project: str
    turns: Sequence[Turn]
    keeps: str
    """What is worth remembering, for people who read this file; empty when nothing is."""
    generation: Generation = "D"
    source: str = "vscode"
    originator: str = "codex_vscode"
    memory_mode: str | None = None
    is_archived: bool = False
    is_compressed: bool = False
    agents_md: str | None = None


def _at(month: int, day: int, hour: int, minute: int) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


TIDE_RULES = "# tide-tables\n\nPython 3.12, typed. Heights are integer centimetres everywhere."

STORIES: tuple[Story, ...] = (
    Story(
        begun_at=_at(8, 24, 9, 5),
        project="tide-tables",
        agents_md=TIDE_RULES,
        keeps="uv, never pip; `uv run pytest -q` is the check; heights round half up",
        turns=(
            Turn(
                request="test_high_water is red since yesterday. Find out why and fix it.",
                steps=(
                    Said(text="I will reproduce the failure first."),
                    Command(
                        command="pytest -q",
                        output="bash: line 1: pytest: command not found\n",
                        exit_code=127,
                    ),
                    Command(
                        command="pip install pytest && pytest -q",
                        output="error: externally-managed-environment\n",
                        exit_code=1,
                    ),
                ),
                answer="pytest is not installed here and pip refuses to install it.",
            ),
            Turn(
                request="Don't use pip here. Always use uv, never pip: `uv run pytest -q`.",
                steps=(
                    Command(
                        command="uv run pytest -q",
                        output=(
                            "..F.                                          [100%]\n"
                            ">       assert height_cm(2.675) == 268\n"
                            "E       assert 267 == 268\n"
                            "FAILED tests/test_height.py::test_high_water - assert 267 == 268\n"
                            "1 failed, 3 passed in 0.21s\n"
                        ),
                        exit_code=1,
                    ),
                    Patch(
                        body=(
                            "*** Update File: tides/height.py\n@@\n"
                            "-    return int(metres * 100)\n"
                            "+    cm = Decimal(str(metres)) * 100\n"
                            "+    return int(cm.quantize(Decimal(1), rounding=ROUND_HALF_UP))"
                        ),
                        output="Success. Updated the following files:\nM tides/height.py\n",
                    ),
                    Command(command="uv run pytest -q", output="....\n4 passed in 0.19s\n"),
                ),
                answer=(
                    "`height_cm` cut the fraction off instead of rounding half up. It uses Decimal "
                    "now; `uv run pytest -q` passes (4 tests)."
                ),
            ),
        ),
    ),
    Story(
        begun_at=_at(8, 26, 14, 40),
        project="tide-tables",
        agents_md=TIDE_RULES,
        keeps="stations.csv is generated: `just stations`; answers of at most five lines",
        turns=(
            Turn(
                request="Add the station Port Marrow to the tables.",
                steps=(
                    Patch(
                        body=(
                            "*** Update File: data/stations.csv\n@@\n+port-marrow,54.12,-3.21,4.9"
                        ),
                        output="Success. Updated the following files:\nM data/stations.csv\n",
                    ),
                ),
                answer="Port Marrow is in data/stations.csv now.",
            ),
            Turn(
                request=(
                    "No, data/stations.csv is generated. Never edit it by hand: add the station to "
                    "stations.toml and run `just stations`. And please keep your answers to five "
                    "lines at most from now on."
                ),
                steps=(
                    Command(command="git checkout data/stations.csv", output=""),
                    Patch(
                        body="*** Update File: stations.toml\n@@\n+[port-marrow]\n+lat = 54.12",
                        output="Success. Updated the following files:\nM stations.toml\n",
                    ),
                    Command(
                        command="just stations",
                        output="error: station port-marrow has no datum\n",
                        exit_code=1,
                    ),
                    Patch(
                        body='*** Update File: stations.toml\n@@\n+datum = "chart"',
                        output="Success. Updated the following files:\nM stations.toml\n",
                    ),
                    Command(command="just stations", output="wrote 41 stations\n"),
                ),
                answer="Port Marrow is in stations.toml; `just stations` wrote 41 stations.",
            ),
        ),
    ),
    Story(
        begun_at=_at(8, 28, 20, 15),
        project="tea-shop",
        generation="C",
        agents_md="# tea-shop\n\nTypeScript, strict. Prices are integer cents.",
        keeps="pnpm, never npm; the type check is `pnpm tsc --noEmit`; `origin` may be null",
        turns=(
            Turn(
                request="The type check is broken since the last merge. Please repair it.",
                steps=(
                    Command(
                        command="npm run typecheck",
                        output='npm error Missing script: "typecheck"\n',
                        exit_code=1,
                    ),
                    Command(
                        command="pnpm tsc --noEmit",
                        output="src/label.ts(12,20): error TS18047: 'tea.origin' may be 'null'.\n",
                        exit_code=2,
                    ),
                    Patch(
                        body=(
                            "*** Update File: src/label.ts\n@@\n"
                            "-  return tea.origin.toUpperCase();\n"
                            '+  return tea.origin === null ? "BLEND" : tea.origin.toUpperCase();'
                        ),
                        output="Success. Updated the following files:\nM src/label.ts\n",
                    ),
                    Command(command="pnpm tsc --noEmit", output=""),
                ),
                answer=(
                    "Blends have no origin, so `tea.origin` can be null. Labels say BLEND then; "
                    "`pnpm tsc --noEmit` is clean."
                ),
            ),
            Turn(
                request=(
                    "Good. Please use pnpm in this repository, never npm: npm writes a second "
                    "lock file."
                ),
                answer="Understood: pnpm only.",
            ),
        ),
    ),
    Story(
        begun_at=_at(8, 31, 7, 50),
        project="tea-shop",
        is_compressed=True,
        keeps="以后提交信息用中文; 价格用整数分, 不用浮点; 测试: pnpm vitest run",
        turns=(
            Turn(
                request="结算页的总价差一分钱。请找出原因并修好，用中文回答。",
                steps=(
                    Command(
                        command="pnpm vitest run",
                        output=(
                            "FAIL  src/cart.test.ts > 三件商品的总价\n"
                            "AssertionError: expected 59.699999999999996 to be 59.7\n"
                        ),
                        exit_code=1,
                    ),
                    Patch(
                        body=(
                            "*** Update File: src/cart.ts\n@@\n"
                            "-  return lines.reduce((sum, l) => sum + l.price * l.qty, 0);\n"
                            "+  return lines.reduce((sum, l) => sum + l.cents * l.qty, 0);"
                        ),
                        output="Success. Updated the following files:\nM src/cart.ts\n",
                    ),
                    Command(command="pnpm vitest run", output="Tests  9 passed (9)\n"),
                ),
                answer=(
                    "原因是价格用了浮点数。现在总价按整数分计算，"
                    "`pnpm vitest run` 九个测试全部通过。"
                ),
            ),
            Turn(
                request="很好。以后提交信息一律用中文，价格永远用整数分，不要用浮点数。",
                steps=(
                    Command(
                        command="git commit -qam '结算页按整数分计算总价' && git log --oneline -1",
                        output="7c1f0aa 结算页按整数分计算总价\n",
                    ),
                ),
                answer="已提交，提交信息用中文。以后都这样做。",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 2, 22, 10),
        project="harbour-kiosk",
        keeps="日本語で三行以内; 気温は摂氏; テストは `make check`",
        turns=(
            Turn(
                request="気温の表示がおかしいです。直してください。日本語で、三行以内で答えてください。",
                steps=(
                    Command(
                        command="make check",
                        output=(
                            "test_temperature ... FAIL\n"
                            "AssertionError: '68.0°F' != '20.0°C'\n"
                            "make: *** [check] Error 1\n"
                        ),
                        exit_code=2,
                    ),
                    Patch(
                        body=(
                            "*** Update File: kiosk/表示.py\n@@\n"
                            '-    return f"{celsius * 9 / 5 + 32:.1f}°F"\n'
                            '+    return f"{celsius:.1f}°C"'
                        ),
                        output="Success. Updated the following files:\nM kiosk/表示.py\n",
                    ),
                    Command(command="make check", output="12 tests, 0 failures\n"),
                ),
                answer=(
                    "華氏に変換していたのが原因です。摂氏で表示するように直しました。"
                    "`make check` は全て通ります。"
                ),
            ),
            Turn(
                request="ありがとう。今後も気温は必ず摂氏で、華氏は使わないでください。",
                answer="承知しました。今後は摂氏だけを使います。",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 3, 11, 0),
        project="scratch",
        keeps="",
        turns=(Turn(request="What is 17 * 23?", answer="17 * 23 = 391."),),
    ),
    Story(
        begun_at=_at(9, 4, 6, 30),
        project="tide-tables",
        source="exec",
        originator="codex_exec",
        keeps="not a candidate: nobody sat in front of it",
        turns=(
            Turn(
                request="Run the linter and report what it finds.",
                steps=(Command(command="uv run ruff check .", output="All checks passed!\n"),),
                answer="The linter finds nothing.",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 7, 16, 20),
        project="tide-tables",
        agents_md=TIDE_RULES,
        keeps="`just test` and `just lint` replace `uv run pytest -q`; times stay in UTC",
        turns=(
            Turn(
                request=(
                    "I moved all checks into the justfile this morning: use `just test` instead of "
                    "`uv run pytest -q` from now on, and `just lint` before you say done. Then fix "
                    "the summer time bug in day_of()."
                ),
                steps=(
                    Command(
                        command="just test",
                        output=(
                            "FAILED tests/test_days.py::test_last_sunday_in_march\n"
                            "E   assert date(2026, 3, 30) == date(2026, 3, 29)\n"
                            "1 failed, 17 passed in 0.40s\n"
                            "error: Recipe `test` failed on line 4 with exit code 1\n"
                        ),
                        exit_code=1,
                    ),
                    Said(text="I set TZ in the test to get the same day everywhere."),
                    Patch(
                        body='*** Update File: tests/test_days.py\n@@\n+os.environ["TZ"] = "UTC"',
                        output="Success. Updated the following files:\nM tests/test_days.py\n",
                    ),
                ),
                answer="With TZ=UTC in the test it passes.",
            ),
            Turn(
                request=(
                    "That hides the bug. Don't set TZ in tests. day_of() must pass tz=UTC "
                    "explicitly; times stay in UTC until they are printed."
                ),
                steps=(
                    Command(command="git checkout tests/test_days.py", output=""),
                    Patch(
                        body=(
                            "*** Update File: tides/days.py\n@@\n"
                            "-    return datetime.fromtimestamp(seconds).date()\n"
                            "+    return datetime.fromtimestamp(seconds, tz=UTC).date()"
                        ),
                        output="Success. Updated the following files:\nM tides/days.py\n",
                    ),
                    Command(command="just test", output="18 passed in 0.38s\n"),
                    Command(command="just lint", output="All checks passed!\n"),
                ),
                answer="day_of() passes tz=UTC. `just test` (18 tests) and `just lint` are clean.",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 9, 19, 45),
        project="diary",
        memory_mode="disabled",
        keeps="nothing: the person switched memory off for it",
        turns=(
            Turn(
                request="Help me word a letter to my landlord. Keep this one out of memory.",
                answer="Here is a draft: Dear Mr Quill, the heating in flat 3 has been cold...",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 11, 10, 30),
        project="harbour-kiosk",
        keeps="no ARM tool chain on this machine: CI builds the image; not verified",
        turns=(
            Turn(
                request="Build the kiosk image for the new ARM board.",
                steps=(
                    Command(
                        command="make image ARCH=arm64",
                        output="make: aarch64-linux-gnu-gcc: No such file or directory\n",
                        exit_code=2,
                    ),
                    Command(
                        command="apt-get install -y gcc-aarch64-linux-gnu",
                        output="E: are you root?\n",
                        exit_code=100,
                    ),
                ),
                answer="There is no ARM compiler on this machine and I may not install one.",
            ),
            Turn(
                request=(
                    "Right, leave it. Don't try to install compilers on this machine; push the "
                    "branch and let CI build the ARM image."
                ),
                answer="I leave the build to CI. The image for the ARM board is not verified yet.",
            ),
        ),
    ),
    Story(
        begun_at=_at(9, 14, 8, 25),
        project="tea-shop",
        keeps="a failed build: `pnpm build` needs SITE_URL; commit messages stay Chinese",
        turns=(
            Turn(
                request=(
                    "# Context from my IDE setup:\n\n## Active file: src/site.ts\n\n"
                    "## Open tabs:\n- site.ts: src/site.ts\n- cart.ts: src/cart.ts\n\n"
                    "## My request for Codex:\nThe production build fails on my machine. Why?"
                ),
                steps=(
                    Command(
                        command="pnpm build",
                        output=(
                            "Error: SITE_URL is not set\n"
                            " ELIFECYCLE  Command failed with exit code 1.\n"
                        ),
                        exit_code=1,
                    ),
                    Command(
                        command="SITE_URL=https://tea.example.com pnpm build",
                        output="built in 2.31s\n",
                    ),
                ),
                answer=(
                    "`pnpm build` needs SITE_URL. With SITE_URL=https://tea.example.com it builds; "
                    "I changed nothing."
                ),
            ),
            Turn(
                request="Thanks. Always set SITE_URL when you run `pnpm build`. Commit nothing.",
                answer="I will. Nothing was committed.",
            ),
        ),
    ),
    Story(
        begun_at=_at(8, 20, 13, 0),
        project="tide-tables",
        is_archived=True,
        keeps="not a candidate: archived",
        turns=(
            Turn(
                request="Sketch a web page for the tables.",
                answer="A sketch is in sketch.html; it was set aside.",
            ),
        ),
    ),
)
