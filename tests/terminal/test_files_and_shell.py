"""`@` brings files into a prompt, `!` runs commands of the person; calls of the model leave one line each."""

import json
from typing import Any

import pytest

from foreign_checks import hostile
from model_server import ModelServer, call, say
from program_checks import answer, said
from talks import (
    NARROW,
    SHELL,
    House,
    Setting,
    both_settings,
    calls,
    house,
    is_tidy,
    leave,
    one_text,
    printed,
    send,
    shows,
    wait_for_file,
    wait_for_words,
    wait_until_dead,
)

__all__ = ["house"]


class TestFiles:
    @both_settings
    def test_they_are_completed_and_read(self, house: House, setting: Setting) -> None:
        (house.project / "src").mkdir()
        (house.project / "src" / "planet.py").write_text("MASS = 12\n")
        (house.project / "notes.txt").write_text("x\n")
        script = answer(when="MASS = 12", say="Twelve.")
        with house.talk(script, setting=setting) as person:
            person.type("how heavy is @plan")
            person.wait_for("src/planet.py", idle=True)
            person.press("tab")
            person.wait_for("> how heavy is @src/planet.py")
            person.wait_until_gone("  src/planet.py", idle=True)
            person.press("enter")
            person.wait_for("\nTwelve.", idle=True)
            leave(person)

    def test_what_is_ignored_is_not_offered(self, house: House) -> None:
        (house.project / ".git").mkdir()
        (house.project / ".gitignore").write_text("planet_out.txt\n")
        (house.project / "planet_out.txt").write_text("x\n")
        (house.project / "planet_in.txt").write_text("x\n")
        with house.talk(said("Hi.")) as person:
            person.type("@planet")
            person.wait_for("planet_in.txt", idle=True)
            assert "planet_out.txt" not in person.text

    @both_settings
    def test_a_missing_one_is_warned_about(self, house: House, setting: Setting) -> None:
        with house.talk(answer(when="read @no/such.txt", say="There is none."), setting=setting) as person:
            send(person, "read @no/such.txt ")
            person.wait_for("There is none.", idle=True)
            assert shows(person, "@no/such.txt is left as it is: there is no such file.")

    def test_names_that_are_hostile(self, house: House) -> None:
        (house.project / "plain\x1b]0;owned\x07\u202ename.txt").write_text("x\n")
        (house.project / "plain 日本.txt").write_text("y\n")
        with house.talk(said("Hi.")) as person:
            person.type("@plain")
            person.wait_for("plain 日本.txt", idle=True)
            assert is_tidy(person.screen)


class TestShellMode:
    @both_settings
    def test_once(self, house: House, setting: Setting) -> None:
        with house.talk(answer(when="what was it", say="Hello."), setting=setting) as person:
            person.type("!echo hel")
            person.wait_for("! (shell) echo hel")
            send(person, "lo; exit 3")
            person.wait_for("hello\n", idle=True)
            assert shows(person, "code 3")
            assert person.screen.lines()[person.screen.cursor[1]] == ">"
            send(person, "what was it")
            person.wait_for("\nHello.", idle=True)
            leave(person)

    def test_its_output_is_told_to_the_model(self, house: House) -> None:
        with ModelServer([say("I saw it.")]) as server:
            environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
            with house.talk("", "-m", "gemini-test", **environment) as person:
                send(person, "!echo from the $((1 + 1))nd shell")
                person.wait_for("from the 2nd shell", idle=True)
                send(person, "what was it?")
                person.wait_for("\nI saw it.", idle=True)
            (body,) = [received.body for received in server.requests if "stream" in received.target]
            told = json.dumps(body["contents"])
            assert "from the 2nd shell" in told
            assert "echo from the" in told

    @both_settings
    def test_a_mode(self, house: House, setting: Setting) -> None:
        with house.talk(said("Hi."), setting=setting) as person:
            person.press("!")
            person.wait_for("! (shell)")
            person.press("enter")
            person.settle()
            send(person, "pwd")
            person.wait_for(str(house.project), idle=True)
            person.wait_for("! (shell)", idle=True)
            person.press("escape")
            person.wait_until(lambda screen: screen.lines()[screen.cursor[1]] == ">", wanted="the prompt")
            send(person, "hello")
            person.wait_for("\nHi.", idle=True)

    @pytest.mark.parametrize("key", ["c-c", "escape"])
    def test_it_can_be_stopped(self, house: House, mark: str, key: str) -> None:
        with house.talk(said("Hi.")) as person:
            send(person, f"!echo begun; touch begun; sleep {mark}")
            wait_for_file(house.project / "begun")
            person.wait_for("begun", idle=False)
            person.press(key)
            wait_for_words(person, "cancelled", idle=True)
            wait_until_dead(mark)
            send(person, "hello")
            person.wait_for("\nHi.", idle=True)
            leave(person)

    def test_hostile_output(self, house: House) -> None:
        with house.talk(said("Hi.")) as person:
            send(person, r"!printf 'a\033]52;c;aGk=\007b\033[2Jc\rd\033Pq\033\\\n\302\2332Je\n\342\200\256f\n'")
            person.wait_for("f\n", idle=True)
            assert is_tidy(person.screen)
            assert person.screen.full_clears == 0


HONEST = calls(
    ("list_directory", {"path": "${root}"}),
    (SHELL, {"command": "seq 1 40; exit 3"}),
    ("no_such_tool", {"a": 1}),
    ("read_file", {}),
    ("read_file", {"path": "${root}/none.txt"}),
)


class TestCallLines:
    @both_settings
    def test_each_is_honest(self, house: House, setting: Setting) -> None:
        with house.talk(HONEST + said("That is all."), "-y", setting=setting) as person:
            send(person, "go")
            person.wait_for("\nThat is all.", idle=True)
            text = one_text(person)
            for words in (
                "✓ ok list_directory",
                "✗ failed run_shell_command",
                "exit code 3",
                "✗ failed no_such_tool",
                "✗ failed read_file",
                "Bad arguments:",
            ):
                assert setting.signs(words) in text, person.picture()
            assert "\n  20\n" not in person.screen.history()
            person.press("c-o")
            person.wait_for("\n  20\n", idle=True)
            person.press("c-o")
            person.wait_for("There is nothing folded to show.")

    def test_denied_by_a_rule(self, house: House) -> None:
        script = calls((SHELL, {"command": "touch x"})) + said("I see.")
        with house.talk(script, "--exclude-tools", "run_shell_command(touch)") as person:
            send(person, "go")
            person.wait_for("\nI see.", idle=True)
            assert any("run_shell_command touch x" in row and "ok" not in row for row in printed(person))
        assert not (house.project / "x").exists()

    def test_timed_out(self, house: House) -> None:
        house.settings(tools={"shell": {"inactivityTimeout": 1}})
        script = calls((SHELL, {"command": "sleep 60"})) + said("I see.")
        with house.talk(script, "-y") as person:
            send(person, "go")
            person.wait_for("\nI see.", 20, idle=True)
            assert "timed out run_shell_command sleep 60" in person.text

    @both_settings
    def test_what_runs_is_seen(self, house: House, setting: Setting) -> None:
        command = "echo line one; touch begun; until test -e go; do sleep 0.02; done"
        with house.talk(calls((SHELL, {"command": command})) + said("Done."), "-y", setting=setting) as person:
            send(person, "go")
            person.wait_for(setting.signs("  │ line one"))
            person.wait_for("1 s")
            (house.project / "go").touch()
            person.wait_for("\nDone.", idle=True)
            assert setting.signs("│ line one") not in person.screen.history()

    @both_settings
    def test_progress_of_a_server(self, house: House, setting: Setting) -> None:
        house.settings(mcpServers={"helper": hostile()})
        script = calls(("mcp_helper_slow", {"steps": 6, "seconds": 0.2})) + said("Done.")
        with house.talk(script, "--trust", "-y", setting=setting) as person:
            send(person, "go")
            person.wait_for("step 2")
            person.wait_for("\nDone.", idle=True)
            assert setting.signs("✓ ok mcp_helper_slow") in person.text
            assert "step 2" not in person.screen.history()
            assert is_tidy(person.screen)

    def test_an_answer_with_many_calls_at_once(self, house: House) -> None:
        for number in range(12):
            (house.project / f"f{number}").write_text(f"{number}\n")
        many: list[Any] = [call("read_file", {"path": f"f{number}"}) for number in range(12)]
        with ModelServer([say(*many), say("All read.")]) as server:
            environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
            with house.talk("", "-m", "gemini-test", setting=NARROW, **environment) as person:
                send(person, "read all")
                person.wait_for("\nAll read.", idle=True)
                assert len([row for row in printed(person) if row.startswith("+ ok read_file f")]) == 12
