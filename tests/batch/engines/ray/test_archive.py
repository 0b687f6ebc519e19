"""The files of a task as bytes."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from tejat.batch.directory import TaskDirectory
from tejat.batch.engines.ray.archive import UnsafeArchive, pack_task, unpack_task


def sample_task(path: Path) -> TaskDirectory:
    task = TaskDirectory(str(path))
    os.makedirs(task.tree)
    Path(task.tree, "file.txt").write_text("tree", encoding="utf-8")
    Path(task.patch).write_bytes(b"p" * 50)
    Path(task.events).write_bytes(b"e" * 100)
    Path(task.check).write_bytes(b"c" * 10)
    return task


def contents(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_everything_but_the_working_copy_arrives(tmp_path: Path) -> None:
    task = sample_task(tmp_path / "node")
    os.makedirs(task.attempts)
    Path(task.attempts, "note.txt").write_bytes(b"n")
    archive = pack_task(task)
    assert archive.shortened == ()
    target = TaskDirectory(str(tmp_path / "batch" / "tasks" / "t"))
    unpack_task(archive.content, target)
    assert contents(Path(target.path)) == {
        "patch.diff": b"p" * 50,
        "events.jsonl": b"e" * 100,
        "check.txt": b"c" * 10,
        "attempts/note.txt": b"n",
    }
    assert os.stat(target.patch).st_mode & 0o777 == 0o600
    assert os.stat(target.attempts).st_mode & 0o777 == 0o700


def test_files_of_an_earlier_attempt_are_replaced(tmp_path: Path) -> None:
    task = sample_task(tmp_path / "node")
    target = TaskDirectory(str(tmp_path / "batch"))
    os.mkdir(target.path)
    other = tmp_path / "other.txt"
    other.write_text("other", encoding="utf-8")
    os.symlink(other, target.patch)
    unpack_task(pack_task(task).content, target)
    assert Path(target.patch).read_bytes() == b"p" * 50
    assert other.read_text(encoding="utf-8") == "other"


def test_large_files_are_cut_and_a_large_patch_is_left_out(tmp_path: Path) -> None:
    task = sample_task(tmp_path / "node")
    archive = pack_task(task, max_bytes=100)
    assert archive.shortened == ("events.jsonl",)
    unpack_task(archive.content, TaskDirectory(str(tmp_path / "one")))
    assert contents(tmp_path / "one") == {"patch.diff": b"p" * 50, "events.jsonl": b"e" * 40, "check.txt": b"c" * 10}
    archive = pack_task(task, max_bytes=40)
    assert archive.shortened == ("patch.diff", "events.jsonl")
    unpack_task(archive.content, TaskDirectory(str(tmp_path / "two")))
    assert contents(tmp_path / "two") == {"events.jsonl": b"e" * 30, "check.txt": b"c" * 10}


def test_links_and_pipes_are_not_packed(tmp_path: Path) -> None:
    task = sample_task(tmp_path / "node")
    os.symlink("/etc/passwd", os.path.join(task.path, "link"))
    os.symlink(task.tree, os.path.join(task.path, "folder"))
    os.mkfifo(os.path.join(task.path, "pipe"))
    target = TaskDirectory(str(tmp_path / "batch"))
    unpack_task(pack_task(task).content, target)
    assert sorted(os.listdir(target.path)) == ["check.txt", "events.jsonl", "patch.diff"]


def test_a_task_that_left_nothing(tmp_path: Path) -> None:
    archive = pack_task(TaskDirectory(str(tmp_path / "missing")))
    unpack_task(archive.content, TaskDirectory(str(tmp_path / "batch")))
    assert contents(tmp_path / "batch") == {}


def archive_of(*members: tarfile.TarInfo) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return target.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    found.size = 1 if kind == tarfile.REGTYPE else 0
    return found


@pytest.mark.parametrize(
    "unsafe",
    [
        member("/etc/evil"),
        member("../evil"),
        member("a/../../evil"),
        member("a//evil"),
        member("./evil"),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("hard", tarfile.LNKTYPE, "patch.diff"),
        member("folder", tarfile.DIRTYPE),
        member("pipe", tarfile.FIFOTYPE),
        member("device", tarfile.CHRTYPE),
    ],
    ids=lambda member: member.name,
)
def test_anything_but_plain_files_is_refused(tmp_path: Path, unsafe: tarfile.TarInfo) -> None:
    target = tmp_path / "deep" / "task"
    with pytest.raises(UnsafeArchive, match="Unexpected entry"):
        unpack_task(archive_of(unsafe), TaskDirectory(str(target)))
    assert contents(tmp_path) == {}


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    task = TaskDirectory(str(tmp_path / "task"))
    os.mkdir(task.path)
    os.symlink(outside, task.attempts)
    with pytest.raises(OSError, match="not a directory"):
        unpack_task(archive_of(member("attempts/evil")), task)
    assert contents(outside) == {}
