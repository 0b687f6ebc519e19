"""`/vim`."""

from support.command_runner import CommandEnv
from tejat.core.ui.status import Preferences


def test_on_and_off(env: CommandEnv) -> None:
    saved = f"Saved in {env.user_file}."
    assert env.preferences_after("/vim") == (f"Vim mode on.\n{saved}", Preferences(vi_mode=True))
    assert env.preferences_after("/vim") == (f"Vim mode off.\n{saved}", Preferences())
    assert env.preferences_after("/vim on", "/vim on")[1] == Preferences(vi_mode=True)
    assert env.preferences_after("/vim off")[1] == Preferences()


def test_somebody_else_has_the_last_word(env: CommandEnv) -> None:
    path = env.write_project_settings(vimMode=True)
    shown, preferences = env.preferences_after("/vim off")
    precedence = f"Set in {path}:1, which takes precedence."
    assert shown == f"general.vimMode is now true.\nSaved in {env.user_file}.\n{precedence}"
    assert preferences.vi_mode


def test_any_other_word(env: CommandEnv) -> None:
    assert env.preferences_after("/vim maybe") == ("Usage: /vim [on | off]", Preferences())
