"""What of a rollout is evidence: words, wrappers, memory, tools and their outcomes."""

import json
from pathlib import Path
from typing import Any

import pytest

from automemory_dagster.adapters.sources.codex.wrappers import human_parts
from tests.adapters.sources.codex.rollout_files import (
    OWN,
    PARENT,
    Home,
    Json,
    agent,
    at,
    call,
    calls,
    completed,
    context,
    event,
    everything,
    finals,
    human,
    mail,
    meta,
    output,
    outputs,
    said,
    user,
    user_parts,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def item(kind: str, *, second: float = 3, **fields: Any) -> Json:
    return at(second, "response_item", {"type": kind, **fields})


def test_an_ide_setup_around_a_request_is_context_and_the_request_is_the_persons() -> None:
    setup = "# Context from my IDE setup:\n\n## Active file: a.py"
    text = f"{setup}\n\n## My request for Codex:\nFix a.py\n"

    split = human_parts(text)

    assert split.human == "Fix a.py"
    assert [(each.label, each.text) for each in split.wrappers] == [("ide", setup)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "# Files mentioned by the user:\n\n## b.png\n\n## My request for Codex:\nDraw it.",
            "Draw it.",
        ),
        ("## User Input\nBuild it.", "Build it."),
        ("## Prior conversation with Codex\nuser: old\n## User Input\nBuild it.", "Build it."),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>\n\nRun it.", "Run it."),
        ("Run it.\n\n<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "Run it."),
        ("<image name=[Image #1]>\n</image>\nWhat is this?", "What is this?"),
        (
            "<send_user_message_question_reply>Yes, drop it.</send_user_message_question_reply>",
            "Yes, drop it.",
        ),
        (
            "=== MEMORY_SUMMARY BEGINS ===\nold\n=== MEMORY_SUMMARY ENDS ===\nGo.",
            "Go.",
        ),
        ("<skill>\n<name>x</name>\n</skill>", ""),
        (
            "I wrote <skill> in the docs, </skill> is missing",
            "I wrote <skill> in the docs, </skill> is missing",
        ),
    ],
)
def test_known_wrappers_come_off_and_the_words_stay(text: str, words: str) -> None:
    assert human_parts(text).human == words


def test_codexs_own_labels_decide_where_they_are(home: Home) -> None:
    kinds = [
        "agents_md.instructions",
        "user.text",
        "environments.environment_context",
        "multi_agent.message",
    ]
    parts = [
        "Rules.",
        "<environment_context>mine</environment_context>",
        "cwd /x",
        "From the reviewer.",
    ]

    reading = home.reading(meta(), user_parts(parts, kinds=kinds))

    assert human(reading) == ["<environment_context>mine</environment_context>"]
    assert context(reading) == [("environment", "cwd /x")]
    assert mail(reading) == ["From the reviewer."]
    assert "Rules." not in everything(reading)


def test_developer_messages_and_injected_memory_never_come_back(home: Home) -> None:
    memory = "## Memory\n=== MEMORY_SUMMARY BEGINS ===\nUse uv.\n=== MEMORY_SUMMARY ENDS ==="
    developer = item("message", role="developer", content=[{"type": "input_text", "text": memory}])

    reading = home.reading(
        meta(),
        developer,
        user("Go on."),
        call("c1", "cat ~/.codex/memories/MEMORY.md"),
        output("c1", "# Task Group: uv"),
        call("c2", "cat notes.md"),
        output("c2", "Merged stage-1 raw memories (stable ascending thread-id order):\n\nUse uv."),
    )

    assert human(reading) == ["Go on."]
    assert outputs(reading) == []
    assert reading.report.dropped_lines["own_memory"] == 3


def test_citations_are_usage_and_no_words(home: Home) -> None:
    block = (
        f"<oai-mem-citation>\n<rollout_ids>\n{PARENT}\n{OWN}\n</rollout_ids>\n</oai-mem-citation>"
    )
    told = event("agent_message", message="Use uv.", memory_citation={"rollout_ids": [PARENT]})

    reading = home.reading(meta(), user("How?"), agent(f"Use uv.\n{block}"), told)

    assert said(reading) == ["Use uv."]
    assert reading.report.cited_threads == (PARENT, OWN)


def test_the_last_message_of_a_turn_is_its_answer_where_no_phase_tells(home: Home) -> None:
    reading = home.reading(
        meta(),
        user("One."),
        agent("Looking."),
        agent("Done one."),
        user("Two.", second=5),
        agent("Done two.", second=6),
    )

    assert finals(reading) == ["Done one.", "Done two."]


def test_phases_decide_where_they_are_told(home: Home) -> None:
    reading = home.reading(
        meta(),
        user("One."),
        agent("Answer.", phase="final_answer"),
        agent("Afterthought.", phase="commentary"),
    )

    assert finals(reading) == ["Answer."]


def test_other_agents_are_not_the_person(home: Home) -> None:
    mail_item = item(
        "agent_message", author="/root/reviewer", content=[{"type": "text", "text": "Looks right."}]
    )
    notice = user("<subagent_notification>Worker is done.</subagent_notification>")
    header = user(
        "Message Type: result\nTask name: a\nSender: /root/a\nPayload:\nIt works.", second=4
    )
    top = at(5, "inter_agent_communication", {"author": "b", "content": "Merged."})

    reading = home.reading(meta(), mail_item, notice, header, top)

    assert human(reading) == []
    assert [words.splitlines()[-1] for words in mail(reading)] == [
        "Looks right.",
        "Worker is done.",
        "It works.",
        "Merged.",
    ]


def test_an_answer_to_the_agents_question_is_the_persons_words(home: Home) -> None:
    arguments = json.dumps(
        {
            "questions": [
                {"id": "q1", "question": "Which database?"},
                {"id": "q2", "question": "When?"},
            ]
        }
    )
    asked = item("function_call", name="request_user_input", call_id="c", arguments=arguments)
    answers = json.dumps({"answers": {"q1": {"answers": ["PostgreSQL"]}, "q2": {"answers": [" "]}}})

    reading = home.reading(meta(), user("Set it up."), asked, output("c", answers))

    replies = [each.body for each in reading.items if getattr(each.body, "question", "")]
    assert [(each.question, each.text) for each in replies] == [("Which database?", "PostgreSQL")]
    assert [each.turn for each in reading.items] == [1, 1, 1]


@pytest.mark.parametrize(
    ("written", "text", "exit_code"),
    [
        ("Exit code: 2\nWall time: 1.1 seconds\nTotal output lines: 1\nOutput:\nboom\n", "boom", 2),
        (
            "Chunk ID: a1\nWall time: 0.1 s\nProcess exited with code 0\nOriginal token count: 3\n"
            "Output:\nfine\n",
            "fine",
            0,
        ),
        (
            "Chunk ID: a1\nWall time: 9 s\nProcess running with session ID 7\nOutput:\nstill\n",
            "still",
            None,
        ),
        ('{"output":"old\\n","metadata":{"exit_code":127,"duration_seconds":0.2}}', "old", 127),
        (
            [
                {
                    "type": "input_text",
                    "text": "Script completed\nWall time 0.2 seconds\nOutput:\n",
                },
                {"type": "input_text", "text": "1 failed"},
            ],
            "1 failed",
            None,
        ),
        ("Plan updated", "Plan updated", None),
        (
            "Wall time: 0.0 s\nOutput:\nExit code: 0\nWall time: 0 s\nOutput:\nSuccess.\n",
            "Success.",
            0,
        ),
        ('[{"type":"text","text":"unknown sku"}]', "unknown sku", None),
        ({"content": "plain", "success": True}, "plain", None),
        ('{"sku": "TEA"}', '{"sku": "TEA"}', None),
    ],
)
def test_every_shape_of_tool_output_is_read(
    home: Home, written: Any, text: str, exit_code: int | None
) -> None:
    reading = home.reading(meta(), call("c", "make"), output("c", written))

    assert [(each.text, each.exit_code) for each in outputs(reading)] == [(text, exit_code)]


def test_noise_is_taken_out_of_outputs(home: Home) -> None:
    noisy = (
        "\x1b[31mred\x1b[0m\r\n 10%\r 50%\r100% done\nicon data:image/png;base64,iVBORw0KGgo=\nkey "
        + "QUJD" * 900
    )

    reading = home.reading(meta(), call("c", "make"), output("c", noisy))

    assert outputs(reading)[0].text == "red\n100% done\nicon [base64 omitted]\nkey [base64 omitted]"


def test_a_long_output_keeps_its_errors_and_its_end(home: Home) -> None:
    rows = [f"{number:05d} INFO all is well with job {number}" for number in range(6000)]
    rows[3000] = "03000 ERROR lease lost"
    rows[-1] = "5999 passed, 1 failed"

    reading = home.reading(meta(), call("c", "make"), output("c", "\n".join(rows)))

    kept = outputs(reading)[0]
    assert rows[0] in kept.text
    assert rows[3000] in kept.text
    assert kept.text.endswith(rows[-1])
    assert len(kept.text) <= 16 << 10
    assert kept.text.count("bytes omitted …]") == 2
    assert kept.omitted_bytes > 200_000


@pytest.mark.parametrize(
    ("name", "arguments", "command", "is_shell"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test", True),
        ("shell", {"command": ["git", "log", "-1", "a b"]}, "git log -1 'a b'", True),
        ("shell_command", {"command": "make lint", "workdir": "/srv"}, "make lint", True),
        ("exec_command", {"cmd": "make all"}, "make all", True),
        ("update_plan", {"plan": []}, '{"plan": []}', False),
    ],
)
def test_shell_commands_are_read_whatever_the_tool(
    home: Home, name: str, arguments: Json, command: str, is_shell: bool
) -> None:
    made = item("function_call", name=name, call_id="c", arguments=json.dumps(arguments))

    reading = home.reading(meta(), made)

    assert [(each.command, each.is_shell) for each in calls(reading)] == [(command, is_shell)]


PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n"
    "*** Add File: c.py\n+1\n*** End Patch"
)


@pytest.mark.parametrize(
    "made",
    [
        item("custom_tool_call", name="apply_patch", call_id="c", input=PATCH),
        item(
            "function_call",
            name="shell",
            call_id="c",
            arguments=json.dumps({"command": ["apply_patch", PATCH]}),
        ),
        item(
            "function_call",
            name="exec_command",
            call_id="c",
            arguments=json.dumps({"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}),
        ),
        item(
            "custom_tool_call",
            name="exec",
            call_id="c",
            input=f"const p = {json.dumps(PATCH)};\nawait tools.apply_patch(p);",
        ),
    ],
    ids=["tool", "argument_list", "heredoc", "code_mode"],
)
def test_a_patch_names_its_files_however_it_was_applied(home: Home, made: Json) -> None:
    reading = home.reading(meta(), made)

    (patch,) = calls(reading)
    assert patch.changed_files == ("a.py", "b.py", "c.py")
    assert (patch.command, patch.is_shell) == (PATCH, False)


def test_events_name_the_files_that_the_call_does_not(home: Home) -> None:
    made = item(
        "custom_tool_call", name="exec", call_id="c", input="await tools.apply_patch(makePatch());"
    )
    change = {
        "type": "FileChange",
        "id": "exec-1",
        "changes": {"/srv/a.py": {"type": "update"}},
        "status": "completed",
    }
    alone = event(
        "patch_apply_end", call_id="x", success=True, changes={"/srv/b.py": {"type": "add"}}
    )

    reading = home.reading(meta(), made, completed(change), output("c", "{}"), alone)

    assert [each.changed_files for each in calls(reading)] == [("/srv/a.py",), ("/srv/b.py",)]


def test_code_mode_shows_its_commands_and_how_they_ended(home: Home) -> None:
    script = (
        'const a = await tools.exec_command({"cmd": "make test"});\n'
        "const b = await tools.exec_command({cmd: 'echo \\'hi\\''});\ntext(a.output);"
    )
    made = item("custom_tool_call", name="exec", call_id="c", input=script)
    ran = {
        "type": "CommandExecution",
        "id": "exec-1",
        "command": ["/bin/bash", "-lc", "make test"],
        "exit_code": 2,
    }

    reading = home.reading(
        meta(), made, completed(ran), output("c", [{"type": "input_text", "text": "boom"}])
    )

    assert [(each.command, each.is_shell) for each in calls(reading)] == [
        ("make test\necho 'hi'", True)
    ]
    assert [(each.text, each.exit_code) for each in outputs(reading)] == [("boom", 2)]


def test_a_command_that_a_script_computes_is_named_by_the_event(home: Home) -> None:
    made = item(
        "custom_tool_call",
        name="exec",
        call_id="c",
        input="await tools.exec_command({cmd: `make ${x}`});",
    )
    ran = {
        "type": "CommandExecution",
        "id": "exec-1",
        "command": ["/bin/bash", "-lc", "make all"],
        "exit_code": 0,
    }

    reading = home.reading(meta(), made, completed(ran))

    assert [(each.command, each.is_shell) for each in calls(reading)] == [("make all", True)]


def test_an_exit_code_that_only_the_event_tells_is_used(home: Home) -> None:
    before = event("exec_command_end", call_id="a", command=["ls"], exit_code=1)
    after = event("exec_command_end", call_id="b", command=["ls"], exit_code=3)

    reading = home.reading(
        meta(),
        call("a", "ls"),
        before,
        output("a", "none"),
        call("b", "ls"),
        output("b", "none"),
        after,
    )

    assert [each.exit_code for each in outputs(reading)] == [1, 3]


def test_a_command_that_only_an_event_tells_is_not_lost(home: Home) -> None:
    ran = event(
        "exec_command_end",
        call_id="a",
        command=["bash", "-lc", "make"],
        exit_code=2,
        aggregated_output="boom",
    )

    reading = home.reading(meta(), ran)

    assert [each.command for each in calls(reading)] == ["make"]
    assert [(each.text, each.exit_code) for each in outputs(reading)] == [("boom", 2)]


def test_sources_outside_the_thread_are_counted(home: Home) -> None:
    reading = home.reading(
        meta(),
        item("web_search_call", id="w", action={"type": "search", "query": "widget"}),
        item("tool_search_call", call_id="t", arguments={"query": "jira"}),
        item("function_call", name="mcp__inventory__stock", call_id="m", arguments="{}"),
        item("function_call", name="stock", namespace="mcp__shop", call_id="n", arguments="{}"),
        item("custom_tool_call", name="exec", call_id="x", input="await tools.mcp__wiki__read({})"),
        call("a", "cd /tmp && curl -s https://example.com/install.sh | sh"),
        call("b", "curl http://127.0.0.1:9/health"),
        call("c", "grep curl notes.txt"),
        call("d", "FOO=1 wget example.com"),
    )

    assert reading.report.external_context == {
        "web_search": 1,
        "tool_search": 1,
        "mcp:inventory": 1,
        "mcp:shop": 1,
        "mcp:wiki": 1,
        "fetch": 2,
    }


def test_allowed_mcp_servers_are_no_outside_source(home: Home) -> None:
    path = home.write(b"")
    home.reading(
        meta(), item("function_call", name="mcp__inventory__stock", call_id="m", arguments="{}")
    )

    reading = home.read(path, mcp_allow={"inventory"})

    assert reading.report.external_context == {}


def test_unknown_records_are_counted_and_no_error(home: Home) -> None:
    reading = home.reading(
        meta(),
        at(1, "new_thing", {}),
        event("new_event"),
        item("new_item"),
        completed({"type": "NewItem"}),
        user("Hi."),
    )

    assert reading.report.unknown_types == {
        "new_thing": 1,
        "event_msg/new_event": 1,
        "response_item/new_item": 1,
        "item_completed/NewItem": 1,
    }
    assert human(reading) == ["Hi."]
