"""Tools that the call command runs."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.process_marks import STUBBORN_SCRIPT, cancel_stubborn
from support.tool_results import invalid_params_result
from tejat.core.approval.confirmation import ExecConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import ToolContext, ToolError, ToolResult, validate_and_execute
from tejat.tools.discovered.discovered_tool import DiscoveredTool
from tejat.tools.registry import ToolRegistry, entry_for
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.process_tree import process_start_time
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

ENVIRONMENT = child_environment({"PATH": os.environ.get("PATH", os.defpath)})
SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NO_COMMAND = "There is no command to call it with. Somebody has to set tools.callCommand in the settings."

Make = Callable[..., DiscoveredTool]


@pytest.fixture
def make(supervisor: ProcessSupervisor, root: Path) -> Make:
    """Makes the tool `weather` that runs a shell script, or another command."""

    def made(
        script: str = "cat",
        *,
        command: Sequence[str] | None = None,
        schema: JsonObject | None = None,
        name: str = "weather",
        seconds: float = 60.0,
        strict_stderr: bool = False,
        objection: str | None = None,
    ) -> DiscoveredTool:
        (root / "call.sh").write_text(f"#!/bin/sh\n{script}\n")
        (root / "call.sh").chmod(0o700)
        return DiscoveredTool(
            FunctionDeclaration(name, "Tells the weather.", schema or {"type": "object", "properties": {}}),
            discovery_command=("my tools", "list"),
            call_command=("./call.sh",) if command is None else command,
            supervisor=supervisor,
            directory=str(root),
            environment=ENVIRONMENT,
            seconds=seconds,
            strict_stderr=strict_stderr,
            blocked_reason=lambda: objection,
        )

    return made


def call(tool: DiscoveredTool, params: object = None, context: ToolContext | None = None) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, {} if params is None else params, context))


def failed(reason: str, *lines: str) -> ToolResult:
    report = "\n".join(lines)
    return ToolResult(report, report, ToolError(reason, ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR))


class TestDeclaration:
    def test_what_a_model_is_told(self, make: Make) -> None:
        tool = make(schema=SCHEMA)
        assert (tool.name, tool.display_name, tool.kind) == ("weather", "weather", Kind.OTHER)
        assert (tool.is_output_markdown, tool.can_update_output, tool.is_read_only) == (False, False, False)
        assert tool.parameter_schema == SCHEMA
        assert tool.description.startswith(
            "Tells the weather.\n\nComes from outside: the command `'my tools' list` lists"
        )
        assert "A call runs `./call.sh weather` in the project root" in tool.description
        labels = [line.partition(":")[0] for line in tool.description.splitlines()[-5:]]
        assert labels == ["Stdout", "Stderr", "Error", "Exit Code", "Signal"]

    def test_commands_are_shown_as_they_would_have_to_be_written(self, make: Make) -> None:
        tool = make(command=("a b", "{x}", "\x1b[1m", "$(y)"))
        assert "A call runs `'a b' '{x}' '<U+001B>[1m' '$(y)' weather` in" in tool.description

    def test_arguments_are_checked_against_the_schema(self, make: Make, root: Path) -> None:
        tool = make("touch mark", schema=SCHEMA)
        assert call(tool, {}) == invalid_params_result("params must have required property 'city'")
        assert call(tool, {"city": 5}) == invalid_params_result("params/city must be string")
        assert call(tool, [1]) == invalid_params_result("Value of params must be an object")
        assert not (root / "mark").exists()


class TestProtocol:
    def test_what_the_command_gets(self, make: Make, root: Path) -> None:
        """The name as the one argument, the arguments on the input, which ends."""
        tool = make("""printf '%s|' "$#" "$@" "$PWD" "$GEMINI_CLI$HOME"; cat; echo '|end'""")
        assert call(tool, {"city": "Oslo"}).llm_content == f'1|weather|{root}|1|{{"city":"Oslo"}}|end\n'

    def test_one_that_must_not_run_now(self, make: Make, root: Path) -> None:
        tool = make("touch mark", objection="It has changed.")
        lines = ("Stdout: (empty)", "Stderr: (empty)", "Error: It has changed.", "Exit Code: (none)", "Signal: (none)")
        assert call(tool) == failed("It has changed.", *lines)
        with pytest.raises(ToolFailure, match=r"It has changed\."):
            asyncio.run(tool.should_confirm_execute({}))
        assert not (root / "mark").exists()

    def test_a_command_with_arguments_of_its_own(self, make: Make, root: Path) -> None:
        """A Python script with arguments."""
        (root / "my tools.py").write_text("import json, sys\nprint(sys.argv[1:], json.load(sys.stdin))")
        tool = make(command=(sys.executable, "my tools.py", "call", "--as=a b"))
        assert call(tool, {"a": [1, None]}).llm_content == "['call', '--as=a b', 'weather'] {'a': [1, None]}\n"

    def test_success(self, make: Make) -> None:
        """The output is given to the model verbatim."""
        assert call(make("printf ' \\n{\"a\": 1}\\r\\n \\n'")) == ToolResult(*[' \n{"a": 1}\r\n \n'] * 2)  # pyright: ignore[reportArgumentType]
        assert call(make("true")) == ToolResult("", "")

    def test_what_is_no_text(self, make: Make) -> None:
        assert call(make("printf '\\303\\244\\377'")) == ToolResult("ä\ufffd", "ä\ufffd")

    def test_characters_that_come_in_pieces(self, make: Make) -> None:
        assert call(make("printf '\\342'; sleep 0.1; printf '\\202'; sleep 0.1; printf '\\254'")).llm_content == "€"

    @pytest.mark.parametrize(
        "params",
        [
            {"text": "line\nline\r\n\ttab \"quoted\" 'single' \\ ä € 😀 \u2028 \x00"},
            {"$(touch mark)": "`touch mark`; touch mark | > mark", "deep": [{"a": [True, None, 1.5]}]},
            {"long": "ä" * 700_000},
        ],
    )
    def test_arguments_survive(self, make: Make, root: Path, params: dict[str, object]) -> None:
        """No shell sees the arguments."""
        result = call(make("cat"), params)
        assert isinstance(result.llm_content, str)
        assert json.loads(result.llm_content) == params
        assert not (root / "mark").exists()

    def test_half_characters_become_whole_ones(self, make: Make) -> None:
        assert call(make("cat"), {"a": "x\ud800"}).llm_content == '{"a":"x\ufffd"}'

    def test_a_name_is_one_argument_whatever_is_in_it(self, make: Make, root: Path) -> None:
        """Such a name would not even have come this far."""
        name = "$(touch mark); touch mark"
        assert call(make('printf "%s" "$1"', name=name)).llm_content == name
        assert not (root / "mark").exists()

    @pytest.mark.parametrize("script", ["echo done", "exec <&-; sleep 0.1; echo done"])
    def test_a_command_that_never_reads(self, make: Make, script: str) -> None:
        """A megabyte of input is not read."""
        assert call(make(script), {"a": "x" * 1_000_000}) == ToolResult("done\n", "done\n")

    def test_the_other_name_is_only_a_spelling(self, make: Make) -> None:
        """Whatever name it is called by, the command gets the one that was declared."""
        registry = ToolRegistry()
        registry.register_entry(
            entry_for(make('echo "$1"'), source=ToolSource.DISCOVERED, alternate_names=["discovered_tool_weather"])
        )
        for name in ("weather", "discovered_tool_weather"):
            result = asyncio.run(registry[name].execute({}, ToolContext()))
            assert result.llm_content == "weather\n"
        assert registry.names() == ["weather"]


class TestFailing:
    def test_an_exit_code(self, make: Make) -> None:
        assert call(make("exit 3")) == failed(
            "It exited with code 3.",
            "Stdout: (empty)",
            "Stderr: (empty)",
            "Error: (none)",
            "Exit Code: 3",
            "Signal: (none)",
        )
        assert call(make("echo out; echo err >&2; exit 1")) == failed(
            "It exited with code 1.",
            "Stdout: out\n",
            "Stderr: err\n",
            "Error: (none)",
            "Exit Code: 1",
            "Signal: (none)",
        )

    def test_a_signal(self, make: Make) -> None:
        assert call(make("kill -9 $$")) == failed(
            "It was killed by SIGKILL.",
            "Stdout: (empty)",
            "Stderr: (empty)",
            "Error: (none)",
            "Exit Code: (none)",
            "Signal: SIGKILL",
        )

    def test_what_cannot_be_started(self, make: Make) -> None:
        reason = "There is no such program on PATH: no-such-program"
        assert call(make(command=("no-such-program",))) == failed(
            reason,
            "Stdout: (empty)",
            "Stderr: (empty)",
            f"Error: {reason}",
            "Exit Code: (none)",
            "Signal: (none)",
        )

    def test_without_a_call_command(self, make: Make) -> None:
        tool = make(command=())
        expected = failed(
            NO_COMMAND,
            "Stdout: (empty)",
            "Stderr: (empty)",
            f"Error: {NO_COMMAND}",
            "Exit Code: (none)",
            "Signal: (none)",
        )
        assert call(tool) == expected
        assert "A call runs `(tools.callCommand is not set)` in" in tool.description
        with pytest.raises(ToolFailure) as raised:
            asyncio.run(tool.should_confirm_execute({}))
        assert (raised.value.message, raised.value.error_type) == (
            expected.llm_content,
            ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR,
        )

    def test_words_on_stderr_alone(self, make: Make) -> None:
        """No failure, unless the settings want it so."""
        report = "Stdout: (empty)\nStderr: remark\n\nError: (none)\nExit Code: 0\nSignal: (none)"
        assert call(make("echo remark >&2")) == ToolResult(report, report)
        strict = "It printed to its error output, which counts as a failure (tools.callCommandStrictStderr)."
        assert call(make("echo remark >&2", strict_stderr=True)) == failed(strict, report)

    def test_words_on_stderr_besides(self, make: Make) -> None:
        """The model gets the result, the user sees all."""
        report = "Stdout: result\n\nStderr: remark\n\nError: (none)\nExit Code: 0\nSignal: (none)"
        script = "echo result; echo remark >&2"
        assert call(make(script)) == ToolResult("result\n", report)
        assert call(make(script, strict_stderr=True)).llm_content == report
        assert call(make("echo result", strict_stderr=True)) == ToolResult("result\n", "result\n")

    def test_time(self, make: Make) -> None:
        result = call(make("echo begun; sleep 1000 & wait", seconds=1))
        reason = "It timed out after 1 seconds."
        assert result == failed(
            reason, "Stdout: begun\n", "Stderr: (empty)", f"Error: {reason}", "Exit Code: (none)", "Signal: SIGTERM"
        )

    @pytest.mark.parametrize("stream", [1, 2])
    def test_too_much_output(self, make: Make, stream: int) -> None:
        result = call(make(f"exec head -c 1000000000 /dev/zero >&{stream}"))
        reason = "It printed more than 10485760 bytes to one stream and was stopped."
        assert result.error == ToolError(reason, ErrorType.DISCOVERED_TOOL_EXECUTION_ERROR)
        assert isinstance(result.llm_content, str)
        assert result.llm_content.count("\0") == 10 * 2**20
        assert result.llm_content.rpartition("\nError: ")[2].startswith(f"{reason}\nExit Code: (none)\nSignal: SIG")

    def test_arguments_that_are_no_json(self, make: Make) -> None:
        tool = make(schema={"type": "no such"})
        assert call(tool, {"a": object()}).error == ToolError(
            "params are not valid JSON: Object of type object is not JSON serializable",
            ErrorType.INVALID_TOOL_PARAMS,
        )


class TestConfirming:
    def test_all_that_will_happen_is_shown(self, make: Make, root: Path) -> None:
        tool = make(command=("./call.sh", "a b", "$x"))
        confirmation = asyncio.run(tool.should_confirm_execute({"city": "Oslo\n", "n": 1}))
        assert isinstance(confirmation, ExecConfirmation)
        assert confirmation == ExecConfirmation(
            title="Confirm: weather",
            command="./call.sh 'a b' '$x' weather",
            directory=str(root),
            root_commands=("./call.sh",),
            notes=('Arguments passed on standard input: {"city":"Oslo\\n","n":1}',),
            digest=confirmation.digest,
        )

    def test_only_what_was_approved_is_run(self, make: Make, root: Path) -> None:
        tool = make("touch mark; cat")
        approved = asyncio.run(tool.should_confirm_execute({"a": 1}))
        assert approved is not None
        refused = call(tool, {"a": 2}, ToolContext(approved=approved))
        assert refused.error == ToolError(
            "The command differs from the one you approved, so it was not run.", ErrorType.STALE_FILE
        )
        assert call(tool, {"a": 1}, ToolContext(approved=replace(approved, digest=""))).error == refused.error
        assert not (root / "mark").exists()
        assert call(tool, {"a": 1}, ToolContext(approved=approved)).llm_content == '{"a":1}'


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_cancelled_call_leaves_no_process(make: Make, root: Path) -> None:
    async def main() -> list[int]:
        running = asyncio.create_task(make(STUBBORN_SCRIPT).execute({"a": "x" * 1_000_000}, ToolContext()))
        return await cancel_stubborn(running, root)

    assert [process_start_time(pid) for pid in asyncio.run(main())] == [None] * 3
