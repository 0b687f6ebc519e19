"""The `.env` file of a run: which one counts, what it says, and what it may not say."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from tejat.config.own_file import Writers, read_own_file
from tejat.config.places import Places
from tejat.config.settings_file import is_same_directory


class EnvironmentFile(NamedTuple):
    """What was read: the variables that were not set already, and the names of those that were not taken."""

    path: str
    values: Mapping[str, str]
    skipped: tuple[str, ...]

    def __repr__(self) -> str:
        return f"EnvironmentFile({self.path!r}, {sorted(self.values)})"


class FoundFile(NamedTuple):
    """A file that would be read. `is_own`: it is the person's, not a project's."""

    path: str
    is_own: bool


def read_environment_file(
    places: Places, directory: str, *, is_trusted: bool, excluded: Collection[str], environment: Mapping[str, str]
) -> EnvironmentFile | None:
    """The first `.env` from the directory upward, then in the home directory; None if there is none.

    Without trust only the person's own counts. `excluded` names are not taken from a project's `.env`. Raises
    UsageError for a file that cannot be read, or which others could have written.
    """
    found = find_environment_file(places, directory, only_own=not is_trusted)
    if found is None:
        return None
    text = read_own_file(found.path, writers=Writers.TRUSTED if found.is_own else Writers.ANYBODY)
    values: dict[str, str] = {}
    skipped: list[str] = []
    is_plain = os.path.basename(os.path.dirname(found.path)) != ".gemini"
    for name, value in parse(text or "").items():
        if not _may_set(name, is_own=found.is_own) or (is_plain and not found.is_own and name in excluded):
            skipped.append(name)
        elif name not in environment:
            values[name] = value
    return EnvironmentFile(found.path, values, tuple(skipped))


def find_environment_file(places: Places, directory: str, *, only_own: bool = False) -> FoundFile | None:
    """The file that would be read. One above the directory that somebody else could have put there does not count."""
    start = os.path.realpath(directory)
    for above in _upward(start):
        is_own = _is_home(places, above)
        for path in (os.path.join(above, ".gemini", ".env"), os.path.join(above, ".env")):
            if (is_own or not only_own) and _counts(path, is_beneath=above == start):
                return FoundFile(path, is_own)
    for path in (os.path.join(places.gemini, ".env"), os.path.join(places.home, ".env")):
        if os.path.isfile(path):
            return FoundFile(path, is_own=True)
    return None


def parse(text: str) -> dict[str, str]:
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


def _upward(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _is_home(places: Places, directory: str) -> bool:
    # By the directory itself: a `.gemini` in a project may be a link to the person's.
    return any(is_same_directory(directory, home) for home in (places.home, os.path.dirname(places.gemini)))


def _counts(path: str, *, is_beneath: bool) -> bool:
    if not os.path.isfile(path):
        return False
    if is_beneath:
        return True
    return all(_is_ours(at) for at in (path, os.path.dirname(path)))


def _is_ours(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o002


def _may_set(name: str, *, is_own: bool) -> bool:
    """Whether a file may set it. Where programs come from and where keys go to is not for a project to say."""
    upper = name.upper()
    if upper in _NEVER:
        return False
    return is_own or not (upper in _NOT_BY_A_PROJECT or upper.startswith(_NOT_BEGINNING) or upper.endswith(_NOT_ENDING))


# Decided before any such file is read, and not to be moved by one.
_NEVER = frozenset({"GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_HOME", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"})
_NOT_BY_A_PROJECT = frozenset(
    {
        *("PATH", "HOME", "SHELL", "ENV", "IFS", "CDPATH", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "TMPDIR"),
        *("USER", "LOGNAME", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"),
        *("GEMINI_SANDBOX", "SEATBELT_PROFILE", "GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"),
        *("OLLAMA_HOST", "OPENAI_API_BASE", "GCONV_PATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "CLASSPATH"),
    }
)
_NOT_BEGINNING = (
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
_NOT_ENDING = ("_PROXY", "_BASE_URL", "_ENDPOINT", "_CA_BUNDLE", "_CA_CERTS", "_PRELOAD")
_ASSIGNMENT = r"""(?msx)
    ^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
    (?:
        (?P<quoted> "(?:[^"\\]|\\.)*+" | '[^']*+' | `[^`]*+` ) [ \t]*(?:\#[^\n]*)?$
      | (?P<bare> (?:[^\s\#] (?:[^\n\#]|(?<![ \t])\#)*+ )? ) [ \t]*(?:\#[^\n]*)?$
    )
"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}
