"""The tools for other agents: under whose rules, and in which part of the directories."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from support.note_tool import NoteTool
from tejat.app.tools.tool_host import ToolHost, ToolHostOptions, open_tool_host
from tejat.core.errors import ErrorType, UsageError
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.tools.base import ToolResult

Result = TypeVar("Result")


def opened(work: Callable[[ToolHost], Result], options: ToolHostOptions) -> Result:
    async def main() -> Result:
        async with open_tool_host(options) as host:
            return work(host)

    return asyncio.run(main())


def called(options: ToolHostOptions, within: tuple[Path, ...], name: str, args: Params) -> ToolResult:
    async def main() -> ToolResult:
        async with open_tool_host(options) as host:
            with host.start_session(has_plans=False).open(None, [str(path) for path in within]) as tools:
                return await tools.scheduler.run(FunctionCall(name, args))

    return asyncio.run(main())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """`project/a` and `project/b`, and `outside` next to them with a link to it in the project."""
    project = tmp_path / "project"
    for name in ("a/deep", "b", ".git/hooks", ".gemini", "../outside"):
        (project / name).mkdir(parents=True)
    (project / "link").symlink_to(tmp_path / "outside")
    (project / "a" / "file").write_text("x\n")
    return project


class TestOpening:
    def test_what_is_wrong_is_found_before_anybody_comes(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="nowhere"):
            opened(lambda host: host, ToolHostOptions(directories=(str(tmp_path / "nowhere"),)))
        with pytest.raises(UsageError, match="mode"):
            opened(lambda host: host, ToolHostOptions(directories=(str(tmp_path),), mode="reckless"))

    def test_a_missing_sandbox_is_told_once_for_all_clients(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        warnings: list[str] = []

        def use_the_shell_twice(host: ToolHost) -> None:
            for _ in range(2):
                with host.start_session(has_plans=False).open(None, ()) as tools:
                    assert tools.scheduler.registry.get("run_shell_command") is not None

        opened(use_the_shell_twice, ToolHostOptions(directories=("/",), sandbox="auto", warn=warnings.append))
        (warning,) = warnings
        assert warning.startswith("NO SANDBOX: ")

    def test_the_tools_of_the_caller_and_those_that_somebody_could_use(self, tmp_path: Path) -> None:
        def names(host: ToolHost) -> list[str]:
            with host.start_session(has_plans=False).open(None, ()) as tools:
                return tools.scheduler.registry.names()

        options = ToolHostOptions(directories=(str(tmp_path),), tools=(NoteTool(),), excluded_tools=("web_fetch",))
        found = opened(names, options)
        assert "note" in found
        assert "web_fetch" not in found
        assert "google_web_search" not in found

    def test_keys_of_the_person_stay_here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("EXAMPLE_API_KEY", "sk-abcdefghijklmnop1234")
        (tmp_path / "a").write_text("sk-abcdefghijklmnop1234\n")
        result = called(ToolHostOptions(directories=(str(tmp_path),)), (), "read_file", {"path": str(tmp_path / "a")})
        assert "sk-abcdefghijklmnop1234" not in str(result)


class TestNarrowing:
    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (["a"], ["a"]),
            (["b", "a/deep", "a/"], ["b", "a/deep", "a"]),
            (["."], ["."]),
            ([".."], ["."]),
            (["/"], ["."]),
            (["../outside"], []),
            (["link"], []),
            (["../outside", "b"], ["b"]),
            (["a/file"], []),
            (["nothing"], []),
            ([".git"], []),
            ([".git/hooks"], []),
            ([".gemini"], []),
            (["../project-b"], []),
            ([], []),
        ],
    )
    def test_only_what_lies_inside(self, project: Path, wanted: list[str], found: list[str]) -> None:
        options = ToolHostOptions(directories=(str(project),))
        narrowed = opened(lambda host: host.restrict_roots([str(project / each) for each in wanted]), options)
        assert narrowed == tuple(str((project / each).resolve()) for each in found)

    def test_several_roots(self, project: Path) -> None:
        options = ToolHostOptions(directories=(str(project / "a"), str(project / "b")))
        narrowed = opened(lambda host: host.restrict_roots([str(project), str(project / "b")]), options)
        assert narrowed == (str(project / "a"), str(project / "b"))

    def test_calls_stay_inside(self, project: Path) -> None:
        options = ToolHostOptions(directories=(str(project),))
        here = called(options, (project / "a",), "read_file", {"path": str(project / "a" / "file")})
        there = called(options, (project / "b",), "read_file", {"path": str(project / "a" / "file")})
        assert here.llm_content == "x\n"
        assert there.error is not None
        assert there.error.type is ErrorType.PATH_NOT_IN_WORKSPACE

    def test_a_directory_that_has_become_a_link_is_not_used(self, project: Path, tmp_path: Path) -> None:
        options = ToolHostOptions(directories=(str(project),))
        with pytest.raises(UsageError, match="was replaced by a symbolic link"):
            called(options, (project / "link",), "glob", {"pattern": "*"})


class TestRulesOfTheWhole:
    """A client that picks a part of the project must not get rid of the rules for the project."""

    DENY = '[[rule]]\ntool = "read_file"\npath = "a/**"\ndecision = "deny"\nmessage = "Not yours."\n'

    def test_a_rule_of_the_project_counts_in_its_parts(self, project: Path) -> None:
        (project / ".gemini" / "policies").mkdir()
        (project / ".gemini" / "policies" / "rules.toml").write_text(self.DENY)
        options = ToolHostOptions(directories=(str(project),), mode="yolo")
        for within in ((), (project / "a",), (project / "a", project / "b")):
            result = called(options, within, "read_file", {"path": str(project / "a" / "file")})
            assert result.error is not None
            assert result.error.message == "Tool execution denied by policy. Not yours."

    def test_a_part_may_be_judged_more_strictly_but_not_the_rest_more_mildly(self, project: Path) -> None:
        options = ToolHostOptions(directories=(str(project),), allowed_tools=("run_shell_command(cat)",), sandbox="off")
        command = {"command": f"cat {project}/a/file"}
        assert called(options, (), "run_shell_command", command).error is None
        assert called(options, (project / "a",), "run_shell_command", command).error is None
        from_outside = called(options, (project / "b",), "run_shell_command", command)
        assert from_outside.error is not None
        assert from_outside.error.type is ErrorType.POLICY_VIOLATION
