"""`read_many_files`: patterns, excludes, confinement, several roots, limits, cancellation."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.editor_workspace import EditorWorkspace
from support.media_files import png
from support.tool_results import unprivileged_user
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import InlineData, Part
from tejat.core.tools.base import ToolError, ToolResult, validate_and_execute
from tejat.tools import read_many_files
from tejat.tools.files import read_collector
from tejat.tools.read_many_files import ReadManyFilesTool
from tejat.workspace.context import Workspace

PICTURE = png()
END = "\n--- End of content ---"
NOTHING = "No files matching the criteria were found or all were skipped."
ASSET = "asset file (image/pdf) was not explicitly requested by name or extension"
OUTSIDE = "Security: it leads outside the workspace"


@pytest.fixture
def tool(root: Path) -> Iterator[ReadManyFilesTool]:
    with Workspace([root]) as workspace:
        yield ReadManyFilesTool(workspace)


def call(tool: ReadManyFilesTool, *paths: object, **params: object) -> ToolResult:
    given = {"paths": [str(path) for path in paths], **params} if paths else params
    return asyncio.run(validate_and_execute(tool, given))


def block(name: object, content: str) -> str:
    return f"--- {name} ---\n\n{content}\n\n"


def display(root: Path, read: list[str], skipped: list[tuple[str, str]] | None = None) -> str:
    """For at most ten files read and five skipped."""
    lines = [f"### ReadManyFiles Result (Target Dir: `{root}`)\n"]
    if read:
        lines += [f"Successfully read and concatenated content from **{len(read)} file(s)**.\n", "**Processed Files:**"]
        lines += [f"- `{path}`" for path in read]
    else:
        lines.append("No files were read and concatenated based on the criteria.")
    if skipped:
        lines += [f"\n**Skipped {len(skipped)} item(s):**"]
        lines += [f"- `{what}` (Reason: {reason})" for what, reason in skipped]
    return "\n".join(lines)


def result(root: Path, files: dict[str, str | Part], skipped: list[tuple[str, str]] | None = None) -> ToolResult:
    content = [block(name, known) if isinstance(known, str) else known for name, known in files.items()]
    return ToolResult([*content, END] if content else [NOTHING], display(root, list(files), skipped))


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def test_what_it_is(tool: ReadManyFilesTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
        "read_many_files",
        "ReadManyFiles",
        Kind.READ,
        True,
    )
    assert asyncio.run(tool.should_confirm_execute({"paths": ["f"]})) is None


FILES = {"a.txt": "A", "b.md": "B\n", "docs/c.md": "C", "docs/deep/d.md": "D", ".hidden": "H"}


class TestFinding:
    @pytest.mark.parametrize(
        ("paths", "names"),
        [
            (["a.txt"], ["a.txt"]),
            (["docs/c.md", "a.txt"], ["a.txt", "docs/c.md"]),
            (["*.md"], ["b.md"]),
            (["*.MD"], ["b.md"]),
            (["**/*.md"], ["b.md", "docs/c.md", "docs/deep/d.md"]),
            (["docs/**"], ["docs/c.md", "docs/deep/d.md"]),
            (["docs"], ["docs/c.md", "docs/deep/d.md"]),
            (["docs/"], ["docs/c.md", "docs/deep/d.md"]),
            (["{root}/docs"], ["docs/c.md", "docs/deep/d.md"]),
            (["{root}/docs/*.md"], ["docs/c.md"]),
            (["{root}/a.txt"], ["a.txt"]),
            (["./a.txt", "a.txt", "*.txt"], ["a.txt"]),
            (["docs/../a.txt"], None),
            ([".h*"], [".hidden"]),
            (["."], [".hidden", "a.txt", "b.md", "docs/c.md", "docs/deep/d.md"]),
            (["{root}"], [".hidden", "a.txt", "b.md", "docs/c.md", "docs/deep/d.md"]),
        ],
    )
    def test_paths_and_patterns(
        self, tool: ReadManyFilesTool, root: Path, paths: list[str], names: list[str] | None
    ) -> None:
        write(root, FILES)
        given = [path.replace("{root}", str(root)) for path in paths]
        if names is None:
            assert call(tool, *given) == result(root, {}, [(given[0], OUTSIDE)])
        else:
            assert call(tool, *given) == result(root, {name: FILES[name] for name in names})

    def test_include_adds_to_the_paths_and_may_stand_alone(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, FILES)
        assert call(tool, "a.txt", include=["*.md"]) == result(root, {"a.txt": "A", "b.md": "B\n"})
        assert call(tool, include=["*.md"]) == result(root, {"b.md": "B\n"})

    def test_without_reaching_into_subdirectories(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, FILES)
        assert call(tool, "**/*.md", recursive=False) == result(root, {"b.md": "B\n"})
        assert call(tool, "docs/**", recursive=False) == result(root, {"docs/c.md": "C"})
        assert call(tool, "docs", recursive=False) == result(root, {"docs/c.md": "C"})
        assert call(tool, "docs/deep/d.md", recursive=False) == result(root, {"docs/deep/d.md": "D"})

    def test_what_is_left_out(self, tool: ReadManyFilesTool, root: Path) -> None:
        hidden = (
            *("node_modules/f.js", ".git/f.js", "x/.vscode/f.js", ".idea/f.js", "dist/f.js", "build/f.js"),
            *("coverage/f.js", "__pycache__/f.js", "bower_components/f.js", ".svn/f.js", ".hg/f.js"),
            *("x/.env", "GEMINI.md", ".DS_Store"),
        )
        write(root, dict.fromkeys((*hidden, "a.js"), "x"))
        assert call(tool, "**") == result(root, {"a.js": "x"})
        everything = call(tool, "**", useDefaultExcludes=False, respect_git_ignore=False)
        assert isinstance(everything.llm_content, list)
        shown = sorted({*hidden, "a.js"} - {"x/.env"})
        assert everything.llm_content == [*(block(name, "x") for name in shown), END]
        assert "- `x/.env` (Reason: it usually holds secrets and was not requested by name)" in str(
            everything.return_display
        )

    def test_files_with_secrets_only_by_name(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {".env.local": "KEY=x", "a.txt": "A", "keys/id_rsa": "R"})
        found = call(tool, "**", ".env*", "keys", useDefaultExcludes=False)
        assert found.llm_content == [block("a.txt", "A"), END]
        assert call(tool, ".env.local").llm_content == [block(".env.local", "KEY=x"), END]

    def test_its_places_are_what_it_names(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {".env": "KEY=x", "docs/deep/c.md": "C", "[odd].txt": "O"})

        def places(*paths: str) -> list[str]:
            return [location.path for location in tool.tool_locations({"paths": list(paths)})]

        assert places(".env", f"{root}/docs", "[odd].txt") == [f"{root}/.env", f"{root}/docs", f"{root}/[odd].txt"]
        assert places("docs/deep/*.md", "**/*.py", "none") == [f"{root}/docs/deep", str(root)]
        assert places("../x") == []

    @pytest.mark.parametrize("name", [".env", "GEMINI.md", "build/f.js", "a.zip"])
    def test_also_by_name(self, tool: ReadManyFilesTool, root: Path, name: str) -> None:
        write(root, {name: "x"})
        assert call(tool, name) == result(root, {})

    def test_what_the_caller_leaves_out(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, FILES)
        assert call(tool, "**", exclude=["**/*.md", ".hidden"]) == result(root, {"a.txt": "A"})
        assert call(tool, "a.txt", "docs/c.md", exclude=["docs/**"]) == result(root, {"a.txt": "A"})

    def test_what_is_not_there(self, tool: ReadManyFilesTool, root: Path) -> None:
        assert call(tool, "none.txt", "*.none") == ToolResult([NOTHING], display(root, []))

    def test_ignored_files_are_summed_up(self, tool: ReadManyFilesTool, root: Path) -> None:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        write(root, {".gitignore": "*.log\n", ".geminiignore": "*.key\n", "a.txt": "A"})
        write(root, {"a.log": "L", "b.log": "L", "a.key": "K"})
        skipped = [("2 file(s)", "git-ignored"), ("1 file(s)", "gemini-ignored")]
        assert call(tool, "*.*", exclude=[".*"]) == result(root, {"a.txt": "A"}, skipped)
        assert call(tool, "a.log", "b.log", "a.key", "a.txt") == result(root, {"a.txt": "A"}, skipped)
        for params in ({"respect_git_ignore": False}, {"file_filtering_options": {"respect_git_ignore": False}}):
            assert call(tool, "*.log", **params) == result(root, {"a.log": "L", "b.log": "L"})
        assert call(tool, "a.key", respect_gemini_ignore=False) == result(root, {"a.key": "K"})

    @pytest.mark.parametrize(
        "name", ["f[1].txt", "a (copy).txt", "{a,b}", "st*r", "[id]/page.tsx", "line\nbreak", "日本"]
    )
    def test_names_to_the_letter(self, tool: ReadManyFilesTool, root: Path, name: str) -> None:
        write(root, {name: "x", "f1.txt": "no", "a": "no", "star": "no"})
        assert call(tool, name) == result(root, {name: "x"})

    def test_directories_to_the_letter(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {"[id]/f": "x", "i/f": "no", "(group)/f": "y"})
        assert call(tool, "[id]", "(group)") == result(root, {"(group)/f": "y", "[id]/f": "x"})

    def test_a_name_that_is_no_utf8(self, tool: ReadManyFilesTool, root: Path) -> None:
        with open(os.fsencode(root) + b"/caf\xe9", "wb") as file:
            file.write(b"x")
        assert call(tool, "caf*") == result(root, {"caf\udce9": "x"})

    def test_links_are_read_when_they_are_named(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {"a.txt": "A", "secret.key": "K", ".geminiignore": "*.key\n"})
        (root / "link").symlink_to("a.txt")
        (root / "sly").symlink_to("secret.key")
        assert call(tool, "link") == result(root, {"link": "A"})
        assert call(tool, "l*") == result(root, {})
        assert call(tool, "sly") == result(root, {}, [("1 file(s)", "gemini-ignored")])

    def test_a_named_file_costs_no_walk(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise AssertionError("the tree was walked")

        write(root, {"a.txt": "A", "sub/b.txt": "B"})
        monkeypatch.setattr(read_many_files, "FileSearch", fail)
        assert call(tool, "a.txt", root / "sub" / "b.txt") == result(root, {"a.txt": "A", "sub/b.txt": "B"})


class TestReading:
    def test_media_only_when_they_are_asked_for(self, tool: ReadManyFilesTool, root: Path) -> None:
        (root / "logo.png").write_bytes(PICTURE)
        (root / "paper.pdf").write_bytes(b"%PDF-1.4")
        write(root, {"a.txt": "A"})
        image, paper = InlineData("image/png", PICTURE), InlineData("application/pdf", b"%PDF-1.4")
        assert call(tool, "*") == result(root, {"a.txt": "A"}, [("logo.png", ASSET), ("paper.pdf", ASSET)])
        assert call(tool, "*.PNG", "a.txt") == result(root, {"a.txt": "A", "logo.png": image})
        assert call(tool, "logo*", "paper.*") == result(root, {"logo.png": image, "paper.pdf": paper})
        assert call(tool, "logo.png") == result(root, {"logo.png": image})

    def test_binaries_are_named_and_skipped(self, tool: ReadManyFilesTool, root: Path) -> None:
        (root / "f").write_bytes(b"\0\x01\x02" * 100)
        assert call(tool, "f") == result(root, {}, [("f", "binary file")])

    def test_cut_files_say_so(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {"long": "x\n" * 2001, "wide": "x" * 2001, "short": "x"})
        warning = (
            "[WARNING: This file was truncated. To view the full content, use the 'read_file' tool on this specific "
            "file.]\n\n"
        )
        assert call(tool, "*") == result(
            root,
            {
                "long": f"{warning}[File content truncated: showing lines 1-2000 of 2002 total lines. "
                "Use offset/limit parameters to view more.]\n" + "\n".join(["x"] * 2000),
                "short": "x",
                "wide": f"{warning}[File content partially truncated: some lines exceeded maximum length of 2000 "
                f"characters.]\n{'x' * 2000}... [truncated]",
            },
        )

    def test_long_lists_are_cut_for_people(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {f"f{number:02}.txt": "x" for number in range(12)})
        for number in range(7):
            (root / f"image{number}.png").write_bytes(PICTURE)
        shown = call(tool, "*").return_display
        assert shown == (
            f"### ReadManyFiles Result (Target Dir: `{root}`)\n\n"
            "Successfully read and concatenated content from **12 file(s)**.\n\n"
            "**Processed Files (first 10 shown):**\n"
            + "".join(f"- `f{number:02}.txt`\n" for number in range(10))
            + "- ...and 2 more.\n\n"
            "**Skipped 7 item(s) (first 5 shown):**\n"
            + "".join(f"- `image{number}.png` (Reason: {ASSET})\n" for number in range(5))
            + "- ...and 2 more."
        )

    def test_one_unreadable_file_spoils_nothing(self, tool: ReadManyFilesTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        write(root, {"a": "A", "b": "B", "c": "C"})
        (root / "b").chmod(0)
        with unprivileged_user():
            given = call(tool, "a", "b", "c")
        reason = f"Read error: Permission denied: {root}/b"
        assert given == result(root, {"a": "A", "c": "C"}, [("b", reason)])

    def test_special_files_are_answered_at_once(self, tool: ReadManyFilesTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        write(root, {"a": "A"})
        started = time.monotonic()
        reason = f"Read error: A pipe, socket or device, not a regular file: {root}/fifo"
        assert call(tool, "fifo", "a") == result(root, {"a": "A"}, [("fifo", reason)])
        assert call(tool, "*") == result(root, {"a": "A"})
        assert time.monotonic() - started < 20

    def test_large_media_and_foreign_sound(self, tool: ReadManyFilesTool, root: Path) -> None:
        (root / "a.png").touch()
        os.truncate(root / "a.png", 21 * 2**20)
        (root / "b.wma").write_bytes(b"\0\x01\x02" * 50)
        reason = (
            "Read error: Cannot read audio file b.wma: its format is not supported. "
            "Supported formats: mp3, wav, aiff, aif, aac, ogg, flac."
        )
        assert call(tool, "*.png", "*.wma") == result(
            root,
            {},
            [
                ("a.png", f"Read error: File size exceeds the 20MB limit: {root}/a.png (21.00MB)"),
                ("b.wma", reason),
            ],
        )

    def test_the_whole_answer_is_bounded(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_collector, "MAX_CHARACTERS", 2 * len(block("a", "x" * 6)))
        write(root, {"a": "x" * 6, "b": "x" * 6, "c": "x" * 6, "d": ""})
        left_out = (
            "[WARNING: 2 more file(s) were not read: the limit for one answer is reached. "
            "Narrow the patterns, or use the 'read_file' tool on specific files.]\n\n"
        )
        assert call(tool, "*") == ToolResult(
            [block("a", "x" * 6), block("b", "x" * 6), left_out, END],
            display(root, ["a", "b"], [("2 file(s)", "the limit for one answer is reached")]),
        )

    def test_a_file_that_does_not_fit_is_cut_at_a_line(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_collector, "MAX_CHARACTERS", 10)
        write(root, {"a": "12345\n78\nabc"})
        note = (
            "[WARNING: This file was truncated. To view the full content, use the 'read_file' tool on this "
            "specific file.]\n\n"
        )
        assert call(tool, "a").llm_content == [block("a", f"{note}12345\n78\n"), END]

    def test_only_the_first_files_are_opened(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_many_files, "MAX_READ_FILES", 3)
        write(root, {f"{number:02}": "x" for number in range(20)})
        given = call(tool, "**")
        assert isinstance(given.llm_content, list)
        assert given.llm_content[:3] == [block("00", "x"), block("01", "x"), block("02", "x")]
        assert given.llm_content[3] == read_collector.LEFT_OUT_NOTE.format(count=17)

    def test_the_headings_of_very_many_empty_files_count(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_collector, "MAX_CHARACTERS", 2000)
        write(root, {f"{number:03}": "" for number in range(400)})
        given = call(tool, "**")
        assert isinstance(given.llm_content, list)
        assert sum(len(str(item)) for item in given.llm_content) < 2500

    def test_more_files_than_are_looked_at(
        self, tool: ReadManyFilesTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_many_files, "MAX_FILES", 1)
        write(root, {"a": "x", "b": "x"})
        given = call(tool, "*")
        assert isinstance(given.return_display, str)
        assert given.return_display.endswith(f"- `{root}` (Reason: only the first 1 files in it were looked at)")

    def test_a_directory_that_cannot_be_read_is_told(self, tool: ReadManyFilesTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        write(root, {"a": "A", "secret/b": "B"})
        (root / "secret").chmod(0)
        with unprivileged_user():
            given = call(tool, "**")
        (root / "secret").chmod(0o700)
        assert given == result(root, {"a": "A"}, [(str(root), "1 directories in it could not be read")])

    def test_what_was_read_is_remembered(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root, {"a": "A"})
        call(tool, "*")
        assert tool._workspace.read_tracker.last_content(str(root / "a")) == b"A"


class TestRoots:
    def test_every_workspace_directory(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        write(root, {"a.md": "first", "sub/c.md": "C"})
        write(other, {"a.md": "second", "b.md": "B"})
        with Workspace([root, other]) as workspace:
            tool = ReadManyFilesTool(workspace)
            everything: dict[str, str | Part] = {
                f"{other}/a.md": "second",
                f"{other}/b.md": "B",
                "a.md": "first",
                "sub/c.md": "C",
            }
            assert call(tool, "**/*.md") == result(root, everything)
            assert call(tool, "a.md") == result(root, {f"{other}/a.md": "second", "a.md": "first"})
            assert call(tool, "b.md") == result(root, {f"{other}/b.md": "B"})
            assert call(tool, other) == result(root, {f"{other}/a.md": "second", f"{other}/b.md": "B"})
            assert call(tool, "sub") == result(root, {"sub/c.md": "C"})

    def test_ignored_files_of_all_of_them_are_one_sum(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        for directory in (root, other):
            write(directory, {".geminiignore": "*.key\n", "a.key": "K"})
        with Workspace([root, other]) as workspace:
            assert call(ReadManyFilesTool(workspace), "*.key") == result(root, {}, [("2 file(s)", "gemini-ignored")])

    def test_a_directory_in_another(self, root: Path) -> None:
        write(root, {"a": "A", "sub/b": "B"})
        with Workspace([root, root / "sub"]) as workspace:
            tool = ReadManyFilesTool(workspace)
            expected = result(root, {"a": "A", "sub/b": "B"})
            assert call(tool, "**") == expected
            assert call(tool, "a", "sub/b") == expected
            assert call(tool, "a", "sub") == expected

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        write(root, {"a": "A"})
        link = tmp_path / "link"
        link.symlink_to(root)
        with Workspace([link]) as workspace:
            tool = ReadManyFilesTool(workspace)
            for path in ("a", "*", link / "a", root / "a", root, link):
                assert call(tool, path) == result(link, {"a": "A"})


class TestRefusing:
    @pytest.mark.parametrize(
        "path", ["../MARK", "/etc/passwd", "{root}-evil/MARK", "sub/../../MARK", "../*", "/etc/*", "out/MARK", "file"]
    )
    def test_paths_that_lead_out(self, tool: ReadManyFilesTool, root: Path, path: str) -> None:
        write(root.parent, {"MARK": "MARK", "root-evil/MARK": "MARK", "root/a": "A"})
        (root / "out").symlink_to(root.parent)
        (root / "file").symlink_to(root.parent / "MARK")
        path = path.replace("{root}", str(root))
        assert call(tool, path, "a") == result(root, {"a": "A"}, [(path, OUTSIDE)])

    def test_links_out_are_not_walked(self, tool: ReadManyFilesTool, root: Path) -> None:
        write(root.parent, {"MARK": "MARK"})
        (root / "out").symlink_to(root.parent)
        (root / "file").symlink_to(root.parent / "MARK")
        assert call(tool, "**") == result(root, {})

    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({}, 'The "paths" parameter is required and must be a non-empty array of strings/glob patterns.'),
            (
                {"paths": []},
                'The "paths" parameter is required and must be a non-empty array of strings/glob patterns.',
            ),
            ({"paths": [""]}, "params/paths/0 must NOT have fewer than 1 characters"),
            ({"paths": ["a", 1]}, "params/paths/1 must be string"),
            ({"paths": "a"}, "params/paths must be array"),
            ({"paths": ["a"], "exclude": [""]}, "params/exclude/0 must NOT have fewer than 1 characters"),
            ({"paths": ["a"], "include": "x"}, "params/include must be array"),
        ],
    )
    def test_bad_parameters(self, tool: ReadManyFilesTool, params: dict[str, object], reason: str) -> None:
        assert asyncio.run(validate_and_execute(tool, params)) == ToolResult(
            f"Error: Invalid parameters provided. Reason: {reason}",
            reason,
            ToolError(reason, ErrorType.INVALID_TOOL_PARAMS),
        )

    @pytest.mark.parametrize("pattern", ["{a,b}" * 25, "a" * 20_000])
    def test_bombs_are_refused_quickly(self, tool: ReadManyFilesTool, pattern: str) -> None:
        started = time.monotonic()
        given = call(tool, pattern)
        assert time.monotonic() - started < 20
        assert given.error is not None
        assert given.error.type is ErrorType.INVALID_TOOL_PARAMS

    def test_an_error_of_the_system(self, tool: ReadManyFilesTool, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(read_many_files, "FileSearch", fail)
        message = "Error during file search: Input/output error"
        assert call(tool, "*") == ToolResult(
            message, message, ToolError(message, ErrorType.READ_MANY_FILES_SEARCH_ERROR)
        )


def test_the_description(tool: ReadManyFilesTool) -> None:
    assert tool.get_description({"paths": ["a", "*.md"]}) == "Reading a, *.md"
    assert tool.get_description({"paths": ["a"], "include": ["b"], "useDefaultExcludes": False}) == (
        "Reading a, b without default excludes"
    )
    assert tool.get_description({}) == "Model did not provide valid parameters for read many files tool"


def test_a_cancelled_call_ends_promptly(tool: ReadManyFilesTool, root: Path) -> None:
    (root / "f").write_bytes(b"some text on a line\n" * 10_000)
    os.truncate(root / "f", 2**40)

    async def cancel() -> float:
        task = asyncio.create_task(validate_and_execute(tool, {"paths": ["*"]}))
        await asyncio.sleep(0.2)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert asyncio.run(cancel()) < 1


class TestEditor:
    def test_unsaved_text_and_files_that_are_only_in_the_editor(self, root: Path) -> None:
        with EditorWorkspace(root) as env:
            path = env.file("a.txt", b"on disk")
            env.editor.type(path, "unsaved")
            env.editor.type(root / "new.txt", "new")
            result = env.read_many("a.txt", "new.txt", "none.txt", "*.md")
            expected = [block("a.txt", "unsaved"), block("new.txt", "new"), END]
            assert (result.llm_content, result.error) == (expected, None)
            assert "Skipped" not in str(result.return_display)

    def test_an_editor_that_does_not_answer(self, root: Path) -> None:
        with EditorWorkspace(root, seconds=0.2, read="silent") as env:
            for number in range(30):
                env.file(f"{number}.txt", b"x")
            began = time.monotonic()
            result = env.read_many("*.txt")
            assert time.monotonic() - began < 10
            assert result.llm_content == [NOTHING]
            assert "Read error: The editor did not answer" in str(result.return_display)
