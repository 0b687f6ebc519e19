"""Detection of the files that a command refers to."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from tejat.config.env_expansion import env_resolver
from tejat.config.paths import SourceTier
from tejat.core.errors import UsageError
from tejat.core.frozen import field, frozen
from tejat.core.i18n import lazy
from tejat.core.text.argv import parse_argv

MAX_NAMES = 20_000

_EMPTY: Mapping[str, str] = MappingProxyType({})


@frozen
class CommandSpec:
    """A command: a line or a program, its arguments, directory and variables."""

    line: str
    arguments: Sequence[str] = ()
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def find_command_files(command: CommandSpec, root: str, variables: Mapping[str, str] = _EMPTY) -> tuple[str, ...]:
    """The regular files below the root that a command may refer to, links followed, by relative path.

    Any directory in the command may be its working directory or search path. `variables` expand its references. Files
    that those files load are not known. Raises UsageError if there are too many.
    """
    real_root = os.path.realpath(root)
    words = dict.fromkeys(_candidate_words(command, real_root, variables))
    found: dict[str, None] = {}
    tried = 0
    named = (_resolve_beneath(real_root, real_root, word) for word in words)
    for base in dict.fromkeys((real_root, *(path for path in named if path is not None and os.path.isdir(path)))):
        tried += len(words)
        if tried > MAX_NAMES:
            problem = lazy(
                "A command in the settings of {root} names more than {most} files.", root=root, most=MAX_NAMES
            )
            raise UsageError(problem)
        for word in words:
            candidate = _resolve_beneath(real_root, base, word)
            if candidate is not None and os.path.isfile(candidate):
                found[os.path.relpath(candidate, real_root)] = None
    return tuple(found)


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
            yield from re.split(r"[\s;|&()<>=\"'`]+", each)
            if "/" in each:
                yield from each.split(":")
    yield from _python_module_files(" ".join((line, *command.arguments)))


def _python_module_files(text: str) -> Iterator[str]:
    """The files that `python -m` would run."""
    for name in re.findall(r"(?:^|\s)-\w*m\s*([A-Za-z_][\w.]*)", text):
        path = name.replace(".", "/")
        yield from (f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py")


def _expand_project_variables(text: str, root: str) -> str:
    for name in ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR", "workspacePath", "PWD"):
        text = text.replace(f"${{{name}}}", root).replace(f"${name}", root)
    return text
