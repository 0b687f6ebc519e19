"""The clipboard: through the terminal, through programs, and not at all."""

import asyncio
import base64
from pathlib import Path

import pytest

from support.terminal.pty_program import write_script
from tejat.core.errors import UsageError
from tejat.ui.shared.external.clipboard import MAX_CLIPBOARD_BYTES, MAX_OSC52_BYTES, copy_text


def copied(text: str, **environment: str) -> tuple[str, list[str]]:
    sent: list[str] = []
    return asyncio.run(copy_text(text, sent.append, environment=environment)), sent


def sequence(text: str) -> str:
    return f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"


def test_through_the_terminal() -> None:
    told, sent = copied("a\x1b日\n", TERM="xterm", PATH="")
    assert (told, sent) == ("Sent to the terminal to copy.", [sequence("a\x1b日\n")])
    assert sent[0][1:-1].isprintable()


@pytest.mark.parametrize(
    ("name", "setting"),
    [("wl-copy", {"WAYLAND_DISPLAY": "x"}), ("xclip", {"DISPLAY": "x"}), ("xsel", {"DISPLAY": "x"}), ("pbcopy", {})],
)
def test_through_a_program(tmp_path: Path, name: str, setting: dict[str, str]) -> None:
    write_script(tmp_path / name, f"/bin/cat > {tmp_path}/copied")
    told, sent = copied("Hello", TERM="xterm", PATH=str(tmp_path), **setting)
    assert (told, sent) == (f"Copied with {name}.", [sequence("Hello")])
    assert (tmp_path / "copied").read_text() == "Hello"


def test_a_program_without_a_screen_or_that_fails(tmp_path: Path) -> None:
    write_script(tmp_path / "wl-copy", "exit 1")
    assert copied("x", TERM="xterm", PATH=str(tmp_path))[0] == "Sent to the terminal to copy."
    assert copied("x", TERM="xterm", PATH=str(tmp_path), WAYLAND_DISPLAY="x")[0] == "Sent to the terminal to copy."


def test_what_is_too_long_for_a_terminal_needs_a_program(tmp_path: Path) -> None:
    text = "x" * (MAX_OSC52_BYTES + 1)
    with pytest.raises(UsageError, match="No clipboard available for this text"):
        copied(text, TERM="xterm", PATH="")
    write_script(tmp_path / "pbcopy", f"/bin/cat > {tmp_path}/copied")
    assert copied(text, TERM="xterm", PATH=str(tmp_path)) == ("Copied with pbcopy.", [])
    assert (tmp_path / "copied").read_text() == text


def test_where_there_is_no_way() -> None:
    with pytest.raises(UsageError, match="No clipboard available"):
        copied("x", TERM="dumb", PATH="")
    with pytest.raises(UsageError, match="Too long for the clipboard"):
        copied("x" * (MAX_CLIPBOARD_BYTES + 1), TERM="xterm", PATH="")


def test_programs_beside_the_work_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(tmp_path / "pbcopy", f"/bin/touch {tmp_path}/ran")
    monkeypatch.chdir(tmp_path)
    assert copied("x", TERM="xterm", PATH=".:")[0] == "Sent to the terminal to copy."
    assert not (tmp_path / "ran").exists()
