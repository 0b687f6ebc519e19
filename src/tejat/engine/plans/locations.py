"""Where the plan files of a session are."""

import os
from collections.abc import Iterable

from tejat.config.extensions.active import ActiveExtension
from tejat.config.paths import AppPaths
from tejat.config.settings.types import Setting, Settings
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.policy.control_files import control_file_reason

_OWN_DIRECTORY = (".gemini", "plans")
"""The one directory inside a control directory that plans may be in, as in Gemini CLI."""
_INSTRUCTION_FILES = ("GEMINI.md", "AGENTS.md", "CLAUDE.md", "SKILL.md")


class PlanLocation(Frozen):
    """The directory of plan files, which need not exist.

    One that is in the workspace was chosen by a setting or an extension; files with `reserved_names` in it are no
    plans. `problems` are choices that do not count.
    """

    path: str
    is_in_workspace: bool = False
    reserved_names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def plan_location(
    settings: Settings, paths: AppPaths, root: str, *, session_id: str, extensions: Iterable[ActiveExtension] = ()
) -> PlanLocation:
    """Choose the directory: that of the settings, else that of an extension, else a private one of the session.

    Raises ConfigurationError if that of the settings cannot be used.
    """
    reserved = (*settings.context_file_names.value, *_INSTRUCTION_FILES)
    if settings.plan_directory is not None:
        path = check_plan_setting(settings.plan_directory, root)
        return PlanLocation(path, is_in_workspace=True, reserved_names=reserved)
    problems: list[str] = []
    for extension in extensions:
        if not extension.plan_directory:
            continue
        try:
            path = _resolve(extension.plan_directory, root)
            return PlanLocation(path, is_in_workspace=True, reserved_names=reserved, problems=tuple(problems))
        except UsageError as error:
            problem = lazy(
                "The extension {name} sets the plan directory {path!r}, which is not used: {why}",
                name=extension.name,
                path=extension.plan_directory,
                why=error,
            )
            problems.append(problem)
    return PlanLocation(paths.session_plans(root, session_id), problems=tuple(problems))


def check_plan_setting(setting: Setting[str], root: str) -> str:
    """Return the real path of the configured directory. Raises ConfigurationError."""
    try:
        return _resolve(setting.value, root)
    except UsageError as error:
        message = lazy(
            "{source}: general.plan.directory is {path!r}, but {why}",
            source=setting.source,
            path=setting.value,
            why=error,
        )
        raise ConfigurationError(message) from None


def _resolve(name: str, root: str) -> str:
    """Return the real path of a directory in the root. Raises UsageError."""
    base = os.path.realpath(root)
    try:
        path = os.path.realpath(os.path.join(base, name))
    except ValueError:  # a NUL in it
        raise UsageError(lazy("it is not a valid path.")) from None
    if path == base or not is_beneath(path, base):
        raise UsageError(lazy("it must be a directory inside {root}, after links are followed.", root=base))
    names = tuple(os.path.relpath(path, base).split("/"))
    why = control_file_reason(f"{path}/plan.md", root=base)
    if why is not None and names[: len(_OWN_DIRECTORY)] != _OWN_DIRECTORY:
        raise UsageError(lazy("plans cannot be written there, because {why}.", why=why))
    if os.path.exists(path) and not os.path.isdir(path):
        raise UsageError(lazy("it is not a directory."))
    return path
