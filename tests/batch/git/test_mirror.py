"""Mirrors: whole or missing, made once however many ask, and the user's repository stays as it is."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.batch_trees import BatchTree, contents, states, task_of
from support.packages import commit_all, make_repository, run_git, write_tree
from support.wait import wait_until
from tejat.batch.directory import BatchDirectory
from tejat.batch.git.commit import resolve_commit
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror, mirror_from_bundle, mirror_key, open_mirror, write_bundle
from tejat.batch.git.patch import write_patch
from tejat.batch.git.tree import create_tree


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    make_repository(tmp_path / "repo", {"a.txt": "1\n"})
    return tmp_path / "repo"


@pytest.fixture
def directory(tmp_path: Path) -> BatchDirectory:
    return BatchDirectory(str(tmp_path / "batch"))


def open_one(repo: Path | str, directory: BatchDirectory, commit: str = "") -> Mirror:
    async def steps() -> Mirror:
        task = task_of(repo, commit)
        return await open_mirror(task, await resolve_commit(task), directory)

    return asyncio.run(steps())


def log(mirror: Mirror) -> list[str]:
    return run_git(Path(mirror.path), "log", "--format=%H", mirror.commit).split()


@pytest.mark.parametrize("is_remote", [False, True])
def test_mirrors(repo: Path, directory: BatchDirectory, is_remote: bool) -> None:
    source = f"file://{repo}" if is_remote else repo
    mirror = open_one(source, directory)
    assert log(mirror) == [run_git(repo, "rev-parse", "HEAD")]
    assert run_git(Path(mirror.path), "fsck", "--strict") == ""
    write_tree(repo, {"a.txt": "2\n"})
    second = commit_all(repo)
    run_git(repo, "checkout", "-q", "--detach")
    write_tree(repo, {"a.txt": "3\n"})
    third = commit_all(repo)
    assert open_one(source, directory, third).path == mirror.path
    assert log(Mirror(mirror.path, third)) == [third, second, mirror.commit]
    assert sorted(os.listdir(directory.repositories)) == [
        f"{mirror_key(str(source))}{end}" for end in (".git", ".lock")
    ]
    shutil.rmtree(repo)
    assert asyncio.run(open_mirror(task_of(source), third, directory)).commit == third


def test_keys() -> None:
    keys = [
        mirror_key(repo)
        for repo in ("/a/repo", "/b/repo", "/a/repo.git", "https://h/x/repo.git", "git@h:x/repo", "/", "/ü\udcff/", "")
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0].startswith("repo-")
    assert keys[3].startswith("repo-")
    assert all(key.isascii() and "/" not in key for key in keys)


def test_a_missing_commit(repo: Path, directory: BatchDirectory) -> None:
    for source in (repo, f"file://{repo}"):
        for _ in range(2):
            with pytest.raises(RepositoryProblem, match=f"has no commit {'1' * 40}|not our ref"):
                asyncio.run(open_mirror(task_of(source), "1" * 40, directory))
        open_one(source, directory)
        with pytest.raises(RepositoryProblem, match="has no commit"):
            asyncio.run(open_mirror(task_of(source), "1" * 40, directory))


def test_the_users_repository_stays_as_it_is(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    make_repository(repo, {"a.txt": "1\n", "sub/run.sh*": "x\n"})
    run_git(repo, "gc", "-q")
    write_tree(repo, {"a.txt": "2\n"})
    commit_all(repo)
    os.utime(repo / "a.txt", ns=(1, 1))  # git would refresh its index
    before = states(repo)
    directory = BatchDirectory(str(tmp_path / "batch"))

    async def steps() -> None:
        task = task_of(repo)
        mirror = await open_mirror(task, await resolve_commit(task), directory)
        await create_tree(mirror, directory.task("task"))
        write_tree(Path(directory.task("task").tree), {"a.txt": "3\n", "n.txt": "n\n"})
        commit_all(Path(directory.task("task").tree))
        assert (await write_patch(mirror, directory.task("task"))).files_changed == 2

    asyncio.run(steps())
    assert states(repo) == before


class TestSources:
    def test_a_linked_working_tree(self, repo: Path, directory: BatchDirectory, tmp_path: Path) -> None:
        run_git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
        write_tree(tmp_path / "linked", {"a.txt": "2\n"})
        commit = commit_all(tmp_path / "linked")
        assert len(log(open_one(tmp_path / "linked", directory))) == 2
        assert open_one(tmp_path / "linked", directory).commit == commit

    def test_objects_of_another_repository(self, repo: Path, directory: BatchDirectory, tmp_path: Path) -> None:
        """A mirror owns all of its objects, even if the source does not."""
        run_git(tmp_path, "clone", "-q", "--shared", str(repo), "borrower")
        mirror = open_one(tmp_path / "borrower", directory)
        shutil.rmtree(repo)
        assert run_git(Path(mirror.path), "fsck") == ""
        assert not (Path(mirror.path) / "objects/info/alternates").exists()

    @pytest.mark.parametrize("is_remote", [False, True])
    def test_a_shallow_repository(self, repo: Path, directory: BatchDirectory, tmp_path: Path, is_remote: bool) -> None:
        for number in range(3):
            write_tree(repo, {"a.txt": f"{number}\n"})
            commit_all(repo)
        run_git(tmp_path, "clone", "-q", "--depth=2", f"file://{repo}", "shallow")
        source = f"file://{tmp_path}/shallow" if is_remote else tmp_path / "shallow"
        mirror = open_one(source, directory)
        assert len(log(mirror)) == 2
        task = directory.task("task")
        asyncio.run(create_tree(mirror, task))
        assert len(run_git(Path(task.tree), "log", "--format=%H").split()) == 2
        bundle = str(tmp_path / "bundle")
        asyncio.run(write_bundle(mirror, bundle))
        shipped = asyncio.run(mirror_from_bundle(bundle, mirror.commit, directory, "shipped"))
        assert len(log(shipped)) == 2
        assert run_git(Path(shipped.path), "fsck") == ""

    def test_sha256(self, directory: BatchDirectory, tmp_path: Path) -> None:
        run_git(tmp_path, "init", "-q", "--object-format=sha256", "repo")
        write_tree(tmp_path / "repo", {"a.txt": "1\n"})
        commit_all(tmp_path / "repo")
        for source in (tmp_path / "repo", f"file://{tmp_path}/repo"):
            mirror = open_one(source, directory)
            assert len(mirror.commit) == 64
            task = directory.task(mirror_key(str(source)))
            asyncio.run(create_tree(mirror, task))
            write_tree(Path(task.tree), {"a.txt": "2\n"})
            assert asyncio.run(write_patch(mirror, task)).files_changed == 1
        asyncio.run(write_bundle(mirror, str(tmp_path / "bundle")))
        shipped = asyncio.run(mirror_from_bundle(str(tmp_path / "bundle"), mirror.commit, directory, "shipped"))
        assert log(shipped) == [mirror.commit]

    def test_hooks_of_the_user(self, repo: Path, directory: BatchDirectory, tmp_path: Path) -> None:
        write_tree(tmp_path, {"hooks/reference-transaction*": f"#!/bin/sh\ntouch {tmp_path}/marker\n"})
        write_tree(tmp_path, {"gitconfig": f"[core]\n\thooksPath = {tmp_path}/hooks\n"})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
            open_one(f"file://{repo}", directory)
        assert not (tmp_path / "marker").exists()


def test_many_ask_at_once(repo: Path, directory: BatchDirectory) -> None:
    commit = run_git(repo, "rev-parse", "HEAD")

    async def ask() -> None:
        found = await asyncio.gather(*(open_mirror(task_of(repo), commit, directory) for _ in range(40)))
        assert len(set(found)) == 1

    threads = [threading.Thread(target=lambda: asyncio.run(ask())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run_git(Path(directory.repositories, f"{mirror_key(str(repo))}.git"), "fsck") == ""


def test_a_killed_process(repo: Path, directory: BatchDirectory) -> None:
    """What it left is replaced, also while its git still runs."""
    write_tree(repo, {f"f{number}": os.urandom(200_000) for number in range(40)})
    commit = commit_all(repo)
    program = f"""
import asyncio
from support.batch_trees import task_of
from tejat.batch.directory import BatchDirectory
from tejat.batch.git.mirror import open_mirror
asyncio.run(open_mirror(task_of({f"file://{repo}"!r}), {commit!r}, BatchDirectory({directory.path!r})))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as running:
        staging = Path(directory.repositories, f"{mirror_key(f'file://{repo}')}.git.new")
        wait_until(lambda: staging.exists() or running.poll() is not None)
        running.send_signal(signal.SIGKILL)
    mirror = asyncio.run(open_mirror(task_of(f"file://{repo}"), commit, directory))
    assert not staging.exists()
    assert run_git(Path(mirror.path), "fsck") == ""


def test_cancellation(repo: Path, directory: BatchDirectory) -> None:
    commit = run_git(repo, "rev-parse", "HEAD")

    async def cancel_after(steps: int) -> None:
        running = asyncio.ensure_future(open_mirror(task_of(repo), commit, directory))
        for _ in range(steps):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait((running,))

    for steps in range(1, 60, 4):
        asyncio.run(cancel_after(steps))
        leftovers = [name for name in os.listdir(directory.repositories) if name.endswith(".new")]
        assert leftovers == []
    assert log(open_one(repo, directory)) == [commit]


class TestBundles:
    def test_shipped(self, tmp_path: Path) -> None:
        case = BatchTree(tmp_path)
        bundle = str(tmp_path / "bundle")
        asyncio.run(write_bundle(case.mirror, bundle))
        run_git(case.repo, "bundle", "verify", "-q", bundle)
        elsewhere = BatchDirectory(str(tmp_path / "node"))

        async def steps() -> Mirror:
            key = mirror_key(str(case.repo))
            found = await asyncio.gather(*(mirror_from_bundle(bundle, case.commit, elsewhere, key) for _ in range(5)))
            await create_tree(found[0], elsewhere.task("task"))
            return found[0]

        mirror = asyncio.run(steps())
        assert run_git(Path(mirror.path), "fsck") == ""
        assert contents(Path(elsewhere.task("task").tree)) == contents(case.tree)

    def test_only_what_the_commit_needs(self, repo: Path, directory: BatchDirectory, tmp_path: Path) -> None:
        first = run_git(repo, "rev-parse", "HEAD")
        write_tree(repo, {"large": os.urandom(500_000)})
        commit_all(repo)
        asyncio.run(write_bundle(open_one(repo, directory, first), str(tmp_path / "bundle")))
        assert (tmp_path / "bundle").stat().st_size < 5000

    def test_damaged(self, tmp_path: Path, directory: BatchDirectory) -> None:
        case = BatchTree(tmp_path)
        path = tmp_path / "bundle"
        asyncio.run(write_bundle(case.mirror, str(path)))
        whole = path.read_bytes()
        for content in (b"", b"no bundle", whole[:-10], whole[: len(whole) // 2]):
            path.write_bytes(content)
            with pytest.raises(RepositoryProblem, match=r"bundle"):
                asyncio.run(mirror_from_bundle(str(path), case.commit, directory, "key"))
        path.write_bytes(whole)
        with pytest.raises(RepositoryProblem, match="has no commit"):
            asyncio.run(mirror_from_bundle(str(path), "1" * 40, directory, "key"))
        assert asyncio.run(mirror_from_bundle(str(path), case.commit, directory, "key")).commit == case.commit
