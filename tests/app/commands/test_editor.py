"""`/editor`."""

from pathlib import Path

import pytest

from support.command_runner import CommandEnv
from support.prompter import FakePrompter
from support.terminal.pty_program import write_script
from tejat.core.ui.prompter import Choice
from tejat.core.ui.status import Preferences


@pytest.fixture
def programs(env: CommandEnv, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with vim and code alone, and no VISUAL or EDITOR."""
    folder = env.base / "programs"
    folder.mkdir()
    for name in ("vim", "code"):
        write_script(folder / name)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return folder


def labels(person: FakePrompter) -> tuple[str, list[tuple[str, str]]]:
    (choice,) = person.asked[:1]
    assert isinstance(choice, Choice)
    return choice.title, [(option.label, option.detail) for option in choice.options]


@pytest.mark.usefixtures("programs")
def test_by_name(env: CommandEnv) -> None:
    text = f"general.preferredEditor is now code --wait.\nSaved in {env.own_file}."
    assert env.preferences_after("/editor code --wait") == (text, Preferences(editor="code --wait"))
    assert env.saved_settings(own=True) == {"general": {"preferredEditor": "code --wait"}}


@pytest.mark.usefixtures("programs")
def test_one_that_gemini_cli_knows(env: CommandEnv) -> None:
    shown, preferences = env.preferences_after("/editor vim")
    assert shown == f"general.preferredEditor is now vim.\nSaved in {env.user_file}."
    assert preferences == Preferences(editor="vim")


def test_only_installed_ones_are_offered(env: CommandEnv, programs: Path) -> None:
    person = FakePrompter(choices=[1])
    assert env.preferences_after("/editor", prompter=person)[1] == Preferences(editor="vim")
    assert labels(person) == (
        "Choose an editor (current: none)",
        [
            ("vscode", f"{programs}/code"),
            ("vim", f"{programs}/vim"),
            ("Another command", "the file name is added at the end"),
        ],
    )


def test_the_current_one_is_marked(env: CommandEnv, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vim -u NONE")
    env.write_user_settings(general={"preferredEditor": "vim"})
    person = FakePrompter()
    assert env.preferences_after("/editor", prompter=person)[0] == ""
    title, options = labels(person)
    assert title == "Choose an editor (current: vim)"
    assert ("vim", f"{programs}/vim (current)") in options
    assert ("Use $EDITOR: vim -u NONE", "") in options


@pytest.mark.usefixtures("programs")
def test_back_to_the_variable(env: CommandEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "vim")
    env.write_user_settings(general={"preferredEditor": "vscode"})
    shown, preferences = env.preferences_after("/editor", prompter=FakePrompter(choices=[2]))
    assert (shown, preferences.editor) == ("general.preferredEditor is now not set.", None)


def test_another_command(env: CommandEnv, programs: Path) -> None:
    write_script(programs / "ed")
    person = FakePrompter(choices=[2], entries=["ed -s"])
    assert env.preferences_after("/editor", prompter=person)[1] == Preferences(editor="ed -s")


@pytest.mark.usefixtures("programs")
def test_none_installed(env: CommandEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(env.base))
    text = "No editor found. Install one, for example nano, or set EDITOR to a command: export EDITOR=nano"
    assert env.preferences_after("/editor") == (text, Preferences())


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("/editor zed", "zed is not installed (zed / zeditor not found)."),
        ("/editor nonsense -x", "nonsense was not found on PATH. Nothing was changed."),
        ("/editor 'open", "Could not parse the command: No closing quotation."),
    ],
)
@pytest.mark.usefixtures("programs")
def test_what_is_not_there_changes_nothing(env: CommandEnv, line: str, text: str) -> None:
    assert env.preferences_after(line) == (text, Preferences())
    assert not env.user_file.exists()


def test_a_program_of_the_project_is_never_offered(
    env: CommandEnv, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(env.project / "nano")
    monkeypatch.setenv("PATH", f"{env.project}:{programs}")
    assert env.output_of("/editor nano") == "nano is not installed (nano not found)."


@pytest.mark.usefixtures("programs")
def test_cancelled(env: CommandEnv) -> None:
    for person in (FakePrompter(), FakePrompter(choices=[2], entries=[None])):
        assert env.preferences_after("/editor", prompter=person) == ("", Preferences())
