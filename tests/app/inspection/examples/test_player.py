"""Examples of skills and agents: what they show, what they never do, and when they fail."""

import os
from pathlib import Path

import pytest

from support.skills import write_skill
from tejat.app.inspection.examples.observer import NOT_RUN
from tejat.app.inspection.examples.player import ExampleResult, play_agent_examples, play_skill_examples

ACTIVATE = '[[answer]]\n[[answer.call]]\nname = "activate_skill"\nargs = { name = "pdf" }\n'
END = '[[answer]]\nsay = "Done."\n'


def call(name: str, args: str, *more: str, purpose: str = "") -> str:
    lines = [f'[[answer.call]]\nname = "{name}"\nargs = {{ {args} }}', *more]
    return "[[answer]]\n" + (f'purpose = "{purpose}"\n' if purpose else "") + "\n".join(lines) + "\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return write_skill(
        tmp_path / "pdf", more="allowed-tools: Bash(wc:*)\n", files={"run.sh": "#!/bin/sh\ntouch MARK\n"}
    )


def play(skill: Path, text: str) -> ExampleResult:
    (skill / "tests").mkdir(exist_ok=True)
    (skill / "tests/one.toml").write_text(text)
    (result,) = play_skill_examples("pdf", str(skill))
    return result


def decisions(result: ExampleResult) -> list[tuple[str, str | None]]:
    return [(each.tool, each.decision) for each in result.calls]


def test_what_is_called_and_asked(skill: Path) -> None:
    text = (
        f'prompt = "Count."\n[files]\n"a/b.txt" = "hello"\n{ACTIVATE}'
        + call("read_file", 'file_path = "${root}/a/b.txt"', 'expect = "hello"')
        + call("write_file", 'file_path = "${root}/new.txt", content = "x"')
        + call("read_file", 'file_path = "${root}/new.txt"', 'expect = "x"')
        + END
    )
    result = play(skill, text)
    assert result.problems == ()
    assert decisions(result) == [
        ("activate_skill", "ask"),
        ("read_file", "allow"),
        ("write_file", "ask"),
        ("read_file", "allow"),
    ]
    assert result.calls[1].arguments == {"file_path": "${root}/a/b.txt"}


def test_no_program_is_run(skill: Path, tmp_path: Path) -> None:
    """An example cannot say yes on behalf of the user: whoever wrote it may be anybody."""
    mark = tmp_path / "MARK"
    text = (
        ACTIVATE
        + call("run_shell_command", f'command = "touch {mark}"', f'expect = "{NOT_RUN}"')
        + call("run_shell_command", f'command = "touch {mark}2"', 'result = "made"', 'expect = "made"')
        + call("run_shell_command", 'command = "${skill}/run.sh"')
        + call("web_fetch", 'prompt = "Read http://127.0.0.1:9/"', f'expect = "{NOT_RUN}"')
        + call("write_file", f'file_path = "{mark}", content = "x"', "expect_error = true")
        + END
    )
    result = play(skill, text)
    assert result.problems == ()
    assert sorted(os.listdir(tmp_path)) == ["pdf"]
    assert sorted(os.listdir(skill)) == ["SKILL.md", "run.sh", "tests"]


def test_nothing_of_the_user_counts(skill: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    policies = tmp_path / "home/.gemini/policies"
    policies.mkdir(parents=True)
    (policies / "x.toml").write_text('[[rule]]\ntool = "*"\ndecision = "deny"\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-secret")
    assert play(skill, ACTIVATE + END).problems == ()
    assert sorted(os.listdir(tmp_path / "home")) == [".gemini"]


def test_replies(skill: Path) -> None:
    text = (
        ACTIVATE
        + 'reply = "with"\n'
        + call("run_shell_command", 'command = "wc a"', 'decision = "allow"')
        + call("write_file", 'file_path = "${root}/a", content = "x"', 'reply = "no"', "expect_error = true")
        + END
    )
    result = play(skill, text)
    assert result.problems == ()
    assert [each.reply for each in result.calls] == ["with", None, "no"]


def test_the_mode_is_that_of_the_example(skill: Path) -> None:
    write = call("write_file", 'file_path = "${root}/a", content = "x"', 'decision = "deny"')
    assert play(skill, f'mode = "plan"\n{write}{END}').problems == ()
    allowed = write.replace("deny", "allow")
    assert play(skill, f'mode = "auto_edit"\n{allowed}{END}').problems == ()
    result = play(skill, f'mode = "bold"\n{END}')
    assert result.problems == ("The mode must be one of default, auto_edit, yolo, plan, not 'bold'.",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ACTIVATE + 'decision = "allow"\n' + END, "answer 1: activate_skill: the decision is ask, not allow"),
        (ACTIVATE + 'expect = "missing"\n' + END, 'should have answered "missing"'),
        (ACTIVATE, "no more answers"),
        (END + ACTIVATE, "answer 2: activate_skill was not called"),
        (call("frobnicate", "x = 1", 'decision = "ask"') + END, 'Tool "frobnicate" not found'),
        (call("read_file", "", 'decision = "allow"') + END, "the decision is params must have"),
        (ACTIVATE + 'decision = "maybe"\n', "decision must be one of allow, ask, deny"),
        (ACTIVATE + 'reply = "always"\n', "reply must be one of yes, no, with"),
        ("[files]\n'../x' = 'y'\n" + END, "'../x' is not a path in the project"),
        ("[files]\n'/x' = 'y'\n" + END, "'/x' is not a path in the project"),
        ("[files]\nx = 1\n" + END, "x must be a string"),
        ('[[topic]]\n[[topic.answer]]\nsay = "x"\n', "an example has [[answer]] tables, no [[topic]]"),
        ("[[answer", "invalid TOML"),
    ],
)
def test_failures(skill: Path, text: str, problem: str) -> None:
    result = play(skill, text)
    assert not result.passed
    assert any(problem in each for each in result.problems), result.problems
    assert not any("tejat-example" in each for each in result.problems)


def test_only_toml_files_in_their_order(skill: Path) -> None:
    (skill / "tests").mkdir()
    for name in ("b.toml", "a.toml", "notes.md"):
        (skill / "tests" / name).write_text(END)
    results = play_skill_examples("pdf", str(skill))
    assert [os.path.basename(result.path) for result in results] == ["a.toml", "b.toml"]
    assert play_skill_examples("pdf", str(skill.parent)) == []


class TestAgents:
    def write(self, tmp_path: Path, more: str = "") -> Path:
        file = tmp_path / "reader.md"
        file.write_text(f"---\nname: reader\ndescription: Reads.\ntools: [read_file]\n{more}---\nYou read.\n")
        (tmp_path / "tests").mkdir()
        return file

    def test_its_calls_and_limits(self, tmp_path: Path) -> None:
        file = self.write(tmp_path)
        text = (
            '[files]\n"a" = "hello"\n'
            + call("invoke_agent", 'agent_name = "reader", prompt = "Read a"', 'expect = "It says hello."')
            + call("read_file", 'file_path = "${root}/a"', 'expect = "hello"', purpose="agent:reader")
            + call("run_shell_command", 'command = "ls"', 'decision = "deny"', purpose="agent:reader")
            + call("complete_task", 'result = "It says hello."', purpose="agent:reader")
            + END
        )
        (tmp_path / "tests/reader.toml").write_text(text)
        (result,) = play_agent_examples("reader", str(file))
        assert result.problems == ()
        assert [(each.agent, each.tool) for each in result.calls] == [
            ("", "invoke_agent"),
            ("reader#1", "read_file"),
            ("reader#1", "run_shell_command"),
            ("reader#1", "complete_task"),
        ]

    def test_no_server_is_started_and_no_other_model_asked(self, tmp_path: Path) -> None:
        mark = tmp_path / "MARK"
        server = f"mcp_servers:\n  s:\n    command: touch\n    args: [{mark}]\n"
        file = self.write(tmp_path, f"model: ollama:none\n{server}")
        text = call("invoke_agent", 'agent_name = "reader", prompt = "x"', 'expect = "ok"')
        text += call("complete_task", 'result = "ok"', purpose="agent:reader") + END
        (tmp_path / "tests/reader.toml").write_text(text)
        (result,) = play_agent_examples("reader", str(file))
        assert result.problems == ()
        assert not mark.exists()

    def test_which_examples_belong_to_an_agent(self, tmp_path: Path) -> None:
        file = self.write(tmp_path)
        for name in ("reader.toml", "reader.two.toml", "reader-2.toml", "other.toml"):
            (tmp_path / "tests" / name).write_text(END)
        results = play_agent_examples("reader", str(file))
        assert [os.path.basename(result.path) for result in results] == ["reader.toml", "reader.two.toml"]
