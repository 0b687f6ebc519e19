"""Detection of the files that a command refers to."""

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from types import MappingProxyType

from tejat.config.env_expansion import env_resolver
from tejat.config.paths import SourceTier
from tejat.core.errors import ToolFailure, UsageError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.text.argv import parse_argv
from tejat.workspace.paths.glob.brace_expansion import expand_braces

MAX_NAMES = 20_000

_EMPTY: Mapping[str, str] = MappingProxyType({})
_GLOB_CHARACTERS = re.compile(r"[*?\[{]")
# The directory that a command of a project starts in.
_WORKING_DIRECTORY = re.compile(
    r"\$\(\s*(?:pwd(?:\s+-[LP])?|git\s+rev-parse\s+--show-toplevel)\s*\)|`\s*pwd(?:\s+-[LP])?\s*`|(?<![^\s\"'=:])~\+"
)
_COMPUTED = re.compile(r"\$\(|`|\$\{?[A-Za-z_]\w*\}?/|/\$\{?[A-Za-z_]|<\(")
_LOAD_PATHS = frozenset(
    {
        *("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_PATH", "NODE_OPTIONS", "PERL5LIB", "RUBYLIB", "CLASSPATH"),
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV"),
    }
)
_INDIRECT_PROGRAMS = frozenset(
    {
        *("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "make", "gmake", "just", "task", "rake", "grunt"),
        *("gulp", "gradle", "gradlew", "mvn", "mvnw", "ant", "cargo", "go", "tox", "nox", "invoke", "pytest", "poetry"),
        *("uv", "pdm", "hatch", "pipenv", "bundle", "composer", "find", "xargs", "eval"),
    }
)


class CommandSpec(Frozen):
    """A command: a line or a program, its arguments, directory and variables."""

    line: str
    arguments: Sequence[str] = ()
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def find_command_files(command: CommandSpec, root: str, variables: Mapping[str, str] = _EMPTY) -> tuple[str, ...]:
    """The regular files below the root that a command may refer to, links followed, by relative path.

    Any directory in the command may be its working directory or search path. `variables` expand its references, and
    patterns are expanded as a shell would. Files that those files load are not known; `unpinned_reason` says where a
    command may run more. Raises UsageError if there are too many.
    """
    real_root = os.path.realpath(root)
    words = dict.fromkeys(_candidate_words(command, real_root, variables))
    found: dict[str, None] = {}
    tried = 0
    named = (_resolve_beneath(real_root, real_root, word) for word in words)
    for base in dict.fromkeys((real_root, *(path for path in named if path is not None and os.path.isdir(path)))):
        tried += len(words)
        for word in words:
            names = [word]
            if _GLOB_CHARACTERS.search(word) and tried <= MAX_NAMES:
                names += islice(_expand_glob(word, base), MAX_NAMES)
                tried += len(names)
            for name in names:
                candidate = _resolve_beneath(real_root, base, name)
                if candidate is not None and os.path.isfile(candidate):
                    found[os.path.relpath(candidate, real_root)] = None
        if tried > MAX_NAMES:
            problem = lazy(
                "A command in the settings of {root} refers to more than {most} files.", root=root, most=MAX_NAMES
            )
            raise UsageError(problem)
    return tuple(found)


def unpinned_reason(command: CommandSpec) -> str | None:
    """Why a command may run files of the folder that are not found by `find_command_files`, None if nothing says so."""
    whole = " ".join((command.line, *command.arguments, command.directory))
    known = re.sub(r"\$(?:HOME\b|\{HOME\})", "~", _expand_project_variables(whole, "/"))
    if _COMPUTED.search(known):
        return lazy("the command is only known when it runs")
    names = {*command.environment, *re.findall(r"(?:^|\s)([A-Z][A-Z0-9_]*)=", whole)}
    if loaded := sorted(names & _LOAD_PATHS):
        return lazy("it loads everything in {names}", names=", ".join(loaded))
    words = re.split(r"[\s;|&()\"'`]+", whole)
    if program := next((word for word in words if os.path.basename(word) in _INDIRECT_PROGRAMS), None):
        return lazy("{program} runs what other files in the folder define", program=os.path.basename(program))
    return None


def _expand_glob(word: str, base: str) -> Iterator[str]:
    """The names beneath the base that match, as a shell would find them."""
    with suppress(ToolFailure, OSError, ValueError):
        for pattern in expand_braces(word):
            yield pattern
            yield from glob.iglob(pattern, root_dir=base)


def _resolve_beneath(root: str, base: str, word: str) -> str | None:
    """The real path of a word relative to the base, None if it is outside of the root."""
    try:
        candidate = os.path.realpath(os.path.join(base, word))
    except ValueError:  # not a valid file name
        return None
    return candidate if candidate.startswith(f"{root.rstrip('/')}/") else None


def _candidate_words(command: CommandSpec, root: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Words of the command that could be paths, however they are quoted."""
    yield command.directory
    resolved = env_resolver(variables, SourceTier.WORKSPACE)
    line = command.line
    if not set(line) & set("'\"`\\"):  # without output files, which are not executed
        line = re.sub(r"(?<!<)>>?[ \t]*[^\s;|&()<>$]+", " ", line)
    for written in (line, *command.arguments, *command.environment.values(), command.directory):
        text = _expand_project_variables(written, root)
        for each in (text, resolved(text)):
            yield each
            with suppress(UsageError):
                yield from parse_argv(each)
            yield from re.findall(r'"([^"]+)"', each)
            yield from re.findall(r"'([^']+)'", each)
            for word in re.split(r"[\s;|&()<>=\"'`]+", each):
                yield word
                yield from word.split(":")
            if "/" in each:
                yield from each.split(":")
    yield from _python_module_files(" ".join((line, *command.arguments)))


def _python_module_files(text: str) -> Iterator[str]:
    """The files that `python -m` would run."""
    for name in re.findall(r"(?:^|\s)-\w*m\s*([A-Za-z_][\w.]*)", text):
        path = name.replace(".", "/")
        yield from (f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py")


def _expand_project_variables(text: str, root: str) -> str:
    text = _WORKING_DIRECTORY.sub(lambda _: root, text)
    for name in ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR", "workspacePath", "PWD"):
        text = text.replace(f"${{{name}}}", root).replace(f"${name}", root)
    return text
