"""Finds tools written in Python: of installed packages, of the person, and of a folder that is trusted."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tejat.app.ground import Ground
from tejat.config.own_file import Writers, is_there, list_own_directory
from tejat.config.settings_file import is_same_directory
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.tool import BaseTool
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.tools.registry import Source, ToolRegistry

GROUP = "tejat.tools"
"""The entry points that packages offer tools by."""

DIRECTORY = os.path.join(".gemini", "tools")

_MOST_BYTES = 2**20


class PythonTool(NamedTuple):
    """A tool, and where it was found, for the person."""

    tool: BaseTool
    origin: str


class Plugins(NamedTuple):
    """What was found. A problem is one line that names what was not loaded and why, fit to be shown."""

    tools: tuple[PythonTool, ...] = ()
    problems: tuple[str, ...] = ()


def find_plugins(ground: Ground) -> Plugins:
    """The tools of installed packages, then the person's own, then those of the folder if it is trusted.

    Their code is run, and there is no limit to the time that takes: nothing can end an import. What it prints goes to
    standard error. Raises nothing: what fails is among the problems. Where nothing is found, nothing is loaded.
    """
    found = [
        *_of_packages(ground),
        *_of_files(_own_directory(ground), ground, is_own=True),
        *_of_files(os.path.join(ground.roots[0], DIRECTORY), ground, is_own=False),
    ]
    tools = (tool for plugin in found for tool in plugin.tools)
    return Plugins(tuple(tools), tuple(problem for plugin in found for problem in plugin.problems))


def add_plugins(registry: ToolRegistry, tools: Sequence[PythonTool]) -> list[str]:
    """Register the tools, and return what is wrong with those that could not be."""
    problems: list[str] = []
    for tool, origin in tools:
        try:
            registry.register(tool, source=Source.PYTHON, origin=origin)
        except UsageError as error:
            problems.append(visible(say("A tool of {origin} was left out. {error}", origin=origin, error=error)))
    return problems


def _of_packages(ground: Ground) -> Iterator[Plugins]:
    # A folder that is worked in must not speak for itself, and `python -m` puts it first of all.
    not_from = {os.path.realpath(path) for path in (os.curdir, *ground.roots)}
    metadata = offering(path for path in sys.path if path and os.path.realpath(path) not in not_from)
    if not metadata:
        return
    from tejat.app.plugin_packages import load_packages

    yield from load_packages(metadata)


def offering(directories: Iterable[str]) -> list[str]:
    """The metadata of installed packages that have entry points for tools, by path.

    A look at the files themselves: the standard library takes longer to load than this takes.
    """
    mark = f"[{GROUP}]".encode()
    return [path for path in _metadata(directories) if mark in _entry_points(path)]


def _metadata(directories: Iterable[str]) -> Iterator[str]:
    for directory in dict.fromkeys(directories):
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith(_METADATA))


def _entry_points(metadata: str) -> bytes:
    try:
        with open(os.path.join(metadata, "entry_points.txt"), "rb", buffering=0) as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def _own_directory(ground: Ground) -> str:
    return os.path.join(ground.places.gemini, "tools")


def _of_files(directory: str, ground: Ground, *, is_own: bool) -> Iterator[Plugins]:
    """Those of a folder run only as they were when it was looked at."""
    if not is_own and (not ground.trust.is_trusted or is_same_directory(directory, _own_directory(ground))):
        return
    writers = Writers.TRUSTED if is_own else Writers.ANYBODY
    try:
        if not is_there(directory):
            return
        names = list_own_directory(directory, writers=writers)
    except ConfigurationError as error:
        yield Plugins(problems=(visible(str(error)),))
        return
    for name in names:
        if name.endswith(".py") and not name.startswith(("_", ".")):
            yield _of_file(os.path.join(directory, name), ground, is_own=is_own)


def _of_file(path: str, ground: Ground, *, is_own: bool) -> Plugins:
    from tejat.app.plugin_loading import load_file

    if is_own:
        return load_file(path, writers=Writers.TRUSTED, origin=_short(path, ground.places.home))
    relative = os.path.relpath(path, ground.roots[0])
    pinned = next((item.digest for item in ground.trust.items if item.path == relative), "")
    return load_file(path, writers=Writers.ANYBODY, origin=relative, digest=pinned)


def _short(path: str, home: str) -> str:
    return f"~{path[len(home) :]}" if path.startswith(f"{home.rstrip('/')}/") else path


_METADATA = (".dist-info", ".egg-info")
