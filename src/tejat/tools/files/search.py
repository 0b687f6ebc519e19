"""Finding files for a tool: glob patterns as models write them, beneath the places they may look in."""

import stat
from collections.abc import Sequence
from typing import Annotated

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import frozen
from tejat.core.tools.schema import Param
from tejat.workspace.context import Workspace
from tejat.workspace.files.path_errors import outside_workspace_error
from tejat.workspace.files.roots import Location
from tejat.workspace.paths.glob.pattern import GlobPattern, compile_glob, escape_glob

RespectGitIgnore = Annotated[
    bool | None,
    Param("Whether to leave out what git ignores. Default: true.", ("file_filtering_options.respect_git_ignore",)),
]
RespectGeminiIgnore = Annotated[
    bool | None,
    Param(
        "Whether to leave out what `.geminiignore` names. Default: true.",
        ("file_filtering_options.respect_gemini_ignore",),
    ),
]

MAX_FILES = 1_000_000
"""How many files a search looks at before it gives what it has."""

_GLOB_CHARACTERS = frozenset("*?[]{}()!+@\\")


def search_directories(workspace: Workspace, path: str | None) -> list[Location]:
    """Where to search: the given directory, or every root. Raises WorkspaceError for one outside the roots."""
    if path:
        return [workspace.roots.locate(path)]
    return [Location(root, "") for root in workspace.roots.directories]


def compile_pattern(workspace: Workspace, place: Location, pattern: str, *, case_sensitive: bool) -> GlobPattern | None:
    """The pattern as it is meant in this place; None when it is absolute and lies elsewhere, or is the place itself.

    A pattern that names an existing file to the letter means that file, whatever its characters are. Raises ToolFailure
    for a pattern that is not one, or that leads out of the place.
    """
    relative = relativize_pattern(place, pattern)
    if not relative:
        return None
    if _GLOB_CHARACTERS.intersection(relative) and stat_entry(workspace, place, relative) is not None:
        relative = escape_glob(relative)
    return compile_glob(relative, case_sensitive=case_sensitive)


def compile_patterns(
    workspace: Workspace, place: Location, patterns: Sequence[str], *, case_sensitive: bool
) -> list[GlobPattern]:
    found = (compile_pattern(workspace, place, pattern, case_sensitive=case_sensitive) for pattern in patterns)
    return [pattern for pattern in found if pattern is not None]


def relativize_pattern(place: Location, pattern: str) -> str | None:
    """The pattern from this place on, empty for the place itself; None when it is absolute and lies elsewhere."""
    if not pattern.startswith("/"):
        return pattern.removeprefix("./")
    for path in (place.path, real_path(place)):
        if _is_within(pattern, path):
            return pattern[len(path.rstrip("/")) :].strip("/")
    return None


@frozen
class PathEntry:
    """Something that exists."""

    location: Location
    is_directory: bool


def stat_entry(workspace: Workspace, place: Location, relative: str) -> PathEntry | None:
    """What has this name in the place, to the letter, links followed; None when nothing has it."""
    try:
        location = workspace.roots.locate(relative, base=place)
        status = workspace.roots.stat(location)
    except WorkspaceError:
        return None
    return PathEntry(location, stat.S_ISDIR(status.st_mode))


def reject_outside_pattern(workspace: Workspace, pattern: str, places: Sequence[Location]) -> None:
    """Raise WorkspaceError for an absolute pattern that lies in none of the places."""
    if pattern.startswith("/") and not any(
        _is_within(pattern, path) for place in places for path in (place.path, real_path(place))
    ):
        raise outside_workspace_error(pattern, workspace.roots.paths)


def real_path(place: Location) -> str:
    return "/".join([place.root.real_path.rstrip("/"), place.relative]).rstrip("/") or "/"


def _is_within(pattern: str, directory: str) -> bool:
    return f"{pattern}/".startswith(directory.rstrip("/") + "/")
