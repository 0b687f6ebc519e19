"""Where the program keeps and finds its files: settings, policies and state."""

import os
import pwd
import stat
import sys
from collections.abc import Mapping
from enum import StrEnum

from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy

# Nothing can be found or made beneath it, so without a home every file is missing and none can be planted.
_NO_HOME = os.devnull

_ADMIN_DIRECTORIES = (
    ("/Library/Application Support/GeminiCli", "/Library/Application Support/Tejat")
    if sys.platform == "darwin"
    else ("/etc/gemini-cli", "/etc/tejat")
)


class SourceTier(StrEnum):
    """Who says something: the program itself, the project's own files, the person, or whoever runs the machine."""

    DEFAULT = "default"
    WORKSPACE = "workspace"
    USER = "user"
    ADMIN = "admin"


@frozen
class AppPaths:
    """Absolute paths of directories, none of which need exist.

    `config` and `state` are ours; `gemini` holds what the person set up for Gemini CLI. In `admin` the first directory
    has the last word.
    """

    home: str
    config: str
    state: str
    gemini: str
    admin: tuple[str, ...]


def app_paths(environment: Mapping[str, str]) -> AppPaths:
    """The places for this environment. Raises nothing: what is wrong with one of them shows when it is needed."""
    home = _absolute(environment.get("HOME")) or _account_home() or _NO_HOME
    gemini_home = environment.get("GEMINI_CLI_HOME")
    added = environment.get("TEJAT_ADMIN_DIRECTORY", "").split(os.pathsep)
    return AppPaths(
        home=home,
        config=os.path.join(_absolute(environment.get("XDG_CONFIG_HOME")) or f"{home}/.config", "tejat"),
        state=os.path.join(_absolute(environment.get("XDG_STATE_HOME")) or f"{home}/.local/state", "tejat"),
        gemini=os.path.join(os.path.abspath(gemini_home) if gemini_home else home, ".gemini"),
        admin=(*_ADMIN_DIRECTORIES, *(os.path.abspath(directory) for directory in added if directory)),
    )


def make_private_directory(path: str) -> str:
    """Make the directory and whatever leads to it, for the person alone (0700 whatever the umask), and return it.

    One that is there already is closed to others. Raises UsageError that says what is in the way.
    """
    try:
        _make_directories(path)
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise UsageError(gettext_lazy("Cannot use {path}: it is not a directory.", path=path))
        if status.st_uid != os.geteuid():
            raise UsageError(gettext_lazy("Cannot use {path}: it belongs to another user.", path=path))
        if stat.S_IMODE(status.st_mode) != 0o700:
            os.chmod(path, 0o700)
    except OSError as error:
        if path.startswith(f"{_NO_HOME}/"):
            raise UsageError(gettext_lazy("No home directory is known. Set HOME to one.")) from None
        raise UsageError(
            gettext_lazy("Cannot make the directory {path}: {why}.", path=path, why=error.strerror)
        ) from error
    return path


def _absolute(path: str | None) -> str | None:
    """The path if it is one to rely on: a relative one would mean another place in every directory."""
    return path if path and os.path.isabs(path) else None


def _account_home() -> str | None:
    try:
        return _absolute(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return None


def _make_directories(path: str) -> None:
    if os.path.lexists(path):
        return
    _make_directories(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    # The umask may have taken away what even the owner needs.
    os.chmod(path, 0o700)
