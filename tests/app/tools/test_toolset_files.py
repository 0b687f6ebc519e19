"""Arguments of the tools of a session: directories, names, paths, and files with secrets."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from support.approver import FakeApprover
from tejat.app.tools.listed_tools import builtin_registry
from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.approval.modes import ModeName
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.tools.base import ToolResult

Call = tuple[str, Params]


class Project:
    """A project of a user with a home directory."""

    def __init__(self, base: Path) -> None:
        self.path = base / "project"
        self.path.mkdir()
        (base / "home").mkdir()
        self.environment = {"HOME": str(base / "home"), "PATH": os.environ["PATH"]}

    def run(self, *calls: Call, mode: ModeName | None = None, approver: FakeApprover | None = None) -> list[ToolResult]:
        """The results of the calls, one after the other in one session."""
        with open_tools(self.path, approver, mode=mode, sandbox="off", environment=self.environment) as tools:
            return run(tools, *calls)


def run(tools: Toolset, *calls: Call) -> list[ToolResult]:
    async def main() -> list[ToolResult]:
        return [await tools.scheduler.run(FunctionCall(name, arguments)) for name, arguments in calls]

    return asyncio.run(main())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def kinds(results: Sequence[ToolResult]) -> list[ErrorType | None]:
    return [None if result.error is None else result.error.type for result in results]


class TestArguments:
    def test_one_string_is_one_directory(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(project.path)
        with open_tools(
            "./", None, allowed_tools="write_file", sandbox="off", environment=project.environment
        ) as tools:
            assert tools.roots.paths == (str(project.path),)
            outside, inside = str(project.path.parent / "outside"), "inside"
            results = run(tools, *(("write_file", {"file_path": path, "content": ""}) for path in (outside, inside)))
        assert kinds(results) == [ErrorType.PATH_NOT_IN_WORKSPACE, None]
        assert not (project.path.parent / "outside").exists()

    def test_one_string_is_one_tool(self) -> None:
        registry = builtin_registry()
        registry.select(exclude="write_file")
        assert "write_file" not in registry.names()
        registry.select(core="write_file")
        assert registry.names() == ["write_file"]

    @pytest.mark.parametrize(
        "call",
        [
            ("read_file", {"file_path": "sec\0rets/k"}),
            ("write_file", {"file_path": "sec\0rets/k", "content": ""}),
            ("replace", {"file_path": "sec\0rets/k", "old_string": "key", "new_string": ""}),
            ("list_directory", {"path": "sec\0rets"}),
            ("glob", {"pattern": "sec\0rets/*"}),
            ("glob", {"pattern": "*", "path": "sec\0rets"}),
            ("search_file_content", {"pattern": "key", "path": "sec\0rets"}),
            ("search_file_content", {"pattern": "key", "include": "sec\0rets/*"}),
            ("read_many_files", {"paths": ["sec\0rets/k"]}),
            ("read_many_files", {"paths": ["secrets/*"], "exclude": ["sec\0rets/k"]}),
            ("run_shell_command", {"command": "cat k", "directory": "sec\0rets"}),
            ("run_shell_command", {"command": "cat sec\0rets/k"}),
        ],
    )
    def test_a_nul_in_a_path_is_refused_by_every_tool(self, project: Project, call: Call) -> None:
        write(project.path / "secrets" / "k", "the key")
        (result,) = project.run(call, mode="yolo")
        assert kinds([result]) == [ErrorType.INVALID_TOOL_PARAMS]
        assert "the key" not in str(result)
        assert (project.path / "secrets" / "k").read_text() == "the key"

    def test_a_hook_cannot_be_shown_another_path_than_the_one_used(self, project: Project) -> None:
        write(project.path / "secrets" / "k", "the key")
        (result,) = project.run(("read_file", {"path": "secrets/k", "file_path": "harmless"}), mode="yolo")
        assert kinds([result]) == [ErrorType.INVALID_TOOL_PARAMS]


class TestSecretFiles:
    CALLS: ClassVar[Sequence[Call]] = (
        ("read_file", {"file_path": ".env"}),
        ("read_file", {"file_path": "harmless.txt"}),
        ("read_many_files", {"paths": [".env"], "useDefaultExcludes": False}),
        ("search_file_content", {"pattern": "KEY", "path": ".env", "no_ignore": True}),
    )

    @pytest.fixture(autouse=True)
    def files(self, project: Project) -> None:
        write(project.path / ".env", "KEY=value\n")
        (project.path / "harmless.txt").symlink_to(".env")

    @pytest.mark.parametrize("call", CALLS)
    def test_are_shown_only_after_a_yes(self, project: Project, call: Call) -> None:
        (refused,) = project.run(call)
        assert kinds([refused]) == [ErrorType.POLICY_VIOLATION]
        assert "KEY=value" not in str(refused)
        assert "usually contains secrets" in str(refused.return_display)
        assert f"the rule `allow {call[0]}, path" in str(refused.return_display)
        approver = FakeApprover()
        (shown,) = project.run(call, approver=approver)
        assert "KEY=value" in str(shown.llm_content)
        (question,) = approver.questions
        assert (question.reason, question.always) == (
            f"{project.path}/.env usually contains secrets, which the model would see.",
            f'allow {call[0]}, path "{project.path}/.env"',
        )

    def test_always_is_remembered_for_the_file(self, project: Project) -> None:
        write(project.path / "other.env", "KEY=value\n")
        approver = FakeApprover(ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE))
        project.run(self.CALLS[0], self.CALLS[1], approver=approver)
        assert len(approver.questions) == 1
        results = project.run(self.CALLS[0], ("read_file", {"file_path": "other.env"}))
        assert kinds(results) == [None, ErrorType.POLICY_VIOLATION]

    @pytest.mark.parametrize(
        "call",
        [
            ("search_file_content", {"pattern": "KEY", "no_ignore": True}),
            ("read_many_files", {"paths": ["**", ".e*"], "useDefaultExcludes": False}),
        ],
    )
    def test_patterns_do_not_find_them(self, project: Project, call: Call) -> None:
        for mode in (None, "yolo"):
            (result,) = project.run(call, mode=mode)
            assert result.error is None
            assert "KEY=value" not in str(result.llm_content)
