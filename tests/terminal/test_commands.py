"""Commands after a slash, typed for real: each of them once, the menu, wrong words, and those that others bring."""

import time

import pytest

from foreign_checks import hostile
from program_checks import answer, said
from talks import (
    House,
    Setting,
    both_settings,
    calls,
    house,
    is_tidy,
    leave,
    one_text,
    send,
    shows,
    wait_for_words,
)

__all__ = ["house"]

# What is typed and what is seen then.
SHOWN = {
    "/help": "Ctrl-O",
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
    "/undo": "Nothing to undo.",
    "/restore": "No restorable tool calls found.",
    "/chat list": "No saved conversation",
    "/resume": "There is no other session",
    "/directory show": "project",
    "/hooks": "No hooks are configured.",
    "/bug it broke": "it broke",
    "/about": "Session",
    "/docs": "docs",
}
# Those that ask; Esc leaves them.
ASKING = {
    "/model": "Which model is to answer?",
    "/settings": "Which setting do you want to change?",
    "/editor": "Which editor?",
    "/theme": "Which colours?",
}


@both_settings
def test_what_each_shows(house: House, setting: Setting) -> None:
    with house.talk(said("Hi **there**."), setting=setting) as person:
        send(person, "hello")
        person.wait_for("Hi there.", idle=True)
        for line, words in SHOWN.items():
            before = len(one_text(person))
            send(person, line)
            person.wait_until(
                lambda screen, before=before, words=words: (
                    words in " ".join(screen.history().split())[max(before - 200, 0) :]
                ),
                wanted=f"{words!r} after {line}",
                idle=True,
            )
        for line, words in ASKING.items():
            send(person, line)
            wait_for_words(person, words, idle=True)
            person.press("escape")
            person.wait_until(lambda screen: screen.is_cursor_visible, wanted="the prompt", idle=True)
        assert "Internal error" not in person.screen.history()
        assert is_tidy(person.screen)
        leave(person)


@both_settings
def test_an_unknown_one_suggests_the_nearest(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        send(person, "/hepl ")
        person.wait_for("Unknown command: /hepl\n")
        person.wait_for("Did you mean /help?", idle=True)
        send(person, "/xyzzy")
        person.wait_for("Unknown command: /xyzzy", idle=True)


@both_settings
def test_the_menu_tells_what_they_do(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        person.type("/co")
        person.wait_for("/compress", idle=True)
        assert "/context" in person.text
        assert "Summarise the conversation" in person.text
        person.press("down", "tab")
        person.wait_for("> /context", idle=True)
        person.press("enter")
        wait_for_words(person, "System prompt", idle=True)


def test_chats_are_kept_and_gone_back_to(house: House) -> None:
    with house.talk(said("One.", "Two.")) as person:
        send(person, "first")
        person.wait_for("\nOne.", idle=True)
        send(person, "/chat save mine")
        wait_for_words(person, "mine", idle=True)
        send(person, "/chat list")
        person.settle()
        send(person, "/chat resume mine")
        person.settle()
        send(person, "/chat delete mine")
        person.settle()
        send(person, "second")
        person.wait_for("\nTwo.", idle=True)
        assert "Internal error" not in person.screen.history()


def test_going_back_in_the_conversation(house: House) -> None:
    change = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    with house.talk(calls(change) + said("Done.", "Again."), "-y") as person:
        send(person, "write it")
        person.wait_for("\nDone.", idle=True)
        assert (house.project / "a.txt").exists()
        send(person, "/undo")
        wait_for_words(person, "a.txt", idle=True)
        time.sleep(0.35)
        person.press("enter")
        person.settle()
        send(person, "/rewind")
        person.wait_for("Go back to before which prompt?", idle=True)
        time.sleep(0.35)
        person.press("enter")
        person.settle()
        assert "Internal error" not in person.screen.history()


@both_settings
def test_memory_can_be_added_to(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        send(person, "/memory add I like tea")
        wait_for_words(person, "I like tea", idle=True)
        person.settle()
        if "Arrows" in person.text:
            time.sleep(0.35)
            person.press("y")
            person.settle()
        send(person, "/memory show")
        wait_for_words(person, "I like tea", idle=True)


def test_clear_begins_anew(house: House) -> None:
    with house.talk(said("One.", "Two.")) as person:
        send(person, "first")
        person.wait_for("\nOne.", idle=True)
        send(person, "/clear")
        person.wait_until(lambda screen: "One." not in screen.history(), wanted="an empty screen", idle=True)
        send(person, "second")
        person.wait_for("\nTwo.", idle=True)
        assert person.screen.unknown == []


def test_copy_hands_the_answer_to_the_terminal(house: House) -> None:
    with house.talk(said("Copy **me**.")) as person:
        send(person, "hello")
        person.wait_for("Copy me.", idle=True)
        send(person, "/copy")
        wait_for_words(person, "Copied the last answer", idle=True)
        assert [kind for kind, _ in person.screen.strings] == ["52"]


@pytest.mark.parametrize("line", ["/quit", "/exit"])
def test_leaving(house: House, line: str) -> None:
    with house.talk(said("Hi.")) as person:
        send(person, line)
        assert person.end() == 0
        assert person.modes_are_restored()


def test_init_writes_a_file_with_the_model(house: House) -> None:
    write = ("write_file", {"file_path": "${root}/GEMINI.md", "content": "# Project\n"})
    with house.talk(calls(write) + said("Written."), "-y") as person:
        send(person, "/init")
        person.wait_for("\nWritten.", idle=True)
    assert (house.project / "GEMINI.md").read_text() == "# Project\n"


@both_settings
def test_a_theme_and_vi_keys_count_at_once(house: House, setting: Setting) -> None:
    with house.talk(said("Hi."), setting=setting) as person:
        send(person, "/theme plain")
        person.settle()
        send(person, "hello")
        person.wait_for("\nHi.", idle=True)
        assert person.screen.style_of("hello").fg == ""
        send(person, "/vim")
        wait_for_words(person, "vi", idle=True)


class TestOfOthers:
    @both_settings
    def test_custom_ones(self, house: House, setting: Setting) -> None:
        commands = house.home / ".gemini" / "commands"
        commands.mkdir(parents=True, mode=0o700)
        (house.project / "notes.txt").write_text("the notes\n")
        (commands / "review.toml").write_text(
            'description = "Looks \\u001b[2Jat it"\n'
            'prompt = "Look at {{args}} with !{printf %s 42} and @{notes.txt} please"\n'
        )
        script = answer(when="Look at this file with 42", say="Looked.")
        with house.talk(script, "--allowed-tools", "run_shell_command", setting=setting) as person:
            person.type("/rev")
            person.wait_for("/review", idle=True)
            assert shows(person, "Looks")
            assert is_tidy(person.screen)
            person.press("tab")
            person.type("this file")
            person.press("enter")
            person.wait_for("\nLooked.", idle=True)
            assert shows(person, "> /review this file")
            assert is_tidy(person.screen)

    def test_one_that_is_broken_is_told(self, house: House) -> None:
        commands = house.home / ".gemini" / "commands"
        commands.mkdir(parents=True, mode=0o700)
        (commands / "broken.toml").write_text("prompt = ")
        with house.talk(said("Hi.")) as person:
            send(person, "/broken ")
            wait_for_words(person, "broken.toml", idle=True)

    def test_prompts_of_servers(self, house: House) -> None:
        house.settings(mcpServers={"helper": hostile()})
        with house.talk(said("Hello yourself."), "--trust") as person:
            person.wait_for("mcp 1/1")
            person.type("/gre")
            person.wait_for("/greet", idle=True)
            person.press("tab")
            send(person, "--who=Ada")
            person.wait_for("\nHello yourself.", idle=True)
