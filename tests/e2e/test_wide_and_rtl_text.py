"""People who read another language, wide or from right to left, find no English of ours on the screen."""

import re
import tempfile
from pathlib import Path

import pytest

from support.terminal.pseudo_locale import VARIANTS, find_english, pseudo_environment, pseudo_translate
from support.terminal.screen import ScreenUser, open_screen

SCRIPT = """
[[answer]]
say = "Moin."
[[answer.call]]
name = "run_shell_command"
args = { command = "rm -rf build" }

[[answer]]
say = "Tschüss."
"""
# What the model says, what it calls, what is typed, the name of a setting.
SAID = {"Moin", "Tschüss", "run_shell_command", "rm -rf build", "build", "moin", "off"}


def left_on(user: ScreenUser) -> list[str]:
    shown = user.screen.history().replace("\n", " ")
    whole = re.sub(r"\S*…\S*", " ", shown)  # paths that were too long
    return find_english(whole, SAID | {str(user.cwd), user.cwd.name, "scripted:s"})


@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_talk_and_a_question(variant: str, columns: int, tmp_path: Path) -> None:
    def translated(text: str) -> str:
        return pseudo_translate(text, VARIANTS[variant])

    spoken = pseudo_environment(tmp_path, variant)
    with (
        tempfile.TemporaryDirectory(prefix="t-") as place,  # short enough to be shown whole
        open_screen(
            "--model", "scripted:s", "--sandbox", "off", columns=columns, rows=40, cwd=Path(place), **spoken
        ) as user,
    ):
        (user.cwd / "s").write_text(SCRIPT)
        user.wait_until(lambda screen: 2004 in screen.modes, idle=True)
        assert left_on(user) == [], user.describe()
        user.type("moin")
        user.press("enter")
        user.wait_for(translated("Allow once"), idle=True)
        assert left_on(user) == [], user.describe()
        assert user.screen.unknown == []
        user.press("escape")
        user.wait_until_gone(translated("Allow once"), idle=True)
        assert left_on(user) == [], user.describe()
