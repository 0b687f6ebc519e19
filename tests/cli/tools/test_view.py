"""What is printed for people."""

import os
import sys
import termios
from collections.abc import Callable

import pytest

from tejat.cli.tools.view import print_result, print_tools
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import FileData, FunctionResponse, InlineData, PartListUnion, Text
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ToolError, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.tools.registry import ToolEntry


def never() -> BaseTool:
    raise AssertionError("listing a tool loads it")


def entry(name: str, display_name: str, kind: Kind, description: str) -> ToolEntry:
    return ToolEntry(FunctionDeclaration(name, description, {}), display_name, "Tool", kind, ToolSource.BUILT_IN, never)


ENTRIES = [
    entry("glob", "FindFiles", Kind.SEARCH, "Finds files by name. Then sorts them.\nMore is told here."),
    entry("read_file", "ReadFile", Kind.READ, "\nReads a file.\n"),
]


def on_a_terminal(show: Callable[[], None], monkeypatch: pytest.MonkeyPatch, *, columns: int = 100) -> str:
    """What a person sees who has a real terminal as standard output."""
    monkeypatch.setenv("NO_COLOR", "1")
    controller, line = os.openpty()
    termios.tcsetwinsize(line, (24, columns))
    with open(controller, "rb", buffering=0) as reader, open(line, "w", encoding="utf-8") as stream:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            show()
            print("<end>", file=stream, flush=True)
        seen = b""
        while b"<end>" not in seen:
            seen += reader.read(4096)
    return seen.decode().replace("\r\n", "\n").removesuffix("<end>\n")


SUM = "2 tools, about 49 tokens in every request that declares all of them"


class TestTools:
    def test_a_table_of_whole_lines_when_it_goes_to_a_program(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_tools(ENTRIES)
        assert capsys.readouterr().out.splitlines() == [
            "NAME       SHOWN AS   KIND    SOURCE    TOKENS  DESCRIPTION",
            "glob       FindFiles  search  built-in      29  Finds files by name",
            "read_file  ReadFile   read    built-in      20  Reads a file",
            "",
            SUM,
        ]

    def test_lines_are_cut_to_the_width_of_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = on_a_terminal(lambda: print_tools(ENTRIES), monkeypatch, columns=58)
        assert seen.splitlines()[:3] == [
            "NAME       SHOWN AS   KIND    SOURCE    TOKENS  DESCRIPTI…",
            "glob       FindFiles  search  built-in      29  Finds fil…",
            "read_file  ReadFile   read    built-in      20  Reads a f…",
        ]

    def test_no_tools_are_a_table_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_tools([])
        assert capsys.readouterr().out == (
            "NAME  SHOWN AS  KIND  SOURCE  TOKENS  DESCRIPTION\n\n"
            "0 tools, about 0 tokens in every request that declares all of them\n"
        )

    def test_where_each_is_from(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = entry("x", "X", Kind.OTHER, "y" * 8_000)
        print_tools(
            [
                replace(made, source=ToolSource.PYTHON, origin=".gemini/tools/x.py"),
                replace(made, source=ToolSource.DISCOVERED),
                replace(made, source=ToolSource.MCP, server="hub"),
            ]
        )
        _, *rows, _, total = capsys.readouterr().out.splitlines()
        assert [row.rpartition("  ")[0].split("other")[1].strip() for row in rows] == [
            "python: .gemini/tools/x.py   2,014",
            "discovered                   2,014",
            "server hub                   2,014",
        ]
        assert total == "3 tools, about 6,042 tokens in every request that declares all of them"

    def test_what_could_not_be_had_goes_to_standard_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_tools(ENTRIES, ["Server a\x1b is not there."])
        printed = capsys.readouterr()
        assert printed.out.splitlines()[-1] == SUM
        assert printed.err == "tejat: Server a<U+001B> is not there.\n"


class TestResult:
    @pytest.mark.parametrize(
        ("content", "printed"),
        [
            ("text", "text\n"),
            ("text\n", "text\n"),
            ("", "\n"),
            (Text("text"), "text\n"),
            (["a", Text("b\n")], "ab\n"),
            (InlineData("image/png", b"12345"), "[image/png, 5 bytes]\n"),
            (["see:\n", InlineData("image/png", b"12345")], "see:\n[image/png, 5 bytes]\n"),
            (FileData("video/mp4", "gs://a/b"), "[video/mp4, gs://a/b]\n"),
            (FunctionResponse("glob", {}), "[result of glob]\n"),
            ([], "\n"),
        ],
    )
    def test_content_goes_to_standard_output(
        self, content: PartListUnion, printed: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        print_result(ToolResult(content, FileDiff("a", "/a", "+x", is_new_file=True)))
        assert capsys.readouterr() == (printed, "")

    def test_a_terminal_also_gets_the_diff(self, monkeypatch: pytest.MonkeyPatch) -> None:
        diff = "--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1 +1 @@\n-x = 1\n+x = 2 \n"
        seen = on_a_terminal(
            lambda: print_result(ToolResult("Done.", FileDiff("a.py", "/a.py", diff, is_new_file=False))), monkeypatch
        )
        assert seen == "a.py +1 -1\n1 - x = 1\n1 + x = 2<U+0020>\nDone.\n"

    def test_a_program_gets_the_text_untouched(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_result(ToolResult("\x1b[2J\u202e\r"))
        assert capsys.readouterr().out == "\x1b[2J\u202e\r\n"

    def test_a_person_is_shown_what_a_terminal_would_obey(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = on_a_terminal(lambda: print_result(ToolResult("a\x1b[2J\u202eb\nc\n")), monkeypatch)
        assert seen == "a<U+001B>[2J<U+202E>b\nc\n"

    def test_a_failure_goes_to_standard_error_and_is_always_made_visible(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        print_result(ToolResult("no\x1b[2J", "shown", ToolError("no", ErrorType.UNKNOWN)))
        assert capsys.readouterr() == ("", "tejat: no<U+001B>[2J\n")

    def test_where_a_rule_stands_in_the_way_a_person_is_told_more_than_the_model(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        print_result(ToolResult("no", "no, by that rule\x1b", ToolError("no", ErrorType.POLICY_VIOLATION)))
        print_result(ToolResult("no", "", ToolError("no", ErrorType.POLICY_VIOLATION)))
        assert capsys.readouterr() == ("", "tejat: no, by that rule<U+001B>\ntejat: no\n")


def test_names_of_foreign_tools_cannot_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = entry("ev\x1bil", "E\u202e", Kind.OTHER, "Does\x1b[2J things.")
    seen = on_a_terminal(lambda: print_tools([hostile]), monkeypatch)
    assert "\x1b" not in seen
    assert "\u202e" not in seen
