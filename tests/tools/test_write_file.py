"""`write_file`: fidelity in every encoding, stale files, confirmation, rewriting, confinement."""

import asyncio
import hashlib
import os
import socket
import stat
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.note_tool import create_scheduler
from support.text_samples import CODECS, FRENCH, KOREAN, RUSSIAN
from support.tool_results import (
    NOT_ALLOWED,
    RULE,
    EditApprover,
    changed_since_read_result,
    failed_result,
    invalid_params_result,
    list_tree,
    outside_workspace_result,
    unprivileged_user,
)
from tejat.core.approval.confirmation import ApprovalReply, EditConfirmation, Outcome
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolLocation, ToolResult, validate_and_execute
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.tools import builtin_registry
from tejat.tools.read_file import ReadFileTool
from tejat.tools.write_file import WriteFileTool
from tejat.workspace.context import Workspace


@pytest.fixture
def tool(workspace: Workspace) -> WriteFileTool:
    return WriteFileTool(workspace)


def call(tool: WriteFileTool, path: object, content: object, **params: object) -> ToolResult:
    given = {"file_path": str(path), "content": content, **params}
    return asyncio.run(validate_and_execute(tool, given))


def ask(workspace: Workspace, person: EditApprover, path: object, content: str) -> ToolResult:
    scheduler = create_scheduler(workspace.roots, builtin_registry(workspace), person)
    arguments = {"file_path": str(path), "content": content}
    return asyncio.run(scheduler.run(FunctionCall("write_file", arguments)))


def test_what_it_is(tool: WriteFileTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == ("write_file", "WriteFile", Kind.EDIT, False)


class TestWriting:
    def test_a_new_file_and_its_directories(self, tool: WriteFileTool, root: Path) -> None:
        path = root / "a" / "b" / "f.txt"
        content = "one\r\ntwo\rthree\n\nnaïve 日本"
        assert call(tool, path, content) == ToolResult(
            f"Successfully created and wrote to new file: {path}.",
            FileDiff(
                file_name="f.txt",
                file_path=str(path),
                file_diff=f"Index: f.txt\n{RULE}\n--- f.txt\tOriginal\n+++ f.txt\tWritten\n@@ -0,0 +1,4 @@\n"
                "+one\r\n+two\rthree\n+\n+naïve 日本\n\\ No newline at end of file\n",
                is_new_file=True,
                original_content=None,
                new_content=content,
                diff_stat=DiffStat(4, 0, 20, 0),
            ),
        )
        assert path.read_bytes() == content.encode()
        assert list_tree(root) == ["a", "a/b", "a/b/f.txt"]

    def test_an_existing_file(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("a\nb\nc\n")
        assert call(tool, root / "f", "a\nB\nc\n") == ToolResult(
            f"Successfully overwrote file: {root}/f.",
            FileDiff(
                file_name="f",
                file_path=str(root / "f"),
                file_diff=f"Index: f\n{RULE}\n--- f\tOriginal\n+++ f\tWritten\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
                is_new_file=False,
                original_content="a\nb\nc\n",
                new_content="a\nB\nc\n",
                diff_stat=DiffStat(1, 1, 1, 1),
            ),
        )
        assert (root / "f").read_bytes() == b"a\nB\nc\n"
        assert list_tree(root) == ["f"]

    def test_the_result_as_json(self, tool: WriteFileTool, root: Path) -> None:
        assert call(tool, root / "f", "x\n").to_json() == {
            "llmContent": f"Successfully created and wrote to new file: {root}/f.",
            "returnDisplay": {
                "fileDiff": f"Index: f\n{RULE}\n--- f\tOriginal\n+++ f\tWritten\n@@ -0,0 +1,1 @@\n+x\n",
                "fileName": "f",
                "filePath": f"{root}/f",
                "isNewFile": True,
                "originalContent": None,
                "newContent": "x\n",
                "diffStat": {
                    "model_added_lines": 1,
                    "model_removed_lines": 0,
                    "model_added_chars": 1,
                    "model_removed_chars": 0,
                    "user_added_lines": 0,
                    "user_removed_lines": 0,
                    "user_added_chars": 0,
                    "user_removed_chars": 0,
                },
            },
            "error": None,
        }

    def test_empty_content(self, tool: WriteFileTool, root: Path) -> None:
        (root / "old").write_text("a\n")
        assert call(tool, root / "new", "").llm_content == f"Successfully created and wrote to new file: {root}/new."
        assert call(tool, root / "old", "").llm_content == f"Successfully overwrote file: {root}/old."
        assert (root / "new").read_bytes() == (root / "old").read_bytes() == b""

    def test_nothing_is_added_or_taken_at_the_end(self, tool: WriteFileTool, root: Path) -> None:
        for number, old in enumerate((b"a", b"a\n", b"", b"a\n\n")):
            for new in ("b", "b\n", "b\n\n", "\n"):
                path = root / f"{number}{len(new)}{new[0] == 'b'}"
                path.write_bytes(old)
                assert call(tool, path, new).error is None
                assert path.read_bytes() == new.encode()

    def test_content_is_written_as_given(self, tool: WriteFileTool, root: Path) -> None:
        content = '{"a": "x\\\\n\\"\\t"}\\n &amp; $& \\u0041'
        for name in ("f.json", "f.ipynb", "f.txt"):
            assert call(tool, root / name, content).error is None
            assert (root / name).read_bytes() == content.encode()

    def test_the_same_content_again(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("a\n")
        result = call(tool, root / "f", "a\n")
        assert result.llm_content == f"Successfully overwrote file: {root}/f."
        assert isinstance(result.return_display, FileDiff)
        assert result.return_display.file_diff == f"Index: f\n{RULE}\n--- f\tOriginal\n+++ f\tWritten\n"
        assert result.return_display.diff_stat == DiffStat(0, 0, 0, 0)

    def test_over_a_binary_file(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"\0\x01\x02" * 100)
        result = call(tool, root / "f", "text\n")
        assert result.llm_content == f"Successfully overwrote file: {root}/f."
        assert isinstance(result.return_display, FileDiff)
        assert result.return_display.file_diff == (
            f"Index: f\n{RULE}\n--- f\tOriginal\n+++ f\tWritten\n@@ -1,1 +1,1 @@\n-[binary content]\n+text\n"
        )
        assert (root / "f").read_bytes() == b"text\n"

    def test_large_contents_are_not_carried_in_the_result(self, tool: WriteFileTool, root: Path) -> None:
        old, new = "old line\n" * 200_000, "new line\n" * 200_000
        (root / "f").write_text(old)
        started = time.process_time()
        result = call(tool, root / "f", new)
        assert time.process_time() - started < 3
        assert isinstance(result.return_display, FileDiff)
        assert (result.return_display.original_content, result.return_display.new_content) == (None, None)
        assert result.return_display.diff_stat is None
        assert len(result.return_display.file_diff) < 3 * 2**20
        assert (root / "f").read_text() == new

    def test_a_file_too_large_to_hold_is_overwritten_without_being_read(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").touch()
        os.truncate(root / "f", 2**40)
        started = time.monotonic()
        result = call(tool, root / "f", "x\n")
        assert result.llm_content == f"Successfully overwrote file: {root}/f."
        assert isinstance(result.return_display, FileDiff)
        assert "-[1099511627776 bytes, not shown]\n+x\n" in result.return_display.file_diff
        assert time.monotonic() - started < 20
        assert (root / "f").read_text() == "x\n"

    def test_the_mode_is_kept(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("a")
        (root / "f").chmod(0o751)
        assert call(tool, root / "f", "b").error is None
        assert stat.S_IMODE((root / "f").stat().st_mode) == 0o751

    def test_a_link_stays_one_and_its_target_is_written(self, tool: WriteFileTool, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "f").write_text("a")
        (root / "in").symlink_to("sub/f")
        (root / "absolute").symlink_to(root / "sub" / "f")
        (root / "dangling").symlink_to("sub/new")
        for name, target in (("in", "f"), ("absolute", "f"), ("dangling", "new")):
            assert call(tool, root / name, name).error is None
            assert (root / name).is_symlink()
            assert (root / "sub" / target).read_text() == name

    def test_a_hard_link_is_broken_and_told(self, tool: WriteFileTool, root: Path) -> None:
        outer = root.parent / "outer"
        outer.write_text("secret")
        os.link(outer, root / "f")
        assert call(tool, root / "f", "x").llm_content == (
            f"Successfully overwrote file: {root}/f. The file had other hard links; they still hold the old content."
        )
        assert (outer.read_text(), (root / "f").read_text()) == ("secret", "x")


ENDINGS = {
    "LF": ["\n"] * 3,
    "CRLF": ["\r\n"] * 3,
    "CR": ["\r"] * 3,
    "mixed": ["\r\n", "\n", "\r\n"],
    "none": ["\n", "\n", ""],
}


@pytest.mark.parametrize("endings", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize(("codec", "mark", "lines"), CODECS, ids=[f"{codec}-{mark.hex()}" for codec, mark, _ in CODECS])
class TestFidelity:
    def test_one_changed_line_changes_no_other_byte(
        self, tool: WriteFileTool, root: Path, codec: str, mark: bytes, lines: list[str], endings: list[str]
    ) -> None:
        encoded = [(line + ending).encode(codec) for line, ending in zip(lines, endings, strict=True)]
        (root / "f").write_bytes(mark + b"".join(encoded))
        changed = lines[1].replace("edit_me", "changed")
        content = "\n".join([lines[0], changed, lines[2]]) + ("\n" if endings[2] else "")
        assert call(tool, root / "f", content).error is None
        encoded[1] = (changed + endings[1]).encode(codec)
        assert (root / "f").read_bytes() == mark + b"".join(encoded)

    def test_the_same_text_again_changes_nothing(
        self, tool: WriteFileTool, root: Path, codec: str, mark: bytes, lines: list[str], endings: list[str]
    ) -> None:
        raw = mark + "".join(line + ending for line, ending in zip(lines, endings, strict=True)).encode(codec)
        (root / "f").write_bytes(raw)
        assert call(tool, root / "f", "\n".join(lines) + ("\n" if endings[2] else "")).error is None
        assert (root / "f").read_bytes() == raw


class TestEncodings:
    @pytest.mark.parametrize(
        ("codec", "lines", "character", "said"),
        [
            ("cp1252", FRENCH, "日", "The character U+65E5 '日' (CJK UNIFIED IDEOGRAPH-65E5)"),
            ("koi8-r", RUSSIAN, "é", "The character U+00E9 'é' (LATIN SMALL LETTER E WITH ACUTE)"),
            ("euc_kr", KOREAN, "😀", "The character U+1F600 '😀' (GRINNING FACE)"),
        ],
    )
    def test_a_character_that_the_encoding_lacks_is_refused_by_name(
        self, tool: WriteFileTool, root: Path, codec: str, lines: list[str], character: str, said: str
    ) -> None:
        raw = "\n".join(lines).encode(codec)
        (root / "f").write_bytes(raw)
        result = call(tool, root / "f", "\n".join(lines) + character)
        assert result.error is not None
        assert result.error.type is ErrorType.FILE_WRITE_FAILURE
        assert result.error.message.startswith(f"{said} cannot be encoded in ")
        assert "convert the file to UTF-8 first" in result.error.message
        assert (root / "f").read_bytes() == raw
        assert list_tree(root) == ["f"]

    def test_half_a_character_is_refused(self, tool: WriteFileTool, root: Path) -> None:
        assert call(tool, root / "f", "a\ud83d") == failed_result(
            "The lone surrogate U+D83D cannot be encoded in utf-8, the encoding of this file. Remove it.",
            ErrorType.FILE_WRITE_FAILURE,
        )
        assert list_tree(root) == []

    def test_a_mark_in_the_content_is_not_doubled(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_bytes(b"\xef\xbb\xbfa\n")
        assert call(tool, root / "f", "\ufeffb\n").error is None
        assert (root / "f").read_bytes() == b"\xef\xbb\xbfb\n"

    def test_bytes_that_are_no_text_stay_on_lines_that_stay(self, tool: WriteFileTool, root: Path) -> None:
        good = "日本語のとても長い文章\n".encode() * 3
        (root / "f").write_bytes(good + b"bad \xff\xfe here\n" + b"last\n")
        shown = asyncio.run(validate_and_execute(ReadFileTool(tool._workspace), {"path": "f"})).llm_content
        assert isinstance(shown, str)
        assert call(tool, root / "f", shown.replace("last", "LAST")).error is None
        written = (root / "f").read_bytes()
        assert written.startswith(good)
        assert written.endswith(b"LAST\n")

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.tuples(st.text("abé ", max_size=4), st.sampled_from(["\n", "\r\n"])), max_size=8),
        st.lists(st.text("abé ", max_size=4), max_size=8),
        st.booleans(),
    )
    def test_any_content_is_what_is_read_back(
        self, root: Path, old: list[tuple[str, str]], new: list[str], marked: bool
    ) -> None:
        """Whatever the file held: its text is the given one up to the kinds of line ends, which are its own."""
        raw = (b"\xef\xbb\xbf" if marked else b"") + "".join(line + end for line, end in old).encode()
        (root / "f").write_bytes(raw)
        content = "\n".join(new)
        with Workspace([root]) as workspace:
            assert call(WriteFileTool(workspace), root / "f", content).error is None
        written = (root / "f").read_bytes()
        assert written.startswith(b"\xef\xbb\xbf") == marked
        text = written.decode("utf-8-sig")
        assert text.replace("\r\n", "\n") == content
        kinds = {end for _, end in old}
        if kinds:
            assert ("\r\n" not in text) or "\r\n" in kinds
            assert kinds != {"\r\n"} or text.count("\n") == text.count("\r\n")


class TestStaleFiles:
    def read(self, workspace: Workspace, path: Path) -> None:
        assert asyncio.run(validate_and_execute(ReadFileTool(workspace), {"path": str(path)})).error is None

    def test_a_foreign_change_is_not_written_over(self, workspace: Workspace, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("read text\n")
        self.read(workspace, root / "f")
        status = (root / "f").stat()
        (root / "f").write_text("user text\n")
        os.utime(root / "f", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert call(tool, root / "f", "model text\n") == changed_since_read_result(
            root / "f", "read text\n", "user text\n"
        )
        assert (root / "f").read_text() == "user text\n"
        self.read(workspace, root / "f")
        assert call(tool, root / "f", "model text\n").error is None
        assert (root / "f").read_text() == "model text\n"

    def test_a_touch_is_no_change(self, workspace: Workspace, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("text\n")
        self.read(workspace, root / "f")
        os.utime(root / "f", (1, 1))
        (root / "g").write_text("text\n")
        os.replace(root / "g", root / "f")
        assert call(tool, root / "f", "new\n").error is None

    def test_our_own_writes_are_none(self, tool: WriteFileTool, root: Path) -> None:
        for content in ("a", "b", "c"):
            assert call(tool, root / "f", content).error is None
        (root / "f").write_text("user")
        assert call(tool, root / "f", "d") == changed_since_read_result(root / "f", "c", "user")

    def test_two_sessions(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old")
        with Workspace([root]) as other:
            for session in (workspace, other):
                self.read(session, root / "f")
            assert call(WriteFileTool(workspace), root / "f", "first").error is None
            assert call(WriteFileTool(other), root / "f", "second") == changed_since_read_result(
                root / "f", "old", "first"
            )
        assert (root / "f").read_text() == "first"

    def test_a_change_through_another_spelling(self, workspace: Workspace, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("old")
        (root / "link").symlink_to("f")
        self.read(workspace, root / "link")
        (root / "f").write_text("user")
        assert call(tool, root / "f", "x") == changed_since_read_result(root / "f", "old", "user")

    @pytest.mark.parametrize(
        ("before", "now"), [("old\n", "user\n"), ("old\n", None), (None, "user\n")], ids=["changed", "removed", "made"]
    )
    def test_a_change_while_the_person_is_asked_is_shown_anew(
        self, workspace: Workspace, root: Path, before: str | None, now: str | None
    ) -> None:
        def put(text: str | None) -> None:
            (root / "f").unlink(missing_ok=True)
            if text is not None:
                (root / "f").write_text(text)

        put(before)
        person = EditApprover.approve_then_cancel(lambda: put(now))
        result = ask(workspace, person, root / "f", "new\n")
        assert result.error == ToolError(NOT_ALLOWED, ErrorType.CANCELLED)
        assert [shown.original_content for shown in person.confirmations] == [before, now]
        assert (root / "f").exists() == (now is not None)
        assert now is None or (root / "f").read_text() == now

    def test_a_touch_while_the_person_is_asked(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old\n")
        assert (
            ask(workspace, EditApprover(meanwhile=lambda: os.utime(root / "f", (1, 1))), root / "f", "new\n").error
            is None
        )
        assert (root / "f").read_text() == "new\n"

    @pytest.mark.parametrize("exists", [True, False])
    def test_a_directory_takes_its_place(self, workspace: Workspace, root: Path, exists: bool) -> None:
        def become_directory() -> None:
            (root / "f").unlink(missing_ok=True)
            (root / "f").mkdir()

        if exists:
            (root / "f").write_text("old")
        result = ask(workspace, EditApprover(meanwhile=become_directory), root / "f", "new")
        assert result == failed_result(f"Path is a directory, not a file: {root}/f", ErrorType.TARGET_IS_DIRECTORY)
        assert list_tree(root) == ["f"]

    def test_a_pipe_takes_its_place(self, workspace: Workspace, root: Path) -> None:
        def become_pipe() -> None:
            (root / "f").unlink()
            os.mkfifo(root / "f")

        (root / "f").write_text("old")
        started = time.monotonic()
        result = ask(workspace, EditApprover(meanwhile=become_pipe), root / "f", "new")
        assert time.monotonic() - started < 20
        assert result == failed_result(
            f"A pipe, socket or device, not a regular file: {root}/f", ErrorType.SPECIAL_FILE
        )
        assert stat.S_ISFIFO((root / "f").stat().st_mode)

    @pytest.mark.parametrize("content", ["old", "another"])
    def test_a_link_takes_its_place(self, workspace: Workspace, root: Path, content: str) -> None:
        """Also when the file that it leads to holds the same as the old one."""

        def become_link() -> None:
            (root / "f").rename(root / "moved")
            (root / "f").symlink_to("target")

        (root / "f").write_text("old")
        (root / "target").write_text(content)
        person = EditApprover.approve_then_cancel(become_link)
        result = ask(workspace, person, root / "f", "new")
        assert result.error == ToolError(NOT_ALLOWED, ErrorType.CANCELLED)
        assert len(person.confirmations) == 2
        assert (root / "target").read_text() == content
        assert (root / "moved").read_text() == "old"

    def test_a_link_out_takes_its_place(self, workspace: Workspace, root: Path) -> None:
        def become_link() -> None:
            (root / "f").unlink()
            (root / "f").symlink_to(root.parent / "MARK")

        (root / "f").write_text("old")
        assert ask(workspace, EditApprover(meanwhile=become_link), root / "f", "new") == outside_workspace_result(
            root / "f", root
        )
        assert not (root.parent / "MARK").exists()


class TestConfirming:
    def test_a_new_file(self, workspace: Workspace, root: Path) -> None:
        person = EditApprover()
        result = ask(workspace, person, root / "sub" / "f", "x\n")
        assert person.confirmations == [
            EditConfirmation(
                title="Confirm Write: sub/f",
                file_name="f",
                file_path=f"{root}/sub/f",
                file_diff=f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -0,0 +1,1 @@\n+x\n",
                original_content=None,
                new_content="x\n",
                diff_stat=DiffStat(1, 0, 1, 0),
                digest=hashlib.sha256(f"{root}/sub/f\0x\n".encode()).hexdigest(),
            )
        ]
        assert result.llm_content == f"Successfully created and wrote to new file: {root}/sub/f."

    def test_an_existing_file(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_bytes(b"a\r\nb\r\n")
        person = EditApprover()
        ask(workspace, person, root / "f", "a\nc\n")
        assert person.confirmations == [
            EditConfirmation(
                title="Confirm Write: f",
                file_name="f",
                file_path=f"{root}/f",
                file_diff=f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
                original_content="a\nb\n",
                new_content="a\nc\n",
                diff_stat=DiffStat(1, 1, 1, 1),
                digest=hashlib.sha256(f"{root}/f\0a\r\nc\r\n".encode()).hexdigest(),
            )
        ]
        assert (root / "f").read_bytes() == b"a\r\nc\r\n"

    def test_looking_at_a_proposal_changes_nothing(self, tool: WriteFileTool, root: Path) -> None:
        confirmation = asyncio.run(tool.should_confirm_execute({"file_path": str(root / "a" / "f"), "content": "x"}))
        assert confirmation is not None
        assert list_tree(root) == []

    def test_a_no_writes_nothing(self, workspace: Workspace, root: Path) -> None:
        result = ask(workspace, EditApprover([ApprovalReply(Outcome.CANCEL)]), root / "a" / "f", "x")
        assert result.error is not None
        assert result.error.type is ErrorType.CANCELLED
        assert list_tree(root) == []

    def test_nobody_is_asked_about_what_cannot_be_done(self, workspace: Workspace, root: Path) -> None:
        (root / "d").mkdir()
        person = EditApprover()
        assert ask(workspace, person, root / "d", "x") == failed_result(
            f"Path is a directory, not a file: {root}/d", ErrorType.TARGET_IS_DIRECTORY
        )
        assert person.confirmations == []

    def test_what_the_person_wrote_instead(self, workspace: Workspace, root: Path) -> None:
        """Shown again before it is written, told to the model, and counted apart."""
        (root / "f").write_text("a\nb\n")
        person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="a\nuser\nmore\n")])
        result = ask(workspace, person, root / "f", "a\nmodel\n")
        assert [seen.new_content for seen in person.confirmations] == ["a\nmodel\n", "a\nuser\nmore\n"]
        assert person.confirmations[1].file_diff == (
            f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -1,2 +1,3 @@\n a\n-b\n+user\n+more\n"
        )
        stat_of_both = DiffStat(1, 1, 5, 1, 2, 1, 8, 5)
        assert person.confirmations[1].diff_stat == stat_of_both
        assert result == ToolResult(
            f"Successfully overwrote file: {root}/f. User modified the `content` to be: a\nuser\nmore\n",
            FileDiff(
                file_name="f",
                file_path=f"{root}/f",
                file_diff=person.confirmations[1]
                .file_diff.replace("Current", "Original")
                .replace("Proposed", "Written"),
                is_new_file=False,
                original_content="a\nb\n",
                new_content="a\nuser\nmore\n",
                diff_stat=stat_of_both,
            ),
        )
        assert (root / "f").read_text() == "a\nuser\nmore\n"

    def test_line_ends_that_are_not_kept_are_nobodys_change(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a\nb\n")
        person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="a\nmodel\nuser\n")])
        result = ask(workspace, person, root / "f", "a\r\nmodel\r\n")
        assert isinstance(result.return_display, FileDiff)
        assert result.return_display.diff_stat == DiffStat(1, 1, 5, 1, 1, 0, 4, 0)
        assert (root / "f").read_bytes() == b"a\nmodel\nuser\n"

    def test_rewritten_twice_it_is_still_the_models_proposal_that_counts(
        self, workspace: Workspace, root: Path
    ) -> None:
        answers = [ApprovalReply(Outcome.PROCEED_ONCE, new_content=text) for text in ("one\n", "two\n")]
        result = ask(workspace, EditApprover(answers), root / "f", "model\n")
        assert isinstance(result.return_display, FileDiff)
        assert result.return_display.diff_stat == DiffStat(1, 0, 5, 0, 1, 1, 3, 5)
        assert (root / "f").read_text() == "two\n"

    def test_what_the_person_wrote_is_checked_as_well(self, workspace: Workspace, root: Path) -> None:
        person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="// rest of code ...")])
        result = ask(workspace, person, root / "f", "model\n")
        assert result.error is not None
        assert result.error.type is ErrorType.INVALID_TOOL_PARAMS
        assert list_tree(root) == []

    def test_without_a_person_nothing_is_said(self, tool: WriteFileTool, root: Path) -> None:
        said = call(tool, root / "f", "x", modified_by_user=True, ai_proposed_content="y").llm_content
        assert said == f"Successfully created and wrote to new file: {root}/f. User modified the `content` to be: x"
        said = call(tool, root / "g", "x", modified_by_user=False).llm_content
        assert said == f"Successfully created and wrote to new file: {root}/g."


class TestRefusing:
    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({}, "params must have required property 'file_path', params must have required property 'content'"),
            ({"file_path": "f"}, "params must have required property 'content'"),
            ({"file_path": "f", "content": None}, "params/content must be string"),
            ({"file_path": 1, "content": ""}, "params/file_path must be string"),
            ({"file_path": "", "content": ""}, 'Missing or empty "file_path"'),
            ({"file_path": " ", "content": ""}, 'Missing or empty "file_path"'),
        ],
    )
    def test_bad_parameters(self, tool: WriteFileTool, root: Path, params: dict[str, object], reason: str) -> None:
        assert asyncio.run(validate_and_execute(tool, params)) == invalid_params_result(reason)
        assert list_tree(root) == []

    @pytest.mark.parametrize("line", ["// rest of code ...", "(rest of methods ...)", "# rest of file unchanged"])
    def test_stand_ins(self, tool: WriteFileTool, root: Path, line: str) -> None:
        assert call(tool, root / "f", f"a\n{line}\n") == invalid_params_result(
            "`content` contains an omission placeholder (for example 'rest of methods ...'). "
            "Provide complete file content."
        )
        assert call(tool, root / "f", f"print('{line}')\n").error is None

    def test_a_directory(self, tool: WriteFileTool, root: Path) -> None:
        assert call(tool, root, "x") == failed_result(
            f"Path is a directory, not a file: {root}", ErrorType.TARGET_IS_DIRECTORY
        )

    @pytest.mark.parametrize("path", ["../MARK", "{root}/../MARK", "/MARK", "{root}-evil", "{root}x/MARK"])
    def test_paths_that_lie_outside(self, tool: WriteFileTool, root: Path, path: str) -> None:
        path = path.format(root=root)
        assert call(tool, path, "x") == outside_workspace_result(path, root)
        assert list_tree(root.parent) == ["root"]

    def test_links_that_lead_out(self, tool: WriteFileTool, root: Path) -> None:
        outer = root.parent / "outer"
        outer.mkdir()
        (outer / "secret").write_text("secret")
        (root / "d").symlink_to(outer)
        (root / "f").symlink_to(outer / "secret")
        (root / "n").symlink_to(root.parent / "MARK")
        (root / "r").symlink_to("../MARK")
        for name in ("d/new", "d/secret", "f", "n", "r"):
            assert call(tool, root / name, "x") == outside_workspace_result(root / name, root)
        assert (outer / "secret").read_text() == "secret"
        assert list_tree(root.parent) == ["outer", "outer/secret", "root", "root/d", "root/f", "root/n", "root/r"]

    def test_a_relative_path_is_in_the_root(
        self, tool: WriteFileTool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert call(tool, "sub/f", "x").llm_content == f"Successfully created and wrote to new file: {root}/sub/f."
        assert list_tree(tmp_path) == ["root", "root/sub", "root/sub/f"]

    def test_names_are_taken_to_the_letter(self, tool: WriteFileTool, root: Path) -> None:
        for name in ("a%41.txt", "line\nbreak", "-rf", "@at", "with space", "*"):
            assert call(tool, root / name, name).error is None
            assert (root / name).read_text() == name
        assert call(tool, os.fsdecode(b"caf\xe9"), "x").error is None
        assert os.path.exists(os.fsencode(root) + b"/caf\xe9")

    def test_long_paths(self, tool: WriteFileTool, root: Path) -> None:
        for path in ("n" * 300, "d/" * 2500 + "f"):
            assert call(tool, path, "x") == invalid_params_result(
                f"Path is too long (at most 4096 bytes, 255 per name): {path[:60]}..."
            )
        assert list_tree(root) == []

    def test_a_deep_path(self, tool: WriteFileTool, root: Path) -> None:
        deep = root / Path(*["d"] * 200) / "f"
        assert call(tool, deep, "x").error is None
        assert deep.read_text() == "x"

    def test_an_unreadable_file(self, tool: WriteFileTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o777)
        (root / "f").write_text("x")
        (root / "f").chmod(0o200)
        with unprivileged_user():
            result = call(tool, root / "f", "y")
        assert result == failed_result(
            f"Error checking existing file '{root}/f': Permission denied: {root}/f", ErrorType.PERMISSION_DENIED
        )
        (root / "f").chmod(0o600)
        assert (root / "f").read_text() == "x"

    def test_a_read_only_file(self, tool: WriteFileTool, root: Path) -> None:
        (root / "f").write_text("x")
        (root / "f").chmod(0o444)
        assert call(tool, root / "f", "y") == failed_result(
            f"Permission denied writing to file: {root}/f (EACCES). The file is read-only (mode 0444).",
            ErrorType.PERMISSION_DENIED,
        )
        assert (root / "f").read_text() == "x"

    def test_a_read_only_directory(self, tool: WriteFileTool, root: Path) -> None:
        (root / "d").mkdir()
        (root / "d").chmod(0o555)
        assert call(tool, root / "d" / "f", "y") == failed_result(
            f"Permission denied writing to file: {root}/d/f (EACCES). The directory is read-only (mode 0555).",
            ErrorType.PERMISSION_DENIED,
        )
        assert list_tree(root) == ["d"]

    def test_no_space(self, tool: WriteFileTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        (root / "f").write_text("x")
        monkeypatch.setattr(os, "writev", full)
        for name in ("f", "a/b/new"):
            assert call(tool, root / name, "y") == failed_result(
                f"No space left on device: {root}/{name} (ENOSPC)", ErrorType.NO_SPACE_LEFT
            )
        assert (root / "f").read_text() == "x"
        assert list_tree(root) == ["f"]

    def test_another_error(self, tool: WriteFileTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> int:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "writev", broken)
        assert call(tool, root / "f", "y") == failed_result(
            f"Error writing to file '{root}/f': Input/output error (EIO)", ErrorType.FILE_WRITE_FAILURE
        )
        assert list_tree(root) == []

    def test_a_part_of_the_path_is_a_file(self, tool: WriteFileTool, root: Path) -> None:
        (root / "a").mkdir()
        (root / "a" / "b").write_text("x")
        assert call(tool, root / "a" / "b" / "c" / "f", "y") == failed_result(
            f"Part of the path is a file, not a directory: {root}/a/b/c/f", ErrorType.FILE_WRITE_FAILURE
        )
        assert list_tree(root) == ["a", "a/b"]

    def test_special_files_are_answered_at_once(self, tool: WriteFileTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(root / "socket"))
            for name in ("fifo", "socket"):
                started = time.monotonic()
                assert call(tool, root / name, "x") == failed_result(
                    f"A pipe, socket or device, not a regular file: {root}/{name}",
                    ErrorType.SPECIAL_FILE,
                )
                assert time.monotonic() - started < 20


class TestNaming:
    def test_the_description_and_location(self, tool: WriteFileTool, root: Path) -> None:
        params = {"file_path": str(root / "sub" / "f"), "content": ""}
        assert tool.get_description(params) == "Writing to sub/f"
        assert tool.get_description({}) == "Model did not provide valid parameters for write file tool"
        assert tool.tool_locations(params) == [ToolLocation(f"{root}/sub/f")]

    def test_several_workspace_directories(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        (other / "known").write_text("x")
        with Workspace([root, other]) as workspace:
            tool = WriteFileTool(workspace)
            assert call(tool, other / "f", "1").error is None
            assert call(tool, "known", "2").error is None
            assert call(tool, "new", "3").error is None
            assert call(tool, tmp_path / "f", "4") == outside_workspace_result(tmp_path / "f", root, other)
        assert {name: (tmp_path / name).read_text() for name in ("other/f", "other/known", "root/new")} == {
            "other/f": "1",
            "other/known": "2",
            "root/new": "3",
        }

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(root)
        with Workspace([tmp_path / "link"]) as workspace:
            tool = WriteFileTool(workspace)
            assert call(tool, "f", "1").llm_content == (
                f"Successfully created and wrote to new file: {tmp_path}/link/f."
            )
            assert call(tool, root / "f", "2").llm_content == f"Successfully overwrote file: {tmp_path}/link/f."
        assert (root / "f").read_text() == "2"


class TestAtOnce:
    def test_parallel_writes_of_one_file_leave_one_of_them_whole(self, tool: WriteFileTool, root: Path) -> None:
        contents = [f"{number}\n" * 1000 for number in range(20)]

        async def write_all() -> list[ToolResult]:
            calls = (validate_and_execute(tool, {"file_path": "f", "content": content}) for content in contents)
            return await asyncio.gather(*calls)

        results = asyncio.run(write_all())
        assert [result.error for result in results] == [None] * 20
        assert (root / "f").read_text() in contents
        assert list_tree(root) == ["f"]

    def test_a_cancelled_write_leaves_the_old_file_and_nothing_else(self, tool: WriteFileTool, root: Path) -> None:
        old = b"old\n" * 1_000_000
        new = "new\n" * 10_000_000

        async def cancel(delay: float) -> float:
            task = asyncio.create_task(validate_and_execute(tool, {"file_path": "f", "content": new}))
            await asyncio.sleep(delay)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - started

        for delay in (0.0, 0.01, 0.05):
            (root / "f").write_bytes(old)
            assert asyncio.run(cancel(delay)) < 5
            assert (root / "f").read_bytes() == old
            assert list_tree(root) == ["f"]
