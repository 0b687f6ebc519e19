"""Sources as people write them."""

from pathlib import Path

import pytest

from support.packages import make_repository
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.source import (
    GitHubHost,
    PackageSource,
    SourceKind,
    check_ref,
    github_host,
    parse_source,
)

COMPANY = GitHubHost("https://git.example.org", "https://git.example.org/api/v3")


def parse(text: str, directory: Path = Path("/"), github: GitHubHost | None = None) -> PackageSource:
    return parse_source(text, directory=str(directory), github=github or GitHubHost())


@pytest.mark.parametrize(
    ("text", "address", "repository"),
    [
        ("https://github.com/o/r", "https://github.com/o/r", "o/r"),
        ("https://GitHub.com/o/r.git", "https://GitHub.com/o/r.git", "o/r"),
        ("https://github.com/o/r/", "https://github.com/o/r/", "o/r"),
        ("https://github.com.example.org/o/r", "https://github.com.example.org/o/r", ""),
        ("https://github.com/o/r/tree/main", "https://github.com/o/r/tree/main", ""),
        ("https://gitlab.com/o/r", "https://gitlab.com/o/r", ""),
        ("github:o/r", "https://github.com/o/r", "o/r"),
        ("gitlab:group/sub/r", "https://gitlab.com/group/sub/r", ""),
        ("git@github.com:o/r.git", "git@github.com:o/r.git", "o/r"),
        ("git@example.org:o/r.git", "git@example.org:o/r.git", ""),
        ("ssh://git@example.org/o/r", "ssh://git@example.org/o/r", ""),
        ("sso://team/r", "sso://team/r", ""),
    ],
)
def test_addresses(text: str, address: str, repository: str) -> None:
    assert parse(text) == PackageSource(SourceKind.GIT, text, address, repository)


def test_github_of_a_company() -> None:
    assert parse("github:o/r", github=COMPANY).address == "https://git.example.org/o/r"
    assert parse("https://git.example.org/o/r", github=COMPANY).repository == "o/r"
    assert parse("https://github.com/o/r", github=COMPANY).repository == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://example.org/o/r", "https://"),
        ("https://user:secret@example.org/o/r", "user name or password"),
        ("https://token@example.org/o/r", "user name or password"),
        ("https:///o/r", "no valid host"),
        ("https://-oProxyCommand=x/o", "no valid host"),
        ("git@-oProxyCommand=x:o/r", "not valid"),
        ("git@host:-x", "not valid"),
        ("https://example.org/a b", "whitespace"),
        ("github:r", "owner/name"),
        ("github:../r", "owner/name"),
        ("o/r", "Install source not found."),
        ("", "Install source not found."),
        ("file:///tmp", "Install source not found."),
        ("ext::sh -c x", "Install source not found."),
    ],
)
def test_refused(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadFailure, match=reason) as error:
        parse(text, tmp_path)
    assert "secret" not in str(error.value)


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "o" / "r").mkdir(parents=True)
    (tmp_path / "p.tar.gz").write_bytes(b"")
    (tmp_path / "p.txt").write_bytes(b"")
    directory = str(tmp_path / "o" / "r")
    assert parse("o/r", tmp_path) == PackageSource(SourceKind.DIRECTORY, directory, directory)
    assert parse("./p.tar.gz", tmp_path).kind is SourceKind.ARCHIVE
    with pytest.raises(DownloadFailure, match=r"not a directory, a .tar.gz or a .zip"):
        parse("p.txt", tmp_path)


def test_a_bare_repository_is_cloned(tmp_path: Path) -> None:
    make_repository(tmp_path / "work", {"a": "x"}, bare=tmp_path / "r.git")
    source = parse("r.git", tmp_path)
    assert (source.kind, source.is_path) == (SourceKind.GIT, True)
    assert parse("work", tmp_path).kind is SourceKind.DIRECTORY


@pytest.mark.parametrize("ref", ["main", "v1.0", "feature/a-b", "0" * 40])
def test_refs(ref: str) -> None:
    assert check_ref(ref) == ref


@pytest.mark.parametrize("ref", ["", "-x", "--upload-pack=x", "a:b", "+a", "a..b", "a b", "a\n", "a^", "a~1", "x.lock"])
def test_bad_refs(ref: str) -> None:
    with pytest.raises(DownloadFailure):
        check_ref(ref)


def test_github_host() -> None:
    assert github_host({}) == GitHubHost()
    given = {"GITHUB_SERVER_URL": "https://git.example.org/", "GITHUB_API_URL": "https://git.example.org/api/v3"}
    assert github_host(given) == COMPANY
    with pytest.raises(DownloadFailure, match="GITHUB_API_URL"):
        github_host({"GITHUB_API_URL": "http://git.example.org"})
