"""Working copies: a repository of their own for the agent, whatever is in the commit."""

import asyncio
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.batch_trees import FILES, BatchTree, contents
from support.packages import commit_all, run_git, write_tree
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror
from tejat.batch.git.tree import create_tree
from tejat.batch.result import TaskFailure


def test_a_working_copy(tmp_path: Path) -> None:
    case = BatchTree(tmp_path)
    assert contents(case.tree) == contents(case.repo)
    assert run_git(case.tree, "status", "--porcelain") == ""
    assert run_git(case.tree, "rev-parse", "HEAD") == case.commit
    assert run_git(case.tree, "log", "--format=%s") == "Change"
    assert run_git(case.tree, "remote") == ""
    assert not (case.tree / ".git/hooks").exists()
    assert stat.S_IMODE(Path(case.task.work).stat().st_mode) == 0o700


def test_the_agent_can_commit(tmp_path: Path) -> None:
    case = BatchTree(tmp_path)
    before = sorted(Path(case.mirror.path).rglob("*"))
    run_git(case.tree, "checkout", "-q", "-b", "work")
    write_tree(case.tree, {"n.txt": "n\n"})
    commit_all(case.tree)
    run_git(case.tree, "gc", "-q", "--prune=now")
    assert run_git(case.tree, "rev-list", "--count", "HEAD") == "2"
    assert run_git(case.tree, "fsck") == ""
    assert sorted(Path(case.mirror.path).rglob("*")) == before


def test_links(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/link").symlink_to("/etc/../nowhere")
    case = BatchTree(tmp_path)
    assert os.readlink(case.tree / "link") == "/etc/../nowhere"


def test_it_replaces_an_earlier_one(tmp_path: Path) -> None:
    case = BatchTree(tmp_path)
    write_tree(case.tree, {"locked/x": "x", "a.txt": "changed\n"})
    (case.tree / "locked").chmod(0o500)
    asyncio.run(create_tree(case.mirror, case.task))
    assert contents(case.tree) == contents(case.repo)
    shutil.rmtree(case.tree)
    case.tree.symlink_to(tmp_path / "repo")
    asyncio.run(create_tree(case.mirror, case.task))
    assert not case.tree.is_symlink()
    assert contents(case.tree) == contents(case.repo)


@pytest.mark.parametrize("source", ["repository", "user"])
def test_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    marker = tmp_path / "marker"
    trap = f"sh -c 'touch {marker}; cat'"
    settings = f'[core]\n\tfsmonitor = "{trap}"\n[filter "x"]\n\tsmudge = "{trap}"\n'
    write_tree(tmp_path, {"templates/hooks/post-checkout*": f"#!/bin/sh\n{trap}\n", "settings": settings})
    if source == "user":
        write_tree(tmp_path, {"settings": f"{settings}[init]\n\ttemplateDir = {tmp_path}/templates\n"})
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    else:
        run_git(tmp_path, "init", "-q", "repo")
        run_git(tmp_path / "repo", "config", "core.hooksPath", str(tmp_path / "templates/hooks"))
    case = BatchTree(tmp_path, {**FILES, ".gitattributes": "* filter=x\n"})
    assert contents(case.tree) == contents(case.repo)
    assert not marker.exists()


def test_a_directory_with_an_odd_name(tmp_path: Path) -> None:
    case = BatchTree(tmp_path / 'new\nline "quoted" \\n')
    write_tree(case.tree, {"n.txt": "n\n"})
    commit_all(case.tree)
    assert case.write_patch().files_changed == 1


def test_a_missing_commit(tmp_path: Path) -> None:
    case = BatchTree(tmp_path)
    with pytest.raises(RepositoryProblem, match="could not be checked out") as caught:
        asyncio.run(create_tree(Mirror(case.mirror.path, "1" * 40), case.task))
    assert caught.value.failure is TaskFailure.REPOSITORY


def test_submodules_stay_empty(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "libs/sub").mkdir(parents=True)
    run_git(repo, "init", "-q")
    write_tree(repo, {".gitmodules": '[submodule "s"]\n\tpath = libs/sub\n\turl = /nowhere\n'})
    run_git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},libs/sub")
    case = BatchTree(tmp_path)
    assert list((case.tree / "libs/sub").iterdir()) == []
    assert run_git(case.tree, "status", "--porcelain") == ""
    assert case.write_patch().is_empty


FULL = """
import asyncio, json, subprocess, sys
from pathlib import Path
from support.batch_trees import BatchTree
from tejat.batch.directory import BatchDirectory
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import open_mirror
from tejat.batch.git.patch import write_patch
from tejat.batch.git.tree import create_tree
from support.batch_trees import task_of

place, limit = Path(sys.argv[1]), sys.argv[2]
case = BatchTree(place, {"large": "x" * 3_000_000})
small = place / "small"
small.mkdir()
if limit == "tmpfs":
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], check=True)
else:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
failures = []

def attempt(work):
    try:
        asyncio.run(work)
    except RepositoryProblem as problem:
        failures.append(problem.failure)
    else:
        failures.append("done")

directory = BatchDirectory(str(small))
attempt(create_tree(case.mirror, directory.task("task")))
(case.tree / "large").write_bytes(b"y" * 900_000)
(case.tree / "other").write_bytes(Path("/dev/urandom").open("rb").read(900_000))
if limit == "tmpfs":
    task = BatchDirectory(str(small)).task("other")
    subprocess.run(["rm", "-rf", str(small / "tasks")])
    Path(task.work).mkdir(parents=True)
    subprocess.run(["cp", "-r", case.task.git, task.git], check=True)
    task.tree = case.task.tree
else:
    task = case.task
attempt(write_patch(case.mirror, task))
print(json.dumps(failures))
"""


@pytest.mark.parametrize("limit", ["tmpfs", "file size"])
def test_a_full_disk(tmp_path: Path, limit: str) -> None:
    prefix = own_mounts() if limit == "tmpfs" else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*prefix, sys.executable, "-c", FULL, str(tmp_path), limit]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [TaskFailure.DISK_FULL, TaskFailure.DISK_FULL]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def own_mounts() -> list[str]:
    """How to start a program that may mount."""
    unshare = shutil.which("unshare")
    for flags in ("-m", "-rm"):
        probe = [unshare or "", flags, "mount", "-t", "tmpfs", "none", "/mnt"]
        if unshare and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return [unshare, flags]
    pytest.skip("mounting is not allowed here; the file size limit stands in for the full disk")
