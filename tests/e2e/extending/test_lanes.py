"""Sub-agents that run side by side are recorded and replayed, each in its own lane."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer

TOOL = '''
import random, time
from tejat import Kind, tool

@tool(kind=Kind.READ)
def slow_read(name: str) -> str:
    """Returns the text of a file of the project, after a while.

    Args:
        name: The file.
    """
    time.sleep(random.random() / 10)
    return open(name).read()
'''
READER = "---\nname: reader\ndescription: Reads.\ntools: [slow_read]\n---\nRead what you are told to.\n"
WRITER = "---\nname: writer\ndescription: Writes.\ntools: [write_file]\n---\nWrite what you are told to.\n"


def answers(purpose: str, tool: str, arguments: dict[str, object], result: str) -> str:
    called = script_answer(purpose=purpose, calls=[(tool, arguments)])
    return called + script_answer(purpose=purpose, calls=[("complete_task", {"result": result})])


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    for directory, files in {
        "agents": {"reader.md": READER, "writer.md": WRITER},
        "tools": {"slow.py": TOOL},
    }.items():
        place = machine.home / ".gemini" / directory
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text)
    for name in ("a", "b"):
        (machine.project / name).write_text(f"text of {name}")
    return machine


def script(machine: ProgramEnv) -> str:
    calls = [
        ("invoke_agent", {"agent_name": "reader", "prompt": "Read a."}),
        ("invoke_agent", {"agent_name": "reader", "prompt": "Read b."}),
        ("invoke_agent", {"agent_name": "writer", "prompt": "Write c."}),
    ]
    return machine.script(
        script_answer(calls=calls)
        + script_answer(say="All three are done.")
        + answers("agent:reader#1", "slow_read", {"name": "a"}, "a was read")
        + answers("agent:reader#2", "slow_read", {"name": "b"}, "b was read")
        + answers("agent:writer", "write_file", {"file_path": "c", "content": "x\n"}, "c was written")
    )


def test_two_readers_and_a_writer(machine: ProgramEnv) -> None:
    recording = str(machine.base / "run.jsonl")
    words = ("-p", "Go.", "-y", "--sandbox", "off")
    lived = machine.run("-m", script(machine), "--record", recording, *words)
    assert (lived.code, lived.stdout) == (0, "All three are done.\n")
    assert (machine.project / "c").read_text() == "x\n"
    for _ in range(10):
        (machine.project / "c").unlink()
        played = machine.run("--replay", recording, *words)
        assert (played.code, played.stdout) == (0, lived.stdout), played.stderr
        assert (machine.project / "c").read_text() == "x\n"
    (machine.project / "c").unlink()
    (machine.project / "b").write_text("another text")
    changed = machine.run("--replay", recording, *words)
    assert changed.code != 0
    assert "request 2 of agent:reader#2 differs from the recording" in changed.stderr + changed.stdout
