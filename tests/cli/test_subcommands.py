"""The names of subcommands: what is one, and what is nearly one."""

from importlib import import_module

import pytest

from tejat.cli.subcommands import ACTIONS, ALIASES, MODULES, NAMES, find_command, near_misses, prompt_command


@pytest.mark.parametrize("name", MODULES)
def test_every_name_has_a_function(name: str) -> None:
    module, _, function = MODULES[name].partition(":")
    assert callable(getattr(import_module(module), function or "run"))


def test_actions_and_aliases_belong_to_names() -> None:
    assert {*ACTIONS} <= {*NAMES}
    assert {*ALIASES.values()} <= {*NAMES}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], None),
        (["doctor"], "doctor"),
        (["doctor", "please", "help", "me"], "doctor"),
        (["models", "of", "the", "solar", "system"], "models"),
        (["Doctor"], None),
        (["-m", "x", "doctor"], None),
        (["skill", "list"], "skills"),
        (["hook"], "hooks"),
        (["extension", "list"], "extensions"),
        (["help"], "help"),
        (["help", "tools"], "help"),
        (["help", "-d"], "help"),
        (["help", "me"], "help"),
        (["help", "me with it"], None),
        (["help", "me", "now"], None),
        (["version"], "version"),
        (["version", "two"], "version"),
        (["version", "two", "is", "out"], None),
        (["update"], "update"),
        (["update", "the", "docs"], None),
        (["completion"], "completion"),
        (["completion", "zsh"], "completion"),
        (["completion", "tcsh"], "completion"),
        (["completion", "of", "the", "task"], None),
    ],
)
def test_commands(words: list[str], command: str | None) -> None:
    assert find_command(words) == command


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (["doctr"], ("doctor",)),
        (["sesions"], ("sessions",)),
        (["polcy", "list"], ("policy",)),
        (["udno"], ("undo",)),
        (["tool"], ("tools",)),
        (["extention", "list"], ("extension", "extensions")),
        (["hoks"], ("hooks",)),
        (["verson"], ("version",)),
        ([], ()),
        (["fix", "it"], ()),
        (["Explain"], ()),
        (["help", "me"], ()),
        (["tests?"], ()),
        (["doctr", "now", "please"], ()),
        (["doctr now"], ()),
        (["doctr", "now please"], ()),
        (["Doctr"], ()),
        (["mpc"], ()),
        (["doctors-and-nurses"], ()),
        (["x" * 10_000], ()),
    ],
)
def test_near_misses(words: list[str], commands: tuple[str, ...]) -> None:
    assert near_misses(words, is_first=True) == commands


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (["doctor"], ("doctor",)),
        (["skill", "list"], ("skill",)),
        (["help"], ("help",)),
        (["help", "me"], ("help",)),
        (["help", "me with it"], ()),
        (["update", "docs"], ()),
        (["doctr"], ("doctor",)),
    ],
)
def test_names_that_are_not_the_first_word(words: list[str], commands: tuple[str, ...]) -> None:
    assert near_misses(words, is_first=False) == commands


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["doctr"], 'tejat -p "doctr"'),
        (["polcy", "list"], 'tejat -p "polcy list"'),
        (["udno", "$(id)"], "tejat -p 'udno $(id)'"),
        (["udno", "it's"], "tejat -p 'udno it'\\''s'"),
    ],
)
def test_the_command_that_sends_words(words: list[str], command: str) -> None:
    assert prompt_command(words) == command
