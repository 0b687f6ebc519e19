"""What a call is about, in one line."""

import pytest

from tejat.core.messages.types import FunctionCall
from tejat.ui.shared.call_summary import summarize_arguments, summarize_line, tool_label


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("read_file", {"path": "/w/src/a.py"}, "src/a.py"),
        ("read_file", {"absolute_path": "/w/a.py", "offset": 0, "limit": 40}, "a.py lines 1-40"),
        ("read_file", {"file_path": "/w/a.py", "start_line": 3, "end_line": 9}, "a.py lines 3-9"),
        ("read_file", {"path": "/w/a.py", "offset": 10}, "a.py from line 11"),
        ("read_file", {"path": "/w2/a.py"}, "/w2/a.py"),
        ("write_file", {"file_path": "/w/a.py", "content": "x" * 999}, "a.py"),
        ("replace", {"file_path": "a.py"}, "a.py"),
        ("run_shell_command", {"command": "git log"}, "git log"),
        ("run_shell_command", {"command": "a\nb\nc\n", "directory": "/w/sub"}, "a (and 2 more lines) [in sub]"),
        ("run_shell_command", {"command": "serve", "is_background": True}, "serve [in the background]"),
        ("glob", {"pattern": "**/*.py"}, "**/*.py"),
        ("search_file_content", {"pattern": "x", "path": "/w/src", "include": "*.py"}, "x in src *.py"),
        ("list_directory", {"path": "/w"}, "."),
        ("list_directory", {"dir_path": "/w/"}, "."),
        ("read_many_files", {"paths": ["a", "b/**"]}, "a, b/**"),
        ("read_many_files", {"include": "a"}, "a"),
        ("web_fetch", {"prompt": "see https://a.example"}, "see https://a.example"),
        ("google_web_search", {"query": "tea"}, "tea"),
        ("save_memory", {"fact": "Likes tea."}, "Likes tea."),
        ("stop_background_process", {"pid": 7}, "7"),
        ("github__create", {"title": "x"}, '{"title": "x"}'),
        ("nothing", {}, ""),
    ],
)
def test_each_tool(name: str, args: dict[str, object], expected: str) -> None:
    assert summarize_arguments(FunctionCall(name, args), folder="/w") == expected


@pytest.mark.parametrize("name", ["read_file", "run_shell_command", "glob", "read_many_files", "list_directory"])
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"path": None, "command": None, "pattern": None, "paths": None},
        {"path": 7, "command": ["ls"], "pattern": {"a": 1}, "paths": 3, "offset": "x", "limit": float("inf")},
        {"path": "\x1b[2J\n", "command": "\n\n", "pattern": "\x00", "paths": ["\x1b"]},
    ],
)
def test_whatever_a_model_sends_is_one_safe_line(name: str, args: dict[str, object]) -> None:
    shown = summarize_arguments(FunctionCall(name, args))
    assert not shown or shown.isprintable()


def test_the_tool_of_a_server_is_named_with_it() -> None:
    assert tool_label(FunctionCall("github__create__issue", {})) == "github/create__issue"
    assert tool_label(FunctionCall("__x", {})) == "__x"
    assert tool_label(FunctionCall(" \n", {})) == "(no name)"


def test_one_line() -> None:
    assert summarize_line("\n a\tb \n") == "a b"
    assert summarize_line("a\nb") == "a (and 1 more line)"
    assert summarize_line("x" * 20, limit=10) == "xxxxxxxxxx [...]"
    assert summarize_line(" \n ") == ""
