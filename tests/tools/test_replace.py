"""`replace`: exact edits, fidelity in every encoding, stale files, confirmation, concurrent edits."""

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

from support.edit_results import count_mismatch_result, not_found_result, nothing_similar
from support.note_tool import create_scheduler
from support.text_samples import CODECS, JAPANESE, RUSSIAN, TAIWANESE
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
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace


@pytest.fixture
def tool(workspace: Workspace) -> EditTool:
    return EditTool(workspace)


def call(tool: EditTool, path: object, old: str, new: str, **params: object) -> ToolResult:
    given = {"file_path": str(path), "old_string": old, "new_string": new, **params}
    return asyncio.run(validate_and_execute(tool, given))


def ask(workspace: Workspace, person: EditApprover, path: object, old: str, new: str) -> ToolResult:
    scheduler = create_scheduler(workspace.roots, builtin_registry(workspace), person)
    arguments = {"file_path": str(path), "old_string": old, "new_string": new}
    return asyncio.run(scheduler.run(FunctionCall("replace", arguments)))


def test_what_it_is(tool: EditTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == ("replace", "Edit", Kind.EDIT, False)


class TestReplacing:
    def test_one_place(self, tool: EditTool, root: Path) -> None:
        (root / "f.py").write_text("a = 1\nb = 2\nc = 3\n")
        path = root / "f.py"
        assert call(tool, path, "b = 2", "b = 22") == ToolResult(
            f"Successfully modified file: {path} (1 replacements).",
            FileDiff(
                file_name="f.py",
                file_path=str(path),
                file_diff=f"Index: f.py\n{RULE}\n--- f.py\tCurrent\n+++ f.py\tProposed\n@@ -1,3 +1,3 @@\n"
                " a = 1\n-b = 2\n+b = 22\n c = 3\n",
                is_new_file=False,
                original_content="a = 1\nb = 2\nc = 3\n",
                new_content="a = 1\nb = 22\nc = 3\n",
                diff_stat=DiffStat(1, 1, 6, 5),
            ),
        )
        assert path.read_text() == "a = 1\nb = 22\nc = 3\n"
        assert list_tree(root) == ["f.py"]

    def test_a_new_file(self, tool: EditTool, root: Path) -> None:
        path = root / "a" / "b" / "f"
        content = "one\r\ntwo\n"
        assert call(tool, path, "", content) == ToolResult(
            f"Created new file: {path} with provided content.", "Created a/b/f"
        )
        assert path.read_bytes() == content.encode()

    def test_a_file_that_exists(self, tool: EditTool, root: Path) -> None:
        for content in ("", "x"):
            (root / "f").write_text(content)
            assert call(tool, root / "f", "", "new") == failed_result(
                f"File already exists, cannot create: {root}/f",
                ErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
                "Error: Failed to edit. Attempted to create a file that already exists.",
            )
            assert (root / "f").read_text() == content

    def test_a_file_that_does_not(self, tool: EditTool, root: Path) -> None:
        for path in (root / "f", root / "a" / "f"):
            assert call(tool, path, "old", "new") == failed_result(
                f"File not found: {path}",
                ErrorType.FILE_NOT_FOUND,
                "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file.",
            )
        assert list_tree(root) == []

    @pytest.mark.parametrize("old", ["x", "A = 1", "c = 3", "a\\n", "a = 2\nb = 1"])
    def test_no_place(self, tool: EditTool, root: Path, old: str) -> None:
        (root / "f").write_text("a = 1\nb = 2\n")
        assert call(tool, root / "f", old, "new") == not_found_result(root / "f", nothing_similar("a = 1\nb = 2\n"))
        assert (root / "f").read_text() == "a = 1\nb = 2\n"

    @pytest.mark.parametrize(
        ("old", "line", "differences"),
        [
            ("a = 1\n\nb", 2, "- line 2: old_string has `b`, the file `b = 2`"),
            ("1\nb = 2 ", 1, "- line 1: old_string has `1`, the file `a = 1`\n- line 2: white space at the end"),
        ],
    )
    def test_a_place_where_more_stands(self, tool: EditTool, root: Path, old: str, line: int, differences: str) -> None:
        """A line that is cut short may stay, but what is not known of it is not replaced."""
        (root / "f").write_text("a = 1\nb = 2\n")
        assert call(tool, root / "f", old, "new") == not_found_result(
            root / "f",
            f" Line {line} is to be replaced and differs from old_string.\n"
            f"Nearest text in the file, lines 1-2:\na = 1\nb = 2\nWhat differs:\n{differences}",
        )
        assert (root / "f").read_text() == "a = 1\nb = 2\n"

    def test_spaces_inside_a_line(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a = 1\nb = 2\n")
        assert call(tool, root / "f", "a  = 1", "a  = 3").error is None
        assert (root / "f").read_text() == "a = 3\nb = 2\n"

    def test_another_number_of_places(self, tool: EditTool, root: Path) -> None:
        text = "a\nx\nb\nx\n\nx"
        (root / "f").write_text(text)
        shown = "\nIn the file, lines 1-3:\na\nx\nb\nIn the file, lines 3-5:\nb\nx\n\nIn the file, lines 5-6:\n\nx"
        too_many = (
            "They begin in lines 2, 4, 6. Add lines around the one that is meant; to change all of them, "
            f"set expected_replacements to 3.{shown}"
        )
        too_few = f"They begin in lines 2, 4, 6. To change no more than that, set expected_replacements to 3.{shown}"
        assert call(tool, root / "f", "x", "y") == count_mismatch_result(root / "f", 1, 3, too_many)
        assert call(tool, root / "f", "x", "y", expected_replacements=2) == count_mismatch_result(
            root / "f", 2, 3, too_many
        )
        assert call(tool, root / "f", "x", "y", expected_replacements=4) == count_mismatch_result(
            root / "f", 4, 3, too_few
        )
        assert (root / "f").read_text() == text

    @pytest.mark.parametrize(
        "params", [{"expected_replacements": 3}, {"expected_replacements": 3.0}, {"allow_multiple": True}]
    )
    def test_the_right_number_of_places(self, tool: EditTool, root: Path, params: dict[str, object]) -> None:
        (root / "f").write_text("x x x")
        result = call(tool, root / "f", "x", "xx", **params)
        assert result.llm_content == f"Successfully modified file: {root}/f (3 replacements)."
        assert (root / "f").read_text() == "xx xx xx"

    def test_several_places_allowed_and_none_there(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("x")
        assert call(tool, root / "f", "y", "z", allow_multiple=True) == not_found_result(
            root / "f", nothing_similar("x")
        )

    def test_nothing_would_change(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_bytes(b"a\r\nb\r\n")
        reason = "No changes to apply. The old_string and new_string are identical"
        assert call(tool, root / "f", "a", "a") == failed_result(
            f"{reason} in file: {root}/f", ErrorType.EDIT_NO_CHANGE, f"Error: {reason}."
        )
        reason = "No changes to apply. The new content is identical to the current content"
        assert call(tool, root / "f", "a\nb", "a\r\nb") == failed_result(
            f"{reason} in file: {root}/f", ErrorType.EDIT_NO_CHANGE, f"Error: {reason}."
        )
        assert (root / "f").read_bytes() == b"a\r\nb\r\n"

    @pytest.mark.parametrize("new", ["$", "$&", "$'", "$`", "$1", "$$", "a$", "\\1", "\\g<0>", "\\n", "%s", "{0}"])
    def test_signs_are_literal(self, tool: EditTool, root: Path, new: str) -> None:
        (root / "f").write_text("<price> <price>\n")
        assert call(tool, root / "f", "price", new, expected_replacements=2).error is None
        assert (root / "f").read_text() == f"<{new}> <{new}>\n"

    @pytest.mark.parametrize(("old", "new"), [("a\nb", "x\ny"), ("a\r\nb", "x\r\ny"), ("a\r\nb", "x\ny")])
    def test_line_ends_are_neutral_and_stay(self, tool: EditTool, root: Path, old: str, new: str) -> None:
        for name, ending in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
            path = root / name
            path.write_bytes(f"a{ending}b{ending}c".encode())
            assert call(tool, path, old, new).error is None
            assert path.read_bytes() == f"x{ending}y{ending}c".encode()

    @pytest.mark.parametrize(
        ("content", "old", "new", "expected"),
        [
            ("a\n", "a\n", "b", "b"),
            ("a", "a", "b\n", "b\n"),
            ("a\nlast  one\n", "last one\n", "last two", "a\nlast  two\n"),
            ("a\nlast  one", "last one", "last two\n", "a\nlast  two"),
            ("a\nb", "b", "", "a"),
            ("a\nb\n", "b\n", "", "a\n"),
            ("k\n", "k", "", "\n"),
            ("a\n", "a\n", "", ""),
        ],
    )
    def test_the_end_changes_only_by_an_exact_edit(
        self, tool: EditTool, root: Path, content: str, old: str, new: str, expected: str
    ) -> None:
        (root / "f").write_text(content)
        assert call(tool, root / "f", old, new).error is None
        assert (root / "f").read_text() == expected

    def test_deleting(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a\n\nb\n\nc\n")
        assert call(tool, root / "f", "b", "").error is None
        assert (root / "f").read_text() == "a\n\n\n\nc\n"

    def test_places_do_not_overlap(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("aaaaa")
        assert call(tool, root / "f", "aa", "b", expected_replacements=2).error is None
        assert (root / "f").read_text() == "bba"

    def test_unicode(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_bytes(b"\xef\xbb\xbf" + "e\u0301 é 👩‍👩‍👧 日本\n".encode())
        assert call(tool, root / "f", "👩‍👩‍👧", "👨").error is None
        assert call(tool, root / "f", "é", "è").error is None
        assert (root / "f").read_bytes() == b"\xef\xbb\xbf" + "e\u0301 è 👨 日本\n".encode()

    def test_a_mode_and_a_link_are_kept(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a")
        (root / "f").chmod(0o754)
        (root / "link").symlink_to("f")
        assert call(tool, root / "link", "a", "b").error is None
        assert (root / "link").is_symlink()
        assert (stat.S_IMODE((root / "f").stat().st_mode), (root / "f").read_text()) == (0o754, "b")

    def test_a_hard_link_is_broken_and_told(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a")
        os.link(root / "f", root / "g")
        assert call(tool, root / "f", "a", "b").llm_content == (
            f"Successfully modified file: {root}/f (1 replacements). "
            "The file had other hard links; they still hold the old content."
        )
        assert ((root / "f").read_text(), (root / "g").read_text()) == ("b", "a")

    def test_a_large_file(self, tool: EditTool, root: Path) -> None:
        line = "some text on a line\n"
        (root / "f").write_text(line * 150_000 + "needle\n" + line * 150_000)
        result = call(tool, root / "f", "needle", "pin")
        assert result.llm_content == f"Successfully modified file: {root}/f (1 replacements)."
        context = f" {line}" * 3
        assert result.return_display == FileDiff(
            file_name="f",
            file_path=f"{root}/f",
            file_diff=f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -149998,7 +149998,7 @@\n"
            f"{context}-needle\n+pin\n{context}",
            is_new_file=False,
        )
        assert (root / "f").read_text() == line * 150_000 + "pin\n" + line * 150_000

    def test_a_file_too_large_to_hold_is_refused_at_once(self, tool: EditTool, root: Path) -> None:
        (root / "f").touch()
        os.truncate(root / "f", 2**40)
        started = time.monotonic()
        assert call(tool, root / "f", "a", "b") == failed_result(
            f"File is too large to be edited: {root}/f (1048576.00MB, at most 256MB). write_file can overwrite it.",
            ErrorType.FILE_TOO_LARGE,
        )
        assert time.monotonic() - started < 20


ENDINGS = {
    "LF": ["\n"] * 3,
    "CRLF": ["\r\n"] * 3,
    "CR": ["\r"] * 3,
    "mixed": ["\r\n", "\n", "\r"],
    "none": ["\n", "\n", ""],
}


@pytest.mark.parametrize("endings", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize(("codec", "mark", "lines"), CODECS, ids=[f"{codec}-{mark.hex()}" for codec, mark, _ in CODECS])
class TestFidelity:
    def test_no_byte_outside_the_edit_changes(
        self, tool: EditTool, root: Path, codec: str, mark: bytes, lines: list[str], endings: list[str]
    ) -> None:
        text = "".join(line + ending for line, ending in zip(lines, endings, strict=True))
        (root / "f").write_bytes(mark + text.encode(codec))
        last = lines[0][-2:]
        assert call(tool, root / "f", "edit_me", f"[{last}]").error is None
        assert (root / "f").read_bytes() == mark + text.replace("edit_me", f"[{last}]").encode(codec)

    def test_an_edit_over_several_lines(
        self, tool: EditTool, root: Path, codec: str, mark: bytes, lines: list[str], endings: list[str]
    ) -> None:
        text = "".join(line + ending for line, ending in zip(lines, endings, strict=True))
        (root / "f").write_bytes(mark + text.encode(codec))
        old = f"{lines[0][-3:]}\n{lines[1]}\n{lines[2][:2]}"
        new = f"{lines[0][-3:]}\nchanged\n{lines[2][:2]}"
        assert call(tool, root / "f", old, new).error is None
        assert (root / "f").read_bytes() == mark + text.replace(lines[1], "changed").encode(codec)


class TestEncodings:
    @pytest.mark.parametrize(
        ("codec", "lines", "character", "said"),
        [
            ("shift_jis", JAPANESE, "한", "The character U+D55C '한' (HANGUL SYLLABLE HAN)"),
            ("cp1251", RUSSIAN, "日", "The character U+65E5 '日' (CJK UNIFIED IDEOGRAPH-65E5)"),
            ("big5", TAIWANESE, "😀", "The character U+1F600 '😀' (GRINNING FACE)"),
        ],
    )
    def test_a_character_that_the_encoding_lacks_is_refused_by_name(
        self, tool: EditTool, root: Path, codec: str, lines: list[str], character: str, said: str
    ) -> None:
        raw = "\n".join(lines).encode(codec)
        (root / "f").write_bytes(raw)
        result = call(tool, root / "f", "edit_me", character)
        assert result.error is not None
        assert result.error.type is ErrorType.FILE_WRITE_FAILURE
        assert result.error.message.startswith(f"{said} cannot be encoded in ")
        assert (root / "f").read_bytes() == raw

    def test_what_the_encoding_lacks_is_not_found(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_bytes("\n".join(RUSSIAN[:5]).encode("koi8-r"))
        assert call(tool, root / "f", "日本", "x") == not_found_result(
            root / "f", nothing_similar("\n".join(RUSSIAN[:5]))
        )

    def test_bytes_that_are_no_text_stay(self, tool: EditTool, root: Path) -> None:
        raw = "日本語のとても長い文章\n".encode() * 3 + b"\xff\xfe here is a word \x80\n"
        (root / "f").write_bytes(raw)
        assert call(tool, root / "f", "a word", "another").error is None
        assert (root / "f").read_bytes() == raw.replace(b"a word", b"another")

    def test_half_of_a_character_of_two_bytes_is_not_found(self, tool: EditTool, root: Path) -> None:
        """In Shift-JIS the second byte of 表 and ソ is that of a backslash."""
        raw = "\n".join([*JAPANESE, "表ソ能\\n"]).encode("shift_jis")
        (root / "f").write_bytes(raw)
        assert call(tool, root / "f", "\\", "/").error is None
        assert (root / "f").read_bytes() == "\n".join([*JAPANESE, "表ソ能/n"]).encode("shift_jis")

    def test_a_binary_file_is_refused(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_bytes(b"\0\x01old\x02" * 100)
        assert call(tool, root / "f", "old", "new") == failed_result(
            f"Failed to read content of existing file: {root}/f",
            ErrorType.READ_CONTENT_FAILURE,
            "Error: Failed to read content of file. It is not a text file.",
        )

    @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        before=st.text("aé\n日 ", max_size=12),
        after=st.text("aé\n日 ", max_size=12),
        old=st.text("xy\n", min_size=1, max_size=4).filter(lambda text: "x" in text),
        new=st.text("zé\n", max_size=4),
        codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
        ending=st.sampled_from(["\n", "\r\n"]),
    )
    def test_what_is_before_and_behind_stays(
        self, root: Path, before: str, after: str, old: str, new: str, codec: str, ending: str
    ) -> None:
        """With ASCII around it, so that there is no doubt about the encoding."""
        text = f"begin\n{before}<{old}>{after}\nend\n".replace("\n", ending)
        (root / "f").write_bytes(text.encode(codec))
        with Workspace([root]) as workspace:
            assert call(EditTool(workspace), root / "f", f"<{old}>", f"<{new}>").error is None
        expected = f"begin\n{before}<{new}>{after}\nend\n".replace("\n", ending)
        assert (root / "f").read_bytes() == expected.encode(codec)


class TestStaleFiles:
    def read(self, workspace: Workspace, path: Path) -> None:
        assert asyncio.run(validate_and_execute(ReadFileTool(workspace), {"path": str(path)})).error is None

    def test_a_foreign_change_is_not_edited(self, workspace: Workspace, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("old text\n")
        self.read(workspace, root / "f")
        status = (root / "f").stat()
        (root / "f").write_text("old user\n")
        os.utime(root / "f", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert call(tool, root / "f", "old", "new") == changed_since_read_result(root / "f", "old text\n", "old user\n")
        assert (root / "f").read_text() == "old user\n"
        self.read(workspace, root / "f")
        assert call(tool, root / "f", "old", "new").error is None
        assert (root / "f").read_text() == "new user\n"

    def test_a_touch_is_no_change(self, workspace: Workspace, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("old\n")
        self.read(workspace, root / "f")
        os.utime(root / "f", (1, 1))
        assert call(tool, root / "f", "old", "new").error is None

    def test_a_file_never_read_may_be_edited(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a b")
        assert call(tool, root / "f", "a", "x").error is None
        assert call(tool, root / "f", "b", "y").error is None
        assert (root / "f").read_text() == "x y"

    def test_a_change_while_the_person_is_asked_is_shown_anew(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old\n")
        person = EditApprover.approve_then_cancel(lambda: (root / "f").write_text("old user\n"))
        result = ask(workspace, person, root / "f", "old", "new")
        assert result.error == ToolError(NOT_ALLOWED, ErrorType.CANCELLED)
        assert [shown.new_content for shown in person.confirmations] == ["new\n", "new user\n"]
        assert (root / "f").read_text() == "old user\n"

    def test_a_file_that_goes_away_while_the_person_is_asked(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old\n")
        result = ask(workspace, EditApprover.approve_then_cancel((root / "f").unlink), root / "f", "old", "new")
        assert result.error is not None
        assert result.error.type is ErrorType.FILE_NOT_FOUND
        assert not (root / "f").exists()

    def test_a_change_to_what_the_model_has_read_is_told_to_the_model(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old\n")
        self.read(workspace, root / "f")
        person = EditApprover.approve_then_cancel(lambda: (root / "f").write_text("old user\n"))
        assert ask(workspace, person, root / "f", "old", "new") == changed_since_read_result(
            root / "f", "old\n", "old user\n"
        )
        assert (root / "f").read_text() == "old user\n"

    def test_a_directory_takes_its_place(self, workspace: Workspace, root: Path) -> None:
        def become_directory() -> None:
            (root / "f").unlink()
            (root / "f").mkdir()

        (root / "f").write_text("old")
        assert ask(workspace, EditApprover(meanwhile=become_directory), root / "f", "old", "new") == failed_result(
            f"Path is a directory, not a file: {root}/f", ErrorType.TARGET_IS_DIRECTORY
        )

    def test_a_pipe_takes_its_place(self, workspace: Workspace, root: Path) -> None:
        def become_pipe() -> None:
            (root / "f").unlink()
            os.mkfifo(root / "f")

        (root / "f").write_text("old")
        started = time.monotonic()
        assert ask(workspace, EditApprover(meanwhile=become_pipe), root / "f", "old", "new") == failed_result(
            f"A pipe, socket or device, not a regular file: {root}/f", ErrorType.SPECIAL_FILE
        )
        assert time.monotonic() - started < 20

    def test_a_link_to_the_same_text_takes_its_place(self, workspace: Workspace, root: Path) -> None:
        def become_link() -> None:
            (root / "f").unlink()
            (root / "f").symlink_to("target")

        for name in ("f", "target"):
            (root / name).write_text("old")
        person = EditApprover.approve_then_cancel(become_link)
        result = ask(workspace, person, root / "f", "old", "new")
        assert result.error == ToolError(NOT_ALLOWED, ErrorType.CANCELLED)
        assert len(person.confirmations) == 2
        assert (root / "target").read_text() == "old"


class TestConfirming:
    def test_the_proposal(self, workspace: Workspace, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "f").write_bytes(b"a\r\nb\r\n")
        person = EditApprover()
        result = ask(workspace, person, root / "sub" / "f", "b", "c")
        assert person.confirmations == [
            EditConfirmation(
                title="Confirm Edit: sub/f",
                file_name="f",
                file_path=f"{root}/sub/f",
                file_diff=f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
                original_content="a\nb\n",
                new_content="a\nc\n",
                diff_stat=DiffStat(1, 1, 1, 1),
                digest=hashlib.sha256(f"{root}/sub/f\0a\r\nc\r\n".encode()).hexdigest(),
            )
        ]
        assert result.llm_content == f"Successfully modified file: {root}/sub/f (1 replacements)."
        assert (root / "sub" / "f").read_bytes() == b"a\r\nc\r\n"

    def test_nobody_is_asked_about_an_edit_that_fails(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a")
        person = EditApprover()
        assert ask(workspace, person, root / "f", "b", "c") == not_found_result(root / "f", nothing_similar("a"))
        assert person.confirmations == []

    def test_looking_at_a_proposal_changes_nothing(self, tool: EditTool, root: Path) -> None:
        params = {"file_path": f"{root}/a/f", "old_string": "", "new_string": "x"}
        confirmation = asyncio.run(tool.should_confirm_execute(params))
        assert isinstance(confirmation, EditConfirmation)
        assert (confirmation.original_content, confirmation.new_content) == (None, "x")
        assert list_tree(root) == []

    def test_a_no_changes_nothing(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a")
        result = ask(
            workspace, EditApprover([ApprovalReply(Outcome.CANCEL, feedback="leave it")]), root / "f", "a", "b"
        )
        assert result.error is not None
        assert result.error.type is ErrorType.CANCELLED
        assert "leave it" in result.error.message
        assert (root / "f").read_text() == "a"

    def test_what_the_person_wrote_instead(self, workspace: Workspace, root: Path) -> None:
        """Shown again before it is written, told to the model, and counted against the model's whole proposal."""
        (root / "f").write_bytes(b"a\r\nb\r\nc\r\n")
        person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="a\nuser\nmore\nc\n")])
        result = ask(workspace, person, root / "f", "b", "model")
        assert [seen.new_content for seen in person.confirmations] == ["a\nmodel\nc\n", "a\nuser\nmore\nc\n"]
        diff = f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -1,3 +1,4 @@\n a\n-b\n+user\n+more\n c\n"
        both = DiffStat(1, 1, 5, 1, 2, 1, 8, 5)
        assert (person.confirmations[1].file_diff, person.confirmations[1].diff_stat) == (diff, both)
        assert result == ToolResult(
            f"Successfully modified file: {root}/f (1 replacements). "
            "User modified the `new_string` content to be: a\nuser\nmore\nc\n.",
            FileDiff(
                file_name="f",
                file_path=f"{root}/f",
                file_diff=diff,
                is_new_file=False,
                original_content="a\nb\nc\n",
                new_content="a\nuser\nmore\nc\n",
                diff_stat=both,
            ),
        )
        assert (root / "f").read_bytes() == b"a\r\nuser\r\nmore\r\nc\r\n"

    def test_the_person_decides_how_the_file_ends(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a\nb\n")
        ask(
            workspace,
            EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="a\nuser")]),
            root / "f",
            "b",
            "model",
        )
        assert (root / "f").read_bytes() == b"a\nuser"

    def test_a_new_file_that_the_person_rewrote(self, workspace: Workspace, root: Path) -> None:
        person = EditApprover(
            [ApprovalReply(Outcome.PROCEED_ONCE, new_content="user\n"), ApprovalReply(Outcome.PROCEED_ONCE)]
        )
        result = ask(workspace, person, root / "f", "", "model\n")
        assert result == ToolResult(
            f"Created new file: {root}/f with provided content. User modified the `new_string` content to be: user\n.",
            "Created f",
        )
        assert person.confirmations[1].diff_stat == DiffStat(1, 0, 5, 0, 1, 1, 4, 5)
        assert (root / "f").read_text() == "user\n"

    def test_a_file_that_moved_on_before_the_rewritten_proposal(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a\n")
        person = EditApprover(
            [ApprovalReply(Outcome.PROCEED_ONCE, new_content="user\n")],
            meanwhile=lambda: (root / "f").write_text("b\n"),
        )
        assert ask(workspace, person, root / "f", "a", "model") == not_found_result(root / "f")
        assert (root / "f").read_text() == "b\n"

    def test_a_large_file_cannot_be_rewritten_by_hand(self, workspace: Workspace, root: Path) -> None:
        content = "line\n" * 300_000 + "needle\n"
        (root / "f").write_text(content)
        person = EditApprover([ApprovalReply(Outcome.PROCEED_ONCE, new_content="user\n")])
        assert ask(workspace, person, root / "f", "needle", "pin") == failed_result(
            "The file is too large to be rewritten by hand in a confirmation. No edits made.",
            ErrorType.EDIT_PREPARATION_FAILURE,
        )
        assert (root / "f").read_text() == content


class TestRefusing:
    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({"old_string": "", "new_string": ""}, "params must have required property 'file_path'"),
            ({"file_path": "/f", "new_string": ""}, "params must have required property 'old_string'"),
            ({"file_path": "/f", "old_string": ""}, "params must have required property 'new_string'"),
            ({"file_path": "/f", "old_string": "", "new_string": 1}, "params/new_string must be string"),
            (
                {"file_path": "/f", "old_string": "", "new_string": "", "expected_replacements": 0},
                "params/expected_replacements must be >= 1",
            ),
            ({"file_path": "", "old_string": "", "new_string": ""}, 'Missing or empty "file_path"'),
            ({"file_path": " ", "old_string": "", "new_string": ""}, 'Missing or empty "file_path"'),
        ],
    )
    def test_bad_parameters(self, tool: EditTool, root: Path, params: dict[str, object], reason: str) -> None:
        assert asyncio.run(validate_and_execute(tool, params)) == invalid_params_result(reason)
        assert list_tree(root) == []

    def test_later_parameters_are_known(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a")
        assert call(tool, root / "f", "a", "b", instruction="change it", unknown=1).error is None

    def test_a_zero_in_a_path_is_refused(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("a")
        error = call(tool, f"{root}/f\0", "a", "b").error
        assert error is not None
        assert error.type is ErrorType.INVALID_TOOL_PARAMS

    def test_new_stand_ins(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("x\n// rest of code ...\ny\n")
        assert call(tool, root / "f", "y", "// rest of methods ...") == invalid_params_result(
            "`new_string` contains an omission placeholder (for example 'rest of methods ...'). "
            "Provide exact literal replacement text."
        )
        assert call(tool, root / "f", "x\n// rest of code ...", "z\n//  rest of code ....").error is None
        assert (root / "f").read_text() == "z\n//  rest of code ....\ny\n"

    @pytest.mark.parametrize("path", ["{root}/../MARK", "/MARK", "{root}-evil", "{root}x/MARK"])
    def test_paths_that_lie_outside(self, tool: EditTool, root: Path, path: str) -> None:
        path = path.format(root=root)
        assert call(tool, path, "", "x") == outside_workspace_result(path, root)
        assert list_tree(root.parent) == ["root"]

    def test_links_that_lead_out(self, tool: EditTool, root: Path) -> None:
        (root.parent / "secret").write_text("old")
        (root / "f").symlink_to(root.parent / "secret")
        (root / "d").symlink_to(root.parent)
        (root / "n").symlink_to(root.parent / "MARK")
        for name, old in (("f", "old"), ("d/secret", "old"), ("d/MARK", ""), ("n", "")):
            assert call(tool, root / name, old, "new") == outside_workspace_result(root / name, root)
        assert (root.parent / "secret").read_text() == "old"
        assert not (root.parent / "MARK").exists()

    def test_links_inside(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("old")
        (root / "absolute").symlink_to(root / "f")
        assert call(tool, root / "absolute", "old", "new").llm_content == (
            f"Successfully modified file: {root}/absolute (1 replacements)."
        )
        assert (root / "f").read_text() == "new"

    def test_a_directory(self, tool: EditTool, root: Path) -> None:
        for old in ("", "x"):
            assert call(tool, root, old, "y") == failed_result(
                f"Path is a directory, not a file: {root}", ErrorType.TARGET_IS_DIRECTORY
            )

    def test_an_unreadable_file(self, tool: EditTool, root: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        root.chmod(0o777)
        (root / "f").write_text("x")
        (root / "f").chmod(0o200)
        with unprivileged_user():
            result = call(tool, root / "f", "x", "y")
        assert result == failed_result(
            f"Failed to read content of existing file: {root}/f. Permission denied: {root}/f",
            ErrorType.PERMISSION_DENIED,
            "Error: Failed to read content of file.",
        )

    def test_a_read_only_file(self, tool: EditTool, root: Path) -> None:
        (root / "f").write_text("x")
        (root / "f").chmod(0o444)
        assert call(tool, root / "f", "x", "y") == failed_result(
            f"Permission denied writing to file: {root}/f (EACCES). The file is read-only (mode 0444).",
            ErrorType.PERMISSION_DENIED,
        )
        assert (root / "f").read_text() == "x"

    def test_an_error_while_writing(self, tool: EditTool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> int:
            raise OSError(5, "Input/output error")

        (root / "f").write_text("x")
        monkeypatch.setattr(os, "writev", broken)
        reason = f"Error writing to file '{root}/f': Input/output error (EIO)"
        assert call(tool, root / "f", "x", "y") == failed_result(
            f"Error executing edit: {reason}", ErrorType.FILE_WRITE_FAILURE, f"Error: Error writing file: {reason}"
        )
        assert (root / "f").read_text() == "x"
        assert list_tree(root) == ["f"]

    def test_a_part_of_the_path_is_a_file(self, workspace: Workspace, root: Path) -> None:
        (root / "a").write_text("x")
        reason = f"Part of the path is a file, not a directory: {root}/a/f"
        assert ask(workspace, EditApprover(), root / "a" / "f", "", "y") == failed_result(
            f"Error preparing edit: {reason}", ErrorType.EDIT_PREPARATION_FAILURE, f"Error: {reason}"
        )

    def test_special_files_are_answered_at_once(self, tool: EditTool, root: Path) -> None:
        os.mkfifo(root / "fifo")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(root / "socket"))
            for name in ("fifo", "socket"):
                started = time.monotonic()
                assert call(tool, root / name, "a", "b") == failed_result(
                    f"A pipe, socket or device, not a regular file: {root}/{name}",
                    ErrorType.SPECIAL_FILE,
                )
                assert time.monotonic() - started < 20


class TestNaming:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("", "x", "Create sub/f"),
            ("same", "same", "No file changes to sub/f"),
            ("old", "new", "sub/f: old => new"),
            ("first\nsecond", "x", "sub/f: first => x"),
            ("o" * 30, "n" * 31, f"sub/f: {'o' * 30} => {'n' * 30}..."),
            ("first\n" + "x" * 30, "", "sub/f: first... => "),
        ],
    )
    def test_the_description(self, tool: EditTool, root: Path, old: str, new: str, expected: str) -> None:
        params = {"file_path": f"{root}/sub/f", "old_string": old, "new_string": new}
        assert tool.get_description(params) == expected

    def test_without_parameters(self, tool: EditTool) -> None:
        assert tool.get_description({}) == "Model did not provide valid parameters for edit tool"

    def test_the_location(self, tool: EditTool, root: Path) -> None:
        params = {"file_path": f"{root}/sub/../f", "old_string": "a", "new_string": "b"}
        assert tool.tool_locations(params) == [ToolLocation(f"{root}/f")]

    def test_several_workspace_directories(self, root: Path, tmp_path: Path) -> None:
        other = tmp_path.resolve() / "other"
        other.mkdir()
        (other / "f").write_text("old")
        with Workspace([root, other]) as workspace:
            assert call(EditTool(workspace), other / "f", "old", "new").error is None
        assert (other / "f").read_text() == "new"

    def test_a_root_that_was_given_through_a_link(self, root: Path, tmp_path: Path) -> None:
        (root / "f").write_text("old")
        (tmp_path / "link").symlink_to(root)
        with Workspace([tmp_path / "link"]) as workspace:
            assert call(EditTool(workspace), tmp_path / "link" / "f", "old", "new").llm_content == (
                f"Successfully modified file: {tmp_path}/link/f (1 replacements)."
            )
        assert (root / "f").read_text() == "new"


class TestAtOnce:
    def test_fifty_edits_of_one_file_all_land(self, tool: EditTool, root: Path) -> None:
        """By two spellings of its path."""
        (root / "f").write_text("".join(f"<{number}>\n" for number in range(50)))
        (root / "link").symlink_to("f")

        async def edit_all() -> list[ToolResult]:
            calls = (
                validate_and_execute(
                    tool,
                    {
                        "file_path": str(root / ("f" if number % 2 else "link")),
                        "old_string": f"<{number}>",
                        "new_string": f"[{number}]",
                    },
                )
                for number in range(50)
            )
            return await asyncio.gather(*calls)

        results = asyncio.run(edit_all())
        assert [result.error for result in results] == [None] * 50
        assert (root / "f").read_text() == "".join(f"[{number}]\n" for number in range(50))
        assert (root / "link").is_symlink()
        assert list_tree(root) == ["f", "link"]

    def test_new_files_in_one_new_directory(self, tool: EditTool, root: Path) -> None:
        async def make_all() -> list[ToolResult]:
            calls = (
                validate_and_execute(
                    tool, {"file_path": f"{root}/a/b/{number}", "old_string": "", "new_string": str(number)}
                )
                for number in range(20)
            )
            return await asyncio.gather(*calls)

        assert [result.error for result in asyncio.run(make_all())] == [None] * 20
        assert {path.name: path.read_text() for path in (root / "a" / "b").iterdir()} == {
            str(number): str(number) for number in range(20)
        }

    def test_a_cancelled_edit_leaves_the_old_file_and_nothing_else(self, tool: EditTool, root: Path) -> None:
        content = b"some text on a line\n" * 2_000_000 + b"needle\n"
        (root / "f").write_bytes(content)

        async def cancel() -> float:
            params = {"file_path": f"{root}/f", "old_string": "needle", "new_string": "pin"}
            task = asyncio.create_task(validate_and_execute(tool, params))
            await asyncio.sleep(0.01)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - started

        assert asyncio.run(cancel()) < 2
        assert (root / "f").read_bytes() == content
        assert list_tree(root) == ["f"]
