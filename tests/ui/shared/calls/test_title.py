"""Titles of tool calls."""

import pytest

from tejat.core.messages.types import FunctionCall
from tejat.ui.shared.calls.title import TitleForm, call_title, has_wording, tool_label


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("read_file", {"path": "/w/src/a.py"}, "Read src/a.py"),
        ("read_file", {"absolute_path": "/w/a.py", "offset": 0, "limit": 40}, "Read a.py (lines 1-40)"),
        ("read_file", {"file_path": "/w/a.py", "start_line": 3, "end_line": 9}, "Read a.py (lines 3-9)"),
        ("read_file", {"path": "/w/a.py", "offset": 10}, "Read a.py (from line 11)"),
        ("read_file", {"path": "/w2/a.py"}, "Read /w2/a.py"),
        ("write_file", {"file_path": "/w/a.py", "content": "x" * 999}, "Edited a.py"),
        ("replace", {"file_path": "a.py"}, "Edited a.py"),
        ("run_shell_command", {"command": "git log"}, "Ran git log"),
        ("run_shell_command", {"command": "git log", "directory": "/w"}, "Ran git log"),
        ("run_shell_command", {"command": "a\nb\nc\n", "directory": "/w/sub"}, "Ran a (and 2 more lines) (in sub)"),
        ("run_shell_command", {"command": "serve", "is_background": True}, "Started serve in the background"),
        ("glob", {"pattern": "**/*.py"}, 'Found files "**/*.py"'),
        ("glob", {"pattern": "*.py", "path": "/w/src"}, 'Found files "*.py" in src'),
        ("search_file_content", {"pattern": "x", "path": "/w/src", "include": "*.py"}, 'Searched "x" in src *.py'),
        ("search_file_content", {"pattern": "x", "path": "/w"}, 'Searched "x"'),
        ("grep_search", {"pattern": "x"}, 'Searched "x"'),
        ("list_directory", {"path": "/w"}, "Listed ."),
        ("list_directory", {"dir_path": "/w/"}, "Listed ."),
        ("list_directory", {}, "Listed ."),
        ("read_many_files", {"paths": ["/w/a", "b/**"]}, "Read a, b/**"),
        ("read_many_files", {"include": "a"}, "Read a"),
        (
            "web_fetch",
            {"prompt": "see https://a.example/x, and (https://b.example)."},
            "Fetched https://a.example/x, https://b.example",
        ),
        ("web_fetch", {"prompt": "nothing"}, "Fetched nothing"),
        ("google_web_search", {"query": "tea"}, 'Searched the web for "tea"'),
        ("save_memory", {"fact": "Likes tea."}, 'Remembered "Likes tea."'),
        ("list_background_processes", {}, "Listed background processes"),
        ("read_background_output", {"pid": 7}, "Read the output of process 7"),
        ("stop_background_process", {"pid": 7}, "Stopped process 7"),
        ("find_tools", {"query": "issues", "names": ["a", "b"]}, 'Searched the tools for "issues, a, b"'),
        ("github__create", {"title": "x", "labels": ["a"]}, 'Called github/create title="x", labels=["a"]'),
        ("github__create", {"body": "y" * 100}, f'Called github/create body="{"y" * 59}...'),
        ("nothing", {}, "Called nothing"),
    ],
)
def test_each_tool(name: str, args: dict[str, object], expected: str) -> None:
    assert str(call_title(FunctionCall(name, args), TitleForm.DONE, folder="/w")) == expected


@pytest.mark.parametrize(
    ("name", "args", "running", "planned"),
    [
        ("run_shell_command", {"command": "make"}, "Running make", "Run make"),
        ("read_file", {"path": "a"}, "Reading a", "Read a"),
        ("write_file", {"file_path": "a"}, "Writing a", "Write a"),
        ("replace", {"file_path": "a"}, "Editing a", "Edit a"),
        ("github__create", {}, "Calling github/create", "Call github/create"),
        (
            "run_shell_command",
            {"command": "x", "is_background": True},
            "Starting x in the background",
            "Start x in the background",
        ),
    ],
)
def test_forms(name: str, args: dict[str, object], running: str, planned: str) -> None:
    call = FunctionCall(name, args)
    assert str(call_title(call, TitleForm.RUNNING)) == running
    assert str(call_title(call, TitleForm.PLANNED)) == planned


def test_a_new_file_is_created() -> None:
    call = FunctionCall("write_file", {"file_path": "a"})
    assert str(call_title(call, TitleForm.DONE, creates_file=True)) == "Created a"
    assert str(call_title(call, TitleForm.PLANNED, creates_file=True)) == "Create a"


def test_an_existing_file_is_edited() -> None:
    call = FunctionCall("write_file", {"file_path": "a"})
    assert str(call_title(call, TitleForm.DONE, creates_file=False)) == "Edited a"
    assert str(call_title(call, TitleForm.PLANNED, creates_file=False)) == "Edit a"
    memory = FunctionCall("save_memory", {"fact": "a"})
    assert str(call_title(memory, TitleForm.PLANNED, creates_file=False)) == 'Remember "a"'


@pytest.mark.parametrize(
    "name",
    ["read_file", "run_shell_command", "glob", "read_many_files", "list_directory", "web_fetch", "find_tools", "other"],
)
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"path": None, "command": None, "pattern": None, "paths": None},
        {
            "path": 7,
            "command": ["ls"],
            "pattern": {"a": 1},
            "paths": 3,
            "offset": "x",
            "limit": float("inf"),
            "prompt": 1,
        },
        {"path": "\x1b[2J\n", "command": "\n\n", "pattern": "\x00", "paths": ["\x1b"], "names": [None, "\x1b"]},
    ],
)
@pytest.mark.parametrize("form", TitleForm)
def test_whatever_a_model_sends_is_one_safe_line(name: str, args: dict[str, object], form: TitleForm) -> None:
    assert str(call_title(FunctionCall(name, args), form)).isprintable()


def test_the_tool_of_a_server_is_named_with_it() -> None:
    assert tool_label(FunctionCall("github__create__issue", {})) == "github/create__issue"
    assert tool_label(FunctionCall("__x", {})) == "__x"
    assert tool_label(FunctionCall(" \n", {})) == "(no name)"


@pytest.mark.parametrize(
    ("name", "expected"), [("run_shell_command", True), ("read_file", True), ("github__search", False), ("x", False)]
)
def test_tools_with_a_wording_of_their_own(name: str, expected: bool) -> None:
    assert has_wording(FunctionCall(name, {})) is expected
