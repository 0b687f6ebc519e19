"""Private files for programs."""

import os
from pathlib import Path

import pytest

from tejat.ui.shared.external.program import private_temp_directory, write_private_file


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
