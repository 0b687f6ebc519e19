"""Results of successful calls in a few words."""

import pytest

from support.sample_events import call_finished
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.ui.shared.calls.report import build_call_report

TRUNCATED = (
    "[File content truncated: showing lines 1-2000 of 5000 total lines. Use offset/limit parameters to view more.]\n"
)


@pytest.mark.parametrize(
    ("call", "result", "headline", "note"),
    [
        (
            FunctionCall("search_file_content", {"pattern": "x"}),
            ToolResult("", lazy("Found {count} match(es)", count=3)),
            'Searched "x" (3 matches)',
            "",
        ),
        (
            FunctionCall("search_file_content", {"pattern": "7"}),
            ToolResult("", join_lazy("", (lazy("Found {count} match(es)", count=1), lazy(" (limited)")))),
            'Searched "7" (1 match, limited)',
            "",
        ),
        (
            FunctionCall("search_file_content", {"pattern": "x", "names_only": True}),
            ToolResult("", "Found 12 files with matches"),
            'Searched "x" (12 files)',
            "",
        ),
        (
            FunctionCall("grep", {"pattern": "x"}),
            ToolResult("", "No matches found"),
            'Searched "x" (no matches)',
            "",
        ),
        (
            FunctionCall("glob", {"pattern": "**/*.py"}),
            ToolResult("", "Found 12 matching file(s)"),
            'Found files "**/*.py" (12 files)',
            "",
        ),
        (FunctionCall("glob", {"pattern": "x"}), ToolResult("", "No files found"), 'Found files "x" (no files)', ""),
        (
            FunctionCall("list_directory", {"path": "src"}),
            ToolResult("", "Listed 1 item(s). (2 git-ignored)"),
            "Listed src (1 entry)",
            "",
        ),
        (
            FunctionCall("list_directory", {"path": "src"}),
            ToolResult("", "Directory is empty."),
            "Listed src (empty)",
            "",
        ),
        (FunctionCall("read_file", {"path": "a"}), ToolResult("text", ""), "Read a", ""),
        (
            FunctionCall("read_file", {"path": "a", "offset": 0, "limit": 2000}),
            ToolResult(TRUNCATED, "(truncated)"),
            "Read a (lines 1-2000 of 5000)",
            "",
        ),
        (
            FunctionCall("read_file", {"path": "a"}),
            ToolResult("x", "(a hard link to a file of another user)"),
            "Read a (a hard link to a file of another user)",
            "",
        ),
        (
            FunctionCall("read_many_files", {"paths": ["*.py"]}),
            ToolResult("", "### Result (`/w2`)\n\nRead **4 file(s)**.\n\n**Skipped 1 item(s):**"),
            "Read *.py (4 files)",
            "",
        ),
        (
            FunctionCall("read_many_files", {"paths": ["*.py"]}),
            ToolResult("", "### Result (`/w2`)\n\nNo files."),
            "Read *.py (no files)",
            "",
        ),
        (
            FunctionCall("google_web_search", {"query": "tea"}),
            ToolResult("", 'Search results for "tea" returned.'),
            'Searched the web for "tea"',
            "",
        ),
        (
            FunctionCall("google_web_search", {"query": "tea"}),
            ToolResult('No search results or information found for query: "tea"', "No information found."),
            'Searched the web for "tea" (no results)',
            "",
        ),
        (
            FunctionCall("web_fetch", {"prompt": "https://a.example"}),
            ToolResult("", "Content processed from prompt."),
            "Fetched https://a.example",
            "",
        ),
        (
            FunctionCall("run_shell_command", {"command": "npm run dev", "is_background": True}),
            ToolResult("", "Background process started with PID 123."),
            "Started npm run dev in the background (process 123)",
            "",
        ),
        (
            FunctionCall("run_shell_command", {"command": "x", "is_background": True}),
            ToolResult("", "Background process started with PID 123.\nNew files: .git/hooks/x"),
            "Started x in the background",
            "",
        ),
        (FunctionCall("github__star", {}), ToolResult("", "Starred."), "Called github/star", "Starred."),
    ],
)
def test_results(call: FunctionCall, result: ToolResult, headline: str, note: str) -> None:
    report = build_call_report(call_finished(call, result))
    assert (report.headline, report.note) == (headline, note)
