"""Directories and files of Tejat: configuration, state, and what it shares with Gemini CLI."""

import os
import pwd
import stat
import sys
from collections.abc import Mapping

from tejat.core.frozen import Frozen
from tejat.core.text.digest import sha256
from tejat.core.text.str_enum import StrEnum

# Nothing can exist beneath it: without a home directory every file is missing and none can be planted.
NO_HOME = os.devnull

SETTINGS_FILE = "settings.json"
POLICY_DIRECTORY = "policies"
PROJECT_SETTINGS = f".gemini/{SETTINGS_FILE}"
"""The settings file of a project, relative to its root."""

SKILL_FILE = "SKILL.md"
SKILL_DIRECTORIES = (".claude/skills", ".gemini/skills", ".agents/skills")
"""The skills of a project or of the user, lowest precedence first."""
AGENT_DIRECTORIES = (".gemini/agents", ".claude/agents")
"""The sub-agents of a project."""

MACHINE_DIRECTORIES = (
    ("/Library/Application Support/GeminiCli", "/Library/Application Support/Tejat")
    if sys.platform == "darwin"
    else ("/etc/gemini-cli", "/etc/tejat")
)
"""The administrator's directories, which only root may change. The first has the highest precedence."""


class SourceTier(StrEnum):
    """The source of a setting or rule, lowest precedence first."""

    DEFAULT = "default"
    WORKSPACE = "workspace"
    EXTENSION = "extension"
    USER = "user"
    ADMIN = "admin"

    @property
    def only_restricts(self) -> bool:
        """Whether it can only tighten: a project, or an extension."""
        return self in (SourceTier.WORKSPACE, SourceTier.EXTENSION)


class _PathIn:
    """The path of a file or directory in the directory that is the attribute `base` of an `AppPaths`."""

    def __init__(self, base: str, *names: str) -> None:
        self._base = base
        self._names = names

    def __get__(self, paths: "AppPaths", _: object = None) -> str:
        return os.path.join(getattr(paths, self._base), *self._names)


class AppPaths(Frozen):
    """Absolute paths. None of them need exist.

    `config` and `state` are Tejat's own directories, `gemini` is the user's `.gemini`. The first directory in `admin`
    has the highest precedence. `debug_log` is the file that the user wants debug messages in, None for the usual log.
    `runtime` is for the sockets of running sessions. `user_state` is the user's own state directory if the run has
    another one, else empty. `hidden` are further paths that commands must not read.
    """

    home: str
    config: str
    state: str
    gemini: str
    admin: tuple[str, ...]
    debug_log: str | None = None
    runtime: str = NO_HOME
    user_state: str = ""
    hidden: tuple[str, ...] = ()

    @property
    def shared_state(self) -> str:
        """The state that all runs of the user share."""
        return self.user_state or self.state

    @property
    def homes(self) -> tuple[str, str]:
        """The directories whose `.gemini` belongs to the user and not to a project."""
        return self.home, os.path.dirname(self.gemini)

    def abbreviate(self, path: str) -> str:
        """The path with `~` for the home directory."""
        if path == self.home:
            return "~"
        return f"~{path[len(self.home) :]}" if self.home and path.startswith(self.home.rstrip("/") + "/") else path

    user_settings = _PathIn("gemini", SETTINGS_FILE)
    """The user's settings that Gemini CLI reads too."""
    own_settings = _PathIn("config", SETTINGS_FILE)
    """The user's settings that only Tejat understands. They have precedence over those of a project."""
    user_commands = _PathIn("gemini", "commands")
    user_tools = _PathIn("gemini", "tools")
    user_agents = _PathIn("gemini", "agents")
    claude_agents = _PathIn("home", ".claude", "agents")
    """The user's agents for Claude Code."""
    mcp_enablement = _PathIn("gemini", "mcp-server-enablement.json")
    gemini_trusted_folders = _PathIn("gemini", "trustedFolders.json")
    extensions = _PathIn("gemini", "extensions")
    """The installed extensions, shared with Gemini CLI."""
    extension_enablement = _PathIn("gemini", "extensions", "extension-enablement.json")
    extension_consents = _PathIn("config", "extensions.json")
    """The extensions that the user agreed to, with their pins."""
    extension_pins = _PathIn("config", "extension-pins")
    """Pins of the code of extensions, and the texts that were agreed to."""
    extension_settings = _PathIn("config", "extension-settings")
    """Secret settings of extensions in plain text, readable by the user alone."""
    credentials = _PathIn("config", "keys.env")
    """API keys in plain text, readable by the user alone."""
    trust_store = _PathIn("config", "trust.json")
    saved_rules = _PathIn("config", POLICY_DIRECTORY, "saved.toml")
    extension_backups = _PathIn("state", "extension-backups")
    """The versions of extensions before their last update."""
    sessions = _PathIn("state", "sessions")
    history_index = _PathIn("state", "history")
    """Figures of sessions, in a file for each project, until their journals change."""
    session_list = _PathIn("state", "session-list")
    """What the list of sessions shows of each, in a file for each project, until their journals change."""
    reported_aliases = _PathIn("state", "aliases.json")
    """Aliases of models whose meaning the user was told."""
    catalogue = _PathIn("shared_state", "catalogue.json")
    """The catalogue of models that the user has updated."""
    chats = _PathIn("state", "chats")
    outputs = _PathIn("state", "outputs")
    """Tool outputs that were too long for the model."""
    overlays = _PathIn("state", "copies")
    plans = _PathIn("state", "plans")
    """Plan files, in a directory for each session of each project."""
    sandbox = _PathIn("state", "sandbox")
    jobs = _PathIn("state", "jobs")
    undo = _PathIn("state", "undo")
    locks = _PathIn("state", "locks")
    log = _PathIn("state", "log", "tejat.log")
    mcp_logins = _PathIn("shared_state", "mcp-logins")
    skill_cache = _PathIn("state", "skills", "parsed.json")
    """The parsed front matter of skills, until their files change."""
    reported_skills = _PathIn("state", "skills", "reported.json")
    """Problems with skills that the user was told."""
    skill_use = _PathIn("state", "skills", "use.json")
    """When each skill was last activated."""
    replaced_skills = _PathIn("state", "skills", "replaced")
    """The versions of skills before their last update."""
    skill_consents = _PathIn("config", "skills.json")
    """The skills that the user allowed for good, by source and content."""
    root_warning = _PathIn("state", "root-warning")
    """Exists once root has been warned of being root."""
    reported_extensions = _PathIn("state", "reported-extensions.json")
    """Extensions that the user was told of, by directory."""
    declined_extensions = _PathIn("state", "declined-extensions.json")
    """Digests of new and changed extensions that the user does not want to be asked about, by directory."""
    reported_settings = _PathIn("state", "reported-settings.json")
    """Digests of the unknown settings that were reported at start, by file."""

    reported_agents = _PathIn("state", "reported-agents.json")
    """Digests of agents that hide others, by qualified name, that the user was told of."""
    plain_rules = _PathIn("state", "plain-rules.json")
    """Digests of rule files that a run need not load at its start."""
    yaml_cache = _PathIn("state", "yaml-cache.json")
    """Values of YAML texts."""

    def mcp_tool_pins(self, root: str) -> str:
        return os.path.join(self.state, "mcp-tools", f"{project_key(root)}.json")

    def session_plans(self, root: str, session_id: str) -> str:
        """The private directory of the plan files of a session."""
        return os.path.join(self.plans, project_key(root), plans_name(session_id))

    def prompt_history(self, root: str) -> str:
        return os.path.join(self.state, "prompts", f"{project_key(root)}.jsonl")

    def lock(self, path: str) -> str:
        """The lock file for a file that must not have one beside it, such as a project's settings."""
        return os.path.join(self.locks, f"{project_key(path)}.lock")


def project_key(path: str) -> str:
    """The name under which state is kept for a project. It does not depend on links in the path."""
    return sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]


def plans_name(session_id: str) -> str:
    """The name of the directory of plan files of a session. Ids that are no plain words are hashed."""
    is_plain = session_id.isascii() and session_id.replace("-", "").replace("_", "").isalnum()
    return session_id if is_plain else sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()


def same_directory(one: str, other: str) -> bool:
    """Whether both paths lead to the same existing directory, links followed."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def project_directories(root: str, homes: tuple[str, ...]) -> tuple[str, ...]:
    """The root and, in a git repository, the directories above it up to its top, without home directories.

    A repository that belongs to another user does not count: anyone could put one above the root.
    """
    found, here = [root], os.path.realpath(root)
    real_homes = set(map(os.path.realpath, homes))
    while True:
        try:
            owner = os.lstat(os.path.join(here, ".git")).st_uid
            return tuple(found) if owner in (0, os.geteuid()) else (root,)
        except OSError:
            pass
        parent = os.path.dirname(here)
        if parent == here or here in real_homes:
            return (root,)
        here = parent
        if here not in real_homes:
            found.append(here)


def app_paths(environment: Mapping[str, str]) -> AppPaths:
    """The paths for this environment. Raises nothing: a path that cannot be used fails when it is used."""
    home = _absolute(environment.get("HOME")) or _account_home() or NO_HOME
    gemini_home = environment.get("GEMINI_CLI_HOME")
    added = environment.get("TEJAT_ADMIN_DIRECTORY", "").split(os.pathsep)
    debug_log = environment.get("GEMINI_DEBUG_LOG_FILE", "").strip()
    state = os.path.join(_absolute(environment.get("XDG_STATE_HOME")) or f"{home}/.local/state", "tejat")
    return AppPaths(
        home=home,
        config=os.path.join(_absolute(environment.get("XDG_CONFIG_HOME")) or f"{home}/.config", "tejat"),
        state=state,
        gemini=os.path.join(os.path.abspath(gemini_home) if gemini_home else home, ".gemini"),
        admin=(*MACHINE_DIRECTORIES, *(os.path.abspath(directory) for directory in added if directory)),
        debug_log=os.path.abspath(debug_log) if debug_log else None,
        runtime=_runtime_directory(environment, home) or os.path.join(state, "run"),
    )


def _absolute(path: str | None) -> str | None:
    """The path unless it is relative, which would mean another directory for every working directory."""
    return path if path and os.path.isabs(path) else None


def _runtime_directory(environment: Mapping[str, str], home: str) -> str | None:
    """A directory in the user's runtime directory, None if there is none, or one that others can change.

    Without the variable, as in jobs of cron, it is where systemd makes it. With another home than that of the account
    there is none: whoever changes it wants to be kept apart.
    """
    base = _absolute(environment.get("XDG_RUNTIME_DIR")) or f"/run/user/{os.geteuid()}"
    try:
        status = os.lstat(base)
    except OSError:
        return None
    is_private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return os.path.join(base, "tejat") if is_private and home == _account_home() else None


def _account_home() -> str | None:
    try:
        return _absolute(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return None
