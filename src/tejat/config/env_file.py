"""The `.env` file of a run: which one counts, what it says, and what it may not say."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths, same_directory


class EnvFile(NamedTuple):
    """What was read: the variables that were not set already, and the names of those that were not taken."""

    path: str
    values: Mapping[str, str]
    skipped: tuple[str, ...]

    def __repr__(self) -> str:
        return f"EnvironmentFile({self.path!r}, {sorted(self.values)})"


class EnvFileLocation(NamedTuple):
    """A file that would be read. `is_own`: it is the person's, not a project's."""

    path: str
    is_user_file: bool


def load_env_file(
    paths: AppPaths, directory: str, *, is_trusted: bool, excluded: Collection[str], environment: Mapping[str, str]
) -> EnvFile | None:
    """The first `.env` from the directory upward, then in the home directory; None if there is none.

    Without trust only the person's own counts. `excluded` names are not taken from a project's `.env`. Raises
    UsageError for a file that cannot be read, or which others could have written.
    """
    found = find_env_file(paths, directory, only_user_file=not is_trusted)
    if found is None:
        return None
    text = read_config_file(found.path, writers=AllowedWriters.TRUSTED if found.is_user_file else AllowedWriters.ANYONE)
    values: dict[str, str] = {}
    skipped: list[str] = []
    is_plain = os.path.basename(os.path.dirname(found.path)) != ".gemini"
    for name, value in parse_env(text or "").items():
        if not _may_set(name, is_user_file=found.is_user_file) or (
            is_plain and not found.is_user_file and name in excluded
        ):
            skipped.append(name)
        elif name not in environment:
            values[name] = value
    return EnvFile(found.path, values, tuple(skipped))


def find_env_file(paths: AppPaths, directory: str, *, only_user_file: bool = False) -> EnvFileLocation | None:
    """The file that would be read. One above the directory that somebody else could have put there does not count."""
    start = os.path.realpath(directory)
    for above in _ancestors(start):
        is_own = _is_home(paths, above)
        for path in (os.path.join(above, ".gemini", ".env"), os.path.join(above, ".env")):
            if (is_own or not only_user_file) and _is_eligible(path, is_beneath=above == start):
                return EnvFileLocation(path, is_own)
    for path in (os.path.join(paths.gemini, ".env"), os.path.join(paths.home, ".env")):
        if os.path.isfile(path):
            return EnvFileLocation(path, is_user_file=True)
    return None


def parse_env(text: str) -> dict[str, str]:
    """The variables that the text sets; of two with the same name the later one counts. Lines it cannot be are passed.

    As in a shell script of assignments: `export` may come first, `#` begins a comment, quotes of three kinds may
    reach over lines, and in double quotes `\\n`, `\\r` and `\\t` stand for what they usually do. Nothing is expanded.
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
    # By the directory itself: a `.gemini` in a project may be a link to the person's.
    return any(same_directory(directory, home) for home in paths.homes)


def _is_eligible(path: str, *, is_beneath: bool) -> bool:
    if not os.path.isfile(path):
        return False
    if is_beneath:
        return True
    return all(_is_safely_owned(at) for at in (path, os.path.dirname(path)))


def _is_safely_owned(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o002


def _may_set(name: str, *, is_user_file: bool) -> bool:
    """Whether a file may set it. Where programs come from and where keys go to is not for a project to say."""
    upper = name.upper()
    if upper in _NEVER_SETTABLE:
        return False
    return is_user_file or not (
        upper in _USER_ONLY or upper.startswith(_USER_ONLY_PREFIXES) or upper.endswith(_USER_ONLY_SUFFIXES)
    )


# Decided before any such file is read, and not to be moved by one.
_NEVER_SETTABLE = frozenset({"GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_HOME", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"})
_USER_ONLY = frozenset(
    {
        *("PATH", "HOME", "SHELL", "ENV", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "TMPDIR"),
        *("USER", "LOGNAME", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"),
        *("GEMINI_SANDBOX", "SEATBELT_PROFILE", "GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"),
        *("OLLAMA_HOST", "OPENAI_API_BASE", "GCONV_PATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "CLASSPATH"),
    }
)
_USER_ONLY_PREFIXES = (
    *(
        "LD_",
        "DYLD_",
        "PYTHON",
        "NODE_",
        "NPM_CONFIG_",
        "BASH_",
        "GIT_",
        "SSH_",
        "SSL_",
        "XDG_",
        "JAVA_TOOL_",
        "_JAVA_",
    ),
    *("GEMINI_CLI_", "GEMINI_TELEMETRY_", "OTEL_", "TEJAT_", "SANDBOX", "GOOGLE_EXTERNAL_ACCOUNT_", "CLOUDSDK_"),
)
_USER_ONLY_SUFFIXES = ("_PROXY", "_BASE_URL", "_ENDPOINT", "_CA_BUNDLE", "_CA_CERTS", "_PRELOAD")
_ASSIGNMENT = r"""(?msx)
    ^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
    (?:
        (?P<quoted> "(?:[^"\\]|\\.)*+" | '[^']*+' | `[^`]*+` ) [ \t]*(?:\#[^\n]*)?$
      | (?P<bare> (?:[^\s\#] (?:[^\n\#]|(?<![ \t])\#)*+ )? ) [ \t]*(?:\#[^\n]*)?$
    )
"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}
