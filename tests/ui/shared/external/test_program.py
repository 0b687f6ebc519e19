"""Programs that are found, and private files."""

import os
from pathlib import Path

import pytest

from support.terminal.pty_program import write_script
from tejat.ui.shared.external.program import find_program, private_temp_directory, write_private_file


def test_found_by_name_in_absolute_places_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(tmp_path / "tool")
    (tmp_path / "text").write_text("x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".::{tmp_path}")
    assert find_program("tool") == f"{tmp_path}/tool"
    assert find_program(f"{tmp_path}/tool") == f"{tmp_path}/tool"
    assert find_program("./tool") is None
    assert find_program("text") is None
    assert find_program("none") is None


def test_nothing_from_untrusted_directories_whatever_leads_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, other = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    other.mkdir()
    write_script(work / "tool")
    (other / "tool").symlink_to(work / "tool")
    monkeypatch.setenv("PATH", f"{work}:{other}")
    assert find_program("tool", untrusted=(str(work),)) is None
    assert find_program("tool", untrusted=(str(tmp_path / "else"),)) == f"{work}/tool"


def test_a_private_directory_is_gone_with_all_that_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with private_temp_directory("made") as directory:
        assert os.stat(directory).st_mode & 0o777 == 0o700
        write_private_file(f"{directory}/a", "x\udcff")
        assert os.stat(f"{directory}/a").st_mode & 0o777 == 0o600
        with pytest.raises(FileExistsError):
            write_private_file(f"{directory}/a", "y")
        os.makedirs(f"{directory}/b/c")
        os.symlink(tmp_path, f"{directory}/b/link")
    assert list(tmp_path.iterdir()) == []
