"""The scratch project of `tejat demo`, and an environment without the user's configuration and state."""

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping

from tejat.config.paths import AppPaths, app_paths

_DATA = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir, "demo")
SCRIPT = os.path.normpath(os.path.join(_DATA, "demo.toml"))
"""The script of the model."""
PROMPT = "A test fails. Find out why, fix it, and run the tests."
"""The prompt that the demo begins with."""


def make_project(directory: str) -> str:
    """Write the demo project and return its directory."""
    with open(os.path.join(_DATA, "project.toml"), "rb") as file:
        files: Mapping[str, str] = tomllib.load(file)["files"]
    for name, content in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(content)
    return directory


def make_environment(directory: str) -> dict[str, str]:
    """The user's environment, with the configuration and the state in this directory instead.

    It has the slash command `/tour`, and a `python3` for the tests of the project.
    """
    commands = os.path.join(directory, ".gemini", "commands")
    os.makedirs(commands, exist_ok=True)
    shutil.copy(os.path.join(_DATA, "tour.toml"), commands)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GEMINI_", "GOOGLE_"))}
    own |= {
        "GEMINI_CLI_HOME": directory,
        "XDG_CONFIG_HOME": os.path.join(directory, "config"),
        "XDG_STATE_HOME": os.path.join(directory, "state"),
    }
    _skip_root_warning(app_paths(own))
    if shutil.which("python3") is None:
        programs = os.path.join(directory, "bin")
        os.makedirs(programs, exist_ok=True)
        os.symlink(os.path.realpath(sys.executable), os.path.join(programs, "python3"))
        own["PATH"] = os.pathsep.join(filter(None, (own.get("PATH"), programs)))
    return own


def _skip_root_warning(paths: AppPaths) -> None:
    """Root is warned in a session of its own, not in a scratch project."""
    os.makedirs(paths.state, mode=0o700, exist_ok=True)
    with open(paths.root_warning, "x", encoding="utf-8"):
        pass
