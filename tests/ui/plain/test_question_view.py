"""Approval views in plain lines: complete, wrapped, with nothing hidden or faked."""

import io
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.approval.confirmation import (
    ApprovalRequest,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    McpConfirmation,
)
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.ui.plain.question_view import question_lines, wrap_line
from tejat.ui.plain.style import Style
from tejat.ui.shared.approval.display_lines import escape_line
from tejat.ui.shared.approval.view import build_approval_view

PLAIN = Style(io.StringIO())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(confirmation: Confirmation, *, width: int = 60, reason: str = "", note: str = "") -> list[str]:
    question = ApprovalRequest(confirmation, "tool", reason=reason, note=note)
    return question_lines(build_approval_view(question, confirmation), PLAIN, width=width)


def shell(command: str) -> ExecConfirmation:
    return ExecConfirmation("Confirm Shell Command", command, "/w")


def edit(patch: str, path: str = "/w/a") -> EditConfirmation:
    return EditConfirmation("Confirm Write: a", "a", path, patch, None, None)


class TestCommands:
    def test_all_of_it(self) -> None:
        confirmation = ExecConfirmation(
            "Confirm Shell Command",
            "git log |\n  head",
            "/w/sub",
            ("git", "head"),
            "Show the\nlog",
            ("It keeps running in the background.", "It may use the network."),
        )
        assert lines(confirmation, reason="The rule asks.", note="Changed.") == [
            "Run a command in /w/sub",
            "Changed.",
            "Reason: The rule asks.",
            "It keeps running in the background.",
            "It may use the network.",
            "The model says: Show the<U+000A>log",
            "Programs: git, head",
            "$ git log |",
            ">   head",
        ]

    def test_what_stands_behind_a_long_line_is_seen(self) -> None:
        shown = lines(shell(f"true{' ' * 60}{'x' * 3000}; touch MARK"))
        assert shown[0] == "Run a command in /w"
        assert shown[1] == f"$ true{' ' * 54}"
        assert shown[2] == f"| {' ' * 6}{'x' * 52}"
        assert all(line.startswith("| ") for line in shown[2:])
        assert "".join(line[2:] for line in shown[1:]).endswith("x; touch MARK")
        assert max(map(len, shown)) == 60

    def test_every_line_of_a_long_command(self) -> None:
        command = "\n".join([*(f"echo {number}" for number in range(39)), "touch MARK"])
        assert lines(shell(command))[1:] == ["$ echo 0", *(f"> echo {n}" for n in range(1, 39)), "> touch MARK"]

    @pytest.mark.parametrize(
        ("command", "shown"),
        [
            ("echo \x1b[2J\x07", ["$ echo <U+001B>[2J<U+0007>"]),
            ("echo a\rrm -rf b", ["$ echo a<U+000D>rm -rf b"]),
            ("a\u2028b\x85c\x0bd\x0ce", ["$ a<U+2028>b<U+0085>c<U+000B>d<U+000C>e"]),
            ("rm \u202e\u2066x\u200b", ["$ rm <U+202E><U+2066>x<U+200B>"]),
            ("\x9b31m \x9d0;x\x9c", ["$ <U+009B>31m <U+009D>0;x<U+009C>"]),
            ("x\U000e0041\udcff", ["$ x<U+E0041><U+DCFF>"]),
            ("a\n", ["$ a", "> "]),
        ],
    )
    def test_nothing_is_obeyed_or_hidden(self, command: str, shown: list[str]) -> None:
        assert lines(shell(command))[1:] == shown


class TestEdits:
    PATCH = f"Index: a\n{'=' * 67}\n--- a\tCurrent\n+++ a\tProposed\n@@ -1,2 +1,2 @@\n kept \n-old\n+old  \t\n"

    def test_the_path_and_the_diff(self) -> None:
        assert lines(edit(self.PATCH, "/w/deep/\x1b/a")) == [
            "Edit /w/deep/<U+001B>/a +1 -1",
            "1   kept",
            "2 - old",
            "2 + old<U+0020 x 2><U+0009>",
        ]

    def test_blanks_at_the_end_of_changed_lines(self) -> None:
        assert lines(edit("@@ -1,1 +1,2 @@\n-a\n+a \n+\t\t\n"))[1:] == ["1 - a", "1 + a<U+0020>", "2 + <U+0009 x 2>"]

    def test_long_lines_go_on_under_a_mark(self) -> None:
        shown = lines(edit(f"@@ -0,0 +1,1 @@\n+{'x' * 70}\n"), width=40)[1:]
        assert shown == [f"1 + {'x' * 36}", f"| {'x' * 34}"]

    def test_with_colours_lines_fit_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A long line that the terminal wraps could pass for one of ours."""
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("FORCE_COLOR", "3")
        confirmation = edit(f"@@ -0,0 +1,1 @@\n+{'x' * 200}Apply this change?\n")
        coloured = Style(Terminal())
        view = build_approval_view(ApprovalRequest(confirmation, "tool"), confirmation)
        shown = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in question_lines(view, coloured, width=80)]
        assert coloured.is_coloured
        assert max(map(len, shown)) <= 80
        assert all(line[:2] in ("1 ", "  ") for line in shown[1:])

    def test_hostile_sizes_take_no_time(self) -> None:
        started = time.process_time()
        lines(edit("@@ -0,0 +1,50001 @@\n" + f"+{'a' * 2**20}é\n" + "+x\n" * 50_000))
        assert time.process_time() - started < 5


class TestOtherQuestions:
    def test_a_tool_of_a_server(self) -> None:
        confirmation = McpConfirmation("Confirm MCP Tool", "srv", "do_it", "Do it", {"a": ["x\ny\u202e", 1]})
        assert lines(confirmation) == [
            "Call do_it on server srv",
            "Display name: Do it",
            "Arguments:",
            "> {",
            '>   "a": [',
            '>     "x\\ny<U+202E>",',
            ">     1",
            ">   ]",
            "> }",
        ]

    def test_what_a_server_says_stands_before_the_arguments(self) -> None:
        schema: dict[str, JsonValue] = {"properties": {"a": {}}}
        confirmation = McpConfirmation(
            "T", "s", "t", "t", {"a": 1}, tool_description="Does it.", tool_parameter_schema=schema
        )
        assert lines(confirmation)[1:] == [
            "Description from the server:",
            "> Does it.",
            "Parameters:",
            "> {",
            '>  "properties": {',
            '>   "a": {}',
            ">  }",
            "> }",
            "Arguments:",
            "> {",
            '>   "a": 1',
            "> }",
        ]

    @pytest.mark.parametrize("arguments", [None, {}])
    def test_a_tool_without_arguments(self, arguments: dict[str, str] | None) -> None:
        assert lines(McpConfirmation("T", "s", "t", "t", arguments))[1:] == ["No arguments"]


class TestAnyText:
    @given(st.text(max_size=200), st.integers(0, 100))
    @settings(max_examples=200)
    def test_a_command_can_be_read_back_from_what_is_shown(self, command: str, width: int) -> None:
        whole = lines(ExecConfirmation("Title", command, "/w"), width=width)
        shown = whole[next(at for at, line in enumerate(whole) if line.startswith("$ ")) :]
        assert shown[0].startswith("$ ")
        assert {line[:2] for line in shown[1:]} <= {"> ", "| "}
        read = "".join(("\n" if line.startswith("> ") else "") + line[2:] for line in shown)
        assert spelled_out(read) == spelled_out(sanitize_text(command))

    @given(st.text(max_size=100), st.integers(20, 60))
    @settings(max_examples=200)
    def test_pieces_fit_and_lose_nothing(self, text: str, width: int) -> None:
        pieces = list(wrap_line(escape_line(text), width=width, first="F: "))
        assert pieces[0].startswith("F: ")
        assert all(piece.startswith("| ") for piece in pieces[1:])
        assert pieces[0][3:] + "".join(piece[2:] for piece in pieces[1:]) == escape_line(text)
        assert all(len(piece) <= width for piece in pieces)

    def test_wide_letters_take_two_columns_and_tabs_eight(self) -> None:
        assert list(wrap_line("日" * 15, width=20)) == ["日" * 10, "| " + "日" * 5]
        assert list(wrap_line("a\tb\tc", width=20)) == ["a\tb\tc"]
        assert list(wrap_line("a\tb\tc\td", width=20)) == ["a\tb\tc", "| \td"]


def spelled_out(shown: str) -> str:
    """With the characters themselves where they are written as `<U+XXXX>`: which blanks are is not the point here."""
    return re.sub("<U\\+([0-9A-F]{4,6})>", lambda found: chr(int(found[1], 16)), shown)
