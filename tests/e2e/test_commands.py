"""Commands after a slash, typed for real: each of them once, the menu, wrong words, and those that others bring."""

import time

import pytest

from support.external_tools import hostile_server
from support.program import script_answer, text_script
from support.terminal.chat import (
    TerminalEnv,
    TerminalSetting,
    both_settings,
    call_answer,
    check_no_strange_output,
    is_shown,
    quit_program,
    send_prompt,
    shown_text,
    terminal_env,
    wait_for_servers,
    wait_for_words,
)

__all__ = ["terminal_env"]

# What is typed and what is seen then.
SHOWN = {
    "/help": "/help keys",
    "/help all": "Ctrl-O",
    "/help chat": "/chat",
    "/tools": "ReadFolder",
    "/tools desc": "run_shell_command",
    "/mcp": "MCP",
    "/memory show": "Memory is currently empty",
    "/memory refresh": "emory",
    "/stats": "Requests",
    "/stats model": "scripted",
    "/stats tools": "Tools",
    "/context": "System prompt",
    "/permissions": "Permissions",
    "/policy": "ask run_shell_command",
    "/undo": "Nothing to undo:",
    "/restore": "No restorable tool calls found.",
    "/chat list": "No saved conversation",
    "/resume": "No other sessions",
    "/directory show": "project",
    "/hooks": "No hooks configured.",
    "/bug it broke": "it broke",
    "/about": "Session",
    "/docs": "Slash commands",
    "/diff": "No file changes.",
    "/shells": "No background processes",
    "/commands": "Custom commands",
    "/privacy": "Telemetry",
    "/export": "Conversation written to",
}
# Those that ask; Esc leaves them.
ASKING = {
    "/model": "Choose a model",
    "/settings": "Choose a setting to change",
    "/theme": "Choose a theme",
}


@both_settings
def test_what_each_shows(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi **there**."), setting=setting) as user:
        send_prompt(user, "hello")
        user.wait_for("Hi there.", idle=True)
        for line, words in SHOWN.items():
            before = len(shown_text(user))
            send_prompt(user, line)
            user.wait_until(
                lambda screen, before=before, words=words: (
                    words in " ".join(screen.history().split())[max(before - 200, 0) :]
                ),
                wanted=f"{words!r} after {line}",
                idle=True,
            )
        for line, words in ASKING.items():
            send_prompt(user, line)
            wait_for_words(user, words, idle=True)
            user.press("escape")
            user.wait_until(lambda screen: screen.is_cursor_visible, wanted="the prompt", idle=True)
        assert "Internal error" not in user.screen.history()
        assert check_no_strange_output(user.screen)
        quit_program(user)


@both_settings
def test_an_unknown_one_suggests_the_nearest(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        send_prompt(user, "/hepl ")
        user.wait_for("Unknown command: /hepl\n")
        user.wait_for("Did you mean /help?", idle=True)
        send_prompt(user, "/xyzzy")
        user.wait_for("Unknown command: /xyzzy", idle=True)


@both_settings
def test_the_menu_tells_what_they_do(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        user.type("/con")
        user.wait_for("/context", idle=True)
        assert "Show what uses" in user.text
        user.press("tab")
        user.wait_for("> /context", idle=True)
        user.press("enter")
        wait_for_words(user, "System prompt", idle=True)


def test_chats_are_kept_and_gone_back_to(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("One.", "Two.")) as user:
        send_prompt(user, "first")
        user.wait_for("\nOne.", idle=True)
        send_prompt(user, "/chat save mine")
        wait_for_words(user, "mine", idle=True)
        send_prompt(user, "/chat list")
        user.wait_idle()
        send_prompt(user, "/chat resume mine")
        user.wait_idle()
        send_prompt(user, "/chat delete mine")
        user.wait_idle()
        send_prompt(user, "second")
        user.wait_for("\nTwo.", idle=True)
        assert "Internal error" not in user.screen.history()


def test_going_back_in_the_conversation(terminal_env: TerminalEnv) -> None:
    change = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    with terminal_env.open_chat(call_answer(change) + text_script("Done.", "Again."), "-y") as user:
        send_prompt(user, "write it")
        user.wait_for("\nDone.", idle=True)
        assert (terminal_env.project / "a.txt").exists()
        send_prompt(user, "/undo")
        user.wait_for("Undo these changes?", idle=True)
        time.sleep(0.35)
        user.press("enter")
        user.wait_until_gone("Undo these changes?", idle=True)
        send_prompt(user, "/rewind")
        user.wait_for("Rewind to before which prompt?", idle=True)
        time.sleep(0.35)
        user.press("enter")
        user.wait_idle()
        assert "Internal error" not in user.screen.history()


@both_settings
def test_memory_can_be_added_to(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        send_prompt(user, "/memory add I like tea")
        wait_for_words(user, "Added to ~/.gemini/GEMINI.md: I like tea", idle=True)
        assert "Enter to confirm" not in user.text
        send_prompt(user, "/memory show")
        wait_for_words(user, "I like tea", idle=True)


def test_clear_begins_anew(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("One.", "Two.")) as user:
        send_prompt(user, "first")
        user.wait_for("\nOne.", idle=True)
        send_prompt(user, "/clear")
        user.wait_until(lambda screen: "One." not in screen.history(), wanted="an empty screen", idle=True)
        send_prompt(user, "second")
        user.wait_for("\nTwo.", idle=True)
        assert user.screen.unknown == []


def test_copy_hands_the_answer_to_the_terminal(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Copy **me**.")) as user:
        send_prompt(user, "hello")
        user.wait_for("Copy me.", idle=True)
        send_prompt(user, "/copy")
        wait_for_words(user, "Copied the last answer", idle=True)
        # Besides window titles and the question for the background.
        assert [kind for kind, _ in user.screen.strings if kind not in ("2", "11")] == ["52"]


@pytest.mark.parametrize("line", ["/quit", "/exit"])
def test_leaving(terminal_env: TerminalEnv, line: str) -> None:
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, line)
        assert user.wait_for_exit() == 0
        assert user.modes_are_restored()


def test_init_writes_a_file_with_the_model(terminal_env: TerminalEnv) -> None:
    write = ("write_file", {"file_path": "${root}/GEMINI.md", "content": "# Project\n"})
    with terminal_env.open_chat(call_answer(write) + text_script("Written."), "-y") as user:
        send_prompt(user, "/init")
        user.wait_for("\nWritten.", idle=True)
    assert (terminal_env.project / "GEMINI.md").read_text() == "# Project\n"


@both_settings
def test_a_theme_and_vi_keys_count_at_once(terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
    with terminal_env.open_chat(text_script("Hi."), setting=setting) as user:
        send_prompt(user, "/theme plain")
        user.wait_idle()
        send_prompt(user, "hello")
        user.wait_for("\nHi.", idle=True)
        assert user.screen.style_of("hello").fg == ""
        send_prompt(user, "/vim")
        wait_for_words(user, "vi", idle=True)


class TestOfOthers:
    @both_settings
    def test_custom_ones(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        commands = terminal_env.home / ".gemini" / "commands"
        commands.mkdir(parents=True, mode=0o700)
        (terminal_env.project / "notes.txt").write_text("the notes\n")
        (commands / "review.toml").write_text(
            'description = "Looks \\u001b[2Jat it"\n'
            'prompt = "Look at {{args}} with !{printf %s 42} and @{notes.txt} please"\n'
        )
        script = script_answer(when="Look at this file with 42", say="Looked.")
        with terminal_env.open_chat(script, "--allowed-tools", "run_shell_command", setting=setting) as user:
            user.type("/rev")
            user.wait_for("/review", idle=True)
            assert is_shown(user, "Looks")
            assert check_no_strange_output(user.screen)
            user.press("tab")
            user.type("this file")
            user.press("enter")
            user.wait_for("\nLooked.", idle=True)
            assert is_shown(user, "> /review this file")
            assert check_no_strange_output(user.screen)

    def test_one_that_is_broken_is_told(self, terminal_env: TerminalEnv) -> None:
        commands = terminal_env.home / ".gemini" / "commands"
        commands.mkdir(parents=True, mode=0o700)
        (commands / "broken.toml").write_text("prompt = ")
        with terminal_env.open_chat(text_script("Hi.")) as user:
            send_prompt(user, "/broken ")
            wait_for_words(user, "broken.toml", idle=True)

    def test_prompts_of_servers(self, terminal_env: TerminalEnv) -> None:
        terminal_env.write_settings(mcpServers={"helper": hostile_server()})
        with terminal_env.open_chat(text_script("Hello yourself."), "--trust") as user:
            wait_for_servers(user)
            user.type("/gre")
            user.wait_for("/greet", idle=True)
            user.press("tab")
            send_prompt(user, "--who=Ada")
            user.wait_for("\nHello yourself.", idle=True)
