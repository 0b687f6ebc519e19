"""`/hooks`."""

import json

import pytest

from support.command_runner import CommandEnv

HOOKS = {"BeforeTool": [{"matcher": "glob", "hooks": [{"type": "command", "command": "true", "name": "guard"}]}]}


def rows(shown: str) -> list[list[str]]:
    return [line.split("  ") for line in shown.splitlines()[2:]]


def test_none(env: CommandEnv) -> None:
    assert env.output_of("/hooks") == "No hooks configured. See `tejat docs hooks`."


def test_all_of_them(env: CommandEnv) -> None:
    path = env.write_user_settings(hooks=HOOKS)
    assert env.output_of("/hooks") == (
        f"Hooks\nName  Event  Matcher  State  Source\nguard  BeforeTool  glob  on  {path}:1"
    )
    assert env.output_of("/hooks list") == env.output_of("/hooks")


def test_what_cannot_be_understood_is_told(env: CommandEnv) -> None:
    path = env.write_user_settings(hooks={"Sometimes": [{"hooks": []}]})
    assert env.output_of("/hooks").splitlines()[2].startswith(f"{path}:1: hooks.Sometimes is not a known event")


@pytest.mark.parametrize("place", ["hooksConfig", "hooks"])
def test_switching_off_and_on(env: CommandEnv, place: str) -> None:
    off = "Hook guard is off. Takes effect at the next start."
    path = env.write_user_settings(hooks=HOOKS)
    if place == "hooks":
        env.write_user_settings(hooks={**HOOKS, "disabled": ["guard"]})
    else:
        assert env.output_of("/hooks disable guard") == f"{off}\nSaved in {path}."
        assert json.loads(path.read_text()) == {"hooks": HOOKS, "hooksConfig": {"disabled": ["guard"]}}
    assert rows(env.output_of("/hooks"))[0][3] == "off"
    assert env.output_of("/hooks disable guard") == off
    assert (
        env.output_of("/hooks enable guard") == f"Hook guard is on. Takes effect at the next start.\nSaved in {path}."
    )
    assert json.loads(path.read_text())[place]["disabled"] == []
    assert rows(env.output_of("/hooks"))[0][3] == "on"


def test_two_in_one_session(env: CommandEnv) -> None:
    two = [{"hooks": [{"command": "true", "name": name} for name in ("one", "two")]}]
    path = env.write_user_settings(hooks={"BeforeTool": two})
    assert rows(env.output_of("/hooks disable one", "/hooks disable two", "/hooks"))[1][3] == "off"
    assert json.loads(path.read_text())["hooksConfig"] == {"disabled": ["one", "two"]}


def test_one_that_somebody_else_keeps_on(env: CommandEnv) -> None:
    admin = env.base / "admin"
    admin.mkdir()
    (admin / "settings.json").write_text(json.dumps({"hooks": HOOKS}))
    env.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
    assert env.output_of("/hooks disable guard") == (
        f"Hook guard is on. Takes effect at the next start.\nSaved in {env.user_file}.\n"
        "A higher-precedence setting overrides this. See `tejat docs hooks`."
    )


def test_one_that_there_is_not(env: CommandEnv) -> None:
    env.write_user_settings(hooks=HOOKS)
    assert env.output_of("/hooks disable other") == "Unknown hook other. Known: guard."


@pytest.mark.parametrize("line", ["/hooks enable", "/hooks drop guard", "/hooks list all"])
def test_any_other_words(env: CommandEnv, line: str) -> None:
    assert env.output_of(line) == "Usage: /hooks [list | enable NAME | disable NAME]"
