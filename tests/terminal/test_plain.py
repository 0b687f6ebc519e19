"""Without drawing: the same talks in lines, with words for signs, numbers for choices and no escape sequence at all."""

import os
import subprocess
import sys
import time

import pytest

from program_checks import answer, said
from screens import ScreenPerson
from talks import SHELL, House, calls, house, send, shell, wait_for_file, wait_until_dead

__all__ = ["house"]

WAYS = {"flag": (("--screen-reader",), {}), "dumb": ((), {"TERM": "dumb"}), "setting": ((), {})}
READY = "there is.\n>"


def has_no_escapes(person: ScreenPerson) -> bool:
    assert b"\x1b" not in person.raw
    assert b"\b" not in person.raw
    assert person.raw.replace(b"\r\n", b"\n").count(b"\r") == 0
    return True


@pytest.mark.parametrize("way", WAYS)
def test_a_talk_in_lines(house: House, way: str) -> None:
    words, environment = WAYS[way]
    if way == "setting":
        house.settings(ui={"accessibility": {"screenReader": True}})
    script = said("# Hello\n\nSome **words**.") + calls(("list_directory", {"path": "${root}"})) + said("Bye.")
    with house.talk(script, *words, ready=READY, **environment) as person:
        send(person, "hello")
        person.wait_for("words", idle=True)
        send(person, "and now?")
        person.wait_for("ok: list_directory")
        person.wait_for("Bye.", idle=True)
        assert has_no_escapes(person)
        assert person.raw.isascii()
        person.press("c-d")
        assert person.end() == 0
        assert person.modes_are_restored()


def test_questions_are_answered_by_letters_or_numbers(house: House) -> None:
    write = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    script = calls(write) + calls(write) + said("Done.")
    with house.talk(script, "--screen-reader", ready=READY) as person:
        send(person, "write it")
        person.wait_for("Your answer (", idle=True)
        send(person, "maybe")
        person.wait_until(lambda screen: screen.history().count("Your answer (") == 2, wanted="the question again")
        send(person, "n")
        person.wait_for("denied: write_file a.txt", idle=True)
        send(person, "once more")
        person.wait_until(lambda screen: screen.history().count("Your answer (") == 3, wanted="the question")
        send(person, "y")
        person.wait_for("ok: write_file a.txt")
        person.wait_for("Done.", idle=True)
        assert has_no_escapes(person)
    assert (house.project / "a.txt").read_text() == "x\n"


def test_a_risky_one_says_so_and_needs_a_word(house: House) -> None:
    with house.talk(shell("rm -rf build") + said("Done."), "--screen-reader", ready=READY) as person:
        send(person, "clean")
        person.wait_for("Your answer (", idle=True)
        assert "Risk: it deletes or overwrites" in person.screen.history()
        send(person, "")
        person.settle()
        assert "ok: run_shell_command" not in person.screen.history()
        assert has_no_escapes(person)


def test_choices_are_numbered(house: House) -> None:
    with house.talk(said("Hi."), "--screen-reader", ready=READY) as person:
        send(person, "/theme")
        person.wait_for("  1 ")
        person.wait_for("Your choice, 1 to 4", idle=True)
        send(person, "4")
        person.settle()
        send(person, "hello")
        person.wait_for("Hi.", idle=True)
        assert has_no_escapes(person)


def test_shell_lines_and_commands(house: House) -> None:
    with house.talk(said("Hi."), "--screen-reader", ready=READY) as person:
        send(person, "!echo from the shell; printf '\\033[2J\\033]0;x\\007'")
        person.wait_for("\nfrom the shell", idle=True)
        for line, words in (("/help", "Ctrl-C"), ("/tools", "ReadFile"), ("/about", "Session"), ("/hepl", "/help?")):
            send(person, line)
            person.wait_for(words, idle=True)
        assert has_no_escapes(person)


def test_interrupts(house: House, mark: str) -> None:
    script = calls((SHELL, {"command": f"touch begun; sleep {mark}"})) + said("Still here.")
    with house.talk(script, "--screen-reader", "-y", ready=READY) as person:
        send(person, "go")
        wait_for_file(house.project / "begun")
        person.press("c-c")
        person.wait_for("Stopped", idle=True)
        wait_until_dead(mark)
        time.sleep(0.1)
        send(person, "are you there?")
        person.wait_for("Still here.", idle=True)
        assert has_no_escapes(person)


def test_what_is_typed_early_is_no_answer(house: House) -> None:
    write = ("write_file", {"file_path": "${root}/a.txt", "content": "x\n"})
    command = "touch begun; until test -e go; do sleep 0.02; done"
    script = shell(command) + calls(write) + said("Done.") + answer(when="y", say="Yes?")
    with house.talk(script, "--screen-reader", "--allowed-tools", "run_shell_command", ready=READY) as person:
        send(person, "go")
        person.wait_for("Your answer (")
        send(person, "y")
        wait_for_file(house.project / "begun")
        send(person, "y")
        (house.project / "go").touch()
        person.wait_until(lambda screen: screen.history().count("Your answer (") == 2, wanted="the question", idle=True)
        assert not (house.project / "a.txt").exists()


def test_hostile_words_in_lines(house: House) -> None:
    script = said("x\x1b]0;owned\x07\x1b[2J\u202ey\rz\x9b2J\x08")
    with house.talk(script, "--screen-reader", ready=READY) as person:
        send(person, "hello")
        person.wait_for("<U+001B>[2J<U+202E>y", idle=True)
        assert has_no_escapes(person)
        assert "\u202e" not in person.screen.history()


def test_without_a_terminal_for_output(house: House) -> None:
    """Somebody pipes a prompt in: one answer, plain."""
    house.script(said("Hi **there**."))
    done = subprocess.run(
        [sys.executable, "-m", "tejat", "-m", "scripted:../talk.toml"],
        input="hello\n",
        capture_output=True,
        text=True,
        cwd=house.project,
        env={"HOME": str(house.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Hi **there**.\n")
    assert "\x1b" not in done.stdout + done.stderr
