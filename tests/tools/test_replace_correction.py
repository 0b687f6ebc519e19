"""`replace` where the text is not in the file: somebody is asked which one was meant, and what comes of the answer."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from support.edit_results import not_found_result
from support.note_tool import create_scheduler
from support.tool_results import NOT_ALLOWED, RULE, EditApprover, changed_since_read_result, failed_result
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.errors import ErrorType
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelRequest, ModelResponse
from tejat.core.tools.base import ToolError, ToolResult, validate_and_execute
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.core.tools.edit_failure import EditCorrector, EditFailure
from tejat.engine.calls.batch_call import CANCELLED_BEFORE_START
from tejat.engine.loop.edit_correction import ModelEditCorrector
from tejat.tools import session_registry
from tejat.tools.read_file import ReadFileTool
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace

CODE = "def total(items):\n    result = sum(items)\n    return result\n"
OLD = "    rezult = sun(itens)"
THERE = "    result = sum(items)"
NEW = "    rezult = sun(itens, 1)"


class Knowing:
    """Somebody who is asked which text was meant, and does something meanwhile."""

    def __init__(self, answer: str | None, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.answer = answer
        self.meanwhile = meanwhile
        self.asked: list[EditFailure] = []

    async def __call__(self, edit: EditFailure) -> str | None:
        self.asked.append(edit)
        self.meanwhile()
        return self.answer


class Here:
    """Surroundings for a tool that needs a workspace and somebody to ask."""

    def __init__(self, workspace: Workspace, corrector: EditCorrector | None) -> None:
        self._workspace = workspace
        self._corrector = corrector

    def workspace(self) -> Workspace:
        return self._workspace

    def corrector(self) -> EditCorrector | None:
        return self._corrector

    def shell(self) -> NoReturn:
        raise AssertionError

    memory = web = preset_answers = session_state = recall = plan_mode = subagents = shell

    def offers(self, tool: str) -> bool:
        return True


def call(tool: EditTool, path: Path, old: str, new: str, **params: object) -> ToolResult:
    given = {"file_path": str(path), "old_string": old, "new_string": new, **params}
    return asyncio.run(validate_and_execute(tool, given))


def known(path: Path, workspace: Workspace, content: str = CODE) -> Path:
    """A file that the session has read."""
    path.write_bytes(content.encode())
    asyncio.run(validate_and_execute(ReadFileTool(workspace), {"absolute_path": str(path)}))
    return path


@pytest.fixture
def path(root: Path, workspace: Workspace) -> Path:
    return known(root / "f.py", workspace)


def ask(workspace: Workspace, corrector: EditCorrector, person: EditApprover, path: Path, old: str = OLD) -> ToolResult:
    scheduler = create_scheduler(workspace.roots, session_registry(Here(workspace, corrector)), person)
    given = {"file_path": str(path), "old_string": old, "new_string": NEW}
    return asyncio.run(scheduler.run(FunctionCall("replace", given)))


NOTHING_ALIKE = (
    " The file has 3 lines and none of the telling words of old_string: is another file meant?"
    "\nHow it begins, lines 1-3:\ndef total(items):\n    result = sum(items)\n    return result"
)


def not_found(path: Path, nearest: str = NOTHING_ALIKE) -> ToolResult:
    return not_found_result(path, nearest)


def test_what_was_meant_is_changed_and_told(workspace: Workspace, path: Path) -> None:
    knowing = Knowing(THERE)
    result = call(EditTool(workspace, knowing), path, OLD, NEW, instruction="Start at one.")
    after = CODE.replace("sum(items)", "sum(items, 1)")
    assert path.read_text() == after
    assert result == ToolResult(
        f"Successfully modified file: {path} (1 replacements). old_string does not fit the file as given; "
        "it was corrected: the text that was meant was asked for. "
        "Lines 1-3 are now:\ndef total(items):\n    result = sum(items, 1)\n    return result",
        FileDiff(
            file_name="f.py",
            file_path=str(path),
            file_diff=f"Index: f.py\n{RULE}\n--- f.py\tCurrent\n+++ f.py\tProposed\n@@ -1,3 +1,3 @@\n"
            " def total(items):\n-    result = sum(items)\n+    result = sum(items, 1)\n     return result\n",
            is_new_file=False,
            original_content=CODE,
            new_content=after,
            diff_stat=DiffStat(1, 1, 26, 23, 0, 0, 0, 0),
        ),
    )
    problem = str(not_found(path).llm_content)
    assert knowing.asked == [EditFailure(str(path), CODE, OLD, NEW, "Start at one.", problem)]


def test_the_person_sees_it_first_and_nobody_is_asked_twice(workspace: Workspace, path: Path) -> None:
    knowing, person = Knowing(THERE), EditApprover()
    result = ask(workspace, knowing, person, path)
    (shown,) = person.confirmations
    assert shown.new_content == path.read_text() == CODE.replace("sum(items)", "sum(items, 1)")
    assert "it was corrected: the text that was meant was asked for. Lines 1-3 are now:\n" in str(result.llm_content)
    assert len(knowing.asked) == 1


def test_a_no_changes_nothing(workspace: Workspace, path: Path) -> None:
    result = ask(workspace, Knowing(THERE), EditApprover([ApprovalReply(Outcome.CANCEL)]), path)
    assert result.llm_content == NOT_ALLOWED
    assert path.read_text() == CODE


def test_the_same_mistake_again_is_not_asked_about_again(workspace: Workspace, path: Path) -> None:
    knowing = Knowing("nothing of the kind")
    tool = EditTool(workspace, knowing)
    for _ in range(3):
        assert call(tool, path, OLD, NEW) == not_found(path)
    assert len(knowing.asked) == 1


def test_what_the_person_makes_of_it_is_theirs(workspace: Workspace, path: Path) -> None:
    knowing = Knowing(THERE)
    person = EditApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="mine\n")])
    result = ask(workspace, knowing, person, path)
    assert path.read_text() == "mine\n"
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). User modified the `new_string` content to be: mine\n."
    )
    assert len(knowing.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="none"),
        pytest.param("", id="empty"),
        pytest.param("    result = sum(its)", id="not there"),
        pytest.param("    return result", id="something else"),
        pytest.param(CODE, id="all of it"),
        pytest.param(OLD, id="what was given"),
        pytest.param("\ud800\0 sum(items)", id="garbage"),
    ],
)
def test_another_answer_leaves_the_failure_as_it_was(workspace: Workspace, path: Path, answer: str | None) -> None:
    knowing, person = Knowing(answer), EditApprover()
    assert call(EditTool(workspace, knowing), path, OLD, NEW) == not_found(path)
    assert ask(workspace, knowing, person, path) == not_found(path)
    assert (path.read_text(), person.confirmations, len(knowing.asked)) == (CODE, [], 2)


def test_as_many_places_as_expected(workspace: Workspace, root: Path) -> None:
    path = known(root / "g.py", workspace, CODE * 2)
    knowing = Knowing(THERE)
    tool = EditTool(workspace, knowing)
    nearest = (
        " The file has 6 lines and none of the telling words of old_string: is another file meant?"
        "\nHow it begins, lines 1-5:\ndef total(items):\n    result = sum(items)\n    return result\n"
        "def total(items):\n    result = sum(items)"
    )
    assert call(tool, path, OLD, NEW) == not_found(path, nearest)
    assert call(tool, path, OLD, NEW, expected_replacements=2).error is None
    assert path.read_text() == CODE.replace("sum(items)", "sum(items, 1)") * 2


def test_another_number_of_places_is_no_mistake_in_the_text(workspace: Workspace, root: Path) -> None:
    path = known(root / "g.py", workspace, CODE * 2)
    knowing = Knowing(THERE)
    assert call(EditTool(workspace, knowing), path, "sum(items)", "max(items)") == failed_result(
        f"Failed to edit, expected 1 occurrences but found 2 for old_string in file: {path}. They begin in lines 2, 5. "
        "Add lines around the one that is meant; to change all of them, set expected_replacements to 2."
        f"\nIn the file, lines 1-3:\n{CODE}In the file, lines 4-6:\n{CODE}".removesuffix("\n"),
        ErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
        "Error: Failed to edit, expected 1 occurrences but found 2.",
    )
    assert knowing.asked == []


def test_a_change_that_is_there_already(workspace: Workspace, path: Path) -> None:
    knowing = Knowing(THERE)
    result = call(EditTool(workspace, knowing), path, OLD, THERE)
    reason = "No changes to apply. The new content is identical to the current content"
    assert result == failed_result(f"{reason} in file: {path}", ErrorType.EDIT_NO_CHANGE, f"Error: {reason}.")


def test_line_ends_stay_and_are_not_shown(workspace: Workspace, root: Path) -> None:
    path = known(root / "g.py", workspace, CODE.replace("\n", "\r\n"))
    knowing = Knowing("    result = sum(items)\n    return result")
    old, new = "    rezult = sun(itens)\r\n    retrun rezult", "    rezult = sun(itens)\r\n    retrun rezult + 1"
    assert call(EditTool(workspace, knowing), path, old, new).error is None
    assert path.read_bytes() == CODE.replace("return result", "return result + 1").replace("\n", "\r\n").encode()
    assert knowing.asked[0].content == CODE


def test_what_the_model_does_not_know_is_not_sent(workspace: Workspace, root: Path) -> None:
    (root / "f.py").write_text(CODE)
    knowing = Knowing(THERE)
    assert call(EditTool(workspace, knowing), root / "f.py", OLD, NEW) == not_found(root / "f.py")
    assert knowing.asked == []


def test_what_the_session_wrote_is_known(workspace: Workspace, root: Path) -> None:
    tool = EditTool(workspace, Knowing(THERE))
    assert call(tool, root / "f.py", "", CODE).error is None
    assert call(tool, root / "f.py", OLD, NEW).error is None


@pytest.mark.parametrize(
    ("name", "old", "new", "nearest"),
    [
        ("f.json", OLD, NEW, NOTHING_ALIKE),
        ("f.IPYNB", OLD, NEW, NOTHING_ALIKE),
        ("f.py", "   \n", NEW, " old_string is nothing but white space: add text from the lines around the place."),
        ("f.py", OLD, OLD, ""),
    ],
)
def test_what_is_not_asked_about(workspace: Workspace, root: Path, name: str, old: str, new: str, nearest: str) -> None:
    path = known(root / name, workspace)
    knowing = Knowing(THERE)
    assert call(EditTool(workspace, knowing), path, old, new) == not_found(path, nearest)
    assert knowing.asked == []


def test_a_link_does_not_hide_what_a_file_is(workspace: Workspace, root: Path) -> None:
    known(root / "f.json", workspace)
    (root / "f.py").symlink_to("f.json")
    knowing = Knowing(THERE)
    assert call(EditTool(workspace, knowing), root / "f.py", OLD, NEW) == not_found(root / "f.py")
    assert knowing.asked == []


def test_a_file_that_somebody_changes_meanwhile(workspace: Workspace, root: Path) -> None:
    path = known(root / "g.py", workspace, "result = sum(items)\n")
    for change in ("result = sum(things)\n", "rezult = sun(itens)\n"):
        knowing, person = Knowing("result = sum(items)", partial(path.write_text, change)), EditApprover()
        told = changed_since_read_result(path, "result = sum(items)\n", change)
        assert ask(workspace, knowing, person, path, "rezult = sun(itens)") == told
        assert (path.read_text(), person.confirmations, len(knowing.asked)) == (change, [], 1)
        path.write_text("result = sum(items)\n")


def test_a_file_that_goes_meanwhile(workspace: Workspace, path: Path) -> None:
    knowing = Knowing(THERE, path.unlink)
    assert call(EditTool(workspace, knowing), path, OLD, NEW) == failed_result(
        f"File not found: {path}",
        ErrorType.FILE_NOT_FOUND,
        "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file.",
    )


def test_a_file_that_the_person_changes_while_they_look(workspace: Workspace, path: Path) -> None:
    changed = CODE + "# more\n"
    knowing = Knowing(THERE)
    person = EditApprover.approve_then_cancel(lambda: path.write_text(changed))
    result = ask(workspace, knowing, person, path)
    assert result.error is not None
    assert result.error.type is ErrorType.STALE_FILE
    assert path.read_text() == changed


def test_a_cancelled_question_changes_nothing(workspace: Workspace, path: Path) -> None:
    async def never(edit: EditFailure) -> str | None:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError(edit)

    async def main() -> list[ToolResult]:
        registry = session_registry(Here(workspace, never))
        arguments = {"file_path": str(path), "old_string": OLD, "new_string": NEW}
        batch = create_scheduler(workspace.roots, registry, EditApprover()).batch([FunctionCall("replace", arguments)])
        task = asyncio.create_task(batch.run())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return batch.results

    asked = asyncio.Event()
    (result,) = asyncio.run(main())
    assert result.error == ToolError(CANCELLED_BEFORE_START, ErrorType.CANCELLED)
    assert path.read_text() == CODE


def test_with_a_model(workspace: Workspace, path: Path) -> None:
    """From the failed edit over the model's own words to the file."""

    async def model(request: ModelRequest) -> ModelResponse:
        assert CODE in request.messages[0].text
        return ModelResponse(model_message('{"explanation": "", "corrected_target_snippet": "result = sum(items)"}'))

    result = ask(workspace, ModelEditCorrector(model), EditApprover(), path)
    assert result.error is None
    assert path.read_text() == CODE.replace("sum(items)", "sum(items, 1)")


def test_a_model_that_does_not_answer(workspace: Workspace, path: Path) -> None:
    async def model(request: ModelRequest) -> ModelResponse:
        await asyncio.Event().wait()
        raise AssertionError(request)

    assert ask(workspace, ModelEditCorrector(model, timeout=0.01), EditApprover(), path) == not_found(path)
    assert path.read_text() == CODE
