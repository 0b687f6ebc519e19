"""Facts about a call for the policy: the files it touches, its command line, and the programs in it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache

from tejat.core.approval.confirmation import Risk
from tejat.core.errors import ToolFailure
from tejat.core.messages.declaration import READ_ONLY_KINDS, Kind
from tejat.core.messages.types import Params
from tejat.core.text.paths import is_beneath_any
from tejat.core.tools.base import BaseTool
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.types import CallFacts, Enclosure, ScriptState, SkillScript
from tejat.workspace.files.regular_file import is_executable_file
from tejat.workspace.files.roots import Roots
from tejat.workspace.paths.real_path import real_path


class ChangeScope(Enum):
    """The part of the workspace that a call may change."""

    NOTHING = 0
    NAMED_FILES = 1
    WHOLE_TREE = 2


def change_scope(facts: CallFacts) -> ChangeScope:
    """Return what has to be saved before the call runs so that it can be undone."""
    if facts.kind in READ_ONLY_KINDS or not facts.may_change_files:
        return ChangeScope.NOTHING
    if facts.plan_file and not is_beneath_any(facts.plan_file, facts.roots):
        return ChangeScope.NOTHING  # undo is for the workspace
    if facts.kind in (Kind.EDIT, Kind.THINK) and facts.server is None:
        return ChangeScope.NAMED_FILES
    return ChangeScope.NOTHING if facts.line is not None and _is_read_only(facts.line) else ChangeScope.WHOLE_TREE


def command_environment(facts: CallFacts) -> Mapping[str, str]:
    """Return the variables that the command of a call needs besides the usual ones."""
    if facts.line is None:
        return {}
    from tejat.policy.effects.command import only_reads_repositories
    from tejat.workspace.processes.environment import git_reading_environment

    if facts.skill_scripts:
        return {"PYTHONDONTWRITEBYTECODE": "1"}  # a file beside a script would change what the user agreed to
    return git_reading_environment() if only_reads_repositories(facts.line) else {}


def call_risks(facts: CallFacts) -> tuple[Risk, ...]:
    """Return the risks that the user should know before approving the call."""
    from tejat.policy.risks import find_risks

    found = find_risks(facts, is_file=os.path.isfile)
    is_changed = any(script.state is ScriptState.CHANGED for script in facts.skill_scripts)
    return (*found, Risk.CHANGED_SCRIPT) if is_changed else found


class FactCollector:
    """Collects facts from the file system for the policy, which itself does no I/O.

    `search_path` is the PATH that commands run with. `enclosure` tells what the sandbox keeps commands from.
    `skill_scripts` finds the files of skills that a command line in a directory may run.
    """

    def __init__(
        self,
        roots: Roots,
        *,
        home: str,
        search_path: str,
        enclosure: Callable[[], Enclosure] = lambda: Enclosure.NONE,
        skill_scripts: Callable[[CommandLine, str], tuple[SkillScript, ...]] = lambda _line, _directory: (),
    ) -> None:
        self._workspace_roots = roots
        self._enclosure = enclosure
        self._skill_scripts = skill_scripts
        self._home = os.path.realpath(home)
        self._search_path = [entry for entry in search_path.split(os.pathsep) if os.path.isabs(entry)]

    @property
    def _roots(self) -> tuple[str, ...]:
        """The current roots: some may be added during a session."""
        return tuple(root.real_path for root in self._workspace_roots.directories)

    def collect(self, tool: BaseTool, params: Params) -> CallFacts:
        """Collect the facts of one call."""
        paths = tuple(real_path(location.path) for location in tool.tool_locations(params))
        command = params.get("command") if tool.kind is Kind.EXECUTE else None
        line = None if not isinstance(command, str) else _parse_command(command)
        plans = self._workspace_roots.plans
        return CallFacts(
            tool=tool.own_name,
            kind=tool.kind,
            arguments=params,
            roots=self._roots,
            home=self._home,
            server=tool.server_name,
            paths=paths,
            line=line,
            directory=None if line is None else self._working_directory(params),
            programs={} if line is None else ProgramLookup(line, self._search_path),
            lookup=FileSystemLookup(),
            wants_network=params.get("network") is True,
            definition_changed=tool.has_changed,
            may_change_files=tool.may_change_files,
            hints=tool.hints,
            enclosure=self._enclosure,
            rule_names=tool.rule_names(params),
            skill_scripts=() if line is None else self._skill_scripts(line, self._working_directory(params)),
            plan_file=self._plan_file(tool, paths),
            plan_directory="" if plans is None else plans.path,
        )

    def _plan_file(self, tool: BaseTool, paths: tuple[str, ...]) -> str:
        """The plan file that a call would write, empty if it is none or more than that."""
        plans = self._workspace_roots.plans
        if plans is None or not tool.writes_plans or len(paths) != 1 or plans.file_name(paths[0]) is None:
            return ""
        return paths[0]

    def _working_directory(self, params: Params) -> str:
        directory = params.get("directory") or params.get("dir_path")
        if not isinstance(directory, str):
            return self._roots[0]
        try:
            location = self._workspace_roots.locate(directory)
        except ToolFailure:
            return self._roots[0]  # the tool itself refuses such a call
        return real_path(location.path)


class ProgramLookup(Mapping[str, str]):
    """The file that each bare command name of a line would start, looked up on demand."""

    def __init__(self, line: CommandLine, directories: Sequence[str]) -> None:
        self._names = {command.name for command in line.commands if command.name and "/" not in command.name}
        self._directories = directories

    def __getitem__(self, name: str) -> str:
        path = _find_program(name, self._directories) if name in self._names else None
        if path is None:
            raise KeyError(name)
        return path

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if _find_program(name, self._directories))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@lru_cache(maxsize=64)
def _parse_command(command: str) -> CommandLine:
    """Parse a command line, cached: it is decided several times, and models repeat themselves."""
    from tejat.policy.shell.parser import parse_command_line

    return parse_command_line(command)


def _is_read_only(line: CommandLine) -> bool:
    """Return whether a line certainly changes no file. Git writes its index, and settings make it run programs."""
    from tejat.policy.effects.command import command_effects

    return line.is_plain and all(
        command.name != "git" and command_effects(command.words).is_read_only for command in line.commands
    )


def _find_program(name: str, directories: Iterable[str]) -> str | None:
    for directory in directories:
        candidate = os.path.join(directory, name)
        try:
            if is_executable_file(candidate):
                return real_path(candidate)
        except ValueError:  # a name with a NUL in it
            return None
    return None
