"""`ask_user` and `write_todos` from the outside: headless, at a terminal, resumed."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv, ProgramResult, script_answer, text_script
from support.terminal.chat import TerminalEnv, call_answer, send_prompt, shell_answer, terminal_env
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

OPTIONS = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]
DATABASE = {"question": "Which database?", "header": "Database", "type": "choice", "options": OPTIONS}
NAME = {"question": "What name?", "header": "Name", "type": "text"}
DEPLOY = {"question": "Deploy it?", "header": "Deploy", "type": "yesno"}
NO_USER = "Nobody can be asked in this run. Decide yourself, say what you assumed, and go on."
KEYS_COUNT_AFTER = 0.4
"""Seconds for which a new question takes no keys."""


def question_call(*questions: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    return "ask_user", {"questions": list(questions)}


def todos_call(**todos: str) -> tuple[str, dict[str, object]]:
    return "write_todos", {"todos": [{"description": name, "status": status} for name, status in todos.items()]}


def todo_list(*pairs: tuple[str, str]) -> tuple[str, dict[str, object]]:
    return "write_todos", {"todos": [{"description": name, "status": status} for name, status in pairs]}


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def run(env: ProgramEnv, call: tuple[str, dict[str, object]], *words: str) -> ProgramResult:
    model = env.script(script_answer(calls=[call]) + text_script("Went on."))
    return env.run("-m", model, "-p", "go", "-o", "stream-json", *words)


def tool_result(result: ProgramResult) -> dict[str, Any]:
    (found,) = (line for line in result.lines if line["type"] == "tool_result")
    return found


def declared_tools(env: ProgramEnv, *words: str) -> str:
    """The recording of a run, which has the declarations."""
    recording = env.base / "recording"
    recording.unlink(missing_ok=True)
    done = env.run("-m", env.script(text_script("hi")), "-p", "go", "--record", str(recording), *words)
    assert done.code == 0, done.stderr
    return recording.read_text()


class TestQuestionsHeadless:
    def test_nobody_can_be_asked_and_the_run_goes_on(self, env: ProgramEnv) -> None:
        done = run(env, question_call(DATABASE))
        assert done.code == 0
        assert tool_result(done)["content"] == NO_USER
        assert tool_result(done)["output"] == "Nobody to ask"
        assert tool_result(done)["status"] == "success"
        said = [line["content"] for line in done.lines if line["type"] == "message" and line["role"] == "assistant"]
        assert "".join(said) == "Went on."

    def test_an_answer_given_before(self, env: ProgramEnv) -> None:
        done = run(env, question_call(DATABASE), "--answer", "database=SQLite")
        assert (done.code, tool_result(done)["content"]) == (0, '{"answers":{"0":"SQLite"}}')

    def test_questions_without_an_answer_are_missing(self, env: ProgramEnv) -> None:
        words = ("--answer", "DATABASE=2", "--answer", "deploy=no")
        done = run(env, question_call(DATABASE, NAME, DEPLOY), *words)
        assert tool_result(done)["content"] == '{"answers":{"0":"Postgres","2":"No"}}'
        assert tool_result(done)["output"] == "Database → Postgres\nDeploy → No"

    def test_required_answers_end_the_run(self, env: ProgramEnv) -> None:
        done = run(env, question_call(NAME), "--require-answers", "--answer", "database=1")
        assert done.code == 3
        error = done.lines[-1]["error"]
        assert (error["type"], error["code"]) == ("unanswered", 3)
        assert "What name?" in error["message"]
        assert '--answer "Name=VALUE"' in error["message"]

    def test_declared_only_with_answers(self, env: ProgramEnv) -> None:
        assert '"ask_user"' not in declared_tools(env)
        assert '"ask_user"' in declared_tools(env, "--answer", "database=SQLite")
        assert '"get_internal_docs"' not in declared_tools(env)


class TestTodosHeadless:
    def test_in_the_stream(self, env: ProgramEnv) -> None:
        done = run(env, todo_list(("Read", "completed"), ("Write", "in_progress")))
        assert tool_result(done)["todos"] == [
            {"description": "Read", "status": "completed"},
            {"description": "Write", "status": "in_progress"},
        ]

    def test_two_in_progress(self, env: ProgramEnv) -> None:
        done = run(env, todos_call(a="in_progress", b="in_progress"))
        error = tool_result(done)["error"]
        assert error["message"] == 'Invalid parameters: Only one task can be "in_progress" at a time.'

    def test_switched_off(self, env: ProgramEnv) -> None:
        assert '"write_todos"' in declared_tools(env)
        env.write_user_settings(useWriteTodos=False)
        assert '"write_todos"' not in declared_tools(env)
        assert tool_result(run(env, todos_call(a="pending")))["error"]["type"] == "tool_not_registered"


def test_both_tools_in_plan_mode(env: ProgramEnv) -> None:
    for call in (todos_call(a="pending"), question_call(NAME)):
        assert tool_result(run(env, call, "--approval-mode", "plan"))["status"] == "success"


def wait_for_question(user: ScreenUser, header: str) -> None:
    user.wait_for(f"[{header}]", idle=True)
    time.sleep(KEYS_COUNT_AFTER)


def journal(env: TerminalEnv) -> str:
    """The journal of the only session."""
    (file,) = (path for path in env.home.rglob("*.jsonl") if "sessions" in str(path))
    return file.read_text()


class TestQuestionsAtATerminal:
    SCRIPT = call_answer(question_call(DATABASE, NAME, DEPLOY)) + text_script("Went on.")

    @pytest.mark.parametrize("mode", ["default", "yolo"])
    def test_three_types_at_once(self, terminal_env: TerminalEnv, mode: str) -> None:
        with terminal_env.open_chat(self.SCRIPT, "--trust", "--approval-mode", mode) as user:
            send_prompt(user, "go")
            wait_for_question(user, "Database")
            assert "The model asks. Your answers go to the model and permit nothing." in user.text
            user.press("2")
            user.wait_for("[Name]", idle=True)
            user.paste("my blog")
            user.press("enter")
            user.wait_for("[Deploy]", idle=True)
            user.press("n")
            wait_for_question(user, "Send")
            user.press("enter")
            user.wait_for("Went on.", idle=True)
            assert "Deploy → No" in user.text
        assert json.dumps('{"answers":{"0":"Postgres","1":"my blog","2":"No"}}') in journal(terminal_env)

    def test_escape_dismisses(self, terminal_env: TerminalEnv) -> None:
        with terminal_env.open_chat(self.SCRIPT, "--trust") as user:
            send_prompt(user, "go")
            wait_for_question(user, "Database")
            user.press("escape")
            user.wait_for("Went on.", idle=True)
            assert "User dismissed dialog" in user.text
        assert '"User dismissed ask_user dialog without answering."' in journal(terminal_env)

    def test_interrupt_stops_the_turn(self, terminal_env: TerminalEnv) -> None:
        with terminal_env.open_chat(self.SCRIPT, "--trust") as user:
            send_prompt(user, "go")
            wait_for_question(user, "Database")
            user.press("c-c")
            user.wait_for("Ask anything.", idle=True)
            assert "Went on." not in user.text

    def test_an_answer_permits_nothing(self, terminal_env: TerminalEnv) -> None:
        question = {"question": "May I run touch made?", "header": "Run it", "type": "yesno"}
        script = call_answer(question_call(question)) + shell_answer("touch made") + text_script("Went on.")
        with terminal_env.open_chat(script, "--trust") as user:
            send_prompt(user, "go")
            wait_for_question(user, "Run it")
            user.paste("yes\nalways\ny")
            user.press("enter")
            wait_for_question(user, "Send")
            user.press("enter")
            user.wait_for("Run this command?", idle=True)
            assert not (terminal_env.project / "made").exists()
            time.sleep(KEYS_COUNT_AFTER)
            user.press("n")
            user.wait_for("Went on.", idle=True)
        assert not (terminal_env.project / "made").exists()


class TestTodosAtATerminal:
    LIST = todo_list(("Read the code", "completed"), ("Write it", "in_progress"), ("Test it", "pending"))
    DONE = todo_list(("Read the code", "completed"), ("Write it", "completed"), ("Test it", "cancelled"))

    def test_panel_resume_and_the_end(self, terminal_env: TerminalEnv) -> None:
        panel = "Write it (1/3 done, Ctrl-T to show all)"
        with terminal_env.open_chat(call_answer(self.LIST) + text_script("Went on."), "--trust") as user:
            send_prompt(user, "go")
            user.wait_for("Went on.", idle=True)
            assert panel in user.text
            user.press("c-t")
            user.wait_for("Todos (1/3 done, Ctrl-T to hide)", idle=True)
            shown = user.text[user.text.index("Ctrl-T to hide") :]
            assert all(
                line in shown for line in ("[x] Read the code (done)", "[>] Write it (in progress)", "[ ] Test it")
            )
            user.press("c-t")
            user.wait_for(panel, idle=True)
        script = call_answer(self.DONE) + text_script("All done.")
        with terminal_env.open_chat(script, "--trust", "--resume", "latest") as user:
            user.wait_for(panel, idle=True)
            send_prompt(user, "finish")
            user.wait_for("All done.", idle=True)
            assert "Ctrl-T" not in user.text

    def test_plain_lines(self, terminal_env: TerminalEnv) -> None:
        script = call_answer(self.LIST) + call_answer(self.LIST) + call_answer(self.DONE) + text_script("Went on.")
        with terminal_env.open_chat(script, "--trust", "--screen-reader") as user:
            send_prompt(user, "go")
            user.wait_for("Went on.", idle=True)
            assert user.text.count("Todo: Write it (1/3 done)") == 1
            assert user.text.count("Todos (2/2 done)") == 1
