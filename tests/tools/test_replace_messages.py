"""What the model is told of an edit that was corrected, and of one that was refused."""

import asyncio
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools.read_file import ReadFileTool
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace

CODE = "def total(items):\n    result = sum(items)\n    return result\n\n\ndef most(items):\n    return max(items)\n"


def call(workspace: Workspace, path: Path, old: str, new: str) -> ToolResult:
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    return asyncio.run(validate_and_execute(EditTool(workspace), given))


@pytest.fixture
def path(root: Path) -> Path:
    (root / "f.py").write_text(CODE)
    return root / "f.py"


def refusal(path: Path) -> str:
    return (
        f"Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in old_string "
        "was not found. Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. "
        "Use read_file tool to verify."
    )


def test_what_was_overlooked_and_the_lines_as_they_are_now(workspace: Workspace, path: Path) -> None:
    result = call(
        workspace, path, "\tresult = sum(items)\n\treturn result", "\tresult = sum(items)\n\treturn result + 1"
    )
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; it was "
        "corrected: overlooked: indentation. Lines 2-4 are now:\n    result = sum(items)\n    return result + 1\n"
    )


def test_what_was_repaired(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "```\n    return max(items)\n```", "    return min(items)")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; it was "
        "corrected: the code fence was left out. Lines 6-7 are now:\ndef most(items):\n    return min(items)"
    )


def test_which_of_several_places_was_taken(workspace: Workspace, path: Path) -> None:
    path.write_text(CODE.replace("max(items)", "result"))
    result = call(workspace, path, "    return result", "def most(items):\n    return result + 1")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; it was "
        "corrected: of several equal places the one was taken whose surroundings new_string repeats. "
        "Lines 6-7 are now:\ndef most(items):\n    return result + 1"
    )


def test_lines_that_end_with_cr(workspace: Workspace, path: Path) -> None:
    path.write_bytes(CODE.replace("\n", "\r").encode())
    result = call(workspace, path, "  return  max(items)", "  return  min(items)")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; it was "
        "corrected: overlooked: spacing or look-alike characters. "
        "Lines 6-7 are now:\ndef most(items):\n    return min(items)"
    )


def test_the_nearest_text_and_what_differs(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "    result = add(items)\n    return result", "    result = 0\n    return result")
    assert result.error is not None
    assert result.error.type is ErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert result.llm_content == (
        f"{refusal(path)} Line 2 is to be changed and is not what old_string says.\n"
        "Nearest text in the file, lines 2-3:\n    result = sum(items)\n    return result\n"
        "What differs:\n- line 2: old_string has `result = add(items)`, the file `result = sum(items)`"
    )
    assert path.read_text() == CODE


def test_an_edit_that_was_made_already(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "    return min(items)", "    return max(items)")
    assert str(result.llm_content).startswith(
        f"{refusal(path)} The edit seems to be applied already: the file has the text of new_string."
    )


def test_a_file_that_is_kept_from_the_model_is_not_shown(workspace: Workspace, root: Path, path: Path) -> None:
    (root / ".geminiignore").write_text("f.py\n")
    assert call(workspace, path, "    result = add(items)\n    return result", "    x = 1").llm_content == refusal(path)
    result = call(workspace, path, "    return  max(items)", "    return  min(items)")
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; it was "
        "corrected: overlooked: spacing or look-alike characters."
    )


def test_a_file_with_secrets_is_not_shown_unless_it_was_read(workspace: Workspace, root: Path) -> None:
    path = root / ".env"
    path.write_text("KEY=value\nOTHER=1\n")
    assert call(workspace, path, "KEEY=\nOTHER=", "X=").llm_content == refusal(path)
    asyncio.run(validate_and_execute(ReadFileTool(workspace), {"path": str(path)}))
    assert "KEY=value" in str(call(workspace, path, "KEEY=\nOTHER=", "X=").llm_content)


def test_a_file_that_changed_on_disk_is_refused_first(workspace: Workspace, path: Path) -> None:
    assert call(workspace, path, "max(items)", "min(items)").error is None
    path.write_text(CODE.replace("total", "whole"))
    result = call(workspace, path, "  result  = sum(items)", "  result  = 0")
    assert result.error is not None
    assert result.error.type is ErrorType.STALE_FILE


def test_the_text_that_shares_most_words(workspace: Workspace, path: Path) -> None:
    result = call(workspace, path, "class Sums:\n    total = None\n    names = ()", "pass")
    assert result.llm_content == (
        f"{refusal(path)} The file has 7 lines, and no text that is like old_string.\n"
        "The text that shares most words with it, line 1:\ndef total(items):"
    )


def test_an_empty_file(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("\n\n")
    assert call(workspace, root / "f", "anything", "x").llm_content == f"{refusal(root / 'f')} The file is empty."


def test_the_file_that_has_the_text(workspace: Workspace, root: Path, path: Path) -> None:
    (root / "g.py").write_bytes(b"def least(items):\r\n    return min(items)\r\n")
    (root / "h.py").write_bytes(b"def least(items):\n    return min(items)\n")
    for name in ("g.py", "h.py"):
        asyncio.run(validate_and_execute(ReadFileTool(workspace), {"absolute_path": str(root / name)}))
    result = call(workspace, path, "def least(items):\n    return min(items)", "pass")
    assert str(result.llm_content).startswith(
        f"{refusal(path)} The exact text stands in another file that was read: {root}/h.py."
    )


def test_of_a_very_long_line_what_is_near(workspace: Workspace, root: Path) -> None:
    path = root / "f.txt"
    path.write_text(f"first\n{'word ' * 100_000}the only place in it {'word ' * 100_000}\nlast\n")
    told = str(call(workspace, path, "some other place in it", "x").llm_content)
    assert told == (
        f"{refusal(path)} The file has 3 lines, and no text that is like old_string.\n"
        f"The text that shares most words with it, line 2:\n... {'word ' * 18}the only place in it {'word ' * 37}wor..."
        " [characters 499910-500209 of 1000021]"
    )


def test_of_many_places_and_long_ones_a_part(workspace: Workspace, root: Path) -> None:
    path = root / "f.txt"
    path.write_text(f"go(1)\n{'x' * 400_000}\n" * 30)
    told = str(call(workspace, path, "go(1)", "go(2)").llm_content)
    numbers = ", ".join(str(line) for line in range(1, 41, 2))
    assert told.startswith(
        f"Failed to edit, expected 1 occurrences but found 30 for old_string in file: {path}. "
        f"They begin in lines {numbers} and 10 more. Add lines around"
    )
    assert len(told) < 4_000


@pytest.mark.parametrize(
    ("text", "old", "said"),
    [
        ("\tgo(1)\nstop\n\tgo(1)\n", "    go(1)", "line 1: old_string is indented by 4 spaces, the file by 1 tab"),
        ("go(1)  \nstop\ngo(1)  \n", "\tgo(1) ", "line 1: old_string is indented by 1 tab, the file by nothing"),
        ("go( 1 )\nstop\ngo( 1 )\n", "go(1)", "line 1: white space inside the line"),
        (
            "say(“x”)\nstop\nsay(“x”)\n",
            'say("x")',
            (
                "line 1: look-alike characters; the file has `“` (LEFT DOUBLE QUOTATION MARK), "
                "`”` (RIGHT DOUBLE QUOTATION MARK)"
            ),
        ),
    ],
)
def test_small_differences_by_name(workspace: Workspace, root: Path, text: str, old: str, said: str) -> None:
    (root / "f").write_text(text)
    told = str(call(workspace, root / "f", old, "x").llm_content)
    assert "Several places fit equally well; add lines around the one that is meant." in told
    assert f"What differs:\n- {said}\n" in told


def test_fewer_places_than_expected(workspace: Workspace, root: Path) -> None:
    (root / "f").write_text("go( 1 )\nstop\ngo( 1 )\n")
    given = {"file_path": str(root / "f"), "old_string": "go(1)", "new_string": "go(2)", "expected_replacements": 3}
    told = str(asyncio.run(validate_and_execute(EditTool(workspace), given)).llm_content)
    assert told.startswith(f"{refusal(root / 'f')} 3 places were expected, and not as many fit.\nNearest text")


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "utf-16", "shift-jis"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_in_every_encoding_and_line_end(workspace: Workspace, root: Path, codec: str, ending: str) -> None:
    lines = ["là où il est", "valeur = total(1)", "été = hiver"]
    if codec == "shift-jis":
        lines = ["日本語の文章です", "値 = 合計(1)", "これで終わりです"]
    (root / "f").write_bytes("".join(line + ending for line in lines).encode(codec))
    wrong = lines[1].replace("1", "2")
    told = str(call(workspace, root / "f", f"{wrong}\n{lines[2]}", "x").llm_content)
    assert told == (
        f"{refusal(root / 'f')}\nNearest text in the file, lines 2-3:\n{lines[1]}\n{lines[2]}\nWhat differs:\n"
        f"- line 2: old_string has `{wrong}`, the file `{lines[1]}`"
    )
