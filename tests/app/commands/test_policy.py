"""`/policy`."""

from pathlib import Path

import pytest

from command_checks import HELLO, Always, Desks, Seat
from persons import Answering

USAGE = "Usage: /policy [list | explain CALL | mode MODE]"


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def rules(desks: Desks, text: str) -> Path:
    path = desks.home / ".gemini" / "policies" / "mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_rules_and_where_they_stand(desks: Desks) -> None:
    path = rules(desks, '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
    lines = desks.shown("/policy").splitlines()
    assert lines[:4] == [
        "Rules, those with the last word first",
        "Mode: default",
        "Whose  Rule  Where",
        f"user  deny glob  {path}:1",
    ]
    assert desks.shown("/policy list").splitlines() == lines


@pytest.mark.parametrize(
    "call",
    [
        "rm -rf build",
        "run_shell_command rm -rf build",
        'run_shell_command {"command": "rm -rf build"}',
        "run_shell_command command='rm -rf build'",
    ],
)
def test_what_would_be_decided_about_a_line(desks: Desks, call: str) -> None:
    lines = desks.shown(f"/policy explain {call}").splitlines()
    assert lines[0] == call
    assert lines[1].startswith("ask: ")
    assert lines[2].startswith("Rule  ")
    assert lines[3].startswith("Where  ")
    assert lines[4] == "Commands in the line"
    assert lines[5].startswith("  rm -rf build")


def test_what_would_be_decided_about_a_tool(desks: Desks) -> None:
    path = rules(desks, '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
    lines = desks.shown('/policy explain glob pattern=* path=["a"]').splitlines()
    assert lines[0] == 'glob pattern=* path=["a"]'
    assert lines[1].startswith("deny: ")
    assert lines[2:] == ["Rule  deny glob", f"Where  {path}:1"]
    assert desks.shown("/policy explain glob").splitlines()[1:] == lines[1:]


@pytest.mark.parametrize("call", ['glob {"pattern": ', "glob 'open", "glob pattern", "glob =x"])
def test_arguments_that_cannot_be_read(desks: Desks, call: str) -> None:
    shown = desks.shown(f"/policy explain {call}")
    assert shown.startswith(("The arguments cannot be read: ", "Give the arguments as one JSON object"))


class TestMode:
    def test_is_told_and_changed(self, desks: Desks) -> None:
        assert desks.shown("/policy mode") == "Mode: default"
        assert desks.shown("/policy mode plan") == "From now on the mode is plan."
        assert desks.shown("/policy mode plan", "/policy mode") == "Mode: plan"

    def test_counts_for_calls(self, desks: Desks) -> None:
        script = '[[answer]]\n[[answer.call]]\nname = "write_file"\nargs = { file_path = "a", content = "x" }\n' + HELLO
        approver = Always()

        async def work(seat: Seat) -> None:
            await seat.type("/policy mode auto_edit")
            await seat.ask("go")

        desks.at_desk(work, script=script, approver=approver)
        assert approver.questions == []
        assert (desks.project / "a").read_text() == "x"

    @pytest.mark.parametrize(("taken", "after"), [(0, "default"), (None, "default"), (1, "yolo")])
    def test_everything_is_asked_about_first(self, desks: Desks, taken: int | None, after: str) -> None:
        person = Answering(choices=[taken])
        assert desks.shown("/policy mode yolo", "/policy mode", person=person) == f"Mode: {after}"

    def test_that_is_switched_off(self, desks: Desks) -> None:
        path = desks.person_sets(security={"disableYoloMode": True})
        told = f"The mode yolo is switched off by {path}:1."
        assert desks.shown("/policy mode yolo", person=Answering(choices=[1])) == told

    def test_that_there_is_not(self, desks: Desks) -> None:
        told = "The mode must be one of default, auto_edit, yolo, plan, but is 'bold'."
        assert desks.shown("/policy mode bold") == told

    def test_stays_in_a_folder_that_is_not_trusted(self, desks: Desks) -> None:
        told = "This folder is not trusted, so the mode stays default. `tejat trust` tells more."
        assert desks.shown("/policy mode auto_edit", trusts_folder=False) == told
        assert desks.shown("/policy mode default", trusts_folder=False) == "From now on the mode is default."


@pytest.mark.parametrize("line", ["/policy explain", "/policy drop", "/policy list all"])
def test_any_other_words(desks: Desks, line: str) -> None:
    assert desks.shown(line) == USAGE
