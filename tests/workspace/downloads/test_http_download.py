"""Downloads: https only, ten redirects, and no secret for another host."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from support.github_server import LocalGitHub, local_github
from tejat.workspace.downloads import http_download
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.http_download import HttpStatusError, download_file
from tejat.workspace.http.client import HttpClient

SECRET = {"Authorization": "Bearer t0ken"}


@pytest.fixture
def github(tmp_path: Path) -> Generator[LocalGitHub]:
    with local_github(tmp_path / "server") as running:
        yield running


def download(github: LocalGitHub, url: str, path: Path) -> bytes:
    async def main() -> None:
        http = HttpClient(environment=github.environment)
        try:
            await download_file(http, url, str(path), secret_headers=SECRET)
        finally:
            await http.close()

    asyncio.run(main())
    return path.read_bytes()


def test_redirects_and_secrets(github: LocalGitHub, tmp_path: Path) -> None:
    github.api.redirect("/a", "/b")
    github.api.redirect("/b", f"{github.downloads.origin}/c")
    github.downloads.redirect("/c", f"{github.api.origin}/d")
    github.api.answers["/d"] = (200, {}, b"content")
    assert download(github, f"{github.api.origin}/a", tmp_path / "x") == b"content"
    sent = [(each.path, "authorization" in each.headers) for each in github.api.requests]
    assert sent == [("/a", True), ("/b", True), ("/d", False)]
    assert ["authorization" in each.headers for each in github.downloads.requests] == [False]
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_too_many_redirects(github: LocalGitHub, tmp_path: Path) -> None:
    github.api.redirect("/a", "/a")
    with pytest.raises(DownloadFailure, match="more than 10 times"):
        download(github, f"{github.api.origin}/a", tmp_path / "x")
    assert len(github.api.requests) == 11


def test_no_http(github: LocalGitHub, tmp_path: Path) -> None:
    github.api.redirect("/a", f"http://127.0.0.1:{github.downloads.port}/b")
    with pytest.raises(DownloadFailure, match="not encrypted"):
        download(github, f"{github.api.origin}/a", tmp_path / "x")
    assert github.downloads.requests == []


def test_errors(github: LocalGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HttpStatusError, match="HTTP 404"):
        download(github, f"{github.api.origin}/gone", tmp_path / "x")
    with pytest.raises(DownloadFailure, match="Could not connect"):
        download(github, "https://127.0.0.1:9/x", tmp_path / "x")
    monkeypatch.setattr(http_download, "MAX_PACKED_BYTES", 10)
    github.api.answers["/long"] = (200, {}, b"x" * 11)
    with pytest.raises(DownloadFailure, match="larger than"):
        download(github, f"{github.api.origin}/long", tmp_path / "y")
