"""`/permissions`."""

from pathlib import Path

import pytest

from command_checks import HELLO, Always, Desks, Seat
from persons import Answering
from tejat.core.confirm import Outcome, Scope
from tejat.core.person import Choice

TOUCH = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "touch a" }
"""
RULE = "allow run_shell_command: touch"


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


@pytest.mark.parametrize("scope", list(Scope))
def test_an_answer_is_listed_with_where_it_is_kept_and_taken_back_at_once(desks: Desks, scope: Scope) -> None:
    approver = Always(Outcome.PROCEED_ALWAYS, scope)
    saved = desks.home / ".config" / "tejat" / "policies" / "saved.toml"

    async def work(seat: Seat) -> tuple[list[str], str, str, int]:
        await seat.ask("go")
        listed = (await seat.shown_by("/permissions")).splitlines()
        taken = await seat.shown_by("/permissions revoke 1")
        after = await seat.shown_by("/permissions list")
        await seat.ask("go")
        return listed, taken, after, len(approver.questions)

    listed, taken, after, asked = desks.at_desk(work, approver=approver, script=(TOUCH + HELLO) * 2)
    _, number, (rule, kept) = listed[1], listed[3].split("  ")[0], listed[3].split("  ")[1:]
    assert listed[:3] == ["Permissions", "Rules from your answers", "No.  Rule  Kept in"]
    assert number == "1"
    assert rule.startswith(RULE)
    assert kept == "your answer (session)" if scope is Scope.SESSION else kept.startswith(f"{saved}:")
    assert taken == f"Taken back: {rule}"
    assert "There are none: nothing was allowed always." in after
    assert asked == 2
    assert scope is Scope.SESSION or saved.exists()


def test_a_rule_of_an_earlier_session(desks: Desks) -> None:
    async def allow(seat: Seat) -> None:
        await seat.ask("go")

    desks.at_desk(allow, approver=Always(Outcome.PROCEED_ALWAYS, Scope.USER), script=TOUCH + HELLO)
    approver = Always()

    async def revoke(seat: Seat) -> str:
        await seat.ask("go")
        assert approver.questions == []
        shown = await seat.shown_by("/permissions revoke")
        await seat.ask("go")
        return shown

    person = Answering(choices=[0])
    shown = desks.at_desk(revoke, person=person, approver=approver, script=(TOUCH + HELLO) * 2)
    assert shown.startswith(f"Taken back: {RULE}")
    assert len(approver.questions) == 1
    (choice,) = person.asked
    assert isinstance(choice, Choice)
    assert [option.label for option in choice.options] == [shown.removeprefix("Taken back: ")]


def test_nothing_to_take_back(desks: Desks) -> None:
    assert desks.shown("/permissions revoke") == "There is nothing to take back."


@pytest.mark.parametrize("word", ["0", "1", "x", "-1", "²"])
def test_no_such_number(desks: Desks, word: str) -> None:
    told = f"There is no rule {word}. /permissions list shows them with numbers."
    assert desks.shown(f"/permissions revoke {word}") == told


def test_any_other_word(desks: Desks) -> None:
    assert desks.shown("/permissions drop") == "Usage: /permissions [list | revoke N | trust]"


class TestTrust:
    def test_is_told(self, desks: Desks) -> None:
        lines = desks.shown("/permissions", trusts_folder=False).splitlines()
        assert lines[-4:] == [
            "Folder",
            f"{desks.project} is not trusted: nobody has said so yet.",
            "/permissions trust shows what it brings along, and asks you.",
            "/policy list shows all rules.",
        ]

    def test_a_yes_counts_for_what_was_shown(self, desks: Desks) -> None:
        desks.project_sets(tools={"discoveryCommand": "list-tools"})
        person = Answering(choices=[0])
        shown = desks.shown("/permissions trust", person=person, trusts_folder=False)
        told = f"{desks.project} is trusted as it was when this session began.\nIt counts from the next start on."
        assert shown == told
        (choice,) = person.asked
        assert isinstance(choice, Choice)
        assert choice.initial == 2
        assert choice.sheet is not None
        assert ".gemini/settings.json" in str(choice.sheet)
        assert f"{desks.project} is trusted: you said so." in desks.shown("/permissions", trusts_folder=False)

    def test_never(self, desks: Desks) -> None:
        shown = desks.shown("/permissions trust", person=Answering(choices=[1]), trusts_folder=False)
        assert shown.startswith(f"{desks.project} and everything in it is never trusted.\n")
        assert "is not trusted: you said so" in desks.shown("/permissions", trusts_folder=False)

    @pytest.mark.parametrize("taken", [2, None])
    def test_left_as_it_is(self, desks: Desks, taken: int | None) -> None:
        assert desks.shown("/permissions trust", person=Answering(choices=[taken]), trusts_folder=False) == ""
        assert "nobody has said so yet" in desks.shown("/permissions", trusts_folder=False)
