"""Patches have everything that the agent changed, and nothing that it planted runs."""

import asyncio
import os
import shutil
import socket
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from support.batch_trees import BatchTree, contents
from support.packages import commit_all, run_git, write_tree
from tejat.batch.git import tree_scan
from tejat.batch.git.patch import write_patch


@pytest.fixture
def case(tmp_path: Path) -> BatchTree:
    return BatchTree(tmp_path)


def apply(case: BatchTree, tmp_path: Path) -> Path:
    """A clone of the repository with the patch applied."""
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "-q", str(case.repo), str(clone))
    run_git(clone, "apply", "--index", case.task.patch)
    return clone


def test_without_changes(case: BatchTree) -> None:
    Path(case.task.patch).write_text("of an earlier attempt")
    summary = case.write_patch()
    assert summary.is_empty
    assert summary.warnings == ()
    assert not Path(case.task.patch).exists()


def test_all_kinds_of_changes(case: BatchTree, tmp_path: Path) -> None:
    write_tree(case.tree, {"committed.txt": "c\n"})
    commit_all(case.tree)
    write_tree(case.tree, {"staged.txt": "s\n"})
    run_git(case.tree, "add", "staged.txt")
    write_tree(case.tree, {"a.txt": "one\n2\n3\n", "new/d.bin": bytes(range(256)), "ignored.log": "no"})
    (case.tree / "src/b.bin").unlink()
    (case.tree / "src/run.sh").chmod(0o644)
    (case.tree / "link").symlink_to("a.txt")
    summary = case.write_patch()
    assert (summary.files_changed, summary.lines_added, summary.lines_removed) == (7, 5, 1)
    assert summary.warnings == ()
    clone = apply(case, tmp_path)
    (case.tree / "ignored.log").unlink()
    assert contents(clone) == contents(case.tree)
    assert b"diff --git a/a.txt b/a.txt\n" in case.patch
    assert stat.S_IMODE(Path(case.task.patch).stat().st_mode) == 0o600


def test_odd_names(case: BatchTree, tmp_path: Path) -> None:
    for name in (b"new\nline", b"\xff\xfe", b"-f", b'quo"te', b" blank ", b":(top)x", b"back\tslash"):
        (case.tree / os.fsdecode(name)).write_text("x\n")
    assert case.write_patch().files_changed == 7
    assert contents(apply(case, tmp_path)) == contents(case.tree)


def test_a_directory_becomes_a_link_or_a_file(case: BatchTree, tmp_path: Path) -> None:
    shutil.copytree(case.tree / "src", tmp_path / "outside")
    shutil.rmtree(case.tree / "src")
    (case.tree / "src").symlink_to(tmp_path / "outside")
    (case.tree / "a.txt").unlink()
    write_tree(case.tree, {"a.txt/inner": "x\n"})
    assert case.write_patch().files_changed == 5
    assert contents(apply(case, tmp_path)) == contents(case.tree)


def test_it_can_be_written_again(case: BatchTree) -> None:
    write_tree(case.tree, {"new": "1\n"})
    first = case.write_patch(), case.patch
    assert (case.write_patch(), case.patch) == first
    (case.tree / "new").unlink()
    assert case.write_patch().is_empty


@pytest.mark.parametrize("how", ["missing", "link", "file"])
def test_a_tree_that_is_gone(case: BatchTree, tmp_path: Path, how: str) -> None:
    shutil.rmtree(case.tree)
    if how == "link":
        case.tree.symlink_to(write_tree(tmp_path / "secret", {"key": "k"}))
    elif how == "file":
        case.tree.write_text("x")
    assert case.write_patch().files_changed == 4
    assert b"secret" not in case.patch


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.external"])
def test_git_in_the_tree_runs_traps(case: BatchTree, setting: str) -> None:
    """The traps below would work."""
    run_git(case.tree, "config", setting, f"sh -c '{case.trap}'")
    write_tree(case.tree, {".gitattributes": "* filter=x\n", "a.txt": "1\n", "n.txt": "n\n"})
    with suppress(subprocess.CalledProcessError):
        run_git(case.tree, "add", "-A")
        run_git(case.tree, "diff", "--cached")
    assert case.marker.exists()


class TestTraps:
    @pytest.fixture(autouse=True)
    def _nothing_runs(self, case: BatchTree) -> object:
        yield
        assert not case.marker.exists()

    @pytest.mark.parametrize(
        "setting",
        [
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "core.editor",
            "core.askPass",
            "diff.external",
            "diff.x.textconv",
            "diff.x.command",
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "alias.add",
            "alias.diff-index",
            "alias.read-tree",
            "credential.helper",
            "gpg.program",
        ],
    )
    def test_settings(self, case: BatchTree, setting: str) -> None:
        run_git(case.tree, "config", setting, f"sh -c '{case.trap}'")
        run_git(case.tree, "config", "filter.x.required", "true")
        write_tree(case.tree, {".gitattributes": "* filter=x diff=x\n", "a.txt": "1\n", "n.txt": "n\n"})
        summary = case.write_patch()
        assert (summary.files_changed, summary.warnings) == (3, ())
        assert b"\n+n\n" in case.patch

    def test_hooks(self, case: BatchTree) -> None:
        for name in ("post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
            write_tree(case.tree / ".git/hooks", {f"{name}*": f"#!/bin/sh\n{case.trap}\n"})
        write_tree(case.tree, {"n.txt": "n\n"})
        assert case.write_patch().files_changed == 1

    def test_an_included_file_and_another_tree(self, case: BatchTree, tmp_path: Path) -> None:
        write_tree(tmp_path, {"more": f'[core]\n\tfsmonitor = "{case.trap}"\n'})
        run_git(case.tree, "config", "include.path", str(tmp_path / "more"))
        run_git(case.tree, "config", "core.worktree", "/")
        write_tree(case.tree, {"n.txt": "n\n"})
        assert case.write_patch().files_changed == 1

    @pytest.mark.parametrize("how", ["file", "link", "missing", "fifo", "own"])
    def test_git_directory_is_replaced(self, case: BatchTree, tmp_path: Path, how: str) -> None:
        evil = tmp_path / "evil"
        run_git(tmp_path, "init", "-q", str(evil))
        run_git(evil, "config", "core.fsmonitor", f"sh -c '{case.trap}'")
        shutil.rmtree(case.tree / ".git")
        if how == "file":
            (case.tree / ".git").write_text(f"gitdir: {evil}/.git\n")
        elif how == "link":
            (case.tree / ".git").symlink_to(evil / ".git")
        elif how == "fifo":
            os.mkfifo(case.tree / ".git")
        elif how == "own":
            shutil.copytree(evil / ".git", case.tree / ".git")
        write_tree(case.tree, {"n.txt": "n\n"})
        assert case.write_patch().files_changed == 1

    @pytest.mark.parametrize("has_commit", [False, True])
    def test_nested_repositories(self, case: BatchTree, tmp_path: Path, has_commit: bool) -> None:
        for name in ("sub", "sub/deeper", "src"):
            write_tree(case.tree / name, {".gitattributes": "* filter=x\n", "n.txt": "n\n"})
            run_git(case.tree / name, "init", "-q")
            if has_commit:
                commit_all(case.tree / name)
            run_git(case.tree / name, "config", "core.fsmonitor", f"sh -c '{case.trap}'")
            run_git(case.tree / name, "config", "filter.x.clean", f"sh -c '{case.trap}'")
        summary = case.write_patch()
        assert summary.files_changed == 6
        assert len(summary.warnings) == 1
        assert "sub/deeper" in summary.warnings[0]
        assert (case.tree / "sub/deeper/.git/HEAD").is_file()
        assert run_git(case.tree / "sub", "config", "filter.x.clean")
        clone = apply(case, tmp_path)
        assert (clone / "sub/deeper/n.txt").read_text() == "n\n"

    def test_a_nested_repository_that_blocks(self, case: BatchTree, tmp_path: Path) -> None:
        git = case.tree / "sub/.git"
        for name in ("objects", "refs"):
            (git / name).mkdir(parents=True)
        os.mkfifo(git / "HEAD")
        write_tree(case.tree, {"sub/n.txt": "n\n", "other/n.txt": "n\n"})
        os.mkfifo(tmp_path / "HEAD")
        (case.tree / "other/.git").write_text(f"gitdir: {tmp_path}\n")
        assert case.write_patch().files_changed == 2
        assert stat.S_ISFIFO((git / "HEAD").lstat().st_mode)

    def test_special_files(self, case: BatchTree) -> None:
        for name in (".gitignore", ".gitattributes", ".gitmodules"):
            (case.tree / name).unlink(missing_ok=True)
            os.mkfifo(case.tree / name)
            (case.tree / "sub" / name).parent.mkdir(exist_ok=True)
            os.mkfifo(case.tree / "sub" / name)
        os.mkfifo(case.tree / "pipe")
        (case.tree / "a.txt").unlink()
        os.mkfifo(case.tree / "a.txt")
        with socket.socket(socket.AF_UNIX) as listener:
            descriptor = os.open(case.tree, os.O_RDONLY)
            listener.bind(f"/proc/self/fd/{descriptor}/socket")
            os.close(descriptor)
            write_tree(case.tree, {"sub/n.txt": "n\n"})
            summary = case.write_patch()
        assert b"a/sub/n.txt" in case.patch
        assert b"deleted file" in case.patch  # .gitignore
        assert any("a.txt" in warning for warning in summary.warnings)

    def test_links_to_pipes(self, case: BatchTree, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (case.tree / ".gitignore").unlink()
        for name in (".gitignore", ".gitattributes", ".gitmodules", "a link"):
            (case.tree / name).symlink_to(tmp_path / "pipe")
        summary = case.write_patch()
        assert summary.files_changed == 3
        assert ".gitmodules" in summary.warnings[0]  # git never takes it as a link

    def test_a_conversion_that_fails(self, case: BatchTree, tmp_path: Path) -> None:
        write_tree(case.tree, {".gitattributes": "*.txt working-tree-encoding=UTF-16\n", "n.txt": b"odd"})
        summary = case.write_patch()
        assert summary.files_changed == 2
        assert (apply(case, tmp_path) / ".gitattributes").exists()


def test_large_files(case: BatchTree) -> None:
    with (case.tree / "large").open("wb") as file:
        file.truncate(tree_scan.MAX_FILE_BYTES + 1)
    with (case.tree / "a.txt").open("wb") as file:
        file.truncate(50 * 1024**3)
    write_tree(case.tree, {"n.txt": "n\n"})
    summary = case.write_patch()
    assert summary.files_changed == 1
    assert summary.warnings == ("Not in the patch, larger than 64 MB: a.txt, large",)


def test_files_that_cannot_be_read(case: BatchTree) -> None:
    write_tree(case.tree, {"n.txt": "n\n", "locked/x": "x", "locked.txt": "x"})
    (case.tree / "locked").chmod(0)
    (case.tree / "locked.txt").chmod(0)
    try:
        summary = case.write_patch()
    finally:
        (case.tree / "locked").chmod(0o700)
    assert b"n.txt" in case.patch
    if os.geteuid() != 0:
        assert summary.files_changed == 1
        assert "locked" in " ".join(summary.warnings)


def test_names_that_git_refuses(case: BatchTree) -> None:
    write_tree(case.tree, {"git~1": "x", "n.txt": "n\n"})
    summary = case.write_patch()
    assert summary.files_changed == 1
    assert "git~1" in summary.warnings[0]


def test_submodules_of_the_commit(tmp_path: Path) -> None:
    """Git would run `git status` in a submodule, with the settings that the agent wrote there."""
    inner = write_tree(tmp_path / "inner", {"i.txt": "i\n"})
    run_git(inner, "init", "-q")
    commit = commit_all(inner)
    outer = tmp_path / "case/repo"
    write_tree(outer, {"z.txt": "z\n"})
    run_git(outer, "init", "-q")
    (outer / "libs/sub").mkdir(parents=True)
    run_git(outer, "update-index", "--add", "--cacheinfo", f"160000,{commit},libs/sub")
    case = BatchTree(tmp_path / "case", {"a.txt": "1\n"})
    assert (case.tree / "libs/sub").is_dir()
    assert run_git(case.tree, "status", "--porcelain") == ""
    shutil.copytree(inner, case.tree / "libs/sub", dirs_exist_ok=True)
    run_git(case.tree / "libs/sub", "config", "core.fsmonitor", f"sh -c '{case.trap}'")
    run_git(case.tree / "libs/sub", "config", "filter.x.clean", f"sh -c '{case.trap}'")
    write_tree(case.tree, {"libs/sub/.gitattributes": "* filter=x\n", "libs/sub/i.txt": "I\n", "n.txt": "n\n"})
    summary = case.write_patch()
    assert summary.files_changed == 1
    assert "libs/sub" in summary.warnings[0]
    assert not case.marker.exists()
    assert (case.tree / "libs/sub/.git/HEAD").exists()
    run_git(case.tree, "add", "-A")
    assert case.marker.exists()


def test_attributes_of_lines_are_kept(tmp_path: Path) -> None:
    case = BatchTree(tmp_path, {".gitattributes": "*.txt eol=crlf\n", "a.txt": "one\ntwo\n"})
    assert (case.tree / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    write_tree(case.tree, {"a.txt": b"one\r\n2\r\n"})
    summary = case.write_patch()
    assert (summary.lines_added, summary.lines_removed) == (1, 1)
    assert b"\r" not in case.patch


def test_a_change_right_after_the_checkout(case: BatchTree) -> None:
    """Same size, same time: only the content tells."""
    path = case.tree / "a.txt"
    before = path.stat()
    path.write_text("One\ntwo\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert case.write_patch().files_changed == 1


def test_cancellation_restores_nested_repositories(case: BatchTree) -> None:
    write_tree(case.tree, {"sub/n.txt": "n\n"})
    run_git(case.tree / "sub", "init", "-q")

    async def cancel_soon(steps: int) -> None:
        running = asyncio.ensure_future(write_patch(case.mirror, case.task))
        for _ in range(steps):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait((running,))

    for steps in range(1, 40, 3):
        asyncio.run(cancel_soon(steps))
        assert (case.tree / "sub/.git/HEAD").is_file()
    assert case.write_patch().files_changed == 1


def test_many_files(case: BatchTree) -> None:
    write_tree(case.tree, {f"d{number % 7}/f{number}": f"{number}\n" for number in range(500)})
    summary = case.write_patch()
    assert (summary.files_changed, summary.lines_added) == (500, 500)
    assert (
        subprocess.run(["git", "apply", "--numstat", case.task.patch], check=True, capture_output=True).stdout.count(
            b"\n"
        )
        == 500
    )
