"""Long results: cut for the model, kept whole for whoever asks for the rest, and lost only with a word about it."""

import os
import resource
import signal
import stat
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tool_results import unprivileged_user
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FileData, FunctionResponse, InlineData, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.engine.calls.truncation import OutputTruncator
from tejat.workspace.processes.truncation_notice import truncate_text

LONG = "".join(f"line {number}\n" for number in range(40))
LIMIT = 100
PICTURE = InlineData("image/png", bytes(1000))
VIDEO = FileData("video/mp4", "gs://" + "x" * 1000)
RESPONSE = FunctionResponse("other", {"output": LONG})


def kept_in(directory: Path) -> dict[str, str]:
    return {entry.name: entry.read_bytes().decode() for entry in directory.iterdir()}


def cut(text: str, directory: Path) -> str:
    """The text as a model should get it, when a single file was kept."""
    (path,) = directory.iterdir()
    return truncate_text(text, limit=LIMIT, path=str(path))


class TestContents:
    def test_a_text(self, tmp_path: Path) -> None:
        kept = tmp_path / "a" / "kept"
        result = OutputTruncator(str(kept), limit=LIMIT).truncate(ToolResult(LONG, "shown"), tool_name="far__note")
        assert result == ToolResult(cut(LONG, kept), "shown")
        ((name, content),) = kept_in(kept).items()
        assert content == LONG
        assert name.startswith("far__note_")
        assert isinstance(result.llm_content, str)
        assert f"characters of {len(LONG)}. For full output see: {kept}/{name}\nline 0\n" in result.llm_content

    def test_a_text_that_is_displayed_too(self, tmp_path: Path) -> None:
        result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(LONG, LONG), tool_name="x")
        assert result == ToolResult(cut(LONG, tmp_path), cut(LONG, tmp_path))

    def test_another_display_of_a_long_text(self, tmp_path: Path) -> None:
        output = OutputTruncator(str(tmp_path), limit=LIMIT)
        result = output.truncate(ToolResult(f"<untrusted>{LONG}", LONG), tool_name="x")
        assert isinstance(result.return_display, str)
        assert result.return_display.startswith("Output too large.")
        assert sorted(kept_in(tmp_path).values()) == [f"<untrusted>{LONG}", LONG]
        short = ToolResult("short", LONG)
        assert output.truncate(short, tool_name="x") == short  # meant to be long

    def test_a_long_text_is_not_copied_as_a_whole(self, tmp_path: Path) -> None:
        text = "x" * 20_000_000
        tracemalloc.start()
        try:
            OutputTruncator(str(tmp_path)).truncate(ToolResult(text, text), tool_name="x")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < len(text) / 2
        assert list(kept_in(tmp_path).values()) == [text]

    def test_a_part(self, tmp_path: Path) -> None:
        result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(Text(LONG)), tool_name="x")
        assert result == ToolResult(Text(cut(LONG, tmp_path)))

    def test_a_list_of_everything(self, tmp_path: Path) -> None:
        content = ["short", LONG, Text("short"), PICTURE, VIDEO, RESPONSE]
        result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(content), tool_name="x")
        assert result == ToolResult(["short", cut(LONG, tmp_path), Text("short"), PICTURE, VIDEO, RESPONSE])

    def test_every_long_text_has_a_file_of_its_own(self, tmp_path: Path) -> None:
        output = OutputTruncator(str(tmp_path), limit=LIMIT)
        result = output.truncate(ToolResult([LONG, Text(LONG + "2")]), tool_name="x")
        paths = {file.read_text(): str(file) for file in tmp_path.iterdir()}
        first = truncate_text(LONG, limit=LIMIT, path=paths[LONG])
        second = truncate_text(LONG + "2", limit=LIMIT, path=paths[LONG + "2"])
        assert result == ToolResult([first, Text(second)])

    @pytest.mark.parametrize(
        "content", ["", "x" * LIMIT, Text("x" * LIMIT), PICTURE, VIDEO, RESPONSE, [], ["x" * LIMIT] * 3]
    )
    def test_what_fits_stays_as_it_is(self, tmp_path: Path, content: PartListUnion) -> None:
        error = ToolError("x" * LIMIT, ErrorType.UNKNOWN)
        result = ToolResult(content, "shown " * 100, error)
        assert OutputTruncator(str(tmp_path / "kept"), limit=LIMIT).truncate(result, tool_name="x") == result
        assert not (tmp_path / "kept").exists()

    @pytest.mark.parametrize("limit", [0, -1])
    def test_no_limit(self, tmp_path: Path, limit: int) -> None:
        result = ToolResult([LONG, Text(LONG)], LONG, ToolError(LONG, ErrorType.UNKNOWN))
        assert OutputTruncator(str(tmp_path / "kept"), limit=limit).truncate(result, tool_name="x") == result
        assert not (tmp_path / "kept").exists()

    def test_the_message_of_a_failure(self, tmp_path: Path) -> None:
        shown = FileDiff("a", "/w/a", "+a", is_new_file=True, new_content="a")
        failed = ToolResult("short", shown, ToolError(LONG, ErrorType.MCP_TOOL_ERROR))
        result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(failed, tool_name="x")
        assert result == ToolResult("short", shown, ToolError(cut(LONG, tmp_path), ErrorType.MCP_TOOL_ERROR))

    def test_the_message_of_a_failure_beside_a_long_content(self, tmp_path: Path) -> None:
        failed = ToolResult(LONG, "", ToolError("short", ErrorType.TIMEOUT))
        result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(failed, tool_name="x")
        assert result == ToolResult(cut(LONG, tmp_path), "", ToolError("short", ErrorType.TIMEOUT))


class TestKeeping:
    @pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
    def test_for_their_owner_only_whatever_the_umask(self, tmp_path: Path, mask: int) -> None:
        before = os.umask(mask)
        try:
            OutputTruncator(str(tmp_path / "a" / "b"), limit=LIMIT).truncate(ToolResult(LONG), tool_name="x")
        finally:
            os.umask(before)
        (file,) = (tmp_path / "a" / "b").iterdir()
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a" / "b", file)]
        assert modes == [0o700, 0o700, 0o600]
        assert file.read_text() == LONG

    @pytest.mark.parametrize(
        ("name", "beginning"),
        [
            ("../../etc/x", "______etc_x_"),
            ("a\0b c\n", "a_b_c__"),
            ("überall", "_berall_"),
            ("x" * 300, "x" * 64 + "_"),
            ("", "_"),
            (".", "__"),
        ],
    )
    def test_no_name_of_a_tool_leads_elsewhere(self, tmp_path: Path, name: str, beginning: str) -> None:
        OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(LONG), tool_name=name)
        (file,) = tmp_path.iterdir()
        assert file.name.startswith(beginning)
        assert len(file.name) == len(beginning) + 16 + len(".txt")

    def test_line_ends_and_half_characters_survive(self, tmp_path: Path) -> None:
        text = "a\r\nb\rc\n\ud83d" + "x" * LIMIT
        OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(text), tool_name="x")
        (file,) = tmp_path.iterdir()
        assert file.read_bytes() == b"a\r\nb\rc\n\\ud83d" + b"x" * LIMIT

    def test_a_directory_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        result = OutputTruncator(str(tmp_path / "file" / "kept"), limit=LIMIT).truncate(ToolResult(LONG), tool_name="x")
        assert result == ToolResult(truncate_text(LONG, limit=LIMIT, path=None))
        assert isinstance(result.llm_content, str)
        assert "[Note: Could not save full output to file]" in result.llm_content

    def test_a_directory_of_somebody_else(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        (tmp_path / "theirs").chmod(0o500)
        tmp_path.chmod(0o755)
        with unprivileged_user():
            result = OutputTruncator(str(tmp_path / "theirs" / "kept"), limit=LIMIT).truncate(
                ToolResult(LONG), tool_name="x"
            )
        assert result == ToolResult(truncate_text(LONG, limit=LIMIT, path=None))

    def test_a_link_in_place_of_the_directory_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "kept").symlink_to("elsewhere")
        result = OutputTruncator(str(tmp_path / "kept"), limit=LIMIT).truncate(ToolResult(LONG), tool_name="x")
        assert result == ToolResult(truncate_text(LONG, limit=LIMIT, path=None))
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_half_a_file_is_not_left_to_pass_for_the_whole(self, tmp_path: Path) -> None:
        before, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        text = "x" * 100_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        try:
            result = OutputTruncator(str(tmp_path), limit=LIMIT).truncate(ToolResult(text), tool_name="x")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        assert result == ToolResult(truncate_text(text, limit=LIMIT, path=None))
        assert list(tmp_path.iterdir()) == []


@given(text=st.text(st.characters(codec="utf-8"), max_size=300), limit=st.integers(1, 80))
@settings(max_examples=60)
def test_nothing_is_ever_lost(tmp_path_factory: pytest.TempPathFactory, text: str, limit: int) -> None:
    directory = tmp_path_factory.mktemp("kept")
    result = OutputTruncator(str(directory), limit=limit).truncate(ToolResult(text), tool_name="x")
    if len(text) <= limit:
        assert (result, kept_in(directory)) == (ToolResult(text), {})
        return
    (file,) = directory.iterdir()
    assert file.read_bytes() == text.encode()
    assert result == ToolResult(truncate_text(text, limit=limit, path=str(file)))
