"""Clones: no configuration, hooks, submodules or programs of others, and nothing that waits for ever."""

import asyncio
import os
import stat
import time
from pathlib import Path

import pytest

from support.packages import commit_all, make_repository, run_git, write_tree
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.git import clone_repository, git_environment, local_commit, remote_commit
from tejat.workspace.downloads.source import GitHubHost, PackageSource, SourceKind, parse_source
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    make_repository(tmp_path / "work", {"m.json": "{}", "run*": "#!/bin/sh\n"}, bare=tmp_path / "r.git")
    return tmp_path / "r.git"


def source_of(path: Path) -> PackageSource:
    return parse_source(str(path), directory="/", github=GitHubHost())


def clone(supervisor: ProcessSupervisor, source: PackageSource, target: Path, ref: str = "", idle: float = 60.0) -> str:
    return asyncio.run(
        clone_repository(
            source, str(target), ref=ref, supervisor=supervisor, environment=ENVIRONMENT, idle_seconds=idle
        )
    )


def test_clone(supervisor: ProcessSupervisor, bare: Path, tmp_path: Path) -> None:
    commit = clone(supervisor, source_of(bare), tmp_path / "d")
    assert commit == run_git(bare, "rev-parse", "HEAD") == local_commit(str(tmp_path / "d"))
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == [".git", "m.json", "run"]
    assert (tmp_path / "d/run").stat().st_mode & stat.S_IXUSR
    config = (tmp_path / "d/.git/config").read_text()
    assert f'url = "{bare}"' in config
    assert "hooksPath = /dev/null" in config
    assert not (tmp_path / "d/.git/hooks").exists()
    assert run_git(tmp_path / "d", "status", "--porcelain") == ""


def test_branches_tags_and_commits(supervisor: ProcessSupervisor, bare: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    first = run_git(work, "rev-parse", "HEAD")
    run_git(work, "tag", "-a", "v1", "-m", "one")
    run_git(work, "checkout", "-q", "-b", "next")
    write_tree(work, {"m.json": '{"n": 2}'})
    second = commit_all(work)
    run_git(work, "push", "-q", str(bare), "v1", "next")
    run_git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    source = source_of(bare)
    assert clone(supervisor, source, tmp_path / "a", "v1") == first
    assert clone(supervisor, source, tmp_path / "b", "next") == second
    assert clone(supervisor, source, tmp_path / "c", second) == second
    found = remote_commit(source, ref="v1", supervisor=supervisor, environment=ENVIRONMENT)
    assert asyncio.run(found) == first
    with pytest.raises(DownloadFailure, match="no branch or tag 'gone'"):
        clone(supervisor, source, tmp_path / "e", "gone")


def test_an_empty_repository(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare", "r.git")
    with pytest.raises(DownloadFailure, match="has no commits"):
        clone(supervisor, source_of(tmp_path / "r.git"), tmp_path / "d")


def test_nothing_of_the_package_runs(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    mark = tmp_path / "MARK"
    work = tmp_path / "work"
    make_repository(tmp_path / "inner", {"x": "x"})
    make_repository(work, {".gitattributes": "* filter=evil\n", "a": "x"})
    run_git(work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "inner"), "sub")
    commit_all(work)
    run_git(tmp_path, "clone", "-q", "--bare", str(work), "r.git")
    for name in ("post-checkout", "reference-transaction", "post-merge"):
        write_tree(tmp_path / "r.git/hooks", {f"{name}*": f"#!/bin/sh\ntouch {mark}\n"})
    clone(supervisor, source_of(tmp_path / "r.git"), tmp_path / "d")
    assert not mark.exists()
    assert list((tmp_path / "d/sub").iterdir()) == []


def test_configuration_of_the_user_is_not_read(supervisor: ProcessSupervisor, bare: Path, tmp_path: Path) -> None:
    """A template with a hook, an address that is rewritten, and a helper for passwords have no effect."""
    mark = tmp_path / "MARK"
    write_tree(tmp_path / "template/hooks", {"post-checkout*": f"#!/bin/sh\ntouch {mark}\n"})
    write_tree(
        tmp_path / "home",
        {".gitconfig": f'[init]\ntemplateDir = {tmp_path}/template\n[url "/nonexistent"]\ninsteadOf = {bare}\n'},
    )
    given = {**ENVIRONMENT, "HOME": str(tmp_path / "home"), "GIT_TEMPLATE_DIR": str(tmp_path / "template")}
    clone_it = clone_repository(source_of(bare), str(tmp_path / "d"), supervisor=supervisor, environment=given)
    assert asyncio.run(clone_it)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("address", "protocol"),
    [("https://example.org/r", "https"), ("git@example.org:r", "ssh"), ("ssh://example.org/r", "ssh"), ("/r", "file")],
)
def test_one_protocol(address: str, protocol: str) -> None:
    environment = git_environment(PackageSource(SourceKind.GIT, address, address), {"HOME": "/h", "GH_TOKEN": "t"})
    assert environment["GIT_ALLOW_PROTOCOL"] == protocol
    assert environment["GIT_CONFIG_NOSYSTEM"] == "1"
    assert not {"HOME", "GH_TOKEN"} & set(environment)


def test_failures_have_a_reason(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    source = PackageSource(SourceKind.GIT, "https://127.0.0.1:9/o/r", "https://127.0.0.1:9/o/r")
    with pytest.raises(DownloadFailure, match=r"https://127.0.0.1:9/o/r could not be fetched with git: fatal: "):
        clone(supervisor, source, tmp_path / "d")
    forbidden = PackageSource(SourceKind.GIT, "ext::sh -c true", "ext::sh -c true")
    with pytest.raises(DownloadFailure, match="not allowed"):
        clone(supervisor, forbidden, tmp_path / "d")


def test_a_server_that_never_answers(supervisor: ProcessSupervisor, tmp_path: Path) -> None:
    async def main() -> None:
        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(hold, "127.0.0.1", 0)
        async with server:
            address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/o/r"
            source = PackageSource(SourceKind.GIT, address, address)
            with pytest.raises(DownloadFailure, match="did not answer for 1 seconds"):
                await clone_repository(
                    source, str(tmp_path / "d"), supervisor=supervisor, environment=ENVIRONMENT, idle_seconds=1
                )

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 30


def test_commit_of_a_branch(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "work", {"a": ""})
    assert local_commit(str(tmp_path / "work")) == commit
    assert local_commit(str(tmp_path)) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: ../../etc/passwd")
    assert local_commit(str(tmp_path)) == ""
