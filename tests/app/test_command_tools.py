"""Tools that a command tells of, in whole runs: discovered, asked about, called, and what goes wrong with them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from foreign_checks import Person, Stage, Talk, calling
from notes import YES
from tejat.core.confirm import ExecConfirmation
from tejat.core.events import CallFinished, CallState

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
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    (tmp_path / "call.py").write_text(CALL)
    return stage


def discovering(stage: Stage, *tools: str | dict[str, Any], calls: bool = True, **more: Any) -> None:
    """The person's settings name commands: one that tells of these tools, and one that calls them."""
    told = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
    path = stage.base / "tools.json"
    path.write_text(json.dumps(told))
    command = [sys.executable, "-SE", str(stage.base / "call.py"), "an argument"]
    stage.person_sets(
        tools={"discoveryCommand": f"/bin/cat {path}", **({"callCommand": command} if calls else {}), **more}
    )


def states(talk: Talk) -> list[CallState]:
    return [event.state for event in talk.events if isinstance(event, CallFinished)]


class TestCalls:
    def test_are_made_by_the_other_command(self, stage: Stage) -> None:
        schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
        discovering(stage, {"name": "weather", "description": "Tells the weather.", "parameters": schema})
        person = Person(lambda _: YES)
        talk = stage.talk(calling("weather", city="Ulm"), calling("discovered_tool_weather", town="?"), approver=person)
        assert talk.declared() == ["weather"]
        declared = talk.declaration("weather")
        assert declared["description"].startswith("Tells the weather.\n\n")
        assert declared["parametersJsonSchema"]["properties"] == {"city": {"type": "string"}}
        assert talk.responses == [
            'weather: {"city":"Ulm"}\n',
            "params must have required property 'city'",
        ]
        (question,) = person.questions
        shown = question.confirmation
        assert isinstance(shown, ExecConfirmation)
        assert shown.command.endswith("call.py 'an argument' weather")
        assert shown.notes == ('It reads these arguments on its input: {"city":"Ulm"}',)

    def test_run_in_the_project_without_its_secrets(self, stage: Stage) -> None:
        stage.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        discovering(stage, "where", allowed=["where"])
        (told,) = stage.talk("where").responses
        assert json.loads(told.removeprefix("where: ")) == [str(stage.project), None, ["an argument", "where"]]

    def test_that_fail_are_told_in_five_lines(self, stage: Stage) -> None:
        discovering(stage, "fail", allowed=["fail"])
        talk = stage.talk("fail")
        assert states(talk) == [CallState.ERROR]
        assert talk.responses == [
            "Stdout: halfway\n\nStderr: no such city\n\nError: (none)\nExit Code: 3\nSignal: (none)"
        ]

    @pytest.mark.parametrize(("strict", "state"), [(False, CallState.SUCCESS), (True, CallState.ERROR)])
    def test_that_only_print_aside_fail_where_somebody_says_so(
        self, stage: Stage, strict: bool, state: CallState
    ) -> None:
        discovering(stage, "loud", allowed=["loud"], callCommandStrictStderr=strict)
        assert states(stage.talk("loud")) == [state]

    def test_without_a_command_for_them_say_so(self, stage: Stage) -> None:
        discovering(stage, "weather", calls=False, allowed=["weather"])
        (told,) = stage.talk("weather").responses
        assert "Error: There is no command to call it with." in told

    def test_need_an_answer_that_nobody_can_give(self, stage: Stage) -> None:
        discovering(stage, "weather")
        (told,) = stage.talk("weather").responses
        assert told.startswith('Tool execution for "weather" requires user confirmation')


class TestDiscovery:
    def test_names_that_are_taken_are_refused_and_told(self, stage: Stage) -> None:
        (stage.project / "a.txt").write_text("the real one")
        discovering(stage, "read_file", "grep", "ReadFileTool", "weather", "weather", allowed=["weather"])
        talk = stage.talk(calling("read_file", file_path="a.txt"))
        assert talk.responses == ["the real one"]
        assert talk.declared() == ["weather"]
        refused = [warning for warning in talk.warnings if "cannot be registered" in warning]
        assert [warning.split('"')[1] for warning in refused] == ["read_file", "grep", "ReadFileTool", "weather"]
        assert talk.warnings == refused

    def test_an_excluded_one_is_not_there(self, stage: Stage) -> None:
        discovering(stage, "weather", "tide", exclude=["weather"])
        assert stage.talk().declared() == ["tide"]

    def test_what_it_prints_aside_and_cannot_be_used_is_told(self, stage: Stage) -> None:
        program = 'echo \'[{"name": "ok"}, {}, {"name": "n o"}]\'; printf \'one \\033[31mline\\n\' >&2'
        stage.person_sets(tools={"discoveryCommand": ["/bin/sh", "-c", program]})
        talk = stage.talk()
        assert talk.declared() == ["ok"]
        assert talk.warnings[0] == "Discovered a tool with no name. Skipping."
        assert 'the name "n o"' in talk.warnings[1]
        assert talk.warnings[2:] == ["The tool discovery command printed on its error output:\n  one <U+001B>[31mline"]

    @pytest.mark.parametrize(
        ("command", "why"),
        [
            (["/bin/sh", "-c", "echo 'out of order' >&2; exit 4"], "Tool discovery command failed with exit code 4"),
            (["/bin/echo", "{}"], "Tool discovery command did not return a JSON array of tools."),
            (["/bin/echo", "nonsense"], "Tool discovery command did not print JSON"),
            (["no-such-program"], "Tool discovery command cannot be run"),
        ],
    )
    def test_that_fails_is_told_once_and_ends_nothing(self, stage: Stage, command: list[str], why: str) -> None:
        stage.person_sets(tools={"discoveryCommand": command})
        talk = stage.talk(prompts=("go", "on"))
        assert [ended.text for ended in talk.ended] == ["Done."] * 2
        (warning,) = talk.warnings
        assert warning.startswith('Tool discovery command "')
        assert f" failed: {why}" in warning
        assert ("out of order" in warning) is (command[0] == "/bin/sh")

    def test_in_a_folder_that_is_not_trusted_is_not_run_and_that_is_said_once(self, stage: Stage) -> None:
        ran = stage.base / "ran"
        stage.person_sets(tools={"discoveryCommand": ["/usr/bin/touch", str(ran)]})
        stage.project_sets(tools={"discoveryCommand": ["/usr/bin/touch", str(ran)]})
        talk = stage.talk(prompts=("go", "on"), trusts_folder=False)
        why = f"{stage.project} is not trusted: nobody has said so yet."
        assert talk.warnings == [f"The tool discovery command is not run. {why} See `tejat trust`."]
        assert not ran.exists()
        stage.talk()
        assert ran.exists()
