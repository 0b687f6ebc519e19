"""Opening the browser gives nothing away."""

import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tejat.cli.commands.web import browser


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({}, False),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "a b"}, False),
        ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, False),
    ],
)
def test_a_browser_is_opened_where_the_user_is(environment: Mapping[str, str], expected: bool) -> None:
    assert browser.can_open_browser(environment) is expected


def test_the_browser_gets_a_private_file_that_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncp -p "${{1#file://}}" {tmp_path}/copy.html\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    monkeypatch.setattr(browser, "_SECONDS", 0.5)
    monkeypatch.setattr("webbrowser._tryorder", None)
    dropped: list[bool] = []
    folder = tmp_path / "run"
    link = "http://127.0.0.1:1/?token=abc"
    asyncio.run(browser.open_browser(link, str(folder), drop=lambda: dropped.append(True)))
    assert "abc" not in (tmp_path / "words").read_text(), "arguments can be read by everybody"
    assert link in (tmp_path / "copy.html").read_text()
    assert stat.S_IMODE((tmp_path / "copy.html").stat().st_mode) == 0o600
    assert list(folder.iterdir()) == []
    assert dropped == [True]


def test_a_folder_that_cannot_be_used_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    dropped: list[bool] = []
    asyncio.run(browser.open_browser("http://x/", str(tmp_path / "file"), drop=lambda: dropped.append(True)))
    assert dropped == [True]
