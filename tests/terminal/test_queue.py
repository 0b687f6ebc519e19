"""Lines that are typed while work goes on: they wait in sight, can be had back, and go in their order."""

import pytest

from program_checks import answer, said
from screens import ScreenPerson
from talks import House, Setting, both_settings, calls, house, leave, printed, send, shell, wait_for_file

__all__ = ["house"]

UNTIL_GO = "touch begun; until test -e go; do sleep 0.02; done"


def gone_on(house: House) -> None:
    (house.project / "go").touch()


def prompts(person: ScreenPerson) -> list[str]:
    return [row for row in printed(person) if row.startswith("> ")]


@both_settings
def test_they_wait_and_go_in_order(house: House, setting: Setting) -> None:
    script = shell(UNTIL_GO) + said("First.") + answer(when="second", say="2.") + answer(when="third", say="Third.")
    with house.talk(script, "-y", setting=setting) as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        send(person, "second")
        send(person, "third")
        person.wait_for(setting.signs("queued · second\nqueued · third\n"))
        assert "\n2." not in person.screen.history()
        person.type("not sent")
        gone_on(house)
        person.wait_for("\nThird.", idle=True)
        assert prompts(person) == ["> first", "> second", "> third"]
        assert "queued" not in person.text
        assert person.screen.lines()[person.screen.cursor[1]] == "> not sent"
        person.press("c-c")
        leave(person)


@both_settings
def test_the_last_can_be_had_back(house: House, setting: Setting) -> None:
    script = shell(UNTIL_GO) + said("First.") + answer(when="second", say="Second.") + answer(when="3rd!", say="Third.")
    with house.talk(script, "-y", setting=setting) as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        send(person, "second")
        send(person, "3rd")
        person.wait_for(setting.signs("queued · 3rd"))
        person.press("up")
        person.wait_for("> 3rd")
        person.wait_until_gone(setting.signs("queued · 3rd"))
        send(person, "!")
        person.wait_for(setting.signs("queued · 3rd!"))
        gone_on(house)
        person.wait_for("\nThird.", idle=True)
        assert prompts(person) == ["> first", "> second", "> 3rd!"]


@pytest.mark.parametrize("key", ["escape", "c-c"])
@both_settings
def test_after_a_stop_they_are_in_the_editor_and_nothing_was_sent(house: House, key: str, setting: Setting) -> None:
    script = shell(UNTIL_GO) + answer(when="second\n\nthird\n\nhalf", say="All of it.")
    with house.talk(script, "-y", setting=setting) as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        send(person, "second")
        send(person, "third")
        person.type("half")
        person.wait_for("> half")
        person.press(key)
        person.wait_for("> second\n\n  third\n\n  half", idle=True)
        assert "queued" not in person.text
        assert prompts(person) == ["> first"]
        person.press("enter")
        person.wait_for("\nAll of it.", idle=True)


def test_shell_lines_and_commands_wait_too(house: House) -> None:
    script = shell(UNTIL_GO) + said("First.") + answer(when="what was it", say="Last.")
    with house.talk(script, "-y") as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        send(person, "!echo from the shell")
        send(person, "/about")
        send(person, "what was it")
        person.wait_for("queued · !echo from the shell\nqueued · /about\nqueued · what was it")
        gone_on(house)
        person.wait_for("\nLast.", idle=True)
        history = person.screen.history()
        places = [history.index(words) for words in ("First.", "! echo from the shell", "Tejat", "> what was it")]
        assert places == sorted(places)


def test_a_word_between_two_calls(house: House) -> None:
    """Ctrl-S hands it to the run that goes on."""
    script = shell(UNTIL_GO) + answer(when="only the first", say="As you like.")
    with house.talk(script, "-y") as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        person.type("only the first")
        person.press("c-s")
        person.wait_for("The model gets it after its present call.")
        gone_on(house)
        person.wait_for("\nAs you like.", idle=True)


@pytest.mark.parametrize("delay", range(4))
def test_lines_that_come_just_when_the_work_ends(house: House, delay: int) -> None:
    """However it falls, each is sent once and in order."""
    script = said("Zero.", pause=0.03 * delay) + "".join(
        answer(when=f"line {number}", say=f"Answer {number}.", pause=0.01 * delay) for number in range(6)
    )
    with house.talk(script) as person:
        send(person, "begin")
        for number in range(6):
            send(person, f"line {number}")
        person.wait_for("\nAnswer 5.", idle=True)
        assert prompts(person) == ["> begin", *(f"> line {number}" for number in range(6))]


def test_many_lines_do_not_fill_the_screen(house: House) -> None:
    script = calls(("run_shell_command", {"command": UNTIL_GO})) + said(*(f"A{number}." for number in range(31)))
    with house.talk(script, "-y") as person:
        send(person, "first")
        wait_for_file(house.project / "begun")
        for number in range(30):
            send(person, f"line {number}")
        person.wait_for("more queued", idle=True)
        assert person.text.count("queued") < 12
        gone_on(house)
        person.wait_for("\nA30.", 30, idle=True)
        assert len(prompts(person)) == 31
