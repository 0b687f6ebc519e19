"""Directories and files of Tejat: configuration, state, and what it shares with Gemini CLI."""

import os
import pwd
import sys
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256

from tejat.core.frozen import frozen

# Nothing can exist beneath it: without a home directory every file is missing and none can be planted.
NO_HOME = os.devnull

_ADMIN_DIRECTORIES = (
    ("/Library/Application Support/GeminiCli", "/Library/Application Support/Tejat")
    if sys.platform == "darwin"
    else ("/etc/gemini-cli", "/etc/tejat")
)


class SourceTier(StrEnum):
    """The source of a setting or rule, lowest precedence first."""

    DEFAULT = "default"
    WORKSPACE = "workspace"
    USER = "user"
    ADMIN = "admin"


@frozen
class AppPaths:
    """Absolute paths. None of them need exist.

    `config` and `state` are Tejat's own directories, `gemini` is the user's `.gemini`. The first directory in `admin`
    has the highest precedence.
    """

    home: str
    config: str
    state: str
    gemini: str
    admin: tuple[str, ...]

    @property
    def homes(self) -> tuple[str, str]:
        """The directories whose `.gemini` belongs to the user and not to a project."""
        return self.home, os.path.dirname(self.gemini)

    def abbreviate(self, path: str) -> str:
        """The path with `~` for the home directory."""
        if path == self.home:
            return "~"
        return f"~{path[len(self.home) :]}" if self.home and path.startswith(self.home.rstrip("/") + "/") else path

    @property
    def user_settings(self) -> str:
        return os.path.join(self.gemini, SETTINGS_FILE)

    @property
    def user_commands(self) -> str:
        return os.path.join(self.gemini, "commands")

    @property
    def user_tools(self) -> str:
        return os.path.join(self.gemini, "tools")

    @property
    def mcp_enablement(self) -> str:
        return os.path.join(self.gemini, "mcp-server-enablement.json")

    @property
    def gemini_trusted_folders(self) -> str:
        return os.path.join(self.gemini, "trustedFolders.json")

    @property
    def credentials(self) -> str:
        """API keys in plain text, readable by the user alone."""
        return os.path.join(self.config, "keys.env")

    @property
    def trust_store(self) -> str:
        return os.path.join(self.config, "trust.json")

    @property
    def saved_rules(self) -> str:
        return os.path.join(self.config, POLICY_DIRECTORY, "saved.toml")

    @property
    def sessions(self) -> str:
        return os.path.join(self.state, "sessions")

    @property
    def chats(self) -> str:
        return os.path.join(self.state, "chats")

    @property
    def outputs(self) -> str:
        """Tool outputs that were too long for the model."""
        return os.path.join(self.state, "outputs")

    @property
    def overlays(self) -> str:
        return os.path.join(self.state, "copies")

    @property
    def sandbox(self) -> str:
        return os.path.join(self.state, "sandbox")

    @property
    def jobs(self) -> str:
        return os.path.join(self.state, "jobs")

    @property
    def undo(self) -> str:
        return os.path.join(self.state, "undo")

    @property
    def locks(self) -> str:
        return os.path.join(self.state, "locks")

    @property
    def log(self) -> str:
        return os.path.join(self.state, "log", "tejat.log")

    @property
    def mcp_logins(self) -> str:
        return os.path.join(self.state, "mcp-logins")

    def mcp_tool_pins(self, root: str) -> str:
        return os.path.join(self.state, "mcp-tools", f"{project_key(root)}.json")

    def prompt_history(self, root: str) -> str:
        return os.path.join(self.state, "prompts", f"{project_key(root)}.jsonl")

    def lock(self, path: str) -> str:
        """The lock file for a file that must not have one beside it, such as a project's settings."""
        return os.path.join(self.locks, f"{project_key(path)}.lock")


SETTINGS_FILE = "settings.json"
POLICY_DIRECTORY = "policies"
PROJECT_SETTINGS = f".gemini/{SETTINGS_FILE}"
"""The settings file of a project, relative to its root."""


def project_key(path: str) -> str:
    """The name under which state is kept for a project. It does not depend on links in the path."""
    return sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]


def same_directory(one: str, other: str) -> bool:
    """Whether both paths lead to the same existing directory, links followed."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def app_paths(environment: Mapping[str, str]) -> AppPaths:
    """The paths for this environment. Raises nothing: a path that cannot be used fails when it is used."""
    home = _absolute(environment.get("HOME")) or _account_home() or NO_HOME
    gemini_home = environment.get("GEMINI_CLI_HOME")
    added = environment.get("TEJAT_ADMIN_DIRECTORY", "").split(os.pathsep)
    return AppPaths(
        home=home,
        config=os.path.join(_absolute(environment.get("XDG_CONFIG_HOME")) or f"{home}/.config", "tejat"),
        state=os.path.join(_absolute(environment.get("XDG_STATE_HOME")) or f"{home}/.local/state", "tejat"),
        gemini=os.path.join(os.path.abspath(gemini_home) if gemini_home else home, ".gemini"),
        admin=(*_ADMIN_DIRECTORIES, *(os.path.abspath(directory) for directory in added if directory)),
    )


def _absolute(path: str | None) -> str | None:
    """The path unless it is relative, which would mean another directory for every working directory."""
    return path if path and os.path.isabs(path) else None


def _account_home() -> str | None:
    try:
        return _absolute(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return None
