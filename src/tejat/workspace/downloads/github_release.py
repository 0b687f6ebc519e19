"""Releases of GitHub repositories: which one, and which of its files."""

import json
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import quote

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.json_fields import JsonFields
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.http_download import HttpStatusError, download_file, open_url
from tejat.workspace.downloads.source import ARCHIVE_SUFFIXES, GitHubHost
from tejat.workspace.http.client import HttpClient

_NOT_FOUND = 404
_MAX_ANSWER = 8 * 1024 * 1024
_PLATFORMS = ("linux", "darwin", "win32")
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_JSON_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_FILE_HEADERS = {"Accept": "application/octet-stream"}


class ReleaseAsset(Frozen):
    """A file of a release, and the address of the API that hands it out."""

    name: str
    url: str


class GitHubRelease(Frozen):
    """A release: its tag, its files, and the archive of its source."""

    tag: str
    assets: tuple[ReleaseAsset, ...]
    source_archive: str


class GitHubReleases:
    """The releases of one repository.

    The token (`GITHUB_TOKEN`, `GH_TOKEN`) is sent as a header to the API only.
    """

    def __init__(self, http: HttpClient, repository: str, *, host: GitHubHost, environment: Mapping[str, str]) -> None:
        self._http = http
        self._repository = repository
        self._host = host
        token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN") or ""
        self._secret_headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def find(self, *, ref: str = "", pre_release: bool = False) -> GitHubRelease | None:
        """The release with the tag `ref`; without one the latest, else the newest; None if there is none.

        With `pre_release` the newest, even if it is not marked as the latest. Raises DownloadFailure.
        """
        if ref:
            return await self._get(f"releases/tags/{quote(ref, safe='')}", _parse_release)
        latest = None if pre_release else await self._get("releases/latest", _parse_release)
        return latest or await self._get("releases?per_page=1", _parse_newest)

    async def download(
        self, release: GitHubRelease, directory: str, *, report_progress: Callable[[str], None] | None = None
    ) -> str:
        """Download the archive of a release for this machine into a directory; return its path.

        Raises DownloadFailure and OSError.
        """
        asset = choose_asset(release.assets)
        if asset is None:
            name = re.sub(r"[^A-Za-z0-9._-]", "-", f"{self._repository}-{release.tag}.tar.gz")
            url, headers = release.source_archive, _JSON_HEADERS
        else:
            name, url, headers = asset.name, asset.url, _FILE_HEADERS
        path = os.path.join(directory, name)
        self._check_url(url)
        await download_file(
            self._http,
            url,
            path,
            headers=headers,
            secret_headers=self._secret_headers if url.startswith(f"{self._host.api}/") else {},
            report_progress=report_progress,
        )
        return path

    async def _get(self, path: str, parse: Callable[[object], GitHubRelease | None]) -> GitHubRelease | None:
        """An answer of the API, None if there is no such thing. Raises DownloadFailure."""
        url = f"{self._host.api}/repos/{self._repository}/{path}"
        try:
            async with open_url(
                self._http, url, headers=_JSON_HEADERS, secret_headers=self._secret_headers
            ) as response:
                return parse(json.loads(await response.read(_MAX_ANSWER)))
        except HttpStatusError as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        except (ValueError, RecursionError) as error:
            raise DownloadFailure(lazy("GitHub sent an answer that cannot be read.")) from error

    def _check_url(self, url: str) -> None:
        if not url.startswith("https://"):
            raise DownloadFailure(
                lazy("The release of {repository} has no address to download.", repository=self._repository)
            )


def choose_asset(
    assets: tuple[ReleaseAsset, ...], *, system: str = sys.platform, machine: str | None = None
) -> ReleaseAsset | None:
    """The file for a platform and architecture, then for the platform, then the only one if it is for no platform."""
    archives = [asset for asset in assets if asset.name.lower().endswith(ARCHIVE_SUFFIXES) and _is_plain(asset.name)]
    architecture = _ARCHITECTURES.get((machine or platform.machine()).lower(), "")
    others = tuple(f"{system}.{each}." for each in set(_ARCHITECTURES.values()) - {architecture})
    fitting = [asset for asset in archives if not asset.name.lower().startswith(others)]
    for prefix in (f"{system}.{architecture}." if architecture else "", f"{system}."):
        found = [asset for asset in fitting if prefix and asset.name.lower().startswith(prefix)]
        if found:
            return found[0]
    if len(archives) == 1 and len(assets) == 1 and not any(each in archives[0].name.lower() for each in _PLATFORMS):
        return archives[0]
    return None


def _is_plain(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name) is not None


def _parse_release(found: object) -> GitHubRelease:
    """Raises ValueError."""
    release = JsonFields(found)
    assets = [JsonFields(each) for each in release.items("assets")]
    return GitHubRelease(
        tag=release.string("tag_name"),
        assets=tuple(ReleaseAsset(asset.string("name"), asset.string("url")) for asset in assets),
        source_archive=release.string_or_none("tarball_url") or "",
    )


def _parse_newest(found: object) -> GitHubRelease | None:
    """The first of a list of releases. Raises ValueError."""
    if not isinstance(found, list):
        raise ValueError("There is no list where one must be.")
    releases = cast("list[object]", found)
    return _parse_release(releases[0]) if releases else None
