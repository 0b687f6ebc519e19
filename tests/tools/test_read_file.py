"""`read_file`: slices, media, ignored files, confinement, special and huge files, cancellation."""

import asyncio
import os
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.media_files import bmp, gif, jpeg, pdf, png, webp
from support.tool_results import failed_result, invalid_params_result, outside_workspace_result, unprivileged_user
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import InlineData
from tejat.core.tools.base import ToolContext, ToolLocation, ToolResult, validate_and_execute
from tejat.tools.read_file import ReadFileTool
from tejat.workspace.context import Workspace
from tejat.workspace.files.media.image import ImageSize, read_image_size
from tejat.workspace.paths.ignore_rules import IgnoreOptions

NOISE = bytes(range(256)) * 3


@pytest.fixture(params=["in a thread", "in place"])
def tool(root: Path, request: pytest.FixtureRequest) -> Iterator[ReadFileTool]:
    with Workspace([root]) as workspace:
        if request.param == "in place":
            workspace.own_ignore_rules(workspace.roots.first)
        yield ReadFileTool(workspace)


def call(tool: ReadFileTool, path: object, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, {"path": str(path), **params}))


def truncated(first: int, last: int, total: int) -> str:
    return (
        f"[File content truncated: showing lines {first}-{last} of {total} total lines. "
        "Use offset/limit parameters to view more.]\n"
    )


LONG_LINES = "[File content partially truncated: some lines exceeded maximum length of 2000 characters.]\n"


def test_what_it_is(tool: ReadFileTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == ("read_file", "ReadFile", Kind.READ, True)
    assert asyncio.run(tool.should_confirm_execute({"path": "f"})) is None


class TestText:
    @pytest.mark.parametrize("text", ["", "a", "a\nb", "a\nb\n", "\n", "\n\n\n", "\tx  \n", "naïve 日本 😀 \ufffd\n"])
    def test_small_text_is_given_exactly(self, tool: ReadFileTool, root: Path, text: str) -> None:
        (root / "f").write_bytes(text.encode())
        assert call(tool, root / "f") == ToolResult(text, "")

    def test_carriage_returns_before_newlines_are_not_shown(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"a\r\nb\r\n\rc\rd\r\n")
        assert call(tool, root / "f") == ToolResult("a\nb\n\rc\rd\n", "")

    def test_lines_are_those_of_grep_and_sed(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes("1\x0c\x0b\u2028\u2029\x85\x1c still 1\n2\n3\n".encode())
        assert call(tool, root / "f", offset=1, limit=1) == ToolResult(truncated(2, 2, 4) + "2", "(truncated)")

    @pytest.mark.parametrize(
        ("params", "expected", "display"),
        [
            ({"offset": 0, "limit": 2}, truncated(1, 2, 5) + "0\n1", "(truncated)"),
            ({"offset": 1, "limit": 2}, truncated(2, 3, 5) + "1\n2", "(truncated)"),
            ({"offset": 3}, "3\n", ""),
            ({"offset": 4, "limit": 1}, "", ""),
            ({"limit": 5}, "0\n1\n2\n3\n", ""),
            ({"limit": 4}, truncated(1, 4, 5) + "0\n1\n2\n3", "(truncated)"),
            ({"limit": 10**12}, "0\n1\n2\n3\n", ""),
            ({"offset": 2.0, "limit": 1.0}, truncated(3, 3, 5) + "2", "(truncated)"),
            ({"offset": 5}, "", "(nothing to show: the file has 5 lines)"),
            ({"offset": 10**12, "limit": 1}, "", "(nothing to show: the file has 5 lines)"),
            ({"start_line": 2, "end_line": 3}, truncated(2, 3, 5) + "1\n2", "(truncated)"),
            ({"start_line": 2, "end_line": 2}, truncated(2, 2, 5) + "1", "(truncated)"),
            ({"start_line": 4}, "3\n", ""),
            ({"end_line": 2}, truncated(1, 2, 5) + "0\n1", "(truncated)"),
            ({"start_line": 3, "end_line": 100}, "2\n3\n", ""),
        ],
    )
    def test_slices(
        self, tool: ReadFileTool, root: Path, params: dict[str, object], expected: str, display: str
    ) -> None:
        (root / "f").write_bytes(b"0\n1\n2\n3\n")
        assert call(tool, root / "f", **params) == ToolResult(expected, display)

    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({"offset": -1}, "Offset must be a non-negative number"),
            ({"limit": 0}, "Limit must be a positive number"),
            ({"limit": -5}, "Limit must be a positive number"),
            ({"offset": 1.5}, "params/offset must be integer"),
            ({"limit": "3"}, "params/limit must be number"),
            ({"start_line": 0}, "params/start_line must be >= 1"),
            ({"end_line": 0}, "params/end_line must be >= 1"),
            ({"start_line": 3, "end_line": 2}, "start_line cannot be greater than end_line"),
        ],
    )
    def test_slices_that_make_no_sense(
        self, tool: ReadFileTool, root: Path, params: dict[str, object], reason: str
    ) -> None:
        (root / "f").touch()
        assert call(tool, root / "f", **params) == invalid_params_result(reason)

    def test_two_thousand_lines_and_one_more(self, tool: ReadFileTool, root: Path) -> None:
        lines = [str(number) for number in range(2001)]
        (root / "f").write_text("\n".join(lines[:2000]))
        assert call(tool, root / "f") == ToolResult("\n".join(lines[:2000]), "")
        (root / "f").write_text("\n".join(lines))
        assert call(tool, root / "f") == ToolResult(truncated(1, 2000, 2001) + "\n".join(lines[:2000]), "(truncated)")

    def test_at_most_fifty_thousand_lines_come_at_once(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_text("x\n" * 60_000)
        result = call(tool, root / "f", limit=55_000)
        assert result == ToolResult(truncated(1, 50_000, 60_001) + "\n".join(["x"] * 50_000), "(truncated)")

    def test_long_lines(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_text("ä" * 2000)
        assert call(tool, root / "f") == ToolResult("ä" * 2000, "")
        (root / "f").write_text("ä" * 2001 + "\nb")
        assert call(tool, root / "f") == ToolResult(LONG_LINES + "ä" * 2000 + "... [truncated]\nb", "(truncated)")

    def test_both_limits_together_are_told_once(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_text("x" * 3000 + "\nb\nc")
        assert call(tool, root / "f", limit=2) == ToolResult(
            truncated(1, 2, 3) + "x" * 2000 + "... [truncated]\nb", "(truncated)"
        )

    @pytest.mark.parametrize("name", ["f.ts", "f.mts", "f.cts", "f.tsx", "f.unknown", "Makefile", ".env"])
    def test_source_files_are_text(self, tool: ReadFileTool, root: Path, name: str) -> None:
        (root / name).write_text("const a = 1\n")
        assert call(tool, root / name) == ToolResult("const a = 1\n", "")

    @pytest.mark.parametrize(
        ("mark", "codec"),
        [
            (b"\xef\xbb\xbf", "utf-8"),
            (b"\xff\xfe", "utf-16-le"),
            (b"\xfe\xff", "utf-16-be"),
            (b"\xff\xfe\0\0", "utf-32-le"),
            (b"\0\0\xfe\xff", "utf-32-be"),
        ],
    )
    def test_byte_order_marks(self, tool: ReadFileTool, root: Path, mark: bytes, codec: str) -> None:
        (root / "f.txt").write_bytes(mark + "häß\r\n日本 😀\n".encode(codec))
        assert call(tool, root / "f.txt") == ToolResult("häß\n日本 😀\n", "")

    def test_half_a_mark_is_none(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"\xef\xbbabc, and then quite a lot of plain English text\n")
        result = call(tool, root / "f")
        assert isinstance(result.llm_content, str)
        assert result.llm_content.endswith("abc, and then quite a lot of plain English text\n")

    def test_bytes_that_are_no_character_are_replaced(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes("日本語のとても長い文章\n".encode() * 3 + b"\xff\n")
        assert call(tool, root / "f") == ToolResult("日本語のとても長い文章\n" * 3 + "\ufffd\n", "")

    def test_an_old_encoding_that_shows_late_in_the_file(self, tool: ReadFileTool, root: Path) -> None:
        text = "plain ascii\n" * 10_000 + "日本語のとても長い文章です。これは漢字とかなです。\n" * 20
        (root / "f").write_bytes(text.encode("shift_jis"))
        shown = "日本語のとても長い文章です。これは漢字とかなです。"
        assert call(tool, root / "f", offset=10_019) == ToolResult(f"{shown}\n", "")


class TestMedia:
    @pytest.mark.parametrize(
        ("name", "raw", "mime_type", "word"),
        [
            ("a.png", png(), "image/png", "image"),
            ("a.jpg", jpeg(), "image/jpeg", "image"),
            ("a.jpeg", jpeg(), "image/jpeg", "image"),
            ("A.GIF", gif(), "image/gif", "image"),
            ("a.webp", webp(), "image/webp", "image"),
            ("a.bmp", bmp(), "image/bmp", "image"),
            ("a.png", jpeg(), "image/jpeg", "image"),
            ("photo", webp(), "image/webp", "image"),
            ("a.png", b"\x89PNG\r\n\x1a\n", "image/png", "image"),
            ("a.pdf", pdf("Hi"), "application/pdf", "pdf"),
            ("a.mp3", NOISE, "audio/mpeg", "audio"),
            ("a.wav", NOISE, "audio/wav", "audio"),
            ("a.aif", NOISE, "audio/aiff", "audio"),
            ("a.flac", NOISE, "audio/flac", "audio"),
            ("a.mp4", NOISE, "video/mp4", "video"),
        ],
    )
    def test_media_come_as_they_are(
        self, tool: ReadFileTool, root: Path, name: str, raw: bytes, mime_type: str, word: str
    ) -> None:
        (root / name).write_bytes(raw)
        result = call(tool, root / name)
        assert result == ToolResult(InlineData(mime_type, raw), f"Read {word} file: {name}")

    def test_svg_is_text(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.svg").write_bytes(b"<svg>\n</svg>")
        assert call(tool, "a.svg") == ToolResult("<svg>\n</svg>", "Read SVG as text: a.svg")
        assert call(tool, "a.svg", limit=1).return_display == "(truncated)"

    @pytest.mark.parametrize(("name", "kind"), [("a.png", "image"), ("a.pdf", "pdf"), ("a.mp3", "audio")])
    def test_empty_media(self, tool: ReadFileTool, root: Path, name: str, kind: str) -> None:
        (root / name).touch()
        message = f"The {kind} file is empty: {name}"
        assert call(tool, name) == failed_result(message, ErrorType.READ_CONTENT_FAILURE)

    @pytest.mark.parametrize(
        "raw", [png()[:-9], jpeg()[:-2], gif()[:-1], webp()[:-1], bmp()[:53], NOISE, png()[:8] + NOISE]
    )
    def test_damaged_images(self, tool: ReadFileTool, root: Path, raw: bytes) -> None:
        (root / "a.png").write_bytes(raw)
        message = "The image is damaged or incomplete: a.png"
        assert call(tool, "a.png") == failed_result(message, ErrorType.READ_CONTENT_FAILURE)

    def test_an_image_that_is_too_large_is_scaled_down(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.png").write_bytes(png(8001, 400))
        result = call(tool, "a.png")
        assert isinstance(result.llm_content, InlineData)
        assert read_image_size(result.llm_content.data, result.llm_content.mime_type) == ImageSize(2000, 100)
        assert result.return_display == "Read image file: a.png (scaled down from 8001 x 400 to 2000 x 100)"

    def test_an_image_that_cannot_be_scaled_down(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.jpg").write_bytes(jpeg(10_000, 10_000))
        assert call(tool, "a.jpg") == failed_result(
            "The image has 10000 x 10000 pixels; services accept at most 8000 per side: a.jpg. It could not be "
            "scaled down. The file is damaged or protected, or takes too much memory or time.",
            ErrorType.READ_CONTENT_FAILURE,
        )

    def test_what_is_no_pdf(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.pdf").write_bytes(NOISE)
        message = "Not a valid PDF document: a.pdf"
        assert call(tool, "a.pdf") == failed_result(message, ErrorType.READ_CONTENT_FAILURE)

    def test_lines_of_a_pdf_are_lines_of_its_text(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.pdf").write_bytes(pdf("First", "", "Third"))
        whole = "--- page 1 of 3 ---\nFirst\n--- page 2 of 3 ---\n--- page 3 of 3 ---\nThird"
        assert call(tool, "a.pdf", offset=0) == ToolResult(whole, "Read text of PDF file: a.pdf")
        note = (
            "[File content truncated: showing lines 2-3 of 5 total lines. Use offset/limit parameters to view more.]\n"
        )
        part = f"{note}First\n--- page 2 of 3 ---"
        assert call(tool, "a.pdf", offset=1, limit=2) == ToolResult(part, "Read text of PDF file: a.pdf")
        (root / "a.pdf").write_bytes(pdf("", ""))
        message = "The PDF has no text on its 2 pages: a.pdf"
        assert call(tool, "a.pdf", limit=9) == failed_result(message, ErrorType.READ_CONTENT_FAILURE)

    def test_base64_on_the_way_out(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        assert call(tool, "a.png").to_json() == {
            "llmContent": {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            "returnDisplay": "Read image file: a.png",
            "error": None,
        }

    def test_binary_by_content(self, tool: ReadFileTool, root: Path) -> None:
        (root / "sub").mkdir()
        for content in (b"abc\0def" * 20, b"\x01\x02\x03ab" * 100, os.urandom(4096) + b"\0"):
            (root / "sub" / "f").write_bytes(content)
            assert call(tool, "sub/f") == ToolResult(
                "Cannot display content of binary file: sub/f", "Skipped binary file: sub/f"
            )

    @pytest.mark.parametrize("name", ["f.zip", "f.EXE", "f.docx", "f.pyc", "f.wasm", "f.bin", "f.rar"])
    def test_binary_by_name(self, tool: ReadFileTool, root: Path, name: str) -> None:
        (root / name).write_text("plain text")
        assert call(tool, name) == ToolResult(
            f"Cannot display content of binary file: {name}", f"Skipped binary file: {name}"
        )

    def test_media_over_twenty_megabytes(self, tool: ReadFileTool, root: Path) -> None:
        limit = 20 * 2**20
        image = png() + bytes(limit - len(png()))
        (root / "a.png").write_bytes(image)
        assert call(tool, "a.png") == ToolResult(InlineData("image/png", image), "Read image file: a.png")
        os.truncate(root / "a.png", limit + 2**19)
        assert call(tool, "a.png") == failed_result(
            f"File size exceeds the 20MB limit: {root}/a.png (20.50MB)",
            ErrorType.FILE_TOO_LARGE,
            "File size exceeds the 20MB limit.",
        )

    def test_sound_that_models_do_not_hear(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.wma").write_bytes(b"\x30\x26\xb2\x75\0\0" * 50)
        assert call(tool, "a.wma") == failed_result(
            "Cannot read audio file a.wma: its format is not supported. "
            "Supported formats: mp3, wav, aiff, aif, aac, ogg, flac.",
            ErrorType.READ_CONTENT_FAILURE,
        )

    def test_text_that_is_called_sound_is_text(self, tool: ReadFileTool, root: Path) -> None:
        (root / "a.mp3").write_text("notes\n")
        assert call(tool, "a.mp3") == ToolResult("notes\n", "")


class TestNaming:
    @pytest.mark.parametrize("name", ["path", "absolute_path", "file_path"])
    def test_every_name_the_parameter_ever_had(self, tool: ReadFileTool, root: Path, name: str) -> None:
        (root / "f").write_text("x")
        assert asyncio.run(validate_and_execute(tool, {name: str(root / "f"), "more": 1})) == ToolResult("x", "")

    @pytest.mark.parametrize("path", ["sub/f", "./sub//f", "sub/../sub/f", "@sub/f"])
    def test_spellings_of_one_path(
        self, tool: ReadFileTool, root: Path, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "f").write_text("x")
        monkeypatch.chdir(tmp_path)
        assert call(tool, path) == ToolResult("x", "")

    @pytest.mark.parametrize("name", ["with space", "[a]{b}(c)*?", "日本", "line\nbreak", "-rf", "a%41.txt", "@at"])
    def test_unusual_names(self, tool: ReadFileTool, root: Path, name: str) -> None:
        (root / name).write_text(name)
        (root / "aA.txt").write_text("another")
        (root / "at").write_text("another")
        assert call(tool, name) == ToolResult(name, "")
        assert call(tool, root / name) == ToolResult(name, "")

    def test_a_name_that_is_no_utf8(self, tool: ReadFileTool, root: Path) -> None:
        with open(os.fsencode(root) + b"/caf\xe9", "wb") as file:
            file.write(b"x")
        assert call(tool, "caf\udce9") == ToolResult("x", "")

    @pytest.mark.parametrize("path", ["", " ", "\t\n"])
    def test_no_path_at_all(self, tool: ReadFileTool, path: str) -> None:
        assert call(tool, path) == invalid_params_result("The 'path' parameter must be non-empty.")

    def test_missing_path(self, tool: ReadFileTool) -> None:
        assert asyncio.run(validate_and_execute(tool, {})) == invalid_params_result(
            "params must have required property 'path'"
        )

    def test_the_description_and_location(self, tool: ReadFileTool, root: Path) -> None:
        path = str(root / "sub" / "f")
        assert tool.get_description({"path": path}) == "sub/f"
        assert tool.get_description({}) == "Model did not provide valid parameters for read file tool"
        assert tool.tool_locations({"path": path}) == [ToolLocation(path, 0)]
        assert tool.tool_locations({"path": path, "offset": 7}) == [ToolLocation(path, 7)]
        assert tool.tool_locations({"path": path, "start_line": 7}) == [ToolLocation(path, 6)]

    def test_several_workspace_directories(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        (root / "both").write_text("first")
        (other / "both").write_text("second")
        (other / "one").write_text("only here")
        (root / "across").symlink_to(other / "one")
        with Workspace([root, other]) as workspace:
            tool = ReadFileTool(workspace)
            assert call(tool, "both") == ToolResult("first", "")
            assert call(tool, other / "both") == ToolResult("second", "")
            assert call(tool, "one") == ToolResult("only here", "")
            assert call(tool, "across") == ToolResult("only here", "")
            assert call(tool, "none") == failed_result(
                f"File not found: {root}/none", ErrorType.FILE_NOT_FOUND, "File not found."
            )

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        (root / "f").write_text("x")
        (tmp_path / "link").symlink_to(root)
        with Workspace([tmp_path / "link"]) as workspace:
            tool = ReadFileTool(workspace)
            assert call(tool, tmp_path / "link" / "f") == ToolResult("x", "")
            assert call(tool, root / "f") == ToolResult("x", "")
            assert call(tool, root / "none") == failed_result(
                f"File not found: {tmp_path}/link/none", ErrorType.FILE_NOT_FOUND, "File not found."
            )

    def test_the_root_stays_what_it_was_when_something_else_takes_its_name(
        self, tool: ReadFileTool, root: Path, tmp_path: Path
    ) -> None:
        (root / "f").write_text("inside")
        (tmp_path / "outer").mkdir()
        (tmp_path / "outer" / "f").write_text("MARK")
        root.rename(tmp_path / "moved")
        root.symlink_to(tmp_path / "outer")
        assert call(tool, "f") == ToolResult("inside", "")


class TestIgnoring:
    def test_what_geminiignore_names_is_refused(self, tool: ReadFileTool, root: Path) -> None:
        (root / ".geminiignore").write_text("*.key\nprivate/\n")
        (root / "private").mkdir()
        for name, line, rule in (("a.key", 1, "*.key"), ("private/f", 2, "private/")):
            (root / name).write_text("secret")
            assert call(tool, name) == failed_result(
                f"File path '{name}' is ignored by .geminiignore pattern(s). "
                f"See line {line} of {root}/.geminiignore: {rule}",
                ErrorType.INVALID_TOOL_PARAMS,
            )

    def test_also_by_way_of_a_link(self, tool: ReadFileTool, root: Path) -> None:
        (root / ".geminiignore").write_text("private/\n*.hidden\n")
        (root / "private").mkdir()
        (root / "private" / "f").write_text("secret")
        (root / "open").write_text("open")
        (root / "link").symlink_to("private/f")
        (root / "directory").symlink_to("private")
        (root / "link.hidden").symlink_to("open")
        a_link = "It is a link to such a file."
        for name, why in (
            ("link", a_link),
            ("directory/f", a_link),
            ("link.hidden", f"See line 2 of {root}/.geminiignore: *.hidden"),
        ):
            assert call(tool, name) == failed_result(
                f"File path '{name}' is ignored by .geminiignore pattern(s). {why}", ErrorType.INVALID_TOOL_PARAMS
            )

    def test_unless_the_workspace_does_not_care(self, root: Path) -> None:
        (root / ".geminiignore").write_text("*.key\n")
        (root / "a.key").write_text("secret")
        with Workspace([root], ignore=IgnoreOptions(gemini=False)) as workspace:
            assert call(ReadFileTool(workspace), "a.key") == ToolResult("secret", "")

    def test_what_git_ignores_can_be_read(self, tool: ReadFileTool, root: Path) -> None:
        (root / ".git").mkdir()
        (root / ".gitignore").write_text("*.log\n")
        (root / "a.log").write_text("x")
        assert call(tool, "a.log") == ToolResult("x", "")

    def test_an_ignored_file_that_does_not_exist_is_not_found(self, tool: ReadFileTool, root: Path) -> None:
        (root / ".geminiignore").write_text("*.key\n")
        assert call(tool, "a.key") == failed_result(
            f"File not found: {root}/a.key", ErrorType.FILE_NOT_FOUND, "File not found."
        )


class TestFailing:
    def test_missing(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").touch()
        for name in ("none", "none/none", "f/none"):
            assert call(tool, name) == failed_result(
                f"File not found: {root}/{name}", ErrorType.FILE_NOT_FOUND, "File not found."
            )

    def test_a_directory(self, tool: ReadFileTool, root: Path) -> None:
        assert call(tool, root) == failed_result(
            f"Path is a directory, not a file: {root}", ErrorType.TARGET_IS_DIRECTORY, "Path is a directory."
        )

    def test_unreadable(self, tool: ReadFileTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o755)
        (root / "f").write_text("x")
        (root / "f").chmod(0)
        with unprivileged_user():
            result = call(tool, "f")
        assert result == failed_result(
            f"Error reading file f: Permission denied: {root}/f", ErrorType.PERMISSION_DENIED
        )

    def test_a_loop_of_links(self, tool: ReadFileTool, root: Path) -> None:
        (root / "loop").symlink_to("loop")
        assert call(tool, "loop") == failed_result(
            f"Error reading file loop: Too many symbolic links, probably a loop: {root}/loop",
            ErrorType.READ_CONTENT_FAILURE,
        )

    def test_an_error_of_the_disk_while_reading(
        self, tool: ReadFileTool, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> int:
            raise OSError(5, "Input/output error")

        (root / "f").write_text("x\n" * 2**20)
        monkeypatch.setattr(os, "preadv", fail)
        assert call(tool, "f") == failed_result(
            "Error reading file f: Input/output error", ErrorType.READ_CONTENT_FAILURE
        )

    @pytest.mark.parametrize(
        "path",
        ["../outside/secret", "{root}/../outside/secret", "/etc/passwd", "{root}-evil/secret", "../root-evil/secret"],
    )
    def test_paths_that_lie_outside(self, tool: ReadFileTool, root: Path, path: str) -> None:
        for name in ("outside", "root-evil"):
            (root.parent / name).mkdir()
            (root.parent / name / "secret").write_text("MARK")
        path = path.format(root=root)
        assert call(tool, path) == outside_workspace_result(path, root)

    def test_links_that_lead_out(self, tool: ReadFileTool, root: Path) -> None:
        outer = root.parent / "outer"
        outer.mkdir()
        (outer / "secret").write_text("MARK")
        (root / "file").symlink_to(outer / "secret")
        (root / "relative").symlink_to("../outer/secret")
        (root / "directory").symlink_to(outer)
        (root / "dangling").symlink_to(outer / "none")
        (root / "chain").symlink_to("file")
        for name in ("file", "relative", "directory/secret", "dangling", "chain"):
            assert call(tool, name) == outside_workspace_result(root / name, root)

    def test_links_that_stay_inside(self, tool: ReadFileTool, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "f").write_text("x")
        (root / "absolute").symlink_to(root / "sub" / "f")
        (root / "relative").symlink_to("sub/../sub/f")
        (root / "directory").symlink_to("sub")
        for name in ("absolute", "relative", "directory/f"):
            assert call(tool, name) == ToolResult("x", "")

    def test_files_of_the_kernel(self) -> None:
        with Workspace(["/"]) as workspace:
            tool = ReadFileTool(workspace)
            for path in ("/proc/self/environ", "/proc/self/mem", "/dev/fd/0", "/sys/kernel/notes"):
                result = call(tool, path)
                assert result.error is not None, path
                assert result.error.type is ErrorType.PERMISSION_DENIED, result

    def test_special_files_are_answered_at_once(self, tool: ReadFileTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(root / "socket"))
            for name in ("fifo", "socket"):
                started = time.monotonic()
                assert call(tool, name) == failed_result(
                    f"A pipe, socket or device, not a regular file: {root}/{name}",
                    ErrorType.SPECIAL_FILE,
                )
                assert time.monotonic() - started < 20

    def test_devices_are_answered_at_once(self) -> None:
        with Workspace(["/dev"]) as workspace:
            for name in ("zero", "null", "tty"):
                started = time.monotonic()
                result = call(ReadFileTool(workspace), name)
                assert result.error is not None
                assert result.error.type is ErrorType.SPECIAL_FILE
                assert time.monotonic() - started < 20

    def test_long_paths_are_refused_in_few_words(self, tool: ReadFileTool) -> None:
        for path in ("n" * 300, "d/" * 2500):
            assert call(tool, path) == invalid_params_result(
                f"Path is too long (at most 4096 bytes, 255 per name): {path[:60]}..."
            )


def peak_kibibytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class TestLargeFiles:
    def test_slices_of_three_megabytes(self, tool: ReadFileTool, root: Path) -> None:
        lines = [f"line {number} ärger" for number in range(200_000)]
        (root / "f").write_text("\n".join(lines))
        assert (root / "f").stat().st_size > 3 * 2**20
        for first in (0, 1, 99_999, 150_000, 199_990):
            shown = lines[first : first + 10]
            note = truncated(first + 1, first + 10, 200_000) if first + 10 < 200_000 else ""
            display = "(truncated)" if note else ""
            assert call(tool, "f", offset=first, limit=10) == ToolResult(note + "\n".join(shown), display)

    def test_one_line_of_nineteen_megabytes(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"x" * (19 * 2**20))
        assert call(tool, "f") == ToolResult(LONG_LINES + "x" * 2000 + "... [truncated]", "(truncated)")

    def test_a_large_text_file_is_cut_and_not_refused(self, tool: ReadFileTool, root: Path) -> None:
        line = b"x" * 99 + b"\n"
        (root / "f").write_bytes(line * (400 * 1024))
        before = peak_kibibytes()
        assert call(tool, "f", offset=300_000, limit=1) == ToolResult(
            truncated(300_001, 300_001, 409_601) + "x" * 99, "(truncated)"
        )
        assert peak_kibibytes() - before < 40 * 1024

    def test_a_tebibyte_of_nothing_is_binary(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").touch()
        os.truncate(root / "f", 2**40)
        started = time.monotonic()
        assert call(tool, "f") == ToolResult("Cannot display content of binary file: f", "Skipped binary file: f")
        assert time.monotonic() - started < 20

    def test_a_tebibyte_that_begins_as_text_can_be_cancelled(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"plain text\n" * 10_000)
        os.truncate(root / "f", 2**40)
        before = peak_kibibytes()

        async def cancel() -> float:
            task = asyncio.create_task(validate_and_execute(tool, {"path": "f"}))
            await asyncio.sleep(0.3)
            assert not task.done()
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - started

        assert asyncio.run(cancel()) < 1
        assert peak_kibibytes() - before < 40 * 1024

    def test_the_event_loop_runs_on_while_a_file_is_read(self, tool: ReadFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"plain text\n" * 10_000)
        os.truncate(root / "f", 2**32)

        async def ticks() -> int:
            task = asyncio.create_task(validate_and_execute(tool, {"path": "f", "limit": 1}))
            count = 0
            while not task.done() and count < 20:
                await asyncio.sleep(0.005)
                count += 1
            task.cancel()
            await asyncio.wait((task,))
            return count

        assert asyncio.run(ticks()) == 20


class TestInPlace:
    def test_others_get_a_turn_during_many_calls(self, root: Path) -> None:
        (root / "f").write_text("text")

        async def main() -> int:
            turns = 0

            async def count() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            with Workspace([root]) as workspace:
                tool = ReadFileTool(workspace)
                other = asyncio.create_task(count())
                for _ in range(100):
                    assert (await tool.execute({"path": "f"}, ToolContext())).llm_content == "text"
                other.cancel()
            return turns

        assert asyncio.run(main()) >= 100

    def test_a_change_of_the_ignore_file_counts_at_once(self, root: Path) -> None:
        (root / "f").write_text("text")
        with Workspace([root]) as workspace:
            tool = ReadFileTool(workspace)
            assert call(tool, "f").llm_content == call(tool, "f").llm_content == "text"
            for ignored in (True, False, True):
                (root / ".geminiignore").write_text("f" if ignored else "g")
                errors = [call(tool, "f").error for _ in range(2)]
                assert [error is not None for error in errors] == [ignored, ignored]

    def test_what_was_read_in_place_is_known_to_have_been_read(self, root: Path) -> None:
        (root / "f").write_text("text")
        with Workspace([root]) as workspace:
            workspace.own_ignore_rules(workspace.roots.first)
            call(ReadFileTool(workspace), "f")
            assert workspace.read_tracker.last_content(str(root / "f")) == b"text"
