"""`list_directory`: listings, ignored files, confinement, several roots, failures."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tool_results import failed_result, unprivileged_user
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolError, ToolLocation, ToolResult, validate_and_execute
from tejat.tools import list_directory
from tejat.tools.list_directory import LSTool
from tejat.workspace.context import Workspace


@pytest.fixture
def tool(root: Path) -> Iterator[LSTool]:
    with Workspace([root]) as workspace:
        yield LSTool(workspace)


def call(tool: LSTool, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, params))


def outside(path: str, *roots: Path) -> ToolResult:
    return failed_result(
        f'Path not in workspace: Attempted path "{path}" resolves outside the allowed workspace directories: '
        + ", ".join(map(str, roots)),
        ErrorType.PATH_NOT_IN_WORKSPACE,
        "Path not in workspace.",
    )


def make_repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def test_what_it_is(tool: LSTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
        "list_directory",
        "ReadFolder",
        Kind.SEARCH,
        True,
    )
    assert asyncio.run(tool.should_confirm_execute({"path": "."})) is None


class TestListing:
    def test_directories_first_then_alphabetical_whatever_the_case(self, tool: LSTool, root: Path) -> None:
        for name in ("b.txt", "A.txt", "a.txt", "Z"):
            (root / name).touch()
        for name in ("zoo", "Bar", "bar"):
            (root / name).mkdir()
        (root / "zoo" / "not-shown").touch()
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\n[DIR] Bar\n[DIR] bar\n[DIR] zoo\nA.txt\na.txt\nb.txt\nZ",
            "Listed 7 item(s).",
        )

    def test_an_empty_directory(self, tool: LSTool, root: Path) -> None:
        assert call(tool, path=str(root)) == ToolResult(f"Directory {root} is empty.", "Directory is empty.")

    def test_a_directory_of_which_all_is_ignored_is_not_called_empty(self, tool: LSTool, root: Path) -> None:
        make_repository(root)
        (root / "sub").mkdir()
        (root / ".gitignore").write_text("*.log\n")
        (root / "sub" / "a.log").touch()
        (root / "sub" / "b.log").touch()
        assert call(tool, path=str(root / "sub")) == ToolResult(
            f"Directory listing for {root}/sub:\n\n\n(2 git-ignored)", "Listed 0 item(s). (2 git-ignored)"
        )

    @pytest.mark.parametrize(
        ("ignore", "shown"),
        [
            (["*.log"], ["A.LOG", "a.logs", "b.txt", "xalog"]),
            (["?.log"], ["A.LOG", "a.logs", "aa.log", "b.txt", "xalog"]),
            (["a.log", "b*"], ["A.LOG", "a.logs", "aa.log", "xalog"]),
            (
                ["[ab].log", "{a,b}.log", "root/a.log", "/a.log"],
                ["A.LOG", "a.log", "a.logs", "aa.log", "b.txt", "xalog"],
            ),
            (["*"], []),
            ([], ["A.LOG", "a.log", "a.logs", "aa.log", "b.txt", "xalog"]),
        ],
    )
    def test_names_left_out(self, tool: LSTool, root: Path, ignore: list[str], shown: list[str]) -> None:
        for name in ("a.log", "aa.log", "A.LOG", "a.logs", "xalog", "b.txt"):
            (root / name).touch()
        assert call(tool, path=str(root), ignore=ignore) == ToolResult(
            f"Directory listing for {root}:\n" + "\n".join(sorted(shown, key=lambda name: (name.casefold(), name))),
            f"Listed {len(shown)} item(s).",
        )

    def test_what_was_left_out_by_name_does_not_count_as_ignored(self, tool: LSTool, root: Path) -> None:
        (root / ".geminiignore").write_text("*.log\n")
        (root / "a.log").touch()
        (root / "b.log").touch()
        assert call(tool, path=str(root), ignore=["a.*"]) == ToolResult(
            f"Directory listing for {root}:\n.geminiignore\n\n(1 gemini-ignored)",
            "Listed 1 item(s). (1 gemini-ignored)",
        )

    def test_a_wildcard_matches_newlines_too(self, tool: LSTool, root: Path) -> None:
        (root / "a\nb.log").touch()
        (root / "c").touch()
        assert call(tool, path=str(root), ignore=["a*.log"]).llm_content == f"Directory listing for {root}:\nc"

    @pytest.mark.parametrize(
        "params",
        [
            {"respect_git_ignore": False},
            {"file_filtering_options": {"respect_git_ignore": False}},
            {"file_filtering_options": {"respect_git_ignore": False, "respect_gemini_ignore": True}},
        ],
    )
    def test_git_ignored_entries_on_demand(self, tool: LSTool, root: Path, params: dict[str, object]) -> None:
        make_repository(root)
        (root / ".gitignore").write_text("*.log\nbuild/\n")
        (root / "a.log").touch()
        (root / "build").mkdir()
        hidden = f"Directory listing for {root}:\n.gitignore\n\n(3 git-ignored)"
        assert call(tool, path=str(root)) == ToolResult(hidden, "Listed 1 item(s). (3 git-ignored)")
        assert call(tool, path=str(root), **params) == ToolResult(
            f"Directory listing for {root}:\n[DIR] .git\n[DIR] build\n.gitignore\na.log", "Listed 4 item(s)."
        )

    def test_without_a_repository_git_ignores_nothing(self, tool: LSTool, root: Path) -> None:
        (root / ".gitignore").write_text("*.log\n")
        (root / "a.log").touch()
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\n.gitignore\na.log", "Listed 2 item(s)."
        )

    def test_both_kinds_are_counted_apart(self, tool: LSTool, root: Path) -> None:
        make_repository(root)
        (root / ".gitignore").write_text("*.log\n")
        (root / ".geminiignore").write_text("*.key\n")
        for name in ("a.log", "a.key", "b.key", "c"):
            (root / name).touch()
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\n.geminiignore\n.gitignore\nc\n\n(2 git-ignored, 2 gemini-ignored)",
            "Listed 3 item(s). (2 git-ignored, 2 gemini-ignored)",
        )
        shown = call(tool, path=str(root), file_filtering_options={"respect_gemini_ignore": False})
        assert shown == ToolResult(
            f"Directory listing for {root}:\n.geminiignore\n.gitignore\na.key\nb.key\nc\n\n(2 git-ignored)",
            "Listed 5 item(s). (2 git-ignored)",
        )

    def test_links(self, tool: LSTool, root: Path) -> None:
        (root / "directory").mkdir()
        (root / "file").touch()
        (root / "broken").symlink_to("nowhere")
        (root / "loop").symlink_to("loop")
        (root / "to-directory").symlink_to("directory")
        (root / "to-file").symlink_to("file")
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\n[DIR] directory\n[DIR] to-directory\nfile\nto-file", "Listed 4 item(s)."
        )

    def test_special_files_are_named_and_never_opened(self, tool: LSTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        assert call(tool, path=str(root)) == ToolResult(f"Directory listing for {root}:\nfifo", "Listed 1 item(s).")

    def test_names_are_given_intact(self, tool: LSTool, root: Path) -> None:
        names = ["with space", ".hidden", "naïve", "日本", "line\nbreak", "a%41.txt", "-rf", "\x1b[31m"]
        for name in names:
            (root / name).touch()
        result = call(tool, path=str(root))
        ordered = sorted(names, key=lambda name: (name.casefold(), name))
        assert result == ToolResult(f"Directory listing for {root}:\n" + "\n".join(ordered), "Listed 8 item(s).")

    def test_a_name_that_is_no_utf8(self, tool: LSTool, root: Path) -> None:
        with open(os.fsencode(root) + b"/caf\xe9", "wb"):
            pass
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\ncaf\udce9", "Listed 1 item(s)."
        )

    def test_more_entries_than_are_shown(self, tool: LSTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(list_directory, "MAX_ENTRIES", 2)
        for name in "abcde":
            (root / name).touch()
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\na\nb\n\n(3 more entries are not shown: use glob to find files by name)",
            "Listed 5 item(s).",
        )

    def test_ten_thousand_entries(self, tool: LSTool, root: Path) -> None:
        names = [f"f{index:05}" for index in range(10_000)]
        for name in names:
            os.close(os.open(root / name, os.O_CREAT | os.O_WRONLY))
        assert call(tool, path=str(root)) == ToolResult(
            f"Directory listing for {root}:\n" + "\n".join(names), "Listed 10000 item(s)."
        )


class TestNaming:
    @pytest.mark.parametrize("name", ["path", "dir_path"])
    def test_every_name_the_parameter_ever_had(self, tool: LSTool, root: Path, name: str) -> None:
        (root / "a").touch()
        expected = ToolResult(f"Directory listing for {root}:\na", "Listed 1 item(s).")
        assert call(tool, **{name: str(root)}) == expected
        assert call(tool, **{name: str(root), "unknown": 1}) == expected

    @pytest.mark.parametrize("path", ["sub", "./sub", "sub/", "sub/../sub", "@sub"])
    def test_a_relative_path_is_in_the_root(
        self, tool: LSTool, root: Path, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "a").touch()
        monkeypatch.chdir(tmp_path)
        assert call(tool, path=path) == ToolResult(f"Directory listing for {root}/sub:\na", "Listed 1 item(s).")

    def test_a_second_workspace_directory(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        (other / "only-here").mkdir(parents=True)
        (other / "only-here" / "f").touch()
        with Workspace([root, other]) as workspace:
            tool = LSTool(workspace)
            expected = ToolResult(f"Directory listing for {other}/only-here:\nf", "Listed 1 item(s).")
            assert call(tool, path=str(other / "only-here")) == expected
            assert call(tool, path="only-here") == expected
            assert call(tool, path=str(tmp_path)) == outside(str(tmp_path), root, other)

    def test_a_root_that_was_given_through_a_link_keeps_its_spelling(self, root: Path, tmp_path: Path) -> None:
        (root / "a").touch()
        (tmp_path / "link").symlink_to(root)
        with Workspace([tmp_path / "link"]) as workspace:
            tool = LSTool(workspace)
            expected = ToolResult(f"Directory listing for {tmp_path}/link:\na", "Listed 1 item(s).")
            assert call(tool, path=str(tmp_path / "link")) == expected
            assert call(tool, path=str(root)) == expected

    def test_the_description(self, tool: LSTool, root: Path) -> None:
        deep = "very/deep/nested/dir/with/names/that/are/long"
        assert tool.get_description({"path": str(root)}) == "."
        assert tool.get_description({"path": "sub"}) == "sub"
        assert tool.get_description({"dir_path": deep}) == "very/.../with/names/that/are/long"
        assert tool.get_description({}) == "Model did not provide valid parameters for list directory tool"

    def test_the_location(self, tool: LSTool, root: Path) -> None:
        assert tool.tool_locations({"path": "sub"}) == [ToolLocation(str(root / "sub"))]
        assert tool.tool_locations({}) == []

    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({}, "params must have required property 'path'"),
            ({"path": 1}, "params/path must be string"),
            ({"path": None}, "params/path must be string"),
            ({"path": ".", "ignore": "*.log"}, "params/ignore must be array"),
            ({"path": ".", "ignore": [1]}, "params/ignore/0 must be string"),
            ({"path": ".", "respect_git_ignore": "no"}, "params/respect_git_ignore must be boolean"),
        ],
    )
    def test_bad_parameters(self, tool: LSTool, params: dict[str, object], reason: str) -> None:
        assert call(tool, **params) == ToolResult(
            f"Error: Invalid parameters provided. Reason: {reason}",
            reason,
            ToolError(reason, ErrorType.INVALID_TOOL_PARAMS),
        )


class TestFailing:
    def test_a_file_is_no_directory(self, tool: LSTool, root: Path) -> None:
        (root / "f").touch()
        for path in (root / "f", root / "f" / "below"):
            assert call(tool, path=str(path)) == failed_result(
                f"Error: Path is not a directory: {path}",
                ErrorType.PATH_IS_NOT_A_DIRECTORY,
                "Error: Path is not a directory.",
            )

    def test_what_does_not_exist(self, tool: LSTool, root: Path) -> None:
        assert call(tool, path=str(root / "none")) == failed_result(
            f"Error: Directory not found or inaccessible: {root}/none",
            ErrorType.FILE_NOT_FOUND,
            "Error: Failed to list directory.",
        )

    def test_a_directory_that_may_not_be_read(self, tool: LSTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        (root / "secret").mkdir(mode=0o700)
        os.chmod(root / "secret", 0)
        with unprivileged_user():
            result = call(tool, path=str(root / "secret"))
        os.chmod(root / "secret", 0o700)
        assert result == failed_result(
            f"Error listing directory: Permission denied: {root}/secret",
            ErrorType.LS_EXECUTION_ERROR,
            "Error: Failed to list directory.",
        )

    def test_an_error_of_the_disk_while_reading(
        self, tool: LSTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "scandir", fail)
        assert call(tool, path=str(root)) == failed_result(
            f"Error listing directory: Input/output error: {root}",
            ErrorType.LS_EXECUTION_ERROR,
            "Error: Failed to list directory.",
        )

    @pytest.mark.parametrize(
        "path", ["../outside", "{root}/../outside", "/", "/etc", "{root}-evil", "{root}x", "..", ""]
    )
    def test_paths_that_lie_outside(self, tool: LSTool, root: Path, path: str) -> None:
        for name in ("outside", "root-evil", "rootx"):
            (root.parent / name).mkdir()
        (root / "here").touch()
        path = path.format(root=root)
        if not path:
            assert call(tool, path=path).llm_content == f"Directory listing for {root}:\nhere"
        else:
            assert call(tool, path=path) == outside(path, root)

    def test_links_that_lead_out_are_refused_and_links_inside_followed(self, tool: LSTool, root: Path) -> None:
        outer = root.parent / "outer"
        (outer / "inner").mkdir(parents=True)
        (outer / "MARK").touch()
        (root / "in").mkdir()
        (root / "in" / "f").touch()
        (root / "out").symlink_to(outer)
        (root / "magic").symlink_to("/proc/self/root")
        (root / "absolute").symlink_to(root / "in")
        for path in ("out", "out/inner", "magic"):
            assert call(tool, path=path) == outside(str(root / path), root)
        assert call(tool, path="absolute") == ToolResult(
            f"Directory listing for {root}/absolute:\nf", "Listed 1 item(s)."
        )

    def test_special_files_are_answered_at_once(self, tool: LSTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        started = time.monotonic()
        assert call(tool, path="fifo") == failed_result(
            f"Error: Path is not a directory: {root}/fifo",
            ErrorType.PATH_IS_NOT_A_DIRECTORY,
            "Error: Path is not a directory.",
        )
        assert time.monotonic() - started < 20

    def test_long_and_deep_paths(self, tool: LSTool, root: Path) -> None:
        shown = "Path is too long (at most 4096 bytes, 255 per name): "
        for path in ("n" * 300, "d/" * 2500):
            reason = f"{shown}{path[:60]}..."
            assert call(tool, path=path) == ToolResult(
                f"Error: Invalid parameters provided. Reason: {reason}",
                reason,
                ToolError(reason, ErrorType.INVALID_TOOL_PARAMS),
            )
        deep = root / Path(*["d"] * 200)
        deep.mkdir(parents=True)
        (deep / "bottom").touch()
        assert call(tool, path=str(deep)).llm_content == f"Directory listing for {deep}:\nbottom"

    def test_a_cancelled_listing_ends_promptly(self, tool: LSTool, root: Path) -> None:
        for index in range(20_000):
            os.close(os.open(root / f"f{index}", os.O_CREAT | os.O_WRONLY))

        async def cancel() -> float:
            task = asyncio.create_task(validate_and_execute(tool, {"path": str(root)}))
            await asyncio.sleep(0.002)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - started

        assert asyncio.run(cancel()) < 1
