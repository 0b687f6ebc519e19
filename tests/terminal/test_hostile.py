"""Hostile strings in every place that a person reads: nothing is obeyed, nothing leaves its row."""

import json
import subprocess

import pytest

from foreign_checks import hostile, with_introduction, with_tools
from model_server import ModelServer, refuse
from program_checks import answer, said
from screens import ScreenPerson
from talks import NARROW, SHELL, WIDE, House, Setting, calls, house, is_tidy, leave, one_text, send

__all__ = ["house"]

EVIL = (
    "\x1b[2J\x1b[H\x1b[31m\x1b]0;owned\x07\x1b]8;;http://evil/\x1b\\\x1b]52;c;b3duZWQ=\x07\x1bPq\x1b\\\x9b2J\x9d0;x\x9c"
    "\rover\b\b\bwritten\u202e\u2066\u200b\u200d\ufeff\U000e0041\U000e007f\x00\x7f\x85"
)
both_sizes = pytest.mark.parametrize("setting", [WIDE, Setting(40, 20, "C.UTF-8")], ids=["80", "40"])


def unharmed(person: ScreenPerson) -> bool:
    screen = person.settle()
    assert is_tidy(screen)
    assert screen.full_clears == 0
    assert screen.titles == []
    assert not screen.is_alternate
    for hidden in "\u202e\u2066\u200b\ufeff\U000e0041":
        assert hidden not in screen.history()
    assert "Ask something." in screen.history()
    return True


@both_sizes
def test_in_words_and_thoughts_of_a_model(house: House, setting: Setting) -> None:
    evil = EVIL.replace("\x00", "")
    script = answer(
        think=f"**{evil}** {evil}", say=f"a {evil} `{evil}`\n\n# {evil}\n\n- {evil}\n\n| {evil} | b |\n|--|--|\n"
    )
    code = said(f"```{evil}\n{evil}\n```\n\n[{evil}](http://x/{evil})\n\n> {evil}\n\nThe end.")
    with house.talk(script + code, setting=setting) as person:
        send(person, "one")
        person.settle()
        send(person, "two")
        person.wait_for("The end.", idle=True)
        assert unharmed(person)
        leave(person)


@both_sizes
def test_in_names_arguments_and_results_of_calls(house: House, setting: Setting) -> None:
    evil = EVIL.replace("\x00", "")
    name = f"n{evil.replace('/', '')}.txt"
    (house.project / name).write_text(f"old {evil}\n", encoding="utf-8", newline="")
    script = calls(
        (evil[:60], {"a": evil}),
        ("list_directory", {"path": "${root}"}),
        ("read_file", {"path": evil}),
        ("write_file", {"file_path": f"${{root}}/{name}", "content": f"new {evil}\n"}),
        (SHELL, {"command": "cat *.txt; ls; ls /no/$(cat *.txt) ", "description": evil}),
    )
    with house.talk(script + said("The end."), "-y", setting=setting) as person:
        send(person, evil.replace("\x1b", "").replace("\r", "").replace("\x85", "").replace("\x7f", "") + "x")
        person.wait_for("The end.", idle=True)
        assert unharmed(person)
        person.press("c-o")
        assert unharmed(person)


@both_sizes
def test_in_questions(house: House, setting: Setting) -> None:
    evil = EVIL.replace("\x00", "")
    (house.project / "a.txt").write_text(f"old {evil}\n", newline="")
    change = {"file_path": "${root}/a.txt", "content": f"new {evil}\n" * 3}
    script = (
        calls(("write_file", change)) + said("One.") + calls((SHELL, {"command": f"echo {evil}", "description": evil}))
    )
    with house.talk(script, setting=setting) as person:
        send(person, "one")
        person.wait_for("Arrows, Tab", idle=True)
        assert unharmed(person)
        person.press("escape")
        person.wait_until_gone("Arrows, Tab", idle=True)
        send(person, "two")
        person.settle()
        assert unharmed(person)


def test_in_branches_and_folders(house: House) -> None:
    name = "evil\u202e\u200bname"
    subprocess.run(["git", "init", "-q", str(house.project)], check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/"})
    (house.project / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\x1b]0;x\x07\n")
    with house.talk(said("Hi.")) as person:
        assert unharmed(person)


@both_sizes
def test_in_servers(house: House, setting: Setting) -> None:
    evil = EVIL.replace("\x00", "")
    tools = with_tools(
        {"name": "t", "title": evil, "description": evil, "inputSchema": {"type": "object", "title": evil}},
        {"name": evil[:40], "description": evil},
    )
    words = with_introduction(evil, tools={}, prompts={})
    house.settings(
        mcpServers={
            "helper": hostile(tools),
            "wordy": hostile(words),
            evil[:20]: hostile(),
            "dead": hostile("die=start", f"words={evil}"),
        }
    )
    script = calls(("mcp_helper_t", {"a": evil})) + said("The end.")
    with house.talk(script, "--trust", setting=setting) as person:
        send(person, "/mcp desc")
        person.wait_for("helper", idle=True)
        assert unharmed(person)
        send(person, "go")
        person.wait_for("Arrows, Tab", idle=True)
        assert unharmed(person)


def test_in_errors_of_a_service(house: House) -> None:
    with ModelServer([refuse(400, EVIL), refuse(400, EVIL * 30)]) as server:
        environment = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with house.talk("", "-m", "gemini-test", **environment) as person:
            send(person, "hello")
            person.wait_for("owned", idle=True)
            send(person, "again")
            assert unharmed(person)


def test_in_commands_of_others_and_titles(house: House) -> None:
    evil = EVIL.replace("\x00", "").replace("/", "")
    commands = house.home / ".gemini" / "commands"
    commands.mkdir(parents=True, mode=0o700)
    described = json.dumps(evil.encode("ascii", "ignore").decode())
    (commands / f"evil{evil[:30]}.toml").write_text('prompt = "x"\n')
    (commands / "evil.toml").write_text(f'prompt = "x"\ndescription = {described}\n'.replace("\\u007f", ""))
    with house.talk(said("Hi.", "Ho.")) as person:
        person.type("/evil")
        person.wait_for("/evil", idle=True)
        assert unharmed(person)
        person.press("c-c")
        person.paste(f"a title {evil}")
        person.press("enter")
        person.wait_for("\nHi.", idle=True)
        assert unharmed(person)
        leave(person)
    with house.talk(said("Hi.")) as person:
        send(person, "/resume")
        person.wait_for("a title", idle=True)
        assert unharmed(person)


def test_blanks_without_end(house: House) -> None:
    blanks = "x" + " " * 3000 + "y"
    script = calls((SHELL, {"command": f"echo '{blanks}'"})) + said("The end.")
    with house.talk(script, "-y", setting=NARROW) as person:
        send(person, "go")
        person.wait_for("The end.", idle=True)
        assert unharmed(person)
        assert one_text(person).count("The end.") == 1
