"""Discovery of tools written in Python: installed packages, the user's and the project's files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.files.reader import AllowedWriters, list_config_directory, path_exists
from tejat.config.paths import same_directory
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.provenance import ToolSource
from tejat.core.sanitize import sanitize_text
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.core.tools.base import BaseTool

ENTRY_POINT_GROUP = "tejat.tools"
"""The entry point group of packages that provide tools."""

PLUGIN_DIRECTORY = os.path.join(".gemini", "tools")

_MAX_BYTES = 2**20
_STANDARD_LIBRARY = frozenset(
    os.path.join(os.path.dirname(os.__file__), name).rstrip("/") for name in ("", "lib-dynload")
)
"""Large directories on the path that no package is installed in."""
_PIECE = 2**14
"""Enough for most files. More memory at once takes longer to get than they do to read."""


class PythonTool(Frozen):
    """A tool and its origin, for the user."""

    tool: BaseTool
    origin: str


class Plugins(Frozen):
    """Tools that were found. A problem is one sanitized line about what was not loaded and why."""

    tools: tuple[PythonTool, ...] = ()
    problems: tuple[str, ...] = ()


def find_plugins(run_config: RunConfig) -> Plugins:
    """Load the tools of installed packages, then the user's own, then the project's if it is trusted.

    This runs their code without a time limit, because nothing can stop an import. Their output goes to standard error.
    Raises nothing: failures are among the problems. If there are no plugins, nothing is imported.
    """
    found = [
        *_find_in_packages(run_config),
        *_find_in_directory(run_config.paths.user_tools, run_config, is_own=True),
        *_find_in_directory(os.path.join(run_config.roots[0], PLUGIN_DIRECTORY), run_config, is_own=False),
    ]
    tools = (tool for plugin in found for tool in plugin.tools)
    return Plugins(tuple(tools), tuple(problem for plugin in found for problem in plugin.problems))


def register_plugins(registry: ToolRegistry, tools: Sequence[PythonTool]) -> list[str]:
    """Register the tools and return the problems."""
    problems: list[str] = []
    for each in tools:
        try:
            registry.register(each.tool, source=ToolSource.PYTHON, origin=each.origin)
        except UsageError as error:
            problems.append(sanitize_text(_("Skipped a tool of {origin}. {error}", origin=each.origin, error=error)))
    return problems


def _find_in_packages(run_config: RunConfig) -> Iterator[Plugins]:
    # The project must not provide packages, and `python -m` puts the current directory first.
    not_from = {os.path.realpath(path) for path in (os.curdir, *run_config.roots)}
    metadata = find_plugin_metadata(path for path in sys.path if path and os.path.realpath(path) not in not_from)
    if not metadata:
        return
    from tejat.app.plugins.packages import load_packages

    yield from load_packages(metadata)


def find_plugin_metadata(directories: Iterable[str]) -> list[str]:
    """The metadata directories of installed packages with entry points for tools.

    Reading the files directly is faster than importing `importlib.metadata`.
    """
    mark = f"[{ENTRY_POINT_GROUP}]".encode()
    return [path for path in _metadata(directories) if mark in _entry_points(path)]


def _metadata(directories: Iterable[str]) -> Iterator[str]:
    for directory in dict.fromkeys(directories):
        if directory in _STANDARD_LIBRARY:
            continue
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith(_METADATA))


def _entry_points(metadata: str) -> bytes:
    # Every start asks this for each installed package, and most of them have no such file.
    try:
        descriptor = os.open(f"{metadata}/entry_points.txt", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = os.read(descriptor, _PIECE)
        return content if len(content) < _PIECE else content + os.read(descriptor, _MAX_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _find_in_directory(directory: str, run_config: RunConfig, *, is_own: bool) -> Iterator[Plugins]:
    """Load plugin files. Those of a project run only with the content that was trusted."""
    if not is_own and (not run_config.trust.is_trusted or same_directory(directory, run_config.paths.user_tools)):
        return
    writers = AllowedWriters.TRUSTED if is_own else AllowedWriters.ANYONE
    try:
        if not path_exists(directory):
            return
        names = list_config_directory(directory, writers=writers)
    except ConfigurationError as error:
        yield Plugins(problems=(sanitize_text(str(error)),))
        return
    for name in names:
        if name.endswith(".py") and not name.startswith(("_", ".")):
            yield _load_file(os.path.join(directory, name), run_config, is_own=is_own)


def _load_file(path: str, run_config: RunConfig, *, is_own: bool) -> Plugins:
    from tejat.app.plugins.loader import load_plugin_file

    if is_own:
        return load_plugin_file(path, writers=AllowedWriters.TRUSTED, origin=run_config.paths.abbreviate(path))
    relative = os.path.relpath(path, run_config.roots[0])
    pinned = next((item.digest for item in run_config.trust.items if item.path == relative), "")
    return load_plugin_file(path, writers=AllowedWriters.ANYONE, origin=relative, digest=pinned)


_METADATA = (".dist-info", ".egg-info")
