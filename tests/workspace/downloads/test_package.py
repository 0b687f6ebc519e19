"""Packages from every kind of source arrive in a private directory, as they are."""

import asyncio
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from support.github_server import LocalGitHub, local_github
from support.packages import make_repository, tar_of, write_tree
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.package import FetchedPackage, PackageFetcher, PackageType
from tejat.workspace.downloads.source import github_host, parse_source
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

MARKER = "m.json"


@pytest.fixture
def github(tmp_path: Path) -> Generator[LocalGitHub]:
    with local_github(tmp_path / "server") as running:
        yield running


def fetch(
    supervisor: ProcessSupervisor,
    text: str,
    tmp_path: Path,
    environment: dict[str, str] | None = None,
    *,
    clones: bool | None = None,
    ref: str = "",
) -> FetchedPackage:
    given = {"PATH": os.environ["PATH"], **(environment or {})}
    staging = tmp_path / "staging"
    staging.mkdir(mode=0o700)
    asked: list[str] = []

    async def ask_to_clone(reason: str) -> bool:
        asked.append(reason)
        return bool(clones)

    async def main() -> FetchedPackage:
        http = HttpClient(environment=given)
        host = github_host(given)
        fetcher = PackageFetcher(
            http=http,
            supervisor=supervisor,
            environment=given,
            github=host,
            ask_to_clone=None if clones is None else ask_to_clone,
        )
        source = parse_source(text, directory=str(tmp_path), github=host)
        try:
            return await fetcher.fetch(source, str(staging), marker=MARKER, ref=ref)
        finally:
            await http.close()

    return asyncio.run(main())


def files_of(fetched: FetchedPackage) -> list[str]:
    return sorted(name for name in os.listdir(fetched.directory) if name != ".git")


def test_directory(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    write_tree(tmp_path / "p", {MARKER: "{}", "a": ""})
    fetched = fetch(supervisor, "p", tmp_path)
    assert (files_of(fetched), fetched.type) == (["a", MARKER], PackageType.LOCAL)


def test_archive(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    (tmp_path / "p.tar.gz").write_bytes(tar_of({f"p-1.0/{MARKER}": "{}"}))
    fetched = fetch(supervisor, "p.tar.gz", tmp_path)
    assert (files_of(fetched), fetched.type) == ([MARKER], PackageType.LOCAL)


def test_release(supervisor: ProcessSupervisor, tmp_path: Path, github: LocalGitHub) -> None:
    github.publish("o/r", "v1", {"p.tar.gz": tar_of({MARKER: "{}"})})
    fetched = fetch(supervisor, "github:o/r", tmp_path, {**github.environment, "GITHUB_TOKEN": "t0ken"})
    assert (files_of(fetched), fetched.type, fetched.release_tag) == ([MARKER], PackageType.GITHUB_RELEASE, "v1")
    assert all("authorization" not in each.headers for each in github.downloads.requests)
    assert github.downloads.requests


def test_source_archive_of_a_release(supervisor: ProcessSupervisor, tmp_path: Path, github: LocalGitHub) -> None:
    github.publish("o/r", "v1", {})
    github.api.redirect("/repos/o/r/tarball/v1", f"{github.downloads.origin}/o-r-abc")
    github.downloads.answers["/o-r-abc"] = (200, {}, tar_of({f"o-r-abc/{MARKER}": "{}", "o-r-abc/b": ""}))
    assert files_of(fetch(supervisor, "github:o/r", tmp_path, github.environment)) == ["b", MARKER]


def test_clone_without_a_release(supervisor: ProcessSupervisor, tmp_path: Path, github: LocalGitHub) -> None:
    commit = make_repository(tmp_path / "work", {MARKER: "{}"}, bare=tmp_path / "server/o/r.git")
    given = {**github.environment, "GITHUB_TOKEN": "t0ken"}
    fetched = fetch(supervisor, f"{github.api.origin}/o/r.git", tmp_path, given)
    assert (files_of(fetched), fetched.type, fetched.commit) == ([MARKER], PackageType.GIT, commit)
    stored = [path for path in (tmp_path / "staging").rglob("*") if path.is_file() and b"t0ken" in path.read_bytes()]
    assert stored == []
    of_git = [each for each in github.api.requests if ".git/" in each.path]
    assert of_git
    assert all("authorization" not in each.headers for each in of_git)


@pytest.mark.parametrize("clones", [True, False, None])
def test_releases_that_cannot_be_reached(
    supervisor: ProcessSupervisor, tmp_path: Path, github: LocalGitHub, clones: bool | None
) -> None:
    make_repository(tmp_path / "work", {MARKER: "{}"}, bare=tmp_path / "server/o/r.git")
    github.api.answers["/repos/o/r/releases/latest"] = (500, {}, b"")
    address = f"{github.api.origin}/o/r.git"
    if clones:
        assert fetch(supervisor, address, tmp_path, github.environment, clones=clones).type is PackageType.GIT
    else:
        with pytest.raises(DownloadFailure, match="HTTP 500"):
            fetch(supervisor, address, tmp_path, github.environment, clones=clones)


def test_a_bad_release_is_not_cloned_instead(
    supervisor: ProcessSupervisor, tmp_path: Path, github: LocalGitHub
) -> None:
    github.publish("o/r", "v1", {"p.tar.gz": tar_of({"../x": "x"})})
    with pytest.raises(DownloadFailure, match=r'"../x"'):
        fetch(supervisor, "github:o/r", tmp_path, github.environment, clones=True)


def test_a_directory_that_cannot_be_read(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    source = write_tree(tmp_path / "p", {MARKER: "{}"})
    (source / "loop").symlink_to("/etc")
    with pytest.raises(DownloadFailure, match='"loop"'):
        fetch(supervisor, "p", tmp_path)
