"""Releases: which one is taken, which of its files, and who gets the token."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from support.github_server import LocalGitHub, local_github
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.github_release import GitHubRelease, GitHubReleases, ReleaseAsset, choose_asset
from tejat.workspace.downloads.source import github_host
from tejat.workspace.http.client import HttpClient


@pytest.fixture
def github(tmp_path: Path) -> Generator[LocalGitHub]:
    with local_github(tmp_path / "server") as running:
        yield running


def find(github: LocalGitHub, *, ref: str = "", pre_release: bool = False, **more: str) -> GitHubRelease | None:
    async def main() -> GitHubRelease | None:
        environment = {**github.environment, **more}
        http = HttpClient(environment=environment)
        releases = GitHubReleases(http, "o/r", host=github_host(environment), environment=environment)
        try:
            return await releases.find(ref=ref, pre_release=pre_release)
        finally:
            await http.close()

    return asyncio.run(main())


def tag_of(release: GitHubRelease | None) -> str | None:
    return None if release is None else release.tag


def test_which_release(github: LocalGitHub) -> None:
    assert find(github) is None
    assert find(github, ref="v1") is None
    github.publish("o/r", "v1", {})
    github.publish("o/r", "v2-beta", {}, is_latest=False)
    assert tag_of(find(github)) == "v1"
    assert tag_of(find(github, pre_release=True)) == "v2-beta"
    assert tag_of(find(github, ref="v2-beta")) == "v2-beta"
    del github.api.answers["/repos/o/r/releases/latest"]
    assert tag_of(find(github)) == "v2-beta"


def test_token(github: LocalGitHub) -> None:
    find(github)
    find(github, GH_TOKEN="second")
    find(github, GITHUB_TOKEN="first", GH_TOKEN="second")
    sent = [each.headers.get("authorization") for each in github.api.requests]
    assert sent == [None, None, "Bearer second", "Bearer second", "Bearer first", "Bearer first"]


@pytest.mark.parametrize("answer", [b"[]", b"{", b'{"tag_name": 1, "assets": []}', b"[" * 100_000])
def test_answers_that_cannot_be_read(github: LocalGitHub, answer: bytes) -> None:
    github.api.answers["/repos/o/r/releases/latest"] = (200, {}, answer)
    with pytest.raises(DownloadFailure, match="cannot be read"):
        find(github)


def test_an_error_of_the_server(github: LocalGitHub) -> None:
    github.api.answers["/repos/o/r/releases/latest"] = (403, {}, b"{}")
    with pytest.raises(DownloadFailure, match="HTTP 403"):
        find(github)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["darwin.arm64.x.tar.gz", "linux.x64.x.tar.gz", "linux.x.tar.gz"], "linux.x64.x.tar.gz"),
        (["linux.arm64.x.tar.gz", "linux.x.zip"], "linux.x.zip"),
        (["x.tar.gz"], "x.tar.gz"),
        (["x-win32.zip"], None),
        (["x.tar.gz", "y.tar.gz"], None),
        (["x.exe"], None),
        (["x.tar.gz", "x.exe"], None),
        (["../linux.x.zip"], None),
        ([], None),
    ],
)
def test_which_file(names: list[str], chosen: str | None) -> None:
    assets = tuple(ReleaseAsset(name, f"https://example.org/{name}") for name in names)
    found = choose_asset(assets, system="linux", machine="x86_64")
    assert (None if found is None else found.name) == chosen
