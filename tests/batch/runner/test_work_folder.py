"""Removal of working copies, whatever an agent left in them."""

import os
from pathlib import Path

from tejat.batch.runner.work_folder import remove_work


def test_everything_goes(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "a" / "b").mkdir(parents=True)
    (work / "a" / "b" / "file").write_text("x")
    assert remove_work(str(work))
    assert os.listdir(tmp_path) == []


def test_read_only_directories_in_each_other(tmp_path: Path) -> None:
    inner = tmp_path / "work" / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    for path, mode in ((inner, 0o000), (inner.parent, 0o500), (inner.parent.parent, 0o000)):
        path.chmod(mode)
    assert remove_work(str(tmp_path / "work"))


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to(outside)
    (work / "dangling").symlink_to("nowhere")
    (work / "closed").mkdir(mode=0o000)
    assert remove_work(str(work))
    assert outside.stat().st_mode & 0o777 == 0o500


def test_a_missing_one_is_gone(tmp_path: Path) -> None:
    assert remove_work(str(tmp_path / "work"))
