"""Programs with the public names pass basedpyright in strict mode, and mistakes in them are found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "support" / "typed_program.py"

MISTAKES = """
from tejat import Agent, ToolContext, tool

@tool(timeout=5)
def add(one: int, context: ToolContext) -> int:
    \"\"\"Adds.\"\"\"
    return one

add("1", ToolContext())
text: str = add(1, ToolContext())
tool(timeout="5")
tool(confirm="yes")
Agent(max_turns="5")
Agent(unknown=1)
"""


def check(directory: Path, program: str) -> list[str]:
    """The problems that the type checker finds, as lines with their rules."""
    (directory / "program.py").write_text(program, encoding="utf-8")
    (directory / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    checker = Path(sys.executable).with_name("basedpyright")
    if not checker.exists():
        pytest.skip("basedpyright is not installed beside Python")
    done = subprocess.run(
        [checker, "--outputjson", "--pythonpath", sys.executable, "-p", str(directory)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=directory,
        timeout=110,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [f"{each['range']['start']['line']}: {each.get('rule', '')} {each['message']}" for each in found]


def test_a_program_with_the_public_names_has_no_type_errors(tmp_path: Path) -> None:
    assert check(tmp_path, PROGRAM.read_text(encoding="utf-8")) == []


def test_mistakes_are_found(tmp_path: Path) -> None:
    lines = {int(problem.partition(":")[0]) for problem in check(tmp_path, MISTAKES)}
    assert {number for number, line in enumerate(MISTAKES.splitlines()) if number > 7 and line} <= lines
