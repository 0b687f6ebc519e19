"""Temporary directories of sessions: private, and removed if they are left over."""

import os
import tempfile
from pathlib import Path

import pytest

from tejat.workspace.files.session_directory import make_session_directory


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


def test_a_directory_is_private_and_its_path_real(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = temporary.with_name("link")
    link.symlink_to(temporary)
    monkeypatch.setattr(tempfile, "tempdir", str(link))
    made = Path(make_session_directory())
    assert made.parent == temporary
    assert made.stat().st_mode & 0o777 == 0o700


def test_directories_of_long_ago_are_removed_and_nothing_else(temporary: Path, tmp_path: Path) -> None:
    for name in ("tejat-session-old", "tejat-session-new", "tejat-other-old"):
        (temporary / name).mkdir()
        (temporary / name / "file").write_text("x")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "notes").write_text("x")
    (temporary / "tejat-session-link").symlink_to(tmp_path / "home")
    for name in ("tejat-session-old", "tejat-other-old"):
        os.utime(temporary / name, (1, 1))
    made = Path(make_session_directory()).name
    assert {path.name for path in temporary.iterdir()} == {
        *("tejat-session-new", "tejat-other-old", "tejat-session-link"),
        made,
    }
    assert (tmp_path / "home" / "notes").exists()
