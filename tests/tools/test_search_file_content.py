"""`search_file_content`: patterns, filters, confinement, several roots, limits, cancellation."""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.tool_results import child_processes, failed_result, invalid_params_result, outside_workspace_result
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolLocation, ToolResult, validate_and_execute
from tejat.tools import search_file_content
from tejat.tools.files.selection import MAX_RESULT_CHARACTERS
from tejat.tools.search_file_content import GrepTool, SearchParams
from tejat.workspace.context import Workspace


@pytest.fixture
def tool(root: Path) -> Iterator[GrepTool]:
    with Workspace([root]) as workspace:
        yield GrepTool(workspace)


def call(tool: GrepTool, pattern: object, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, {"pattern": pattern, **params}))


def found(count: int, about: str, *blocks: str, limited: int | None = None) -> ToolResult:
    note = "" if limited is None else f" (results limited to {limited} matches for performance)"
    return ToolResult(
        f"Found {count} match(es) for pattern {about}{note}:\n---\n"
        + "".join(f"File: {block}\n---\n" for block in blocks)[:-1],
        f"Found {count} match(es)" + ("" if limited is None else " (limited)"),
    )


def nothing(about: str) -> ToolResult:
    return ToolResult(f"No matches found for pattern {about}.", "No matches found")


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


@contextmanager
def ordinary_user() -> Iterator[None]:
    """As someone whom permissions bind, whoever runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    # Not only the effective user: a shell between us and the search would take back what the real one may.
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_what_it_is(tool: GrepTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
        "search_file_content",
        "SearchText",
        Kind.SEARCH,
        True,
    )
    assert asyncio.run(tool.should_confirm_execute({"pattern": "x"})) is None


class TestFinding:
    def test_the_form_of_the_documents(self, tool: GrepTool, root: Path) -> None:
        write(
            root,
            {
                "src/utils.ts": "\n" * 14 + "export function myFunction() {\n" + "\n" * 6 + "  myFunction.call();  \n",
                "src/index.ts": "\n" * 4 + "import { myFunction } from './utils';\n",
                "src/other.js": "myFunction\n",
            },
        )
        assert call(tool, "myFunction", include="*.ts") == ToolResult(
            'Found 3 match(es) for pattern "myFunction" in path "." (filter: "*.ts"):\n'
            "---\n"
            "File: src/index.ts\n"
            "L5: import { myFunction } from './utils';\n"
            "---\n"
            "File: src/utils.ts\n"
            "L15: export function myFunction() {\n"
            "L22:   myFunction.call();\n"
            "---",
            "Found 3 match(es)",
        )

    def test_a_single_match(self, tool: GrepTool, root: Path) -> None:
        write(root, {"a": "x\n"})
        assert call(tool, "x") == found(1, '"x" in path "."', "a\nL1: x")

    @pytest.mark.parametrize(
        ("include", "names"),
        [
            ("*.ts", ["a.ts", "src/b.ts", "src/deep/c.ts"]),
            ("*.{ts,js}", ["a.ts", "d.js", "src/b.ts", "src/deep/c.ts"]),
            ("src/*.ts", ["src/b.ts"]),
            ("src/**/*.ts", ["src/b.ts", "src/deep/c.ts"]),
            ("./src/**", ["src/b.ts", "src/deep/c.ts"]),
            ("*.TS", []),
        ],
    )
    def test_only_some_files(self, tool: GrepTool, root: Path, include: str, names: list[str]) -> None:
        write(root, dict.fromkeys(["a.ts", "d.js", "src/b.ts", "src/deep/c.ts"], "x\n"))
        about = f'"x" in path "." (filter: "{include}")'
        expected = found(len(names), about, *(f"{name}\nL1: x" for name in names)) if names else nothing(about)
        assert call(tool, "x", include=include) == expected
        assert call(tool, "x", include_pattern=include) == expected

    @pytest.mark.parametrize("path", ["src", "./src", "{root}/src"])
    def test_beneath_a_directory(self, tool: GrepTool, root: Path, path: str) -> None:
        write(root, {"a.ts": "x\n", "src/b.ts": "x\n", "src/c.js": "x\n"})
        path = path.format(root=root)
        about = f'"x" in path "{path}" (filter: "*.ts")'
        assert call(tool, "x", path=path, include="*.ts") == found(1, about, "b.ts\nL1: x")
        assert call(tool, "x", dir_path=path, include="*.ts") == found(1, about, "b.ts\nL1: x")

    def test_nothing(self, tool: GrepTool, root: Path) -> None:
        (root / "sub").mkdir()
        assert call(tool, "x") == nothing('"x" in path "."')
        assert call(tool, "x", path="sub", include="*.py") == nothing('"x" in path "sub" (filter: "*.py")')

    @pytest.mark.parametrize(
        ("pattern", "lines"),
        [
            (r"foo\(", [1]),
            (r"\bbar\b", [2]),
            ("foo|bar", [1, 2, 3]),
            ("^b", [2, 3]),
            (r"\d{3}$", [4]),
            ("[é]", [5]),
            (r"a\.b", [6]),
            ("FOO", [1]),
        ],
    )
    def test_expressions(self, tool: GrepTool, root: Path, pattern: str, lines: list[int]) -> None:
        content = ["call foo()", "bar", "bars", "n = 123", "café", "a.b"]
        write(root, {"f": "\n".join(content) + "\n"})
        block = "\n".join(["f", *(f"L{number}: {content[number - 1]}" for number in lines)])
        assert call(tool, pattern) == found(len(lines), f'"{pattern}" in path "."', block)

    def test_plain_text(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "a.b\naxb\nfoo((\n"})
        assert call(tool, "a.b", fixed_strings=True) == found(1, '"a.b" in path "."', "f\nL1: a.b")
        assert call(tool, "foo((", fixed_strings=True) == found(1, '"foo((" in path "."', "f\nL3: foo((")

    def test_upper_and_lower_case(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "Word\nword\nÄrger\n"})
        assert call(tool, "word") == found(2, '"word" in path "."', "f\nL1: Word\nL2: word")
        assert call(tool, "ärger") == found(1, '"ärger" in path "."', "f\nL3: Ärger")
        assert call(tool, "word", case_sensitive=True) == found(1, '"word" in path "."', "f\nL2: word")

    def test_what_is_searched(self, tool: GrepTool, root: Path) -> None:
        hidden = ("node_modules", ".git", "bower_components", ".svn", ".hg")
        write(root, {f"sub/{name}/f": "x\n" for name in hidden} | {".hidden/f": "x\n", "untracked": "x\n"})
        (root / "binary").write_bytes(b"x\n\0\0\0\x01" * 100)
        os.mkfifo(root / "fifo")
        (root / "link").symlink_to("untracked")
        expected = found(2, '"x" in path "."', ".hidden/f\nL1: x", "untracked\nL1: x")
        assert call(tool, "x") == expected
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        assert call(tool, "x") == expected

    def test_files_with_secrets_are_searched_only_by_name(self, tool: GrepTool, root: Path) -> None:
        write(root, dict.fromkeys(["a.txt", ".env", "keys/id_rsa"], "needle\n"))
        assert call(tool, "needle") == found(1, '"needle" in path "."', "a.txt\nL1: needle")
        assert call(tool, "needle", path=".env") == found(1, '"needle" in path ".env"', ".env\nL1: needle")
        note = "(Files that usually hold secrets are left out. To search one, name it with 'path'.)"
        assert note in str(call(tool, "needle", include=".env").llm_content)
        # Whether there is a match must not be told either.
        assert call(tool, "needle", include=".env") == call(tool, "needle", include=".env", names_only=True)
        with_match, without = call(tool, "needle", include=".env"), call(tool, "n00dle", include=".env")
        assert str(with_match.llm_content).replace("needle", "n00dle") == without.llm_content

    def test_ignored_files(self, tool: GrepTool, root: Path) -> None:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        write(root, {".gitignore": "*.log\n", ".geminiignore": "*.bak\n"})
        write(root, dict.fromkeys(["a.log", "a.bak", "a.txt", "node_modules/f"], "needle\n"))
        assert call(tool, "needle") == found(1, '"needle" in path "."', "a.txt\nL1: needle")
        names = ("a.bak", "a.log", "a.txt", "node_modules/f")
        assert call(tool, "needle", no_ignore=True) == found(
            4, '"needle" in path "."', *(f"{name}\nL1: needle" for name in names)
        )

    def test_an_unreadable_file_does_no_harm(self, tool: GrepTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        write(root, {"a": "x\n", "secret": "x\n"})
        (root / "secret").chmod(0)
        with ordinary_user():
            result = call(tool, "x")
        assert result == found(1, '"x" in path "."', "a\nL1: x")

    def test_unusual_names(self, tool: GrepTool, root: Path) -> None:
        names = ["..name", "a:1:b", "-rf", "with space", "日本", "line\nbreak"]
        write(root, dict.fromkeys(names, "x\n"))
        with open(os.fsencode(root) + b"/caf\xe9", "wb") as file:
            file.write(b"x\n")
        ordered = sorted([*names, "caf\udce9"], key=os.fsencode)
        assert call(tool, "x") == found(7, '"x" in path "."', *(f"{name}\nL1: x" for name in ordered))

    @pytest.mark.parametrize("pattern", ["-x", "--files", "-e", "--pre=/bin/sh"])
    def test_a_pattern_is_never_an_option(self, tool: GrepTool, root: Path, pattern: str) -> None:
        write(root, {"f": f"{pattern}\n"})
        assert call(tool, pattern) == found(1, f'"{pattern}" in path "."', f"f\nL1: {pattern}")

    def test_line_ends_are_not_shown(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "a x\r\nb\r\nx \t\r\n"})
        assert call(tool, "x") == found(2, '"x" in path "."', "f\nL1: a x\nL3: x")
        assert call(tool, "x$") == found(1, '"x$" in path "."', "f\nL1: a x")

    def test_old_encodings_are_searched_too(self, tool: GrepTool, root: Path) -> None:
        (root / "utf-16").write_bytes("erste Zeile\nÄrger über alles\n".encode("utf-16"))
        text = "これは日本語の文章です。\n二行目には word という単語があります。能力\n三行目は最後の行です。表示\n"
        (root / "shift-jis").write_bytes(text.encode("shift_jis"))
        assert call(tool, "ärger") == found(1, '"ärger" in path "."', "utf-16\nL2: Ärger über alles")
        block = "shift-jis\nL2: 二行目には word という単語があります。能力"
        assert call(tool, "word") == found(1, '"word" in path "."', block)

    def test_a_single_file(self, tool: GrepTool, root: Path) -> None:
        write(root, {"sub/f": "a\nx\nb\n", "sub/g": "x\n", ".gitignore": "sub/\n"})
        assert call(tool, "x", path="sub/f") == found(1, '"x" in path "sub/f"', "f\nL2: x")
        assert call(tool, "x", path="sub/f", context=1) == found(1, '"x" in path "sub/f"', "f\nL1- a\nL2: x\nL3- b")
        assert call(tool, "y", path="sub/f") == nothing('"y" in path "sub/f"')


class TestLimits:
    def test_all_in_all(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "x 1\nx 2\nx 3\n"})
        about = '"x" in path "."'
        assert call(tool, "x", total_max_matches=2) == found(2, about, "f\nL1: x 1\nL2: x 2", limited=2)
        assert call(tool, "x", total_max_matches=3) == found(3, about, "f\nL1: x 1\nL2: x 2\nL3: x 3")
        assert call(tool, "x", path="f", total_max_matches=1) == found(1, '"x" in path "f"', "f\nL1: x 1", limited=1)

    def test_never_more_than_twenty_thousand(self) -> None:
        assert SearchParams("x").limit == SearchParams("x", total_max_matches=10**9).limit == 20_000

    @pytest.mark.parametrize("params", [{}, {"total_max_matches": 10**9}, {"path": "f0"}])
    def test_no_answer_is_longer_than_allowed(self, tool: GrepTool, root: Path, params: dict[str, object]) -> None:
        write(root, {f"f{number}": f"x {'y' * 90}\n" * 1500 for number in range(3)})
        result = call(tool, "x", **params)
        assert isinstance(result.llm_content, str)
        count = result.llm_content.count("\nL")
        assert MAX_RESULT_CHARACTERS - 1000 < len(result.llm_content) < MAX_RESULT_CHARACTERS + 1000
        assert f"Found {count} match(es)" in result.llm_content
        assert f"(results limited to {count} matches for performance)" in result.llm_content
        assert result.llm_content.endswith("or a more exact pattern, or use 'names_only'.)")
        assert result.return_display == f"Found {count} match(es) (limited)"
        assert "L990: x" in result.llm_content
        assert "File: f1" not in result.llm_content

    def test_endless_context_is_cut_after_the_first_match(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "-" * 99 + "\n" + f"{'y' * 100}\n" * 3000 + "x\n" + f"{'y' * 100}\n" * 3000})
        result = call(tool, "x", context=100_000)
        assert isinstance(result.llm_content, str)
        assert "\nL3002: x\n" in result.llm_content
        assert len(result.llm_content) < MAX_RESULT_CHARACTERS + 1000

    def test_names_are_cut_too(self, tool: GrepTool, root: Path) -> None:
        write(root, {f"{number:03}{'n' * 200}": "x\n" for number in range(700)})
        result = call(tool, "x", names_only=True)
        assert isinstance(result.llm_content, str)
        assert MAX_RESULT_CHARACTERS - 1000 < len(result.llm_content) < MAX_RESULT_CHARACTERS + 1000

    def test_many_files_with_a_short_match_each(self, tool: GrepTool, root: Path) -> None:
        write(root, {f"{number:04}": "x\n" for number in range(5000)})
        result = call(tool, "x")
        assert isinstance(result.llm_content, str)
        assert MAX_RESULT_CHARACTERS * 0.8 < len(result.llm_content) < MAX_RESULT_CHARACTERS + 1000

    def test_for_each_file(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "x\nx\n", "g": "x\n"})
        assert call(tool, "x", max_matches_per_file=1) == found(2, '"x" in path "."', "f\nL1: x", "g\nL1: x")

    def test_names_only(self, tool: GrepTool, root: Path) -> None:
        write(root, {"b": "x\nx\n", "a": "x\n", "c": "y\n"})
        assert call(tool, "x", names_only=True) == ToolResult(
            'Found 2 files with matches for pattern "x" in path ".":\na\nb', "Found 2 files with matches"
        )
        assert call(tool, "z", names_only=True) == nothing('"z" in path "."')

    def test_lines_left_out(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "x good\nx bad\nx BAD\n"})
        assert call(tool, "x", exclude_pattern="bad") == found(1, '"x" in path "."', "f\nL1: x good")

    def test_long_lines(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": "x" * 2000 + "\n" + "x" * 2001 + "\n"})
        block = f"f\nL1: {'x' * 2000}\nL2: {'x' * 2000}... [truncated]"
        assert call(tool, "x") == found(2, '"x" in path "."', block)

    @pytest.mark.parametrize(
        ("params", "block"),
        [
            ({}, "f\nL3: x"),
            ({"context": 0}, "f\nL3: x"),
            ({"context": 1}, "f\nL2- 2\nL3: x\nL4- 4"),
            ({"before": 2}, "f\nL1- 1\nL2- 2\nL3: x"),
            ({"after": 9}, "f\nL3: x\nL4- 4\nL5- 5"),
            ({"context": 1, "before": 0}, "f\nL3: x\nL4- 4"),
            ({"context": 10**9}, "f\nL1- 1\nL2- 2\nL3: x\nL4- 4\nL5- 5"),
        ],
    )
    def test_lines_around(self, tool: GrepTool, root: Path, params: dict[str, object], block: str) -> None:
        write(root, {"f": "1\n2\nx\n4\n5\n"})
        assert call(tool, "x", **params) == found(1, '"x" in path "."', block)

    def test_out_of_time(self, tool: GrepTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search_file_content, "TIMEOUT_SECONDS", 0.0)
        write(root, {"f": "x\n"})
        result = call(tool, "y")
        assert result == ToolResult(
            'No matches found for pattern "y" in path ".".\n(Not everything was searched: the search ended after 30 '
            "seconds or had too many files. Narrow it with 'path' or 'include'.)",
            "No matches found",
        )

    def test_a_hostile_file_and_pattern(self, tool: GrepTool, root: Path) -> None:
        write(root, {"f": ("a" * 5000 + "!\n") * 20})
        started = time.monotonic()
        assert call(tool, "(a+)+$") == nothing('"(a+)+$" in path "."')
        assert call(tool, "(a*)*b") == nothing('"(a*)*b" in path "."')
        assert call(tool, "(a+)+$", path="f") == nothing('"(a+)+$" in path "f"')
        assert time.monotonic() - started < 20

    def test_one_line_of_nineteen_megabytes(self, tool: GrepTool, root: Path) -> None:
        (root / "f").write_bytes(b"x" * (19 * 2**20))
        assert call(tool, "x") == found(1, '"x" in path "."', f"f\nL1: {'x' * 2000}... [truncated]")

    def test_a_tebibyte_of_nothing_is_binary(self, tool: GrepTool, root: Path) -> None:
        (root / "f").touch()
        os.truncate(root / "f", 2**40)
        write(root, {"g": "x\n"})
        started = time.monotonic()
        assert call(tool, "x") == found(1, '"x" in path "."', "g\nL1: x")
        assert call(tool, "x", path="f") == nothing('"x" in path "f"')
        assert time.monotonic() - started < 20


class TestRoots:
    def test_files_are_named_with_their_directory(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        write(root, {"a": "x\n"})
        write(other, {"b": "x\nx\n", "sub/c": "x\n"})
        with Workspace([root, other]) as workspace:
            tool = GrepTool(workspace)
            about = '"x" across 2 workspace directories'
            assert call(tool, "x") == found(4, about, "root/a\nL1: x", "other/b\nL1: x\nL2: x", "other/sub/c\nL1: x")
            assert call(tool, "y", include="*.py") == nothing('"y" across 2 workspace directories (filter: "*.py")')
            assert call(tool, "x", names_only=True) == ToolResult(
                f"Found 3 files with matches for pattern {about}:\nroot/a\nother/b\nother/sub/c",
                "Found 3 files with matches",
            )
            assert call(tool, "x", path=str(other / "sub")) == found(1, f'"x" in path "{other}/sub"', "c\nL1: x")

    def test_a_limit_is_for_all_of_them(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        write(root, {"a": "x\nx\n"})
        write(other, {"b": "x\n"})
        with Workspace([root, other]) as workspace:
            assert call(GrepTool(workspace), "x", total_max_matches=2) == found(
                2, '"x" across 2 workspace directories', "root/a\nL1: x\nL2: x", limited=2
            )

    def test_a_limit_that_is_just_reached_is_none(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        write(root, {"a": "x\nx\n"})
        write(other, {"b": "y\n"})
        with Workspace([root, other]) as workspace:
            assert call(GrepTool(workspace), "x", total_max_matches=2) == found(
                2, '"x" across 2 workspace directories', "root/a\nL1: x\nL2: x"
            )

    def test_directories_of_one_name(self, root: Path, tmp_path: Path) -> None:
        twin = tmp_path.resolve() / "twin" / "root"
        write(root, {"a": "x\n"})
        write(twin, {"a": "x\n"})
        with Workspace([root, twin]) as workspace:
            assert call(GrepTool(workspace), "x") == found(
                2, '"x" across 2 workspace directories', f"{root}/a\nL1: x", f"{twin}/a\nL1: x"
            )

    def test_a_directory_in_another(self, root: Path) -> None:
        write(root, {"a": "x\n", "sub/b": "x\n"})
        with Workspace([root, root / "sub"]) as workspace:
            assert call(GrepTool(workspace), "x") == found(
                2, '"x" across 2 workspace directories', "root/a\nL1: x", "root/sub/b\nL1: x"
            )

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a": "x\n"})
        (tmp_path / "link").symlink_to(root)
        with Workspace([tmp_path / "link"]) as workspace:
            assert call(GrepTool(workspace), "x") == found(1, '"x" in path "."', "a\nL1: x")


class TestRefusing:
    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({}, "params must have required property 'pattern'"),
            ({"pattern": 1}, "params/pattern must be string"),
            ({"pattern": "x", "context": -1}, "params/context must be >= 0"),
            ({"pattern": "x", "before": "1"}, "params/before must be integer"),
            ({"pattern": "x", "max_matches_per_file": 0}, "max_matches_per_file must be at least 1."),
            ({"pattern": "x", "total_max_matches": 0}, "total_max_matches must be at least 1."),
        ],
    )
    def test_bad_parameters(self, tool: GrepTool, params: dict[str, object], reason: str) -> None:
        assert asyncio.run(validate_and_execute(tool, params)) == invalid_params_result(reason)

    @pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{2,1}", "(?<x"])
    def test_what_is_no_expression(self, tool: GrepTool, pattern: str) -> None:
        for params in ({"pattern": pattern}, {"pattern": "x", "exclude_pattern": pattern}):
            result = asyncio.run(validate_and_execute(tool, params))
            assert result.error is not None
            assert result.error.type is ErrorType.INVALID_TOOL_PARAMS
            start = f"Invalid regular expression pattern provided: {pattern}. Error: "
            assert result.error.message.startswith(start)
            assert result.llm_content == f"Error: Invalid parameters provided. Reason: {result.error.message}"

    def test_a_pattern_of_a_megabyte(self, tool: GrepTool) -> None:
        started = time.monotonic()
        result = call(tool, "a|b" * 350_000)
        assert time.monotonic() - started < 20
        assert result.error is not None
        assert result.error.type is ErrorType.INVALID_TOOL_PARAMS
        assert len(str(result.llm_content)) < 5000

    def test_what_does_not_exist(self, tool: GrepTool, root: Path) -> None:
        assert call(tool, "x", path="none") == failed_result(
            f"Path does not exist: {root}/none", ErrorType.SEARCH_PATH_NOT_FOUND
        )

    @pytest.mark.parametrize("path", ["..", "/", "{root}/../outer", "{root}-evil", "out", "out/sub", "file"])
    def test_what_lies_outside(self, tool: GrepTool, root: Path, path: str) -> None:
        write(root.parent, {"outer/sub/MARK": "x\n", "root-evil/MARK": "x\n"})
        (root / "out").symlink_to(root.parent / "outer")
        (root / "file").symlink_to(root.parent / "outer" / "sub" / "MARK")
        path = path.format(root=root)
        inside = path.startswith(("out", "file"))
        assert call(tool, "x", path=path) == outside_workspace_result(f"{root}/{path}" if inside else path, root)

    @pytest.mark.parametrize("include", ["../**", "/etc/*", "a/../../*"])
    def test_files_that_lie_outside(self, tool: GrepTool, root: Path, include: str) -> None:
        write(root.parent, {"MARK": "x\n"})
        result = call(tool, "x", include=include)
        assert result.error is not None
        assert result.error.type is ErrorType.PATH_NOT_IN_WORKSPACE
        assert "MARK" not in str(result.llm_content)

    def test_links_are_not_followed(self, tool: GrepTool, root: Path) -> None:
        write(root.parent, {"outer/MARK": "x\n"})
        (root / "out").symlink_to(root.parent / "outer")
        (root / "file").symlink_to(root.parent / "outer" / "MARK")
        (root / "loop").symlink_to(".")
        assert call(tool, "x") == nothing('"x" in path "."')

    def test_special_files_are_answered_at_once(self, tool: GrepTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(root / "socket"))
            for name in ("fifo", "socket"):
                started = time.monotonic()
                assert call(tool, "x", path=name) == failed_result(
                    f"A pipe, socket or device, not a regular file: {root}/{name}",
                    ErrorType.SPECIAL_FILE,
                )
                assert time.monotonic() - started < 20

    def test_an_error_of_the_system(self, tool: GrepTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(search_file_content, "search", fail)
        assert call(tool, "x") == failed_result(
            "Error during grep search operation: Input/output error",
            ErrorType.GREP_EXECUTION_ERROR,
            "Error: Input/output error",
        )


class TestNaming:
    @pytest.mark.parametrize(
        ("params", "expected"),
        [
            ({}, "'x'"),
            ({"include": "*.py"}, "'x' in *.py"),
            ({"path": "sub"}, "'x' within sub"),
            ({"path": "sub", "include": "*.py"}, "'x' in *.py within sub"),
            ({"path": "."}, "'x' within ./"),
        ],
    )
    def test_the_description(self, tool: GrepTool, params: dict[str, object], expected: str) -> None:
        assert tool.get_description({"pattern": "x", **params}) == expected

    def test_without_parameters(self, tool: GrepTool) -> None:
        assert tool.get_description({}) == "Model did not provide valid parameters for search tool"

    def test_the_location(self, tool: GrepTool, root: Path) -> None:
        assert tool.tool_locations({"pattern": "x"}) == [ToolLocation(str(root))]
        assert tool.tool_locations({"pattern": "x", "path": "sub"}) == [ToolLocation(f"{root}/sub")]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are counted with the proc file system")
@pytest.mark.parametrize("pattern", ["needle", r"(a)\1needle"])
def test_a_cancelled_search_ends_promptly_and_leaves_no_process(tool: GrepTool, root: Path, pattern: str) -> None:
    (root / "f").write_bytes(b"some text on a line\n" * 1_000_000)
    for number in range(400):
        os.link(root / "f", root / f"f{number}")
    before = child_processes()

    async def cancel(delay: float) -> float:
        params = {"pattern": pattern, "no_ignore": True}
        task = asyncio.create_task(validate_and_execute(tool, params))
        await asyncio.sleep(delay)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    for delay in (0.0, 0.02):
        assert asyncio.run(cancel(delay)) < 1
        assert child_processes() == before
