"""`/help`."""

import pytest

from support.command_runner import CommandEnv
from tejat.app.commands.builtin import builtin_commands, command_groups

SCREEN_ROWS = 24


def test_the_overview_names_every_command_and_fits_a_screen(env: CommandEnv) -> None:
    lines = env.output_of("/help").splitlines()
    assert len(lines) < SCREEN_ROWS - 6
    assert lines[0] == "Conversation  /clear /resume /rewind /chat /compress /copy /export /quit"
    assert max(map(len, lines[: len(command_groups())])) < 80
    named = {word for line in lines[: len(command_groups())] for word in line.split() if word.startswith("/")}
    assert named == {f"/{command.name}" for command in builtin_commands()}
    assert lines[-1] == "/help all: every command; /help COMMAND: one command; /help keys: all keys."
    assert env.output_of("/?").splitlines() == lines


def test_all_of_them_with_aliases(env: CommandEnv) -> None:
    lines = env.output_of("/help all").splitlines()
    for command in builtin_commands():
        names = ", ".join(f"/{name}" for name in (command.name, *command.aliases))
        assert f"{names}  {command.summary}" in lines
    assert "/clear, /new  Clear the screen and start a new conversation" in lines
    assert "Ctrl-D  quit, on an empty line" in lines


def test_keys(env: CommandEnv) -> None:
    assert env.output_of("/help keys").splitlines()[:2] == [
        "Keys",
        "Enter  send; while the model is working, queue the line",
    ]


def test_summaries_are_verb_phrases() -> None:
    for command in builtin_commands():
        assert command.summary[0].isupper()
        assert not command.summary.endswith(".")
        assert len(command.summary) <= 60


def test_custom_commands_by_source(env: CommandEnv) -> None:
    for folder, name in ((env.home, "mine"), (env.project, "theirs")):
        (folder / ".gemini" / "commands").mkdir(parents=True)
        (folder / ".gemini" / "commands" / f"{name}.toml").write_text(f'prompt = "x"\ndescription = "It is {name}"')
    assert "\nyour commands  /mine\nproject commands  /theirs\n" in env.output_of("/help")
    shown = env.output_of("/help all")
    assert "\nyour commands\n/mine  It is mine\n" in shown
    assert "\nproject commands\n/theirs  It is theirs\n" in shown


def test_one_command(env: CommandEnv) -> None:
    usage = "Usage: /stats [session | model | tools | agents]"
    text = f"/stats\nShow requests, tokens, cost and times\n{usage}\nAliases: /usage"
    assert env.output_of("/help stats") == env.output_of("/help /usage") == text


@pytest.mark.parametrize("name", ["undo", "restore", "rewind"])
def test_the_ways_back_name_each_other(env: CommandEnv, name: str) -> None:
    shown = env.output_of(f"/help {name}")
    assert [f"\n/{other} re" in shown for other in ("undo", "restore", "rewind")] == [
        other != name for other in ("undo", "restore", "rewind")
    ]


def test_an_unknown_one(env: CommandEnv) -> None:
    assert env.output_of("/help xyzzy") == "Unknown command: /xyzzy\n/help lists all commands."
    assert env.output_of("/help toolz") == "Unknown command: /toolz\nDid you mean /tools?"
    assert env.output_of("/help ide") == (
        "There is no /ide. There is no IDE companion. Use /editor to choose where files and diffs open."
    )
