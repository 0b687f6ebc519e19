"""Files of an existing set-up of Gemini CLI: which of them are used, and how."""

import glob
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tejat.app.mcp.server_plan import StartBlockers
from tejat.app.run_config import RunConfig
from tejat.app.skills.service import load_library
from tejat.config.extensions.manifest import MANIFEST
from tejat.config.paths import POLICY_DIRECTORY, same_directory
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.types import Settings, configured_servers
from tejat.core.i18n import lazy, lazy_plural
from tejat.core.provenance import Party
from tejat.core.text.str_enum import StrEnum

_MAX_ENTRIES = 1000


class FileUse(StrEnum):
    """Whether a file of the set-up is used. The values are part of the JSON report."""

    USED = "used"
    PARTLY = "partly used"
    NOT_USED = "not used"


class SetupFile(NamedTuple):
    """A file or directory of the set-up that exists."""

    what: str
    path: str
    use: FileUse
    detail: str


def find_setup_files(run_config: RunConfig) -> list[SetupFile]:
    """The files of Gemini CLI that exist for this user and project. Raises nothing."""
    paths, root = run_config.paths, run_config.roots[0]
    project = os.path.join(root, ".gemini")
    own = [
        *_user_files(run_config),
        *_shared_files(run_config, paths.gemini, is_project=False),
        *_skills(run_config),
    ]
    if same_directory(project, paths.gemini):
        return [*_admin_files(run_config), *own]
    return [
        *_admin_files(run_config),
        *own,
        *_shared_files(run_config, project, is_project=True),
        *_project_files(run_config, root),
    ]


def _admin_files(run_config: RunConfig) -> Iterator[SetupFile]:
    for directory in run_config.paths.admin:
        policies = os.path.join(directory, POLICY_DIRECTORY)
        if rules := _files(policies, "*.toml"):
            yield SetupFile(lazy("policies"), policies, FileUse.USED, _count_files(len(rules)))


def _user_files(run_config: RunConfig) -> Iterator[SetupFile]:
    paths = run_config.paths
    for name in run_config.settings.context_file_names.value:
        path = os.path.join(paths.gemini, name)
        if os.path.isfile(path):
            yield SetupFile(lazy("context file"), path, FileUse.USED, lazy("sent to the model"))
    if os.path.isfile(paths.gemini_trusted_folders):
        detail = lazy("folders that Gemini CLI trusts are trusted as they are when first opened")
        yield SetupFile(lazy("trusted folders"), paths.gemini_trusted_folders, FileUse.USED, detail)
    for name, reason in _IGNORED_FILES:
        for path in _files(paths.gemini, name):
            yield SetupFile(lazy("file"), path, FileUse.NOT_USED, reason)
    for name in _CREDENTIAL_FILES:
        path = os.path.join(paths.gemini, name)
        if os.path.isfile(path):
            yield SetupFile(lazy("credentials"), path, FileUse.NOT_USED, lazy("never read: the sign-in of Gemini CLI"))
    chats = _files(os.path.join(paths.gemini, "tmp"), "*/chats/session-*.json*")
    if chats:
        detail = lazy_plural(
            "{count} chat; import it with `tejat sessions import`",
            "{count} chats; import them with `tejat sessions import`",
            len(chats),
        )
        yield SetupFile(lazy("chats"), os.path.join(paths.gemini, "tmp"), FileUse.NOT_USED, detail)
    yield from _extensions(run_config)


def _shared_files(run_config: RunConfig, directory: str, *, is_project: bool) -> Iterator[SetupFile]:
    """What may be in the `.gemini` of the user and of a project."""
    is_trusted = not is_project or run_config.trust.is_trusted
    use = FileUse.USED if is_trusted else FileUse.NOT_USED
    untrusted = lazy("the folder is not trusted")
    commands = os.path.join(directory, "commands")
    if found := _files(commands, "**/*.toml"):
        detail = _count_files(len(found)) if is_trusted else untrusted
        yield SetupFile(lazy("custom commands"), commands, use, detail)
    policies = os.path.join(directory, POLICY_DIRECTORY)
    if found := _files(policies, "*.toml"):
        if is_project:
            detail = lazy("ask and deny rules apply, allow rules do not")
            yield SetupFile(lazy("policies"), policies, FileUse.PARTLY, detail)
        elif run_config.settings.policy_paths:
            source = run_config.settings.policy_paths[0].source
            detail = lazy("ask and deny rules apply; {source} replaces allow rules", source=source)
            yield SetupFile(lazy("policies"), policies, FileUse.PARTLY, detail)
        else:
            yield SetupFile(lazy("policies"), policies, FileUse.USED, _count_files(len(found)))
    agents = os.path.join(directory, "agents")
    if found := _files(agents, "[!_.]*.md"):
        detail = _count_files(len(found)) if is_trusted else untrusted
        yield SetupFile(lazy("agents"), agents, use, detail)


def _project_files(run_config: RunConfig, root: str) -> Iterator[SetupFile]:
    is_trusted = run_config.trust.is_trusted
    use = FileUse.USED if is_trusted else FileUse.NOT_USED
    detail = lazy("read") if is_trusted else lazy("the folder is not trusted")
    for name in (*run_config.settings.context_file_names.value, ".gemini/system.md"):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            named = lazy("used if GEMINI_SYSTEM_MD is set") if name.endswith("system.md") and is_trusted else detail
            yield SetupFile(_LABELS.get(name, lazy("context file")), path, use, named)
    if os.path.isfile(path := os.path.join(root, ".mcp.json")):
        detail = lazy("its servers are not started; add them to .gemini/settings.json")
        yield SetupFile(lazy("MCP servers"), path, FileUse.NOT_USED, detail)
    for name in (".gemini/.env", ".env"):
        path = os.path.join(root, name)
        if os.path.isfile(path) and path != run_config.environment_file:
            yield SetupFile(lazy("environment"), path, FileUse.NOT_USED, _unused_env_reason(run_config, name))
    if os.path.isfile(path := os.path.join(root, ".geminiignore")):
        yield SetupFile(lazy("ignored files"), path, FileUse.USED, lazy("files it matches are ignored"))


def _unused_env_reason(run_config: RunConfig, name: str) -> str:
    """Why an environment file of the project is not used."""
    if not run_config.trust.is_trusted:
        return lazy("the folder is not trusted")
    ignored = run_config.settings.ignore_local_env
    if ignored.value and name == ".env":
        return lazy("turned off by {source}", source=ignored.source)
    return lazy("{path} is used instead", path=run_config.environment_file)


def environment_files(run_config: RunConfig) -> Iterator[SetupFile]:
    """The settings, the `.env` file that was read and the MCP servers."""
    settings = run_config.settings
    inspected = {file.path for file in run_config.settings_files}
    for path in settings.files:
        if path in inspected:
            yield SetupFile(lazy("settings"), path, FileUse.USED, lazy("see the keys above"))
        else:
            yield _restricted_file(settings, path)
    if run_config.environment_file is not None:
        yield SetupFile(lazy("environment"), run_config.environment_file, FileUse.USED, lazy("variables are set"))
    blockers = StartBlockers(run_config)
    for name, server in configured_servers(settings).items():
        blocked = blockers.find(name)
        use, detail = FileUse.USED, name
        if blocked is not None:
            use, detail = FileUse.NOT_USED, lazy("{name}: {reason}", name=name, reason=blocked[1])
        yield SetupFile(lazy("MCP server"), server.source, use, detail)


def _restricted_file(settings: Settings, path: str) -> SetupFile:
    """The settings file of a folder that is not trusted, of which only keys that restrict count."""
    counted = [
        row.key.names[0]
        for row in SETTINGS
        if row.restricts and any(entry.source.startswith(f"{path}:") for entry in getattr(settings, row.field))
    ]
    if not counted:
        return SetupFile(lazy("settings"), path, FileUse.NOT_USED, lazy("the folder is not trusted"))
    detail = lazy("the folder is not trusted; only these settings apply: {names}", names=", ".join(counted))
    return SetupFile(lazy("settings"), path, FileUse.PARTLY, detail)


def _extensions(run_config: RunConfig) -> Iterator[SetupFile]:
    """The extensions, whether they are used or not."""
    used = {extension.path for extension in run_config.extensions}
    for extension in run_config.extensions:
        yield SetupFile(lazy("extension"), extension.path, FileUse.USED, f"{extension.name} {extension.version}")
    for path in _files(run_config.paths.extensions, f"*/{MANIFEST}"):
        if (directory := os.path.dirname(path)) not in used:
            detail = lazy("`tejat extensions list` says why")
            yield SetupFile(lazy("extension"), directory, FileUse.NOT_USED, detail)


def _skills(run_config: RunConfig) -> Iterator[SetupFile]:
    """The directories with skills, and the skills that are used and that are not."""
    library = load_library(run_config)
    found: dict[str, list[str]] = {}
    disabled: dict[str, list[str]] = {}
    for skill in library.skills:
        if skill.provenance.party is not Party.BUILT_IN:
            found.setdefault(os.path.dirname(skill.directory), []).append(skill.call_name)
    for skill in library.disabled:
        disabled.setdefault(os.path.dirname(skill.directory), []).append(skill.name)
    for directory, names in found.items():
        yield SetupFile(lazy("skills"), directory, FileUse.USED, ", ".join(names[:_MAX_NAMES]))
    for directory, names in disabled.items():
        detail = lazy("disabled: {names}", names=", ".join(names[:_MAX_NAMES]))
        yield SetupFile(lazy("skills"), directory, FileUse.NOT_USED, detail)
    in_use = {skill.path for skill in library.skills}
    for problem in library.problems:
        use = FileUse.PARTLY if problem.path in in_use else FileUse.NOT_USED
        yield SetupFile(lazy("skill"), problem.path, use, problem.message)
    if not run_config.trust.is_trusted:
        for name in (".agents", ".gemini", ".claude"):
            directory = os.path.join(run_config.roots[0], name, "skills")
            if os.path.isdir(directory) and directory not in found:
                yield SetupFile(lazy("skills"), directory, FileUse.NOT_USED, lazy("the folder is not trusted"))


def _files(directory: str, pattern: str) -> Sequence[str]:
    """The first files that match the pattern; none if the directory cannot be read."""
    matches = glob.iglob(pattern, root_dir=directory, recursive=True)
    return [os.path.join(directory, name) for _, name in zip(range(_MAX_ENTRIES), matches, strict=False)]


def _count_files(count: int) -> str:
    return lazy_plural("{count} file", "{count} files", count)


_MAX_NAMES = 10
_LABELS = {".gemini/system.md": lazy("system prompt")}
_IGNORED_FILES = (
    ("keybindings.json", lazy("key bindings are not supported yet")),
    ("memory.md", lazy("GEMINI.md is used instead")),
    ("sandbox.toml", lazy("the sandbox is configured in settings.json")),
    ("sandbox-macos-*.sb", lazy("custom profiles are not supported")),
)
_CREDENTIAL_FILES = (
    *("oauth_creds.json", "google_accounts.json", "gemini-credentials.json"),
    *("mcp-oauth-tokens.json", "a2a-oauth-tokens.json"),
)
