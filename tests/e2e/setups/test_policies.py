"""Approval modes, policy files and "always" switches of a Gemini CLI set-up."""

import json
import time
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, script_answer, text_script, write_settings
from support.terminal.chat import TerminalEnv, call_answer, is_shown, send_prompt, terminal_env
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

WRITE = ("write_file", {"file_path": "new.txt", "content": "x"})
READ = ("read_file", {"file_path": "old.txt"})
PUSH = ("run_shell_command", {"command": "ls && git push"})
READING_ASKS = {"confirmationRequired": ["read_file"], "allowed": ["read_file"]}
CHECKER = """\
[[safety_checker]]
toolName = "*"
[safety_checker.checker]
type = "in-process"
name = "conseca"
"""
LAST_HINT = "Enter to confirm"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    (machine.project / "old.txt").write_text("the secret word")
    return machine


def call(machine: ProgramEnv, tool_call: tuple[str, dict[str, str]], *words: str) -> ProgramResult:
    """Run a model that makes one call, without anybody to ask."""
    script = machine.script(script_answer(calls=[tool_call]) + text_script("Done."))
    return machine.run("-m", script, "--sandbox", "off", *words, "-p", "go")


def explain(machine: ProgramEnv, *words: str) -> dict[str, str]:
    result = machine.run("policy", "explain", "--json", *words)
    assert (result.code, result.stderr) == (0, "")
    return result.json


def write_policy(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(text)
    path.chmod(0o600)
    return path


def rule(tool: str, decision: str, *more: str) -> str:
    return "\n".join(("[[rule]]", f'toolName = "{tool}"', f'decision = "{decision}"', "priority = 100", *more, ""))


def written(machine: ProgramEnv) -> bool:
    return (machine.project / "new.txt").exists()


def wait_for_question(user: ScreenUser) -> None:
    user.wait_until(lambda screen: LAST_HINT in " ".join(screen.text().split()), wanted=LAST_HINT)
    time.sleep(0.35)  # until keys count


class TestDefaultMode:
    def test_plan_changes_nothing(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(general={"defaultApprovalMode": "plan"})
        call(machine, WRITE)
        assert not written(machine)
        found = explain(machine, "write_file", "file_path=a", "content=x")
        assert (found["decision"], found["mode"], found["mode_source"]) == ("deny", "plan", f"{path}:1")
        found = explain(machine, "write_file", "file_path=a", "content=x", "--approval-mode", "default")
        assert (found["decision"], found["mode"]) == ("ask", "default")
        doctor = machine.run("doctor", "--json")
        modes = [check["how"] for check in doctor.json if check["name"] == "mode at start"]
        assert modes == [f"plan ({path}:1)"]

    def test_a_flag_wins(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(general={"defaultApprovalMode": "plan"})
        assert call(machine, WRITE, "--approval-mode", "auto_edit").code == 0
        assert written(machine)

    @pytest.mark.parametrize("words", [("-y",), ("--approval-mode", "yolo")])
    def test_yolo_that_is_switched_off(self, machine: ProgramEnv, words: tuple[str, ...]) -> None:
        path = machine.write_user_settings(security={"disableYoloMode": True})
        result = call(machine, WRITE, *words)
        assert (result.code, result.stderr) == (52, f"tejat: YOLO mode is disabled by {path}:1.\n")

    def test_yolo_in_an_untrusted_folder_is_told(self, machine: ProgramEnv) -> None:
        machine.write_project_settings(general={"defaultApprovalMode": "auto_edit"})
        assert "This folder is not trusted. Using mode yolo" in call(machine, WRITE, "-y").stderr
        assert written(machine)

    def test_a_project_cannot_loosen_it(self, machine: ProgramEnv) -> None:
        machine.write_project_settings(general={"defaultApprovalMode": "auto_edit"})
        call(machine, WRITE, "--trust")
        assert not written(machine)


class TestConfirmationRequired:
    def test_without_a_user_it_is_refused(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(tools=READING_ASKS)
        result = call(machine, READ, "-y")
        assert f"{path}:1 (tools.confirmationRequired)" in result.stderr
        found = explain(machine, "read_file", "file_path=old.txt", "--approval-mode", "yolo")
        assert (found["decision"], found["source"]) == ("ask", f"{path}:1 (tools.confirmationRequired)")

    def test_the_question_offers_no_always(self, terminal_env: TerminalEnv) -> None:
        write_settings(terminal_env.home, {"tools": READING_ASKS})
        (terminal_env.project / "old.txt").write_text("the secret word")
        script = call_answer(("read_file", {"file_path": "${root}/old.txt"})) + text_script("Done.")
        with terminal_env.open_chat(script, "-y") as user:
            send_prompt(user, "read it")
            wait_for_question(user)
            assert not is_shown(user, "the rule:")
            assert is_shown(user, "Always is not offered: ")
            assert not is_shown(user, "Always allow")
            user.press("y")
            user.wait_for("\nDone.", idle=True)


class TestPolicyPaths:
    def test_they_take_the_place_of_the_users_directory(self, machine: ProgramEnv) -> None:
        settings = machine.write_user_settings(policyPaths=["p.toml"])
        policy = write_policy(machine.project / "p.toml", rule("glob", "deny"))
        old = write_policy(machine.home / ".gemini" / "policies" / "a.toml", rule("write_file", "allow"))
        found = explain(machine, "glob", "pattern=x")
        assert (found["decision"], found["source"]) == ("deny", f"{policy}:1")
        assert explain(machine, "write_file", "file_path=a", "content=x")["decision"] == "ask"
        listed = {entry["source"]: entry["remark"] for entry in machine.run("policy", "list", "--json").json["rules"]}
        assert listed[f"{old}:1"] == f"{settings}:1 replaces this directory, so its rules can only restrict"
        other = write_policy(machine.project / "q.toml", rule("read_file", "deny"))
        assert explain(machine, "glob", "pattern=x", "--policy", "q.toml")["decision"] == "allow"
        assert explain(machine, "read_file", "--policy", "q.toml")["source"] == f"{other}:1"
        call(machine, WRITE, "--policy", "q.toml", "--allowed-tools", "write_file")
        assert written(machine)

    def test_one_that_is_missing_ends_the_run(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(policyPaths=["p.toml"])
        assert machine.run("policy", "explain", "glob", "pattern=x").code == 52
        assert call(machine, READ).code == 52
        machine.write_user_settings()
        assert call(machine, READ, "--policy", "gone.toml").code == 52
        assert call(machine, READ, "--admin-policy", "gone.toml").code == 52

    def test_rules_of_the_administrator(self, machine: ProgramEnv) -> None:
        write_policy(machine.project / "a.toml", rule("write_file", "deny", 'deny_message = "Not here."'))
        result = call(machine, WRITE, "-y", "--admin-policy", "a.toml")
        assert not written(machine)
        assert "Not here." in result.stderr


class TestFilesOfGeminiCli:
    def test_what_asks_also_asks_in_yolo(self, machine: ProgramEnv) -> None:
        path = write_policy(machine.home / ".gemini" / "policies" / "a.toml", rule("write_file", "ask_user"))
        result = call(machine, WRITE, "-y")
        assert not written(machine)
        assert f"{path}:1" in result.stderr

    def test_its_fields_are_read(self, machine: ProgramEnv) -> None:
        text = rule("run_shell_command", "deny", 'commandRegex = "git push"', 'deny_message = "Ask a person."')
        text += rule("glob", "allow", 'subagent = "helper"', "interactive = true", 'modes = ["default", "autoEdit"]')
        text += rule("*", "deny", 'mcpName = "*"', "toolAnnotations = { destructiveHint = true }")
        write_policy(machine.home / ".gemini" / "policies" / "a.toml", text)
        result = call(machine, PUSH, "-y")
        assert "Ask a person." in result.stderr
        assert explain(machine, "run_shell_command", "command=git pull")["decision"] == "ask"

    def test_what_it_saved_for_one_file(self, machine: ProgramEnv) -> None:
        pattern = json.dumps(r"\\0\"file_path\":\"new\.txt\"\\0")
        modes = 'modes = [ "default", "autoEdit", "yolo" ]'
        path = machine.home / ".gemini" / "policies" / "auto-saved.toml"
        write_policy(path, rule("write_file", "allow", f"argsPattern = {pattern}", modes))
        before = path.read_bytes()
        call(machine, ("write_file", {"file_path": "other.txt", "content": "x"}))
        assert not (machine.project / "other.txt").exists()
        call(machine, WRITE)
        assert written(machine)
        assert path.read_bytes() == before

    def test_a_checker_asks_instead(self, machine: ProgramEnv) -> None:
        path = write_policy(machine.home / ".gemini" / "policies" / "a.toml", CHECKER)
        assert f"{path}:1" in call(machine, READ, "-y").stderr
        write_policy(machine.base / "b.toml", CHECKER)
        assert call(machine, READ, "--admin-policy", str(machine.base / "b.toml")).code == 52

    def test_a_priority_out_of_range(self, machine: ProgramEnv) -> None:
        text = rule("glob", "deny").replace("100", "1000")
        write_policy(machine.home / ".gemini" / "policies" / "a.toml", text)
        assert call(machine, READ).code == 52


class TestAlways:
    @pytest.mark.parametrize(
        "settings", [{"security": {"disableAlwaysAllow": True}}, {"admin": {"secureModeEnabled": True}}]
    )
    def test_saved_rules_do_not_count(self, machine: ProgramEnv, settings: dict[str, object]) -> None:
        write_policy(machine.home / ".config" / "tejat" / "policies" / "saved.toml", rule("write_file", "allow"))
        assert explain(machine, "write_file", "file_path=a", "content=x")["decision"] == "allow"
        path = machine.write_user_settings(**settings)
        assert explain(machine, "write_file", "file_path=a", "content=x")["decision"] == "ask"
        assert f"saved approvals are disabled by {path}:1" in machine.run("policy", "list").stdout

    def test_questions_have_two_answers(self, terminal_env: TerminalEnv) -> None:
        write_settings(terminal_env.home, {"security": {"disableAlwaysAllow": True}})
        with terminal_env.open_chat(call_answer(("write_file", {"file_path": "${root}/a", "content": "x"}))) as user:
            send_prompt(user, "write it")
            wait_for_question(user)
            assert not is_shown(user, "the rule:")
            assert is_shown(user, "Always is not offered: ")
            assert not is_shown(user, "Always allow")

    def test_answers_cannot_be_saved(self, terminal_env: TerminalEnv) -> None:
        write_settings(terminal_env.home, {"security": {"enablePermanentToolApproval": False}})
        script = call_answer(("write_file", {"file_path": "${root}/a", "content": "x"}))
        with terminal_env.open_chat(script + text_script("Done.")) as user:
            send_prompt(user, "write it")
            wait_for_question(user)
            assert is_shown(user, "s adds the rule: allow write_file")
            user.press("s")
            user.wait_for("\nDone.", idle=True)
        assert not (terminal_env.home / ".config" / "tejat" / "policies").exists()


class TestConseca:
    def test_every_change_asks_and_it_is_told(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(security={"enableConseca": True})
        assert call(machine, WRITE, "-y").code == 52
        assert call(machine, WRITE, "--approval-mode", "auto_edit").code == 52
        result = call(machine, WRITE, "--allowed-tools", "write_file")
        assert not written(machine)
        assert f"{path}:1: no model judges calls here." in result.stderr
