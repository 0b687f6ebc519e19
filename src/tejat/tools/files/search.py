"""File patterns of search tools, resolved against the directories that may be searched."""

import stat
from collections.abc import Sequence
from typing import Annotated

from tejat.core.errors import WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.text.paths import is_beneath
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
"""Files that a search visits at most."""

_GLOB_CHARACTERS = frozenset("*?[]{}()!+@\\")


def search_directories(workspace: Workspace, path: str | None) -> list[Location]:
    """List the directories to search: the given one or all roots. Raises WorkspaceError for one outside the roots."""
    if path:
        return [workspace.roots.locate(path)]
    return [Location(root, "") for root in workspace.roots.directories]


def compile_pattern(
    workspace: Workspace, location: Location, pattern: str, *, case_sensitive: bool
) -> GlobPattern | None:
    """Compile a pattern relative to a directory; None if it is absolute and outside of it, or the directory itself.

    A pattern that is the exact name of an existing file matches just that file. Raises ToolFailure for an invalid
    pattern or one that leaves the directory.
    """
    relative = relativize_pattern(location, pattern)
    if not relative:
        return None
    if _GLOB_CHARACTERS.intersection(relative) and stat_entry(workspace, location, relative) is not None:
        relative = escape_glob(relative)
    return compile_glob(relative, case_sensitive=case_sensitive)


def compile_patterns(
    workspace: Workspace, location: Location, patterns: Sequence[str], *, case_sensitive: bool
) -> list[GlobPattern]:
    found = (compile_pattern(workspace, location, pattern, case_sensitive=case_sensitive) for pattern in patterns)
    return [pattern for pattern in found if pattern is not None]


def relativize_pattern(location: Location, pattern: str) -> str | None:
    """Make a pattern relative to a directory (empty for the directory itself); None if it is absolute and outside."""
    if not pattern.startswith("/"):
        return pattern.removeprefix("./")
    for path in (location.path, real_path(location)):
        if is_beneath(pattern, path):
            return pattern[len(path.rstrip("/")) :].strip("/")
    return None


class PathEntry(Frozen):
    """An existing file or directory."""

    location: Location
    is_directory: bool


def stat_entry(workspace: Workspace, location: Location, relative: str) -> PathEntry | None:
    """Find the file with exactly this name, following links; None if there is none."""
    try:
        location = workspace.roots.locate(relative, base=location)
        status = workspace.roots.stat(location)
    except WorkspaceError:
        return None
    return PathEntry(location, stat.S_ISDIR(status.st_mode))


def reject_outside_pattern(workspace: Workspace, pattern: str, locations: Sequence[Location]) -> None:
    """Raise WorkspaceError for an absolute pattern outside of all directories."""
    if pattern.startswith("/") and not any(
        is_beneath(pattern, path) for location in locations for path in (location.path, real_path(location))
    ):
        raise outside_workspace_error(pattern, workspace.roots.paths)


def real_path(location: Location) -> str:
    return "/".join([location.root.real_path.rstrip("/"), location.relative]).rstrip("/") or "/"
