"""`glob`: patterns, ignored files, confinement, expensive patterns, cancellation."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.tool_results import (
    child_processes,
    failed_result,
    invalid_params_result,
    outside_workspace_result,
    unprivileged_user,
)
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolLocation, ToolResult, validate_and_execute
from tejat.tools import glob
from tejat.tools.files.selection import MAX_RESULT_CHARACTERS
from tejat.tools.glob import GlobTool
from tejat.workspace.context import Workspace
from tejat.workspace.paths.file_search import FileSearch

LONG_AGO = 1_000_000_000


@pytest.fixture
def tool(root: Path) -> Iterator[GlobTool]:
    with Workspace([root]) as workspace:
        yield GlobTool(workspace)


def make(root: Path, *names: str) -> None:
    """Files that were all changed long ago, so that they are listed in alphabetical order."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (LONG_AGO, LONG_AGO))


def call(tool: GlobTool, pattern: object, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, {"pattern": pattern, **params}))


def found(pattern: str, where: str, paths: list[str], notes: str = "", left_out: str = "") -> ToolResult:
    return ToolResult(
        f'Found {len(paths)} file(s) matching "{pattern}" {where}{notes}, sorted by modification time (newest first):\n'
        + "\n".join(paths)
        + left_out,
        f"Found {len(paths)} matching file(s)",
    )


def none_found(pattern: str, where: str, notes: str = "") -> ToolResult:
    return ToolResult(f'No files found matching pattern "{pattern}" {where}.{notes}', "No files found")


def test_what_it_is(tool: GlobTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == ("glob", "FindFiles", Kind.SEARCH, True)
    assert asyncio.run(tool.should_confirm_execute({"pattern": "*"})) is None


class TestFinding:
    @pytest.mark.parametrize(
        ("pattern", "names"),
        [
            ("*.py", ["a.py"]),
            ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("src/*", ["src/b.py", "src/b.ts"]),
            ("src/**", ["src/b.py", "src/b.ts", "src/deep/c.py"]),
            ("./src/*.py", ["src/b.py"]),
            ("**/*.{py,ts}", ["a.py", "src/b.py", "src/b.ts", "src/deep/c.py"]),
            ("[ab].*", ["a.py"]),
            ("**/[!a].py", ["src/b.py", "src/deep/c.py"]),
            ("*", [".hidden", "a.py"]),
            ("**/?.ts", ["src/b.ts"]),
            ("src/!(b).*", []),
            ("src/@(b).ts", ["src/b.ts"]),
            ("{root}/src/*.ts", ["src/b.ts"]),
        ],
    )
    def test_patterns(self, tool: GlobTool, root: Path, pattern: str, names: list[str]) -> None:
        make(root, "a.py", ".hidden", "src/b.py", "src/b.ts", "src/deep/c.py")
        pattern = pattern.replace("{root}", str(root))
        expected = [f"{root}/{name}" for name in names]
        where = f"within {root}"
        assert call(tool, pattern) == (found(pattern, where, expected) if names else none_found(pattern, where))

    def test_upper_and_lower_case(self, tool: GlobTool, root: Path) -> None:
        make(root, "a.TXT", "b.txt", "Sub/c.txt")
        assert call(tool, "*.txt") == found("*.txt", f"within {root}", [f"{root}/a.TXT", f"{root}/b.txt"])
        assert call(tool, "sub/*") == found("sub/*", f"within {root}", [f"{root}/Sub/c.txt"])
        assert call(tool, "*.txt", case_sensitive=True) == found("*.txt", f"within {root}", [f"{root}/b.txt"])
        assert call(tool, "sub/*", case_sensitive=True) == none_found("sub/*", f"within {root}")

    @pytest.mark.parametrize("name", ["path", "dir_path"])
    @pytest.mark.parametrize("path", ["sub", "./sub/", "{root}/sub"])
    def test_beneath_a_directory(self, tool: GlobTool, root: Path, name: str, path: str) -> None:
        make(root, "a", "sub/a", "sub/deep/a")
        result = call(tool, "**/a", **{name: path.format(root=root)})
        assert result == found("**/a", f"within {root}/sub", [f"{root}/sub/a", f"{root}/sub/deep/a"])

    def test_nothing(self, tool: GlobTool, root: Path) -> None:
        (root / "sub").mkdir()
        assert call(tool, "*.none") == none_found("*.none", f"within {root}")
        assert call(tool, "*.none", path="sub") == none_found("*.none", f"within {root}/sub")

    def test_the_newest_first_then_the_old_ones_by_name(self, tool: GlobTool, root: Path) -> None:
        now = time.time()
        ages = {
            "b-new": 10,
            "a-newer": 5,
            "z-day": 23 * 3600,
            "c-old": 25 * 3600,
            "a-old": 1000 * 3600,
            "x-future": -50,
        }
        for name, age in ages.items():
            (root / name).touch()
            os.utime(root / name, (now - age, now - age))
        names = ["x-future", "a-newer", "b-new", "z-day", "a-old", "c-old"]
        assert call(tool, "*") == found("*", f"within {root}", [f"{root}/{name}" for name in names])

    def test_what_changed_at_the_same_time_goes_by_name(self, tool: GlobTool, root: Path) -> None:
        now = time.time()
        for name in ("b", "c", "a"):
            (root / name).touch()
            os.utime(root / name, (now, now))
        assert call(tool, "*") == found("*", f"within {root}", [f"{root}/{name}" for name in "abc"])

    def test_what_nobody_means(self, tool: GlobTool, root: Path) -> None:
        hidden = ("node_modules", ".git", "bower_components", ".svn", ".hg")
        make(
            root,
            "a.js",
            ".config/b.js",
            *(f"x/{name}/deep/c.js" for name in hidden),
            *(f"{name}/d.js" for name in hidden),
        )
        expected = found("**/*.js", f"within {root}", [f"{root}/.config/b.js", f"{root}/a.js"])
        assert call(tool, "**/*.js") == expected
        assert call(tool, "**/*.js", respect_git_ignore=False) == expected
        assert call(tool, "node_modules/*.js") == none_found("node_modules/*.js", f"within {root}")

    def test_ignored_files_are_left_out_and_counted(self, tool: GlobTool, root: Path) -> None:
        make(root, "a.txt", "b.log", "c.log", "d.key", "build/e.txt", "other.md")
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        (root / ".gitignore").write_text("*.log\nbuild/\n")
        (root / ".geminiignore").write_text("*.key\n")
        pattern = "**/*.{txt,log,key}"
        where = f"within {root}"
        assert call(tool, pattern) == found(
            pattern,
            where,
            [f"{root}/a.txt"],
            " (3 additional files were git-ignored) (1 additional files were gemini-ignored)",
        )
        for params in ({"respect_git_ignore": False}, {"file_filtering_options": {"respect_git_ignore": False}}):
            assert call(tool, pattern, **params) == found(
                pattern,
                where,
                [f"{root}/{name}" for name in ("a.txt", "b.log", "build/e.txt", "c.log")],
                " (1 additional files were gemini-ignored)",
            )
        assert call(tool, "*.key", respect_gemini_ignore=False) == found("*.key", where, [f"{root}/d.key"])
        assert call(tool, "*.log") == none_found("*.log", where, " (2 files were git-ignored)")
        assert call(tool, "*.key") == none_found("*.key", where, " (1 files were gemini-ignored)")

    @pytest.mark.parametrize(
        "name", ["file[1].txt", "a (copy).txt", "with space", "{a,b}", "back\\slash", "st*r", "[id]/page.tsx", "q?"]
    )
    def test_a_pattern_that_is_the_name_of_a_file(self, tool: GlobTool, root: Path, name: str) -> None:
        make(root, name, "file1.txt", "a", "star", "qq")
        assert call(tool, name) == found(name, f"within {root}", [f"{root}/{name}"])

    def test_files_only_and_no_links(self, tool: GlobTool, root: Path) -> None:
        make(root, "real/f")
        (root / "link").symlink_to("real")
        (root / "real" / "loop").symlink_to("..")
        (root / "to-file").symlink_to("real/f")
        os.mkfifo(root / "real" / "fifo")
        assert call(tool, "**") == found("**", f"within {root}", [f"{root}/real/f"])

    def test_unusual_names(self, tool: GlobTool, root: Path) -> None:
        make(root, "line\nbreak", "日本", "-rf", "\x1b[31m")
        with open(os.fsencode(root) + b"/caf\xe9", "wb"):
            pass
        os.utime(os.fsencode(root) + b"/caf\xe9", (LONG_AGO, LONG_AGO))
        names = sorted(["line\nbreak", "日本", "-rf", "\x1b[31m", "caf\udce9"])
        assert call(tool, "*") == found("*", f"within {root}", [f"{root}/{name}" for name in names])

    def test_a_deep_tree(self, tool: GlobTool, root: Path) -> None:
        deep = "d/" * 200 + "bottom"
        make(root, deep)
        assert call(tool, "**/bottom") == found("**/bottom", f"within {root}", [f"{root}/{deep}"])

    def test_a_directory_that_cannot_be_read_is_told(self, tool: GlobTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        make(root, "a", "secret/b")
        (root / "secret").chmod(0)
        with unprivileged_user():
            result = call(tool, "**")
        (root / "secret").chmod(0o700)
        left_out = "\n(1 directories could not be read.)"
        assert result == found("**", f"within {root}", [f"{root}/a"], left_out=left_out)

    def test_more_files_than_are_looked_at(self, tool: GlobTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(glob, "MAX_FILES", 2)
        make(root, "a", "b", "c")
        result = call(tool, "*")
        assert result.return_display == "Found 2 matching file(s)"
        assert isinstance(result.llm_content, str)
        assert result.llm_content.endswith("\n(The search stopped after 2 files: narrow it with path or pattern.)")

    def test_a_long_answer_is_cut_and_says_so(
        self, tool: GlobTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = time.time()
        for number in range(500):
            path = root / f"f{number:03}"
            path.touch()
            os.utime(path, (now - number, now - number))
        paths = [f"{root}/f{number:03}" for number in range(500)]
        monkeypatch.setattr(glob, "MAX_RESULT_PATHS", 20)
        cut = "\n(Only the first 20 of 500 files are shown: narrow it with path or pattern.)"
        result = call(tool, "*")
        assert isinstance(result.llm_content, str)
        head, _, rest = result.llm_content.partition("\n")
        assert head.startswith('Found 500 file(s) matching "*"')
        assert rest == "\n".join(paths[:20]) + cut
        assert result.return_display == "Found 500 matching file(s)"

    def test_no_answer_is_longer_than_allowed(self, tool: GlobTool, root: Path) -> None:
        name = "x" * 240
        for number in range(500):
            os.close(os.open(root / f"{number:03}{name}", os.O_CREAT | os.O_WRONLY))
        result = call(tool, "*")
        assert isinstance(result.llm_content, str)
        assert MAX_RESULT_CHARACTERS - 1000 < len(result.llm_content) < MAX_RESULT_CHARACTERS + 1000
        assert " of 500 files are shown" in result.llm_content


class TestRoots:
    def test_every_workspace_directory_is_searched(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        make(root, "a")
        make(other, "b", "sub/a")
        with Workspace([root, other]) as workspace:
            tool = GlobTool(workspace)
            across = "across 2 workspace directories"
            assert call(tool, "**") == found("**", across, [f"{other}/b", f"{other}/sub/a", f"{root}/a"])
            assert call(tool, "x") == none_found("x", across)
            assert call(tool, "**", path=str(other)) == found("**", f"within {other}", [f"{other}/b", f"{other}/sub/a"])
            assert call(tool, f"{other}/*") == found(f"{other}/*", across, [f"{other}/b"])

    def test_a_directory_in_another(self, root: Path) -> None:
        make(root, "a", "sub/b")
        with Workspace([root, root / "sub"]) as workspace:
            assert call(GlobTool(workspace), "**") == found(
                "**", "across 2 workspace directories", [f"{root}/a", f"{root}/sub/b"]
            )

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        make(root, "a")
        link = tmp_path / "link"
        link.symlink_to(root)
        with Workspace([link]) as workspace:
            tool = GlobTool(workspace)
            assert call(tool, "*") == found("*", f"within {link}", [f"{link}/a"])
            assert call(tool, f"{root}/*") == found(f"{root}/*", f"within {link}", [f"{link}/a"])


class TestRefusing:
    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({}, "params must have required property 'pattern'"),
            ({"pattern": ""}, "The 'pattern' parameter cannot be empty."),
            ({"pattern": " \t"}, "The 'pattern' parameter cannot be empty."),
            ({"pattern": 1}, "params/pattern must be string"),
            ({"pattern": "*", "path": 1}, "params/path must be string"),
            ({"pattern": "*", "case_sensitive": "yes"}, "params/case_sensitive must be boolean"),
        ],
    )
    def test_bad_parameters(self, tool: GlobTool, params: dict[str, object], reason: str) -> None:
        assert asyncio.run(validate_and_execute(tool, params)) == invalid_params_result(reason)

    def test_what_is_no_directory(self, tool: GlobTool, root: Path) -> None:
        make(root, "f")
        os.mkfifo(root / "fifo")
        for name in ("f", "fifo"):
            started = time.monotonic()
            assert call(tool, "*", path=name) == failed_result(
                f"Search path is not a directory: {root}/{name}", ErrorType.SEARCH_PATH_NOT_A_DIRECTORY
            )
            assert time.monotonic() - started < 20
        assert call(tool, "*", path="none") == failed_result(
            f"Search path does not exist {root}/none", ErrorType.SEARCH_PATH_NOT_FOUND
        )

    def test_a_directory_that_may_not_be_read(self, tool: GlobTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        (root / "secret").mkdir()
        (root / "secret").chmod(0)
        with unprivileged_user():
            result = call(tool, "*", path="secret")
        (root / "secret").chmod(0o700)
        assert result == failed_result(
            f"Error accessing search path: Permission denied: {root}/secret", ErrorType.PERMISSION_DENIED
        )

    @pytest.mark.parametrize("path", ["..", "/", "{root}/../outer", "{root}-evil", "out", "out/sub"])
    def test_directories_that_lie_outside(self, tool: GlobTool, root: Path, path: str) -> None:
        make(root.parent, "outer/sub/MARK", "root-evil/MARK")
        (root / "out").symlink_to(root.parent / "outer")
        path = path.format(root=root)
        assert call(tool, "**", path=path) == outside_workspace_result(
            f"{root}/{path}" if path.startswith("out") else path, root
        )

    @pytest.mark.parametrize(
        "pattern", ["../../**/*", "/etc/*", "{root}/../**", "sub/../../*", "{root}-evil/*", "{a,..}/*"]
    )
    def test_patterns_that_lead_out(self, tool: GlobTool, root: Path, pattern: str) -> None:
        make(root.parent, "MARK", "root-evil/MARK")
        (root / "sub").mkdir()
        result = call(tool, pattern.replace("{root}", str(root)))
        assert result.error is not None
        assert result.error.type is ErrorType.PATH_NOT_IN_WORKSPACE
        assert "MARK" not in str(result.llm_content)

    def test_a_link_does_not_lead_out(self, tool: GlobTool, root: Path) -> None:
        make(root.parent, "outer/MARK")
        (root / "out").symlink_to(root.parent / "outer")
        for pattern in ("**", "out/*", "out/MARK"):
            assert call(tool, pattern) == none_found(pattern, f"within {root}")

    def test_an_ignore_file_does_not_lead_out(self, tool: GlobTool, root: Path) -> None:
        make(root.parent, "MARK")
        make(root, "a")
        (root / ".geminiignore").write_text("!../**\n!/../*\n")
        assert call(tool, "a") == found("a", f"within {root}", [f"{root}/a"])

    @pytest.mark.parametrize("pattern", ["{a,b}" * 25, "{1..1000000}" * 2, "+(" * 2000, "a" * 20_000])
    def test_bombs_are_refused_quickly(self, tool: GlobTool, root: Path, pattern: str) -> None:
        started = time.monotonic()
        result = call(tool, pattern)
        assert time.monotonic() - started < 20
        assert result.error is not None
        assert result.error.type is ErrorType.INVALID_TOOL_PARAMS
        assert len(str(result.llm_content)) < 1000

    @pytest.mark.parametrize(
        "pattern", ["**/" * 30 + "x", "*a" * 30 + "b", "+(a|aa)" * 4 + "b", "**/*a*/**/*a*/**/*a*/*b"]
    )
    def test_costly_patterns_are_answered_quickly(self, tool: GlobTool, root: Path, pattern: str) -> None:
        make(
            root,
            *("/".join(["a" * 40] * depth) + "/end" for depth in range(1, 20, 6)),
            *(f"x{n}/y/{'a' * 60}" for n in range(200)),
        )
        started = time.process_time()
        assert call(tool, pattern) == none_found(pattern, f"within {root}")
        assert time.process_time() - started < 2

    def test_an_error_of_the_system(self, tool: GlobTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(glob, "FileSearch", fail)
        assert call(tool, "*") == failed_result(
            "Error during glob search operation: Input/output error",
            ErrorType.GLOB_EXECUTION_ERROR,
            "Error: An unexpected error occurred.",
        )

    def test_a_file_that_vanishes_during_the_search_is_old(
        self, tool: GlobTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in "ab":
            (root / name).touch()

        class RemovingSearch(FileSearch):
            def __iter__(self) -> Iterator[list[bytes]]:
                for paths in super().__iter__():
                    (root / "a").unlink(missing_ok=True)
                    yield paths

        monkeypatch.setattr(glob, "FileSearch", RemovingSearch)
        assert call(tool, "*") == found("*", f"within {root}", [f"{root}/b", f"{root}/a"])


class TestNaming:
    def test_the_description(self, tool: GlobTool, root: Path) -> None:
        assert tool.get_description({"pattern": "*.py"}) == "'*.py'"
        assert tool.get_description({"pattern": "*.py", "path": "sub"}) == "'*.py' within sub"
        assert tool.get_description({"pattern": "*.py", "path": str(root)}) == "'*.py' within ."
        assert tool.get_description({}) == "Model did not provide valid parameters for glob tool"

    def test_the_location(self, tool: GlobTool, root: Path) -> None:
        assert tool.tool_locations({"pattern": "*"}) == [ToolLocation(str(root))]
        assert tool.tool_locations({"pattern": "*", "path": "sub"}) == [ToolLocation(f"{root}/sub")]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are counted with the proc file system")
def test_a_cancelled_search_ends_promptly_and_leaves_no_process(tool: GlobTool, root: Path) -> None:
    for directory in range(100):
        (root / f"d{directory}").mkdir()
        for number in range(100):
            os.close(os.open(root / f"d{directory}" / f"f{number}.py", os.O_CREAT | os.O_WRONLY))
    before = child_processes()

    async def cancel(delay: float) -> float:
        task = asyncio.create_task(validate_and_execute(tool, {"pattern": "**/*.py"}))
        await asyncio.sleep(delay)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    for delay in (0.0, 0.001):
        assert asyncio.run(cancel(delay)) < 1
        assert child_processes() == before


def test_an_ignore_file_that_is_too_long_is_told(tmp_path: Path) -> None:
    (tmp_path / ".geminiignore").write_text("# a line that says nothing\n" * 50_000 + "*.txt\n")
    (tmp_path / "a.txt").touch()
    with Workspace([tmp_path]) as workspace:
        found = asyncio.run(validate_and_execute(GlobTool(workspace), {"pattern": "*.txt"})).llm_content
    assert found == (
        f'Found 1 file(s) matching "*.txt" within {tmp_path}, sorted by modification time (newest first):\n'
        f"{tmp_path}/a.txt\n({tmp_path}/.geminiignore is too long: only its beginning counts.)"
    )
