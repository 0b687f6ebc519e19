"""How examples are printed: one line for each call, whatever is in it."""

import pytest

from tejat.app.inspection.examples.observer import ObservedCall
from tejat.app.inspection.examples.player import ExampleResult
from tejat.cli.example_output import print_examples
from tejat.models.scripted.script_file import ExpectedDecision, ScriptedReply


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ExpectedDecision.ASK
    calls = (
        ObservedCall("", "run_shell_command", {"command": "ls\x1b[31m\nrm x"}, ask, ScriptedReply.NO),
        ObservedCall("a#1", "write_file", {"file_path": "a", "content": "x" * 200}, ask, ScriptedReply.YES),
        ObservedCall("", "frob", {}, None, error="not found"),
    )
    results = [ExampleResult("/s/tests/one.toml", calls, ()), ExampleResult("/s/tests/two.toml", (), ("wrong\x1b[0m",))]
    print_examples(results, "/s")
    lines = capsys.readouterr().out.splitlines()
    assert "\x1b" not in "".join(lines)
    assert lines[0] == "one.toml: passed"
    assert lines[1].startswith("  ask     run_shell_command ls")
    assert lines[1].endswith("rm x (no)")
    assert lines[2].startswith('  ask     a#1: write_file {"file_path":"a","content":"xxx')
    assert lines[2].endswith("x... (yes)")
    assert len(lines[2]) < 130
    assert lines[3] == "  -       frob {}"
    assert lines[4] == "two.toml: failed"
    assert lines[5].startswith("  problem: wrong")
    assert lines[6] == "1 of 2 examples passed"


def test_none(capsys: pytest.CaptureFixture[str]) -> None:
    print_examples([], "/s")
    assert capsys.readouterr().out == "No examples: there is no .toml file in /s/tests.\n"
