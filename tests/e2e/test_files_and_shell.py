"""File mentions with `@`, shell lines with `!`, and the rows of tool calls."""

import json
from typing import Any

import pytest

from support.external_tools import hostile_server
from support.model_servers.gemini import ModelServer, function_call, text_reply
from support.program import script_answer, text_script
from support.terminal.chat import (
    NARROW,
    SHELL,
    TerminalEnv,
    TerminalSetting,
    both_settings,
    call_answer,
    check_no_strange_output,
    is_shown,
    printed_rows,
    prompt_row,
    quit_program,
    send_prompt,
    shown_text,
    terminal_env,
    wait_for_file,
    wait_for_words,
    wait_until_dead,
)

__all__ = ["terminal_env"]


class TestFiles:
    @both_settings
    def test_they_are_completed_and_read(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        (terminal_env.project / "src").mkdir()
        (terminal_env.project / "src" / "planet.py").write_text("MASS = 12\n")
        (terminal_env.project / "notes.txt").write_text("x\n")
        script = script_answer(when="MASS = 12", say="Twelve.")
        with terminal_env.open_chat(script, setting=setting) as user:
            user.type("how heavy is @plan")
            user.wait_for("src/planet.py", idle=True)
            user.press("tab")
            user.wait_for("> how heavy is @src/planet.py")
            user.wait_until_gone("  src/planet.py", idle=True)
            user.press("enter")
            user.wait_for("\nTwelve.", idle=True)
            quit_program(user)

    def test_what_is_ignored_is_not_offered(self, terminal_env: TerminalEnv) -> None:
        (terminal_env.project / ".git").mkdir()
        (terminal_env.project / ".gitignore").write_text("planet_out.txt\n")
        (terminal_env.project / "planet_out.txt").write_text("x\n")
        (terminal_env.project / "planet_in.txt").write_text("x\n")
        with terminal_env.open_chat(text_script("Hi.")) as user:
            user.type("@planet")
            user.wait_for("planet_in.txt", idle=True)
            assert "planet_out.txt" not in user.text

    @both_settings
    def test_a_missing_one_is_warned_about(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        with terminal_env.open_chat(
            script_answer(when="read @no/such.txt", say="There is none."), setting=setting
        ) as user:
            send_prompt(user, "read @no/such.txt ")
            user.wait_for("There is none.", idle=True)
            assert is_shown(user, "@no/such.txt is sent as plain text: no such file.")

    def test_names_that_are_hostile(self, terminal_env: TerminalEnv) -> None:
        (terminal_env.project / "plain\x1b]0;owned\x07\u202ename.txt").write_text("x\n")
        (terminal_env.project / "plain 日本.txt").write_text("y\n")
        with terminal_env.open_chat(text_script("Hi.")) as user:
            user.type("@plain")
            user.wait_for("plain 日本.txt", idle=True)
            assert check_no_strange_output(user.screen)


class TestShellMode:
    @both_settings
    def test_once(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        with terminal_env.open_chat(script_answer(when="what was it", say="Hello."), setting=setting) as user:
            user.type("!echo hel")
            user.wait_for("! (shell) echo hel")
            send_prompt(user, "lo; exit 3")
            user.wait_for("hello\n", idle=True)
            assert is_shown(user, "code 3")
            assert prompt_row(user.screen) == ">"
            send_prompt(user, "what was it")
            user.wait_for("\nHello.", idle=True)
            quit_program(user)

    def test_its_output_is_told_to_the_model(self, terminal_env: TerminalEnv) -> None:
        with ModelServer([text_reply("I saw it.")]) as server:
            environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
            with terminal_env.open_chat("", "-m", "gemini-test", **environment) as user:
                send_prompt(user, "!echo from the $((1 + 1))nd shell")
                user.wait_for("from the 2nd shell", idle=True)
                send_prompt(user, "what was it?")
                user.wait_for("\nI saw it.", idle=True)
            (body,) = [received.body for received in server.requests if "stream" in received.target]
            told = json.dumps(body["contents"])
            assert "from the 2nd shell" in told
            assert "echo from the" in told

    @both_settings
    def test_a_mode(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
            user.press("!")
            user.wait_for("! (shell)")
            user.press("enter")
            user.wait_idle()
            send_prompt(user, "pwd")
            user.wait_for(str(terminal_env.project), idle=True)
            user.wait_for("! (shell)", idle=True)
            user.press("escape")
            user.wait_until(lambda screen: prompt_row(screen) == ">", wanted="the prompt")
            send_prompt(user, "hello")
            user.wait_for("\nHi.", idle=True)

    @pytest.mark.parametrize("key", ["c-c", "escape"])
    def test_it_can_be_stopped(self, terminal_env: TerminalEnv, mark: str, key: str) -> None:
        with terminal_env.open_chat(text_script("Hi.")) as user:
            send_prompt(user, f"!echo begun; touch begun; sleep {mark}")
            wait_for_file(terminal_env.project / "begun")
            user.wait_for("begun", idle=False)
            user.press(key)
            wait_for_words(user, "cancelled", idle=True)
            wait_until_dead(mark)
            send_prompt(user, "hello")
            user.wait_for("\nHi.", idle=True)
            quit_program(user)

    def test_hostile_output(self, terminal_env: TerminalEnv) -> None:
        with terminal_env.open_chat(text_script("Hi.")) as user:
            send_prompt(user, r"!printf 'a\033]52;c;aGk=\007b\033[2Jc\rd\033Pq\033\\\n\302\2332Je\n\342\200\256f\n'")
            user.wait_for("f\n", idle=True)
            assert check_no_strange_output(user.screen)
            assert user.screen.full_clears == 0


HONEST = call_answer(
    ("list_directory", {"path": "${root}"}),
    (SHELL, {"command": "seq 1 40; exit 3"}),
    ("no_such_tool", {"a": 1}),
    ("read_file", {}),
    ("read_file", {"path": "${root}/none.txt"}),
)


class TestCallLines:
    @both_settings
    def test_each_is_honest(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        with terminal_env.open_chat(HONEST + text_script("That is all."), "-y", setting=setting) as user:
            send_prompt(user, "go")
            user.wait_for("\nThat is all.", idle=True)
            text = shown_text(user)
            for words in (
                "✓ Listed .",
                "✗ Ran seq 1 40; exit 3 (exit 3)",
                "✗ Call no_such_tool a=1 (failed)",
                "✗ Read (failed): Invalid arguments:",
                "✗ Read none.txt (failed): File not found.",
            ):
                assert setting.glyphs(words) in text, user.describe()
            assert "  20\n" not in user.screen.history()
            user.press("c-o")
            user.wait_for("  20\n", idle=True)
            user.press("c-o")
            user.wait_for("Nothing to expand.")

    def test_results_are_shown_in_full_on_demand(self, terminal_env: TerminalEnv) -> None:
        terminal_env.write_settings(ui={"compactToolOutput": False})
        (terminal_env.project / "a.txt").write_text("first\n")
        script = call_answer(
            ("read_file", {"path": "a.txt"}), ("list_directory", {"path": "${root}"}), (SHELL, {"command": "seq 1 40"})
        )
        with terminal_env.open_chat(script + text_script("That is all."), "-y") as user:
            send_prompt(user, "go")
            user.wait_for("\nThat is all.", idle=True)
            text = shown_text(user)
            assert "Explored" not in text
            assert "✓ Read a.txt └ first ✓ Listed ." in text
            assert " ".join(map(str, range(1, 41))) in text

    def test_denied_by_a_rule(self, terminal_env: TerminalEnv) -> None:
        script = call_answer((SHELL, {"command": "touch x"})) + text_script("I see.")
        with terminal_env.open_chat(script, "--exclude-tools", "run_shell_command(touch)") as user:
            send_prompt(user, "go")
            user.wait_for("\nI see.", idle=True)
            assert "⊘ Run touch x (denied)" in printed_rows(user)
        assert not (terminal_env.project / "x").exists()

    def test_timed_out(self, terminal_env: TerminalEnv) -> None:
        terminal_env.write_settings(tools={"shell": {"inactivityTimeout": 1}})
        script = call_answer((SHELL, {"command": "sleep 60"})) + text_script("I see.")
        with terminal_env.open_chat(script, "-y") as user:
            send_prompt(user, "go")
            user.wait_for("\nI see.", 20, idle=True)
            assert "◷ Ran sleep 60 (timed out after 1" in user.text

    @both_settings
    def test_what_runs_is_seen(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        command = "echo line one; touch begun; until test -e go; do sleep 0.02; done"
        with terminal_env.open_chat(
            call_answer((SHELL, {"command": command})) + text_script("Done."), "-y", setting=setting
        ) as user:
            send_prompt(user, "go")
            user.wait_for(setting.glyphs("  │ line one"))
            user.wait_for("1 s")
            (terminal_env.project / "go").touch()
            user.wait_for("\nDone.", idle=True)
            assert setting.glyphs("│ line one") not in user.screen.history()

    @both_settings
    def test_progress_of_a_server(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        terminal_env.write_settings(mcpServers={"helper": hostile_server()})
        script = call_answer(("mcp_helper_slow", {"steps": 6, "seconds": 0.2})) + text_script("Done.")
        with terminal_env.open_chat(script, "--trust", "-y", setting=setting) as user:
            send_prompt(user, "go")
            user.wait_for("step 2")
            user.wait_for("\nDone.", idle=True)
            assert setting.glyphs("✓ Called mcp_helper_slow steps=6,") in user.text
            assert "step 2" not in user.screen.history()
            assert check_no_strange_output(user.screen)

    def test_an_answer_with_many_calls_at_once(self, terminal_env: TerminalEnv) -> None:
        for number in range(12):
            (terminal_env.project / f"f{number}").write_text(f"{number}\n")
        many: list[Any] = [function_call("read_file", {"path": f"f{number}"}) for number in range(12)]
        with ModelServer([text_reply(*many), text_reply("All read.")]) as server:
            environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
            with terminal_env.open_chat("", "-m", "gemini-test", setting=NARROW, **environment) as user:
                send_prompt(user, "read all")
                user.wait_for("\nAll read.", idle=True)
                assert f"Read {', '.join(f'f{number}' for number in range(12))}" in shown_text(user)
