"""A person who reads and types lines, asked at a real terminal."""

import asyncio
import io
import os
import sys
import termios
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from support.terminal.pty_program import write_script
from support.terminal.screen import open_screen
from tejat.core.errors import UsageError
from tejat.core.ui.prompter import Choice, Option
from tejat.core.ui.report import (
    DiffBlock,
    MarkdownBlock,
    Paragraph,
    Report,
    ReportTable,
    SourceListing,
    Tone,
    text_report,
)
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.style import Style
from tejat.ui.shared.external.editor import ExternalEditor

Result = TypeVar("Result")
COLOURS = Choice("Which colour?", (Option("Red"), Option("Green", "as grass"), Option("Blue\x1b[2J")))


@contextmanager
def typing(keys: bytes) -> Generator[int]:
    """These keys are typed at the terminal that is the standard input; its controlling end is given."""
    controller, line = os.openpty()
    before = sys.stdin
    os.write(controller, keys)
    with open(line, encoding="utf-8") as stream:
        sys.stdin = stream
        try:
            yield controller
        finally:
            sys.stdin = before
            os.close(controller)


def asked(keys: bytes, ask: Callable[[PlainPrompter], Coroutine[None, None, Result]]) -> tuple[Result, list[str]]:
    shown: list[str] = []
    with typing(keys):
        return asyncio.run(ask(PlainPrompter(shown.append, Style(io.StringIO()), ExternalEditor()))), shown


def shown(report: Report) -> list[str]:
    lines: list[str] = []
    PlainPrompter(lines.append, Style(io.StringIO()), ExternalEditor()).show(report)
    return lines


LONG = [text_report("First."), text_report("\n".join(f"row {n}" for n in range(40)))]
PAGE = """
import asyncio, sys
from tejat.core.ui.report import text_report
from tejat.ui.plain.prompter import PlainPrompter
from tejat.ui.plain.style import Style
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.ui.shared.external.pager import Pager
count = int(sys.argv[1])
user = PlainPrompter(print, Style(sys.stdout), ExternalEditor(), Pager())
print("paged:", asyncio.run(user.page([text_report("First."), text_report("x" * count)])))
"""


class TestPage:
    def test_without_a_pager_all_lines_are_written(self) -> None:
        is_paged, lines = asked(b"", lambda user: user.page(LONG))
        assert not is_paged
        assert lines[0] == "First."
        assert lines[1].splitlines()[-1] == "row 39"

    @pytest.mark.parametrize(("characters", "is_paged"), [(40 * 12, False), (40 * 13 + 1, True)])
    def test_wrapped_rows_count(self, tmp_path: Path, characters: int, is_paged: bool) -> None:
        """24 rows less 9 for the question: the first line, a blank one, and 13 rows."""
        pager = write_script(tmp_path / "pager", "echo in the pager")
        words = ("-c", PAGE, str(characters))
        with open_screen(*words, program=(sys.executable,), columns=40, PAGER=pager) as user:
            user.wait_for(f"paged: {is_paged}")
            assert ("in the pager" in user.text) == is_paged
            assert ("First." in user.text) != is_paged


class TestShow:
    def test_every_kind_of_block(self) -> None:
        report = Report(
            "Title",
            (
                Paragraph("Some\nwords", Tone.BAD),
                ReportTable((("a", "1"), ("b", "")), ("Name", "Number")),
                ReportTable((("a", "1", "x"), ("b", "", ""))),
                SourceListing("x = 1", "python"),
                DiffBlock("@@ -1 +1 @@\n-a\n+b\n"),
                MarkdownBlock("# Heading"),
            ),
        )
        assert shown(report) == [
            "Title",
            "Some\nwords",
            "Name: a; Number: 1",
            "Name: b",
            "a: 1, x",
            "b",
            "x = 1",
            "1 - a",
            "1 + b",
            "# Heading",
        ]

    def test_hostile_text(self) -> None:
        hostile = "a\x1b[2J\u202e"
        blocks = (
            Paragraph(hostile),
            ReportTable(((hostile,),), (hostile,)),
            SourceListing(hostile),
            DiffBlock(hostile),
            MarkdownBlock(hostile),
        )
        assert all(line.isprintable() and "<U+001B>" in line for line in shown(Report(hostile, blocks)))


class TestChoose:
    @pytest.mark.parametrize(
        ("keys", "place"),
        [(b"2\n", 1), (b"0\n", None), (b"\n", None), (b"\x04", None), (b"green\n", 1), (b"7\nx\n-1\n1\n", 0)],
    )
    def test_by_number_or_name(self, keys: bytes, place: int | None, capsys: pytest.CaptureFixture[str]) -> None:
        chosen, lines = asked(keys, lambda user: user.choose(COLOURS))
        assert chosen == place
        assert lines[:4] == ["Which colour?", "  1 Red", "  2 Green (as grass)", "  3 Blue<U+001B>[2J"]
        assert lines[4:] == ["Type a number from 0 to 3."] * (keys.count(b"\n") - 1 if len(keys) > 6 else 0)
        assert capsys.readouterr().err.startswith("Your choice, 1 to 3, or 0 to cancel: ")

    def test_what_goes_before(self) -> None:
        choice = Choice("Which?", (Option("A"),), report=text_report("Read this."))
        assert asked(b"1\n", lambda user: user.choose(choice)) == (0, ["Read this.", "Which?", "  1 A"])


class TestEnter:
    @pytest.mark.parametrize(("keys", "text"), [(b"Ada\n", "Ada"), (b"\n", "Bob"), (b"\x04", None), (b" x \n", " x ")])
    def test_a_line(self, keys: bytes, text: str | None, capsys: pytest.CaptureFixture[str]) -> None:
        assert asked(keys, lambda user: user.enter("Your\nname", initial="Bob"))[0] == text
        assert capsys.readouterr().err == "Your name (empty for Bob): "

    def test_a_secret_is_not_echoed(self, capsys: pytest.CaptureFixture[str]) -> None:
        async def ask(user: PlainPrompter, controller: int) -> str | None:
            entering = asyncio.create_task(user.enter("Key", is_secret=True))
            await asyncio.sleep(0)
            assert not termios.tcgetattr(sys.stdin)[3] & termios.ECHO
            os.write(controller, b"hidden\n")
            return await entering

        with typing(b"") as controller:
            before = termios.tcgetattr(sys.stdin)
            user = PlainPrompter(lambda _: None, Style(io.StringIO()), ExternalEditor())
            assert asyncio.run(ask(user, controller)) == "hidden"
            assert termios.tcgetattr(sys.stdin) == before
        assert capsys.readouterr().err == "Key (not shown while you type): "

    def test_the_terminal_is_restored_when_it_is_stopped(self) -> None:
        async def ask(user: PlainPrompter) -> None:
            entering = asyncio.create_task(user.enter("Key", is_secret=True))
            await asyncio.sleep(0)
            entering.cancel()
            await asyncio.wait((entering,))

        with typing(b""):
            before = termios.tcgetattr(sys.stdin)
            asyncio.run(ask(PlainPrompter(lambda _: None, Style(io.StringIO()), ExternalEditor())))
            assert termios.tcgetattr(sys.stdin) == before


def test_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\nprintf new > "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    text, lines = asked(b"", lambda user: user.edit("old"))
    assert (text, lines) == ("new", ["Opening the editor. Save and close it to continue."])


def test_no_way_to_a_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="No clipboard available"):
        asked(b"", lambda user: user.copy("x"))
