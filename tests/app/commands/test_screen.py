"""`/theme`, `/editor` and `/vim`."""

import json
from pathlib import Path

import pytest

from command_checks import Desks, Seat
from persons import Answering
from tejat.core.status import Preferences, ThemeName


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def after(desks: Desks, *lines: str, person: Answering | None = None) -> tuple[str, Preferences]:
    async def work(seat: Seat) -> tuple[str, Preferences]:
        for line in lines:
            await seat.type(line)
        return seat.person.shown, seat.parts.preferences

    return desks.at_desk(work, person=person)


def kept(desks: Desks) -> object:
    return json.loads((desks.home / ".gemini" / "settings.json").read_text())


class TestTheme:
    def test_by_name(self, desks: Desks) -> None:
        assert after(desks, "/theme light") == ("ui.theme is now light.", Preferences(ThemeName.LIGHT))
        assert after(desks, "/theme Dracula") == ("ui.theme is now dark.", Preferences(ThemeName.DARK))
        assert kept(desks) == {"ui": {"theme": "dark"}}

    def test_by_choice(self, desks: Desks) -> None:
        person = Answering(choices=[3])
        assert after(desks, "/theme", person=person) == ("ui.theme is now plain.", Preferences(ThemeName.PLAIN))
        assert after(desks, "/theme", person=Answering()) == ("", Preferences(ThemeName.PLAIN))

    def test_one_that_there_is_not(self, desks: Desks) -> None:
        told = "There is no theme pink. There are auto, dark, light, plain."
        assert after(desks, "/theme pink") == (told, Preferences())


class TestEditor:
    def test_by_name(self, desks: Desks) -> None:
        told = "general.preferredEditor is now code --wait."
        assert after(desks, "/editor code --wait") == (told, Preferences(editor="code --wait"))
        assert kept(desks) == {"general": {"preferredEditor": "code --wait"}}

    def test_by_choice(self, desks: Desks) -> None:
        assert after(desks, "/editor", person=Answering(choices=[1]))[1] == Preferences(editor="vim")

    def test_another_one(self, desks: Desks) -> None:
        person = Answering(choices=[9], entries=["ed"])
        assert after(desks, "/editor", person=person)[1] == Preferences(editor="ed")

    def test_none_after_all(self, desks: Desks) -> None:
        for person in (Answering(), Answering(choices=[9], entries=[None])):
            assert after(desks, "/editor", person=person) == ("", Preferences())


class TestVim:
    def test_on_and_off(self, desks: Desks) -> None:
        assert after(desks, "/vim") == ("The keys of vi are on.", Preferences(vi_keys=True))
        assert after(desks, "/vim") == ("The keys of vi are off.", Preferences())
        assert after(desks, "/vim on", "/vim on")[1] == Preferences(vi_keys=True)
        assert after(desks, "/vim off")[1] == Preferences()

    def test_somebody_else_has_the_last_word(self, desks: Desks) -> None:
        path = desks.project_sets(vimMode=True)
        shown, preferences = after(desks, "/vim off")
        assert shown == f"general.vimMode is now true.\nThat is what {path}:1 says, which has the last word."
        assert preferences.vi_keys

    def test_any_other_word(self, desks: Desks) -> None:
        assert after(desks, "/vim maybe") == ("Usage: /vim [on | off]", Preferences())
