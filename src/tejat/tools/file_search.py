"""Finding files for a tool: glob patterns as models write them, beneath the places they may look in."""

import stat
from collections.abc import Sequence
from typing import Annotated

from tejat.core.errors import WorkspaceError
from tejat.core.schema import Param
from tejat.core.value import value
from tejat.workspace.glob_pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.path_failures import outside
from tejat.workspace.roots import Location
from tejat.workspace.workspace import Workspace

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

MOST_FILES = 1_000_000
"""How many files a search looks at before it gives what it has."""

_MAGIC = frozenset("*?[]{}()!+@\\")


def search_places(workspace: Workspace, path: str | None) -> list[Location]:
    """Where to search: the given directory, or every root. Raises WorkspaceError for one outside the roots."""
    if path:
        return [workspace.roots.locate(path)]
    return [Location(root, "") for root in workspace.roots.directories]


def pattern_in(workspace: Workspace, place: Location, pattern: str, *, case_sensitive: bool) -> GlobPattern | None:
    """The pattern as it is meant in this place; None when it is absolute and lies elsewhere, or is the place itself.

    A pattern that names an existing file to the letter means that file, whatever its characters are. Raises ToolFailure
    for a pattern that is not one, or that leads out of the place.
    """
    relative = relative_in(place, pattern)
    if not relative:
        return None
    if _MAGIC.intersection(relative) and entry_at(workspace, place, relative) is not None:
        relative = escape_glob(relative)
    return compile_glob(relative, case_sensitive=case_sensitive)


def patterns_in(
    workspace: Workspace, place: Location, patterns: Sequence[str], *, case_sensitive: bool
) -> list[GlobPattern]:
    found = (pattern_in(workspace, place, pattern, case_sensitive=case_sensitive) for pattern in patterns)
    return [pattern for pattern in found if pattern is not None]


def relative_in(place: Location, pattern: str) -> str | None:
    """The pattern from this place on, empty for the place itself; None when it is absolute and lies elsewhere."""
    if not pattern.startswith("/"):
        return pattern.removeprefix("./")
    for path in (place.path, place_real_path(place)):
        if _is_in(pattern, path):
            return pattern[len(path.rstrip("/")) :].strip("/")
    return None


@value
class Entry:
    """Something that exists."""

    location: Location
    is_directory: bool


def entry_at(workspace: Workspace, place: Location, relative: str) -> Entry | None:
    """What has this name in the place, to the letter, links followed; None when nothing has it."""
    try:
        location = workspace.roots.locate(relative, base=place)
        status = workspace.roots.stat(location)
    except WorkspaceError:
        return None
    return Entry(location, stat.S_ISDIR(status.st_mode))


def refuse_outside(workspace: Workspace, pattern: str, places: Sequence[Location]) -> None:
    """Raise WorkspaceError for an absolute pattern that lies in none of the places."""
    if pattern.startswith("/") and not any(
        _is_in(pattern, path) for place in places for path in (place.path, place_real_path(place))
    ):
        raise outside(pattern, workspace.roots.paths)


def place_real_path(place: Location) -> str:
    return "/".join([place.root.real_path.rstrip("/"), place.relative]).rstrip("/") or "/"


def _is_in(pattern: str, directory: str) -> bool:
    return f"{pattern}/".startswith(directory.rstrip("/") + "/")
