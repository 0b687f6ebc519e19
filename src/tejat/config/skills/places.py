"""The directories in which skills are looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tejat.config.files.real_paths import RealPaths
from tejat.config.paths import SKILL_DIRECTORIES, AppPaths, project_directories, same_directory
from tejat.core.frozen import Frozen, field
from tejat.core.provenance import Party

if TYPE_CHECKING:
    from tejat.config.extensions.active import ActiveExtension
    from tejat.config.extensions.pinned import PinnedExtension

SKILLS = "skills"
BUILT_IN_DIRECTORY = os.path.join(os.path.dirname(__file__), "builtin")


class SkillPlace(Frozen):
    """A directory of skills. Links may lead out of it unless it is `confined_to` a real path.

    `relative` is its path from the root of the project, by which its files are pinned, and `pinned` the extension that
    it belongs to.
    """

    directory: str
    party: Party
    extension: str = ""
    confined_to: str = ""
    relative: str = ""
    pinned: PinnedExtension | None = field(default=None, repr=False, compare=False)


def skill_places(
    paths: AppPaths, root: str, *, is_trusted: bool, extensions: Sequence[ActiveExtension] = ()
) -> Iterator[SkillPlace]:
    """The directories that may have skills, lowest precedence first, whether they exist or not."""
    yield SkillPlace(BUILT_IN_DIRECTORY, Party.BUILT_IN)
    yield from added_places(paths, root, is_trusted=is_trusted, extensions=extensions)


def added_places(
    paths: AppPaths, root: str, *, is_trusted: bool, extensions: Sequence[ActiveExtension] = ()
) -> Iterator[SkillPlace]:
    """The same without the skills of the program."""
    real_paths = RealPaths()
    for extension in sorted(extensions, key=lambda each: each.name):
        directory = os.path.join(extension.path, SKILLS)
        real = real_paths.find(extension.path)
        yield SkillPlace(directory, Party.EXTENSION, extension.name, confined_to=real, pinned=extension.pinned)
    for directory in reversed(paths.admin):
        yield SkillPlace(os.path.join(directory, SKILLS), Party.MACHINE)
    for directory in user_skill_directories(paths):
        yield SkillPlace(directory, Party.USER)
    if is_trusted and not any(same_directory(root, home) for home in paths.homes):
        yield from _project_places(paths, root)


def user_skill_directories(paths: AppPaths) -> tuple[str, ...]:
    """The user's own directories, lowest precedence first."""
    gemini = os.path.join(paths.gemini, SKILLS)
    return tuple(
        gemini if name.startswith(".gemini/") else os.path.join(paths.home, name) for name in SKILL_DIRECTORIES
    )


def has_skills(paths: AppPaths, root: str, *, is_trusted: bool, extensions: Sequence[ActiveExtension] = ()) -> bool:
    """Whether there may be skills besides those of the program. Nothing is read for that."""
    places = added_places(paths, root, is_trusted=is_trusted, extensions=extensions)
    return any(os.path.isdir(place.directory) for place in places)


def _project_places(paths: AppPaths, root: str) -> Iterator[SkillPlace]:
    directories = project_directories(root, paths.homes)
    real_root, top = os.path.realpath(root), os.path.realpath(directories[-1])
    for directory in reversed(directories):
        prefix = "" if directory is directories[0] else f"{os.path.relpath(directory, real_root)}/"
        for name in SKILL_DIRECTORIES:
            yield SkillPlace(os.path.join(directory, name), Party.PROJECT, confined_to=top, relative=f"{prefix}{name}")
