"""Tools that a command tells of, in whole runs: discovered, asked about, called, and what goes wrong with them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.approver import YES, FakeApprover
from support.external_tools import AgentTranscript, ExternalToolsEnv, call_reply
from tejat.core.approval.confirmation import ExecConfirmation
from tejat.core.tools.call_events import CallFinished, CallState

CALL = """
import json, os, sys
name, given = sys.argv[-1], sys.stdin.read()
if name == "fail":
    print("halfway")
    print("no such city", file=sys.stderr)
    sys.exit(3)
if name == "loud":
    print("warming up", file=sys.stderr)
if name == "where":
    given = json.dumps([os.getcwd(), os.environ.get("SERVICE_TOKEN"), sys.argv[1:]])
print(f"{name}: {given}")
"""


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    env = ExternalToolsEnv(tmp_path)
    (tmp_path / "call.py").write_text(CALL)
    return env


def discovering(env: ExternalToolsEnv, *tools: str | dict[str, Any], calls: bool = True, **more: Any) -> None:
    """The person's settings name commands: one that tells of these tools, and one that calls them."""
    told = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
    path = env.base / "tools.json"
    path.write_text(json.dumps(told))
    command = [sys.executable, "-SE", str(env.base / "call.py"), "an argument"]
    env.write_user_settings(
        tools={"discoveryCommand": f"/bin/cat {path}", **({"callCommand": command} if calls else {}), **more}
    )


def states(transcript: AgentTranscript) -> list[CallState]:
    return [event.state for event in transcript.events if isinstance(event, CallFinished)]


class TestCalls:
    def test_are_made_by_the_other_command(self, env: ExternalToolsEnv) -> None:
        schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
        discovering(env, {"name": "weather", "description": "Tells the weather.", "parameters": schema})
        person = FakeApprover(lambda _: YES)
        transcript = env.run_agent(
            call_reply("weather", city="Ulm"), call_reply("discovered_tool_weather", town="?"), approver=person
        )
        assert transcript.declared_names() == ["weather"]
        declared = transcript.declaration("weather")
        assert declared["description"].startswith("Tells the weather.\n\n")
        assert declared["parametersJsonSchema"]["properties"] == {"city": {"type": "string"}}
        assert transcript.responses == [
            'weather: {"city":"Ulm"}\n',
            "params must have required property 'city'",
        ]
        (question,) = person.questions
        shown = question.confirmation
        assert isinstance(shown, ExecConfirmation)
        assert shown.command.endswith("call.py 'an argument' weather")
        assert shown.notes == ('Arguments passed on standard input: {"city":"Ulm"}',)

    def test_run_in_the_project_without_its_secrets(self, env: ExternalToolsEnv) -> None:
        env.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        discovering(env, "where", allowed=["where"])
        (told,) = env.run_agent("where").responses
        assert json.loads(told.removeprefix("where: ")) == [str(env.project), None, ["an argument", "where"]]

    def test_that_fail_are_told_in_five_lines(self, env: ExternalToolsEnv) -> None:
        discovering(env, "fail", allowed=["fail"])
        transcript = env.run_agent("fail")
        assert states(transcript) == [CallState.ERROR]
        assert transcript.responses == [
            "Stdout: halfway\n\nStderr: no such city\n\nError: (none)\nExit Code: 3\nSignal: (none)"
        ]

    @pytest.mark.parametrize(("strict", "state"), [(False, CallState.SUCCESS), (True, CallState.ERROR)])
    def test_that_only_print_aside_fail_where_somebody_says_so(
        self, env: ExternalToolsEnv, strict: bool, state: CallState
    ) -> None:
        discovering(env, "loud", allowed=["loud"], callCommandStrictStderr=strict)
        assert states(env.run_agent("loud")) == [state]

    def test_without_a_command_for_them_say_so(self, env: ExternalToolsEnv) -> None:
        discovering(env, "weather", calls=False, allowed=["weather"])
        (told,) = env.run_agent("weather").responses
        assert "Error: There is no command to call it with." in told

    def test_need_an_answer_that_nobody_can_give(self, env: ExternalToolsEnv) -> None:
        discovering(env, "weather")
        (told,) = env.run_agent("weather").responses
        assert told.startswith('Tool execution for "weather" requires user confirmation')


class TestDiscovery:
    def test_names_that_are_taken_are_refused_and_told(self, env: ExternalToolsEnv) -> None:
        (env.project / "a.txt").write_text("the real one")
        discovering(env, "read_file", "grep", "ReadFileTool", "weather", "weather", allowed=["weather"])
        transcript = env.run_agent(call_reply("read_file", file_path="a.txt"))
        assert transcript.responses == ["the real one"]
        assert transcript.declared_names() == ["weather"]
        refused = [warning for warning in transcript.warnings if "cannot be registered" in warning]
        assert [warning.split('"')[1] for warning in refused] == ["read_file", "grep", "ReadFileTool", "weather"]
        assert transcript.warnings == refused

    def test_an_excluded_one_is_not_there(self, env: ExternalToolsEnv) -> None:
        discovering(env, "weather", "tide", exclude=["weather"])
        assert env.run_agent().declared_names() == ["tide"]

    def test_what_it_prints_aside_and_cannot_be_used_is_told(self, env: ExternalToolsEnv) -> None:
        program = 'echo \'[{"name": "ok"}, {}, {"name": "n o"}]\'; printf \'one \\033[31mline\\n\' >&2'
        env.write_user_settings(tools={"discoveryCommand": ["/bin/sh", "-c", program]})
        transcript = env.run_agent()
        assert transcript.declared_names() == ["ok"]
        assert transcript.warnings[0] == "Discovered a tool with no name. Skipping."
        assert 'the name "n o"' in transcript.warnings[1]
        assert transcript.warnings[2:] == ["The tool discovery command printed errors:\n  one <U+001B>[31mline"]

    @pytest.mark.parametrize(
        ("command", "why"),
        [
            (["/bin/sh", "-c", "echo 'out of order' >&2; exit 4"], "Tool discovery command failed with exit code 4"),
            (["/bin/echo", "{}"], "Tool discovery command did not return a JSON array of tools."),
            (["/bin/echo", "nonsense"], "Tool discovery command did not print JSON"),
            (["no-such-program"], "Tool discovery command could not run"),
        ],
    )
    def test_that_fails_is_told_once_and_ends_nothing(
        self, env: ExternalToolsEnv, command: list[str], why: str
    ) -> None:
        env.write_user_settings(tools={"discoveryCommand": command})
        transcript = env.run_agent(prompts=("go", "on"))
        assert [ended.text for ended in transcript.results] == ["Done."] * 2
        (warning,) = transcript.warnings
        assert warning.startswith('Tool discovery command "')
        assert f" failed: {why}" in warning
        assert ("out of order" in warning) is (command[0] == "/bin/sh")

    def test_in_a_folder_that_is_not_trusted_is_not_run_and_that_is_said_once(self, env: ExternalToolsEnv) -> None:
        ran = env.base / "ran"
        env.write_user_settings(tools={"discoveryCommand": ["/usr/bin/touch", str(ran)]})
        env.write_project_settings(tools={"discoveryCommand": ["/usr/bin/touch", str(ran)]})
        transcript = env.run_agent(prompts=("go", "on"), trusts_folder=False)
        why = f"{env.project} is not trusted: not decided yet."
        assert transcript.warnings == [f"The tool discovery command was not run. {why} See `tejat trust`."]
        assert not ran.exists()
        env.run_agent()
        assert ran.exists()
