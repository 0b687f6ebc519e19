"""Sources of packages as people write them: addresses, directories and archives."""

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.downloads.failure import DownloadFailure

ARCHIVE_SUFFIXES = (".tar.gz", ".zip")
_GIT_PREFIXES = ("https://", "git@", "ssh://", "sso://")
_SHORT_PREFIXES = {"github:": "", "gitlab:": "https://gitlab.com"}
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._/-]*[A-Za-z0-9._-]")
_GITHUB_PATH = re.compile(r"/([A-Za-z0-9-]+)/([A-Za-z0-9._-]+?)(?:\.git)?/?")
_GITHUB_SSH = re.compile(r"git@([^:/]+):([A-Za-z0-9-]+)/([A-Za-z0-9._-]+?)(?:\.git)?/?")
# What git would take for an option, a second name, a range or a pattern.
_BAD_REF = re.compile(r"^-|[\s:^~?*\[\\\x00-\x1f\x7f+]|\.\.|@\{")


class SourceKind(StrEnum):
    """How a source is fetched."""

    GIT = "git"
    DIRECTORY = "directory"
    ARCHIVE = "archive"


class GitHubHost(Frozen):
    """The server of GitHub, or of a company's own GitHub, and its API. Both are https origins, perhaps with a path."""

    server: str = "https://github.com"
    api: str = "https://api.github.com"


class PackageSource(Frozen):
    """A source: an address for git, or the absolute path of a directory or an archive.

    `written` is what the user typed, with a path made absolute: it is what install records keep. `repository` is
    `owner/name` for a repository of GitHub, which may have releases.
    """

    kind: SourceKind
    written: str
    address: str
    repository: str = ""

    @property
    def is_path(self) -> bool:
        return not self.written.startswith((*_GIT_PREFIXES, *_SHORT_PREFIXES))


def github_host(environment: Mapping[str, str]) -> GitHubHost:
    """The GitHub in use. `GITHUB_SERVER_URL` and `GITHUB_API_URL` name that of a company, as in GitHub Actions.

    Raises DownloadFailure for an address that is not https.
    """
    usual = GitHubHost()
    found = [environment.get(name, "").rstrip("/") for name in ("GITHUB_SERVER_URL", "GITHUB_API_URL")]
    for name, address in zip(("GITHUB_SERVER_URL", "GITHUB_API_URL"), found, strict=True):
        if address and not address.startswith("https://"):
            raise DownloadFailure(lazy("{name} must start with https://.", name=name))
    return GitHubHost(found[0] or usual.server, found[1] or usual.api)


def parse_source(text: str, *, directory: str, github: GitHubHost) -> PackageSource:
    """Recognize a source. A relative path is one below `directory`.

    Raises DownloadFailure for an address that is not fetched, and for a path that does not exist.
    """
    if text.startswith("http://"):
        raise DownloadFailure(lazy("http:// is not encrypted and not supported. Use https:// instead."))
    for prefix, server in _SHORT_PREFIXES.items():
        if text.startswith(prefix):
            return _hosted(text, text.removeprefix(prefix), server or github.server, github)
    if text.startswith(_GIT_PREFIXES):
        return _git(text, text, github)
    path = os.path.abspath(os.path.join(directory, os.path.expanduser(text)))
    if os.path.isfile(path):
        if not path.endswith(ARCHIVE_SUFFIXES):
            raise DownloadFailure(lazy("{path} is not a directory, a .tar.gz or a .zip file.", path=path))
        return PackageSource(SourceKind.ARCHIVE, path, path)
    if not text or not os.path.isdir(path):
        raise DownloadFailure(lazy("Install source not found."))
    kind = SourceKind.GIT if _is_bare_repository(path) else SourceKind.DIRECTORY
    return PackageSource(kind, path, path)


def check_ref(ref: str) -> str:
    """Return the name of a branch, tag or commit. Raises DownloadFailure if it cannot be one."""
    if not ref or _BAD_REF.search(ref) or ref.endswith((".lock", "/", ".")):
        raise DownloadFailure(lazy("{ref!r} is not the name of a branch, tag or commit.", ref=ref))
    return ref


def _hosted(written: str, repository: str, server: str, github: GitHubHost) -> PackageSource:
    if not _REPOSITORY.fullmatch(repository) or ".." in repository:
        raise DownloadFailure(lazy("{source!r} does not name a repository as owner/name.", source=written))
    return _git(written, f"{server}/{repository}", github)


def _git(written: str, address: str, github: GitHubHost) -> PackageSource:
    if not address.isprintable() or " " in address or "\\" in address:
        raise DownloadFailure(lazy("The address contains whitespace, control characters or backslashes."))
    if "://" in address:
        _check_address(address)
    elif "@-" in address or ":-" in address:  # ssh would take them for options
        raise DownloadFailure(lazy("The address {address!r} is not valid.", address=address))
    return PackageSource(SourceKind.GIT, written, address, _github_repository(address, github))


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        parts, host = None, ""
    if parts is None or not host or host.startswith("-"):
        raise DownloadFailure(lazy("The address has no valid host."))
    if parts.password is not None or (parts.scheme == "https" and parts.username is not None):
        raise DownloadFailure(
            lazy("The address contains a user name or password, which would be stored. Leave them out.")
        )


def _github_repository(address: str, github: GitHubHost) -> str:
    """`owner/name` of a repository of GitHub, "" for all others."""
    ssh = _GITHUB_SSH.fullmatch(address)
    if ssh is not None:
        return f"{ssh[2]}/{ssh[3]}" if ssh[1] == urlsplit(github.server).hostname else ""
    server = github.server.lower()
    if not address.lower().startswith(f"{server}/"):
        return ""
    path = _GITHUB_PATH.fullmatch(address[len(server) :])
    return f"{path[1]}/{path[2]}" if path else ""


def _is_bare_repository(path: str) -> bool:
    return os.path.isfile(f"{path}/HEAD") and os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs")
