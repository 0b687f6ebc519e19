"""Scripts of skills in command lines, and what speaks against allowing them by a rule."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tejat.app.skills.service import SkillService
from tejat.config.files.real_paths import RealPaths
from tejat.config.skills.content import is_changed_file
from tejat.config.skills.skill import Skill
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.effects.command import command_effects
from tejat.policy.evaluation.skill_scripts import SHELL_INTERPRETERS, is_script_interpreter
from tejat.policy.evaluation.word_places import working_directories
from tejat.policy.paths import join_path
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.types import ScriptState, SkillScript
from tejat.workspace.files.regular_file import is_executable_file, regular_file_opener

_MAX_FIRST_LINE = 256
# Options in the first line of a script that do not change what it is.
_HARMLESS_LETTERS = {"sh": "aefhuvx", "python": "bBdEIOPqsSuv", "perl": "wWtTX", "ruby": "w"}
# With these, interpreters and the linker load code from other directories.
_LIBRARY_VARIABLES = (
    *("PYTHONPATH", "NODE_PATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "GEM_HOME", "GEM_PATH"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)


class ScriptFinder:
    """Finds scripts of skills. `roots` are the workspace directories, `environment` is that of commands."""

    def __init__(self, skills: SkillService, roots: Iterable[str], environment: Mapping[str, str]) -> None:
        self._skills = skills
        self._roots = tuple(each for root in roots for each in (os.path.abspath(root), os.path.realpath(root)))
        self._environment = environment

    def find(self, line: CommandLine, directory: str) -> tuple[SkillScript, ...]:
        """The files of skills that a command line in this directory may run."""
        words = dict.fromkeys(word for word in _possible_scripts(line) if "\0" not in word)
        if not words:
            return ()
        home, real_paths = self._environment.get("HOME", "/"), RealPaths()
        directories = working_directories(line, directory, home=home, lookup=FileSystemLookup())
        places = (join_path(word, directory=each, home=home) for word in words for each in directories)
        tops = [(skill, real_paths.find(skill.directory)) for skill in self._skills.library.skills]
        return tuple(
            self._describe(skill, path, top)
            for path in dict.fromkeys(map(os.path.realpath, places))
            for skill, top in tops
            if path != top and is_beneath(path, top) and os.path.isfile(path)
        )

    def _describe(self, skill: Skill, path: str, top: str) -> SkillScript:
        @cache
        def find_doubt(interpreter: str) -> str | None:
            return self._find_doubt(skill, path, interpreter)

        return SkillScript(
            skill.call_name,
            skill.qualified_name,
            path,
            tuple(dict.fromkeys((os.path.abspath(skill.directory), top))),
            self._state(skill, path, top),
            find_doubt,
        )

    def _state(self, skill: Skill, path: str, top: str) -> ScriptState:
        content = self._skills.active_content(skill)
        if content is None:
            return ScriptState.INACTIVE
        is_changed = is_changed_file(top, content.files, os.path.relpath(path, top))
        return ScriptState.CHANGED if is_changed else ScriptState.UNCHANGED

    def _find_doubt(self, skill: Skill, path: str, interpreter: str) -> str | None:
        for name in _LIBRARY_VARIABLES:
            entries = filter(None, self._environment.get(name, "").split(os.pathsep))
            if any(not os.path.isabs(entry) or self._is_in_workspace(entry) for entry in entries):
                return lazy("{name} makes programs load code from the workspace", name=name)
        doubt = self._find_program_doubt(interpreter) if interpreter else self._find_first_line_doubt(path)
        return doubt or self._skills.consent.find_doubt(skill)

    def _find_first_line_doubt(self, path: str) -> str | None:
        """The reason why the first line of a script may start something else than an interpreter for it."""
        try:
            with open(path, "rb", opener=regular_file_opener) as file:
                first = file.read(_MAX_FIRST_LINE).partition(b"\n")[0]
        except OSError as error:
            return lazy("{path} cannot be read: {why}", path=path, why=error.strerror)
        if not first.startswith(b"#!"):
            return None
        line = first[2:].decode("utf-8", "replace").strip()
        program, *options = line.split(None, 1) or [""]
        name = os.path.basename(program)
        if name == "env" and options:
            name, options = options[0], []
            program = "" if self._is_in_workspace(program) else self._find_in_path(name)
        if not is_script_interpreter(name) or not os.path.isabs(program) or not _runs_file(name, options):
            return lazy("its first line starts something that rules cannot allow: {line}", line=line)
        return self._in_workspace_doubt(program)

    def _find_program_doubt(self, name: str) -> str | None:
        program = self._find_in_path(name)
        return self._in_workspace_doubt(program) if program else lazy("{name} was not found", name=name)

    def _find_in_path(self, name: str) -> str:
        """The file that a name starts, with its links: they decide where an interpreter finds its libraries."""
        entries = filter(os.path.isabs, self._environment.get("PATH", os.defpath).split(os.pathsep))
        candidates = (os.path.join(entry, name) for entry in entries)
        return next(filter(is_executable_file, candidates), "")

    def _in_workspace_doubt(self, program: str) -> str | None:
        if not self._is_in_workspace(program):
            return None
        return lazy("it would start {program}, a file in the workspace", program=program)

    def _is_in_workspace(self, path: str) -> bool:
        """Whether a path, or what it leads to, is in the workspace."""
        parent, name = os.path.split(os.path.normpath(path))
        spellings = (os.path.join(parent, name), os.path.join(os.path.realpath(parent), name), os.path.realpath(path))
        return any(is_beneath_any(each, self._roots) for each in spellings)


def _runs_file(interpreter: str, options: list[str]) -> bool:
    """Whether an interpreter runs the file behind these options, which are one word of a first line."""
    if not options:
        return True
    kind = "sh" if interpreter in SHELL_INTERPRETERS else interpreter.rstrip("0123456789.")
    letters = _HARMLESS_LETTERS.get(kind, "")
    return options[0].startswith("-") and all(letter in letters for letter in options[0][1:])


def _possible_scripts(line: CommandLine) -> Iterator[str]:
    """The words of a line that may name a file which it runs."""
    for command in line.commands:
        effects = command_effects(command.words)
        if "/" in command.name:
            yield command.name
        if effects.runs_code or line.is_opaque:
            yield from (*command.words[1:], *effects.paths)
    if line.is_opaque:
        yield from (each.target for each in line.redirections if each.target is not None and not each.writes)
