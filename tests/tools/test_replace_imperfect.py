"""`replace` with an old text that is not quite right: in every encoding, in batches, after changes on disk."""

import asyncio
from pathlib import Path

from support.imperfect_edits import ImperfectEdit, imperfect_edits
from support.note_tool import create_scheduler
from support.tool_results import EditApprover
from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.core.tools.display import FileDiff
from tejat.tools import builtin_registry
from tejat.tools.read_file import ReadFileTool
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace

CODE = "def total(items):\n    result = sum(items)\n    return result\n\n\ndef most(items):\n    return max(items)\n"


def call(workspace: Workspace, path: Path, old: str, new: str) -> ToolResult:
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    return asyncio.run(validate_and_execute(EditTool(workspace), given))


def batch(workspace: Workspace, path: Path, *edits: tuple[str, str]) -> list[ToolResult]:
    """The edits as a model makes them at once."""
    calls = [
        FunctionCall("replace", {"file_path": str(path), "old_string": old, "new_string": new}) for old, new in edits
    ]
    work = create_scheduler(workspace.roots, builtin_registry(workspace), EditApprover()).batch(calls)
    asyncio.run(work.run())
    return list(work.results)


def test_in_every_encoding(workspace: Workspace, root: Path) -> None:
    def lands(edit: ImperfectEdit) -> bool:
        path = root / edit.name
        path.write_bytes(edit.before)
        result = call(workspace, path, edit.old, edit.new)
        is_corrected = "it was corrected: " in str(result.llm_content)
        return result.error is None and path.read_bytes() == edit.after and is_corrected

    edits = list(imperfect_edits())
    assert len(edits) > 700
    assert [edit.name for edit in edits if not lands(edit)] == []


def test_bytes_that_are_no_text_stay_and_are_not_told(workspace: Workspace, root: Path) -> None:
    raw = "日本語のとても長い文章\n".encode() * 3 + b"\xff\xfe here is  a word\nand the last  line\n\x80\n"
    (root / "f").write_bytes(raw)
    result = call(workspace, root / "f", "here is a word\nand the last line", "here is a word\nand the final line")
    assert (result.error, (root / "f").read_bytes()) == (None, raw.replace(b"last", b"final"))
    str(result.llm_content).encode()
    refused = call(workspace, root / "f", "here is  another word and\nthe last  line of all", "x")
    assert refused.error is not None
    str(refused.llm_content).encode()


def test_bytes_that_are_no_text_may_be_given_as_the_model_saw_them(workspace: Workspace, root: Path) -> None:
    raw = "日本語のとても長い文章\n".encode() * 3 + b"caf\xe9 \xff\nand the last line\n"
    (root / "f").write_bytes(raw)
    read = asyncio.run(validate_and_execute(ReadFileTool(workspace), {"absolute_path": str(root / "f")}))
    assert "caf\ufffd \ufffd\n" in str(read.llm_content)
    old = "caf\ufffd \ufffd\nand the last line"
    result = call(workspace, root / "f", old, old.replace("last", "final"))
    assert (result.error, (root / "f").read_bytes()) == (None, raw.replace(b"last", b"final"))
    result = call(workspace, root / "f", "caf\ufffd \ufffd", "caf\ufffd \ufffd!")
    assert (result.error, (root / "f").read_bytes()) == (
        None,
        raw.replace(b"last", b"final").replace(b"\xff", b"\xff!"),
    )


def test_the_person_is_shown_what_is_made_of_it(workspace: Workspace, root: Path) -> None:
    (root / "f.py").write_text(CODE)
    tool, after = EditTool(workspace), CODE.replace("sum(items)", "sum(items, 1)")
    old = "\tresult = sum(items)\n\treturn  result"
    given = {"file_path": str(root / "f.py"), "old_string": old, "new_string": old.replace("(items)", "(items, 1)")}
    shown = asyncio.run(tool.should_confirm_execute(given))
    assert isinstance(shown, EditConfirmation)
    assert (shown.original_content, shown.new_content) == (CODE, after)
    result = asyncio.run(validate_and_execute(tool, given))
    assert isinstance(result.return_display, FileDiff)
    assert (root / "f.py").read_text() == after
    assert result.return_display.file_diff == shown.file_diff


def test_a_file_with_a_nul_is_no_text(workspace: Workspace, root: Path) -> None:
    (root / "f").write_bytes(b"one\0two\nthree\n")
    result = call(workspace, root / "f", " three", "four")
    assert result.error is not None
    assert result.error.type is ErrorType.READ_CONTENT_FAILURE
    assert (root / "f").read_bytes() == b"one\0two\nthree\n"


class TestSeveral:
    def test_each_sees_what_those_before_it_have_made(self, workspace: Workspace, root: Path) -> None:
        (root / "f.py").write_text(CODE)
        results = batch(
            workspace,
            root / "f.py",
            ("def total( items ):\n  result = sum(items)", "def total( items ):\n  result = sum(items, 1)"),
            ("\tresult = sum(items, 1)\n\treturn result", "\tresult = sum(items, 1)\n\treturn result + 1"),
            ("1: def most(items):\n2:     return max(items)", "1: def most(items):\n2:     return min(items)"),
        )
        assert [result.error for result in results] == [None] * 3
        assert (root / "f.py").read_text() == (
            "def total(items):\n    result = sum(items, 1)\n    return result + 1\n\n\n"
            "def most(items):\n    return min(items)\n"
        )

    def test_a_block_that_an_earlier_one_has_changed_a_little(self, workspace: Workspace, root: Path) -> None:
        """The second knows the file as it was before the first."""
        (root / "f.py").write_text(CODE)
        results = batch(
            workspace,
            root / "f.py",
            ("    result = sum(items)", "    result = sum(items, 1)"),
            (CODE.removesuffix("\n"), CODE.removesuffix("\n").replace("max", "min")),
        )
        assert [result.error for result in results] == [None] * 2
        assert (root / "f.py").read_text() == CODE.replace("sum(items)", "sum(items, 1)").replace("max", "min")

    def test_one_that_fails_leaves_the_others(self, workspace: Workspace, root: Path) -> None:
        (root / "f.py").write_text(CODE)
        results = batch(
            workspace,
            root / "f.py",
            ("  result  = sum(items)", "  result  = 0"),
            ("  result  = sum(items)", "  result  = 1"),
            ("  return  max(items)", "  return  min(items)"),
        )
        assert [result.error is None for result in results] == [True, False, True]
        assert (root / "f.py").read_text() == CODE.replace("sum(items)", "0").replace("max", "min")

    def test_the_same_twice_is_made_once(self, workspace: Workspace, root: Path) -> None:
        (root / "f.py").write_text(CODE)
        edit = ("def most( items ):", "def least( items ):")
        first, second = batch(workspace, root / "f.py", edit, edit)
        assert first.error is None
        assert second.error is not None
        assert "The edit seems to be applied already" in str(second.llm_content)
        assert (root / "f.py").read_text() == CODE.replace("most", "least")


class TestChangedOnDisk:
    def test_refused_until_it_is_read_again(self, workspace: Workspace, root: Path) -> None:
        path = root / "f.py"
        path.write_text(CODE)
        read = {"absolute_path": str(path)}
        asyncio.run(validate_and_execute(ReadFileTool(workspace), read))
        changed = CODE.replace("def total", "# by hand\ndef total")
        path.write_text(changed)
        edit = ("\tresult = sum(items)\n\treturn result", "\tresult = sum(items)\n\treturn result + 1")
        refused = call(workspace, path, *edit)
        assert refused.error is not None
        assert refused.error.type is ErrorType.STALE_FILE
        assert path.read_text() == changed
        asyncio.run(validate_and_execute(ReadFileTool(workspace), read))
        assert call(workspace, path, *edit).error is None
        assert path.read_text() == changed.replace("return result", "return result + 1")
