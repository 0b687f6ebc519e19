"""Extensions from GitHub and git: archives that attack are refused by name, and the token stays with the API."""

import gzip
import os
import tarfile
from collections.abc import Generator
from pathlib import Path

import pytest

from support.extension_trees import installed_tree
from support.github_server import LocalGitHub, local_github
from support.packages import commit_all, make_repository, make_tar, run_git, tar_entry, tar_of, write_tree
from support.program import ProgramEnv

MANIFEST = '{"name": "demo", "version": "1.0.0"}'
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.fixture
def github(machine: ProgramEnv) -> Generator[LocalGitHub]:
    with local_github(machine.base / "server") as running:
        machine.environment |= running.environment
        yield running


def bomb() -> bytes:
    """A small archive with a file of three gigabytes."""
    info = tarfile.TarInfo("bomb")
    info.size = 3 * 1024**3
    return gzip.compress(info.tobuf() + bytes(1024 * 1024))


ATTACKS = {
    "../x": make_tar([tar_entry("gemini-extension.json", MANIFEST.encode()), tar_entry("../x", b"x")]),
    "/tmp/tejat-absolute": make_tar([tar_entry("/tmp/tejat-absolute", b"x")]),
    "link": make_tar([tar_entry("link", kind=tarfile.SYMTYPE, link="/etc"), tar_entry("link/x", b"x")]),
    "p.tar.gz": bomb(),
    "readme": make_tar([tar_entry("README", b"1"), tar_entry("readme", b"2")]),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_archives_that_attack(machine: ProgramEnv, github: LocalGitHub, name: str) -> None:
    github.publish("o/r", "v1", {"p.tar.gz": ATTACKS[name]})
    before = {path for path in machine.base.rglob("*") if ".local" not in path.parts}
    done = machine.run("extensions", "install", "github:o/r", "--yes")
    assert (done.code, name in done.stderr) == (1, True), done.stderr
    after = {path for path in machine.base.rglob("*") if ".local" not in path.parts}
    assert {path.name for path in after - before} <= {".gemini", "extensions"}
    assert not os.path.lexists("/tmp/tejat-absolute")


def test_release_and_token(machine: ProgramEnv, github: LocalGitHub) -> None:
    github.publish("o/r", "v1", {"p.tar.gz": tar_of({"gemini-extension.json": MANIFEST})})
    done = machine.run("extensions", "install", "github:o/r", "--yes", GITHUB_TOKEN=TOKEN)
    assert (done.code, done.stderr) == (0, "")
    assert github.api.requests
    assert all(each.headers["authorization"] == f"Bearer {TOKEN}" for each in github.api.requests)
    assert github.downloads.requests
    assert all("authorization" not in each.headers for each in github.downloads.requests)
    record = installed_tree(machine)["demo/.gemini-extension-install.json"]
    assert b'"releaseTag": "v1"' in record
    listed = machine.run("extensions", "list", "-o", "json").json[0]
    assert listed["installMetadata"] == {"source": "github:o/r", "type": "github-release", "releaseTag": "v1"}


def test_update_of_a_release(machine: ProgramEnv, github: LocalGitHub) -> None:
    github.publish("o/r", "v1", {"p.tar.gz": tar_of({"gemini-extension.json": MANIFEST})})
    assert machine.run("extensions", "install", "github:o/r", "--yes").code == 0
    assert machine.run("extensions", "update", "demo").stdout == 'Extension "demo" is already up to date.\n'
    newer = MANIFEST.replace("1.0.0", "1.1.0")
    github.publish("o/r", "v2", {"p.tar.gz": tar_of({"gemini-extension.json": newer})})
    assert machine.run("extensions", "update", "demo", "--check").stdout == 'Extension "demo" has an update: v2.\n'
    done = machine.run("extensions", "update", "--all", "--yes")
    assert 'Extension "demo" successfully updated: 1.0.0 → 1.1.0.' in done.stdout


def test_clone_and_token(machine: ProgramEnv, github: LocalGitHub) -> None:
    work = machine.base / "work"
    make_repository(work, {"gemini-extension.json": MANIFEST}, bare=machine.base / "server/o/r.git")
    address = f"{github.api.origin}/o/r.git"
    done = machine.run("extensions", "install", address, "--yes", GITHUB_TOKEN=TOKEN)
    assert (done.code, done.stderr) == (0, "")
    stored = [path for path in machine.home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert stored == []
    assert machine.run("extensions", "update", "demo").stdout == 'Extension "demo" is already up to date.\n'
    write_tree(work, {"gemini-extension.json": MANIFEST.replace("1.0.0", "1.1.0"), "GEMINI.md": "new text"})
    commit_all(work)
    run_git(work, "push", "-q", str(machine.base / "server/o/r.git"), "main")
    updated = machine.run("extensions", "update", "demo", "--yes")
    assert 'Extension "demo" successfully updated: 1.0.0 → 1.1.0.' in updated.stdout
    assert "new text" in updated.stdout


def test_no_network(machine: ProgramEnv) -> None:
    closed = {"GITHUB_API_URL": "https://127.0.0.1:9", "GITHUB_SERVER_URL": "https://127.0.0.1:9", "NO_PROXY": "*"}
    done = machine.run("extensions", "install", "github:o/r", **closed)
    assert done.code == 1
    assert "Could not connect to 127.0.0.1:9" in done.stderr
    assert installed_tree(machine) == {}


def test_a_bare_repository_and_a_branch(machine: ProgramEnv) -> None:
    work = machine.base / "work"
    make_repository(work, {"gemini-extension.json": MANIFEST}, bare=machine.base / "r.git")
    done = machine.run("extensions", "install", str(machine.base / "r.git"), "--ref", "main", "--yes")
    assert (done.code, done.stderr) == (0, "")
    listed = machine.run("extensions", "list", "-o", "json").json[0]
    assert listed["installMetadata"] == {"source": str(machine.base / "r.git"), "type": "git", "ref": "main"}
    config = (machine.home / ".gemini/extensions/demo/.git/config").read_text()
    assert "hooksPath = /dev/null" in config


def test_an_archive_as_a_path(machine: ProgramEnv) -> None:
    (machine.project / "p.tar.gz").write_bytes(tar_of({"demo-1/gemini-extension.json": MANIFEST, "demo-1/run*": "x"}))
    assert machine.run("extensions", "install", "p.tar.gz", "--yes").code == 0
    assert (machine.home / ".gemini/extensions/demo/run").stat().st_mode & 0o777 == 0o755
