"""`/hooks`."""

import json
from pathlib import Path

import pytest

from command_checks import Desks

HOOKS = {"BeforeTool": [{"matcher": "glob", "hooks": [{"type": "command", "command": "true", "name": "guard"}]}]}


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def rows(shown: str) -> list[list[str]]:
    return [line.split("  ") for line in shown.splitlines()[2:]]


def test_none(desks: Desks) -> None:
    assert desks.shown("/hooks") == "No hooks are configured. docs/hooks.md tells what they can do."


def test_all_of_them(desks: Desks) -> None:
    path = desks.person_sets(hooks=HOOKS)
    assert desks.shown("/hooks") == (f"Hooks\nName  Event  For  Now  Set by\nguard  BeforeTool  glob  on  {path}:1")
    assert desks.shown("/hooks list") == desks.shown("/hooks")


def test_what_cannot_be_understood_is_told(desks: Desks) -> None:
    path = desks.person_sets(hooks={"Sometimes": [{"hooks": []}]})
    assert desks.shown("/hooks").splitlines()[2].startswith(f"{path}:1: hooks.Sometimes is no event that is known")


@pytest.mark.parametrize("place", ["hooksConfig", "hooks"])
def test_switching_off_and_on(desks: Desks, place: str) -> None:
    path = desks.person_sets(hooks=HOOKS)
    if place == "hooks":
        desks.person_sets(hooks={**HOOKS, "disabled": ["guard"]})
    else:
        assert desks.shown("/hooks disable guard") == "The hook guard is off from the next start on."
        assert json.loads(path.read_text()) == {"hooks": HOOKS, "hooksConfig": {"disabled": ["guard"]}}
    assert rows(desks.shown("/hooks"))[0][3] == "off"
    assert desks.shown("/hooks disable guard") == "The hook guard is off from the next start on."
    assert desks.shown("/hooks enable guard") == "The hook guard is on from the next start on."
    assert json.loads(path.read_text())[place]["disabled"] == []
    assert rows(desks.shown("/hooks"))[0][3] == "on"


def test_two_in_one_session(desks: Desks) -> None:
    two = [{"hooks": [{"command": "true", "name": name} for name in ("one", "two")]}]
    path = desks.person_sets(hooks={"BeforeTool": two})
    assert rows(desks.shown("/hooks disable one", "/hooks disable two", "/hooks"))[1][3] == "off"
    assert json.loads(path.read_text())["hooksConfig"] == {"disabled": ["one", "two"]}


def test_one_that_somebody_else_keeps_on(desks: Desks) -> None:
    admin = desks.base / "admin"
    admin.mkdir()
    (admin / "settings.json").write_text(json.dumps({"hooks": HOOKS}))
    desks.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
    assert desks.shown("/hooks disable guard") == (
        "The hook guard is on from the next start on.\nSomebody with more of a say decides that: see docs/hooks.md."
    )


def test_one_that_there_is_not(desks: Desks) -> None:
    desks.person_sets(hooks=HOOKS)
    assert desks.shown("/hooks disable other") == "There is no hook other. Known: guard."


@pytest.mark.parametrize("line", ["/hooks enable", "/hooks drop guard", "/hooks list all"])
def test_any_other_words(desks: Desks, line: str) -> None:
    assert desks.shown(line) == "Usage: /hooks [list | enable NAME | disable NAME]"
