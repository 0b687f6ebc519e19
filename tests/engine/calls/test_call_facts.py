"""What the policy is told of a call: the files behind links, the parsed line, the programs that would start."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from support.note_tool import NoteTool
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool
from tejat.engine.calls.call_facts import ChangeScope, FactCollector, change_scope, command_environment
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts
from tejat.tools import builtin_registry
from tejat.tools.registry import ToolRegistry
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Roots

SHELL = NoteTool("run_shell_command", kind=Kind.EXECUTE)


class Place:
    """Two roots, a home and a directory of programs, with links between them."""

    def __init__(self, base: Path, workspace: Workspace) -> None:
        self.base = base
        self.roots: Roots = workspace.roots
        self.tools: ToolRegistry = builtin_registry(workspace)

    def facts(self, tool: BaseTool, params: Params, *, search_path: str = "") -> CallFacts:
        finder = FactCollector(self.roots, home=str(self.base / "home link"), search_path=search_path)
        return finder.collect(tool, params)

    def expected(self, tool: BaseTool, params: Params, **more: object) -> CallFacts:
        known = CallFacts(tool.name, tool.kind, params, (f"{self.base}/one", f"{self.base}/two"), f"{self.base}/home")
        return replace(known, **more)

    def program(self, path: str, mode: int = 0o755) -> str:
        program = self.base / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(mode)
        return str(program)


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    base = tmp_path.resolve()
    for name in ("one/inner", "two", "home"):
        (base / name).mkdir(parents=True)
    (base / "home link").symlink_to("home")
    (base / "two link").symlink_to("two")
    (base / "one" / "other").symlink_to("inner")
    with Workspace([base / "one", base / "two link"]) as workspace:
        yield Place(base, workspace)


class TestFiles:
    def test_links_are_followed(self, place: Place) -> None:
        tool, params = place.tools["write_file"], {"file_path": "other/new.txt", "content": "x"}
        path = f"{place.base}/one/inner/new.txt"
        assert place.facts(tool, params) == place.expected(tool, params, paths=(path,))

    def test_a_link_out_of_the_workspace_is_seen_for_what_it_is(self, place: Place) -> None:
        (place.base / "one" / "rc").symlink_to(place.base / "home" / ".bashrc")
        tool, params = place.tools["write_file"], {"file_path": "rc", "content": "x"}
        path = f"{place.base}/home/.bashrc"
        assert place.facts(tool, params) == place.expected(tool, params, paths=(path,))

    def test_arguments_that_make_no_sense_touch_nothing(self, place: Place) -> None:
        tool, params = place.tools["write_file"], {"file_path": 3}
        assert place.facts(tool, params) == place.expected(tool, params)

    def test_the_server_of_a_tool_is_told(self, place: Place) -> None:
        tool = NoteTool("far__note", kind=Kind.OTHER)
        tool.server_name = "far"
        assert place.facts(tool, {"text": "x"}) == place.expected(tool, {"text": "x"}, server="far")

    def test_a_command_of_a_tool_that_runs_none_is_just_an_argument(self, place: Place) -> None:
        tool, params = NoteTool(), {"text": "x", "command": "rm -rf /"}
        assert place.facts(tool, params) == place.expected(tool, params)


class TestLines:
    @pytest.mark.parametrize(
        ("given", "where"),
        [
            ({}, "one"),
            ({"directory": ""}, "one"),
            ({"directory": "inner"}, "one/inner"),
            ({"directory": "other"}, "one/inner"),
            ({"dir_path": "other"}, "one/inner"),
            ({"directory": None, "dir_path": "inner"}, "one/inner"),
            ({"directory": "/etc"}, "one"),
            ({"directory": ".."}, "one"),
            ({"directory": 7}, "one"),
        ],
    )
    def test_where_it_would_run(self, place: Place, given: Params, where: str) -> None:
        params = {"command": "ls -l", **given}
        line = parse_command_line("ls -l")
        assert place.facts(SHELL, params) == place.expected(SHELL, params, line=line, directory=f"{place.base}/{where}")

    def test_a_directory_of_another_root(self, place: Place) -> None:
        params = {"command": "ls", "directory": f"{place.base}/two link"}
        assert place.facts(SHELL, params).directory == f"{place.base}/two"

    @pytest.mark.parametrize("command", [None, 3, ["ls"]])
    def test_what_is_no_text_is_no_line(self, place: Place, command: object) -> None:
        params = {"command": command}
        assert place.facts(SHELL, params) == place.expected(SHELL, params)

    @pytest.mark.parametrize(("network", "wanted"), [(True, True), (False, False), ("true", False), (1, False)])
    def test_only_a_plain_yes_wants_the_network(self, place: Place, network: object, wanted: bool) -> None:
        assert place.facts(SHELL, {"command": "ls", "network": network}).wants_network is wanted


class TestPrograms:
    def test_the_first_on_the_search_path_with_links_followed(self, place: Place) -> None:
        here = place.program("bin/tool")
        place.program("later/tool")
        (place.base / "later" / "linked").symlink_to(here)
        search_path = f"{place.base}/bin:{place.base}/later"
        params = {"command": "tool | linked; missing && sudo tool"}
        assert dict(place.facts(SHELL, params, search_path=search_path).programs) == {"tool": here, "linked": here}

    def test_what_cannot_be_run_is_passed_over(self, place: Place) -> None:
        place.program("bin/tool", 0o644)
        (place.base / "also" / "tool").mkdir(parents=True)
        last = place.program("last/tool")
        search_path = ":".join(f"{place.base}/{name}" for name in ("nowhere", "bin", "also", "last"))
        assert dict(place.facts(SHELL, {"command": "tool"}, search_path=search_path).programs) == {"tool": last}

    def test_relative_entries_do_not_count(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        place.program("one/tool")
        place.program("one/bin/tool")
        monkeypatch.chdir(place.base / "one")
        assert place.facts(SHELL, {"command": "tool"}, search_path="::.:bin").programs == {}

    def test_a_path_is_not_searched_for(self, place: Place) -> None:
        place.program("one/tool")
        params = {"command": "./tool; one/tool"}
        assert place.facts(SHELL, params, search_path=str(place.base)).programs == {}

    @pytest.mark.parametrize("command", ["a\0b", "$'a\\0b'", "", "\udcff", "$(x)", '"'])
    def test_names_that_no_program_has(self, place: Place, command: str) -> None:
        facts = place.facts(SHELL, {"command": command}, search_path=str(place.base))
        assert (facts.programs, facts.line) == ({}, parse_command_line(command))

    @pytest.mark.skipif(not os.path.exists("/bin/ls"), reason="no /bin/ls")
    def test_a_real_one(self, place: Place) -> None:
        found = place.facts(SHELL, {"command": "ls"}, search_path="/bin").programs
        assert dict(found) == {"ls": os.path.realpath("/bin/ls")}


def facts_of(kind: Kind, *, command: str | None = None, server: str | None = None) -> CallFacts:
    line = None if command is None else parse_command_line(command)
    return CallFacts("tool", kind, {}, ("/w",), "/home", server=server, line=line)


class TestReach:
    @pytest.mark.parametrize(
        ("kind", "reach"),
        [
            (Kind.READ, ChangeScope.NOTHING),
            (Kind.SEARCH, ChangeScope.NOTHING),
            (Kind.FETCH, ChangeScope.NOTHING),
            (Kind.EDIT, ChangeScope.NAMED_FILES),
            (Kind.THINK, ChangeScope.NAMED_FILES),
            *(
                (kind, ChangeScope.WHOLE_TREE)
                for kind in (Kind.EXECUTE, Kind.OTHER, Kind.DELETE, Kind.MOVE, Kind.AGENT)
            ),
        ],
    )
    def test_by_kind(self, kind: Kind, reach: ChangeScope) -> None:
        assert change_scope(facts_of(kind)) is reach

    @pytest.mark.parametrize("kind", Kind)
    def test_what_works_elsewhere_changes_nothing_here(self, kind: Kind) -> None:
        facts = replace(facts_of(kind, server="far", command="rm -r ."), may_change_files=False)
        assert change_scope(facts) is ChangeScope.NOTHING

    def test_where_it_works_is_the_tools_to_say(self, place: Place) -> None:
        far, near = NoteTool("far", kind=Kind.OTHER), NoteTool("near", kind=Kind.OTHER)
        far.may_change_files = False
        assert [change_scope(place.facts(tool, {})) for tool in (far, near)] == [
            ChangeScope.NOTHING,
            ChangeScope.WHOLE_TREE,
        ]

    def test_an_edit_of_a_server_may_change_anything(self) -> None:
        assert change_scope(facts_of(Kind.EDIT, server="far")) is ChangeScope.WHOLE_TREE

    @pytest.mark.parametrize("command", ["ls", "ls -l | head -3", "sort a && cat a", "grep x y 2>/dev/null", "pwd"])
    def test_lines_that_only_read(self, command: str) -> None:
        assert change_scope(facts_of(Kind.EXECUTE, command=command)) is ChangeScope.NOTHING

    @pytest.mark.parametrize(
        "command",
        [
            *("ls > a", "touch a", "ls; rm a", "ls $(touch a)", "./ls", "unheard-of", "X=1 ls", "find . -delete"),
            *("cat <(touch a)", "ls && $x", "'ls", "sed -i s/a/b/ c", "git commit -m x", "env ls", "bash -c ls", ""),
            *("git status", "git log && cat a"),
        ],
    )
    def test_everything_else_may_change_anything(self, command: str) -> None:
        assert change_scope(facts_of(Kind.EXECUTE, command=command)) is ChangeScope.WHOLE_TREE


class TestEnvironment:
    @pytest.mark.parametrize(
        "command",
        ["git status", "git log | head -3", "cd a && git diff", "timeout 5 git log $x", "git log > a; touch b"],
    )
    def test_reading_a_repository(self, command: str) -> None:
        assert "GIT_CONFIG_COUNT" in command_environment(facts_of(Kind.EXECUTE, command=command))

    @pytest.mark.parametrize(
        "command", ["ls", "git commit", "git status && git commit", "git status; make", "git status; $x", "git foo"]
    )
    def test_anything_else(self, command: str) -> None:
        assert command_environment(facts_of(Kind.EXECUTE, command=command)) == {}

    def test_a_call_without_a_line(self) -> None:
        assert command_environment(facts_of(Kind.EDIT)) == {}
