"""The `.env` file of a run: discovery, parsing, and variables it may not set."""

import os
import re
from collections.abc import Collection, Iterator, Mapping

from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths, same_directory
from tejat.core.frozen import Frozen


class EnvFile(Frozen):
    """Variables that were not set before: those for the run, and others that are `withheld` from it.

    Withheld variables of a project are still known to the references in the project's own settings.
    """

    path: str
    values: Mapping[str, str]
    withheld: Mapping[str, str]
    is_user_file: bool = False

    @property
    def ineffective_names(self) -> tuple[str, ...]:
        """Withheld names that would have mattered to the run itself."""
        return tuple(name for name in self.withheld if name.upper().startswith(_SERVICE_PREFIXES))

    def __repr__(self) -> str:
        return f"EnvironmentFile({self.path!r}, {sorted(self.values)})"


class EnvFileLocation(Frozen):
    """A file to read. `is_user_file`: it belongs to the user, not to a project."""

    path: str
    is_user_file: bool


def load_env_file(
    paths: AppPaths,
    directory: str,
    *,
    is_trusted: bool,
    excluded: Collection[str],
    environment: Mapping[str, str],
    allowed: Collection[str] = (),
    ignores_local: bool = False,
) -> EnvFile | None:
    """Load the first `.env` from the directory upward, then in the home directory; None if there is none.

    Without trust only the file of the user is used. With `ignores_local`, a project's file must be `.gemini/.env`.
    `excluded` names are withheld in a project's `.env`; `allowed` are
    names that the user lets a project set besides the usual ones. Raises UsageError for a file that cannot be read, or
    that others can write.
    """
    found = find_env_file(paths, directory, only_user_file=not is_trusted, ignores_local=ignores_local)
    if found is None:
        return None
    text = read_config_file(found.path, writers=AllowedWriters.TRUSTED if found.is_user_file else AllowedWriters.ANYONE)
    values: dict[str, str] = {}
    withheld: dict[str, str] = {}
    if found.is_user_file or os.path.basename(os.path.dirname(found.path)) == ".gemini":
        excluded = ()
    for name, value in parse_env(text or "").items():
        if name in environment:
            continue
        is_settable = name not in _NEVER_SETTABLE if found.is_user_file else _may_project_set(name, allowed)
        (values if is_settable and name not in excluded else withheld)[name] = value
    return EnvFile(found.path, values, withheld, found.is_user_file)


def find_env_file(
    paths: AppPaths, directory: str, *, only_user_file: bool = False, ignores_local: bool = False
) -> EnvFileLocation | None:
    """Find the file to read. Files above the directory that other users could have put there are ignored."""
    start = os.path.realpath(directory)
    for above in _ancestors(start):
        is_own = _is_home(paths, above)
        names = (".gemini/.env",) if ignores_local and not is_own else (".gemini/.env", ".env")
        for path in (os.path.join(above, name) for name in names):
            if (is_own or not only_user_file) and _is_eligible(path, is_beneath=above == start):
                return EnvFileLocation(path, is_own)
    for path in (os.path.join(paths.gemini, ".env"), os.path.join(paths.home, ".env")):
        if os.path.isfile(path):
            return EnvFileLocation(path, is_user_file=True)
    return None


def parse_env(text: str) -> dict[str, str]:
    r"""Parse assignments. Later ones win; invalid lines are ignored.

    `export` may come first, `#` begins a comment, values in quotes may span lines, and in double quotes `\n`, `\r` and
    `\t` are escapes. Nothing is expanded.
    """
    values: dict[str, str] = {}
    for found in re.finditer(_ASSIGNMENT, text.replace("\r\n", "\n").replace("\r", "\n")):
        name, quoted, bare = found["name"], found["quoted"], found["bare"] or ""
        value = bare.strip() if quoted is None else quoted[1:-1]
        if quoted is not None and quoted[0] == '"':
            value = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape.group()), value, flags=re.DOTALL)
        if "\0" not in value:
            values[name] = value
    return values


def _ancestors(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _is_home(paths: AppPaths, directory: str) -> bool:
    # Compare the directory itself: a `.gemini` in a project may be a link to the user's.
    return any(same_directory(directory, home) for home in paths.homes)


def _is_eligible(path: str, *, is_beneath: bool) -> bool:
    return os.path.isfile(path) and (is_beneath or all(map(_is_safely_owned, (path, os.path.dirname(path)))))


def _is_safely_owned(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o002


def _may_project_set(name: str, allowed: Collection[str]) -> bool:
    """Whether a project may set a variable of the run. It must not redirect programs, keys or requests."""
    if name in _PROJECT_SETTABLE:
        return True
    upper = name.upper()
    is_steering = upper in _STEERING or upper.startswith(_STEERING_PREFIXES) or upper.endswith(_STEERING_SUFFIXES)
    return name in allowed and not is_steering


# These are read before any .env file.
_NEVER_SETTABLE = frozenset(
    {
        *("GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_RESTRICTED_MODE", "GEMINI_CLI_HOME", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"),
        "GEMINI_DEBUG_LOG_FILE",
    }
)
# Appearance, language and the usual switches of applications. Nothing here names a program, a server or an account.
_PROJECT_SETTABLE = frozenset(
    {
        *("CI", "DEBUG", "DEBUG_MODE", "NO_COLOR", "FORCE_COLOR", "TEJAT_NO_ANIMATION", "TEJAT_BELL"),
        *("TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "LC_NUMERIC", "LC_COLLATE"),
        *("APP_ENV", "NODE_ENV", "RAILS_ENV", "RACK_ENV", "FLASK_ENV", "MIX_ENV", "ENVIRONMENT", "PORT", "LOG_LEVEL"),
    }
)
# Not even if the user passes on variables of these names: the values are the user's own.
_SERVICE_PREFIXES = ("GEMINI_", "GOOGLE_", "OPENAI_", "ANTHROPIC_", "OLLAMA_")
_STEERING = frozenset(
    {
        *("PATH", "HOME", "SHELL", "ENV", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "TMPDIR"),
        *(
            "USER",
            "LOGNAME",
            "EDITOR",
            "VISUAL",
            "PAGER",
            "MANPAGER",
            "BROWSER",
            "NO_BROWSER",
            "LESSOPEN",
            "LESSCLOSE",
            "SEATBELT_PROFILE",
        ),
        *("GCONV_PATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "CLASSPATH", "GOFLAGS", "MAKEFLAGS", "CC", "CXX"),
    }
)
_STEERING_PREFIXES = (
    *_SERVICE_PREFIXES,
    *("LD_", "DYLD_", "PYTHON", "NODE_", "NPM_CONFIG_", "BASH_", "GIT_", "SSH_", "SSL_", "XDG_", "JAVA_TOOL_"),
    *(
        "_JAVA_",
        "OTEL_",
        "OTLP_",
        "OAUTH_CALLBACK_",
        "TEJAT_",
        "SANDBOX",
        "BUILD_SANDBOX",
        "DOCKER_",
        "CONTAINER",
        "STORAGE_",
        "CLOUDSDK_",
        "GCE_",
        "AWS_",
        "AZURE_",
        "RUSTC",
        "CARGO_",
    ),
)
_STEERING_SUFFIXES = (
    "_PROXY",
    "_BASE_URL",
    "_API_BASE",
    "_ENDPOINT",
    "_CA_BUNDLE",
    "_CA_CERTS",
    "_PRELOAD",
    "_WRAPPER",
)
# Python before 3.11.5 matches possessive groups wrongly: only classes are possessive here.
_ASSIGNMENT = r"""(?msx)
    ^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
    (?:
        (?P<quoted> "[^"\\]*+(?:\\.[^"\\]*+)*" | '[^']*+' | `[^`]*+` ) [ \t]*(?:\#[^\n]*)?$
      | (?P<bare> (?:[^\s\#] [^\n\#]*+ (?:(?<![ \t])\#[^\n\#]*+)* )? ) [ \t]*(?:\#[^\n]*)?$
    )
"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}
