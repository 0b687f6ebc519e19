"""Notes are kept for later: the newest, each once."""

import time
from pathlib import Path

from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.warning_log import read_warnings, write_warnings


def test_the_newest_each_once(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    assert read_warnings(directory) == []
    assert not directory.exists()
    write_warnings(directory, ["one\nline", "two"])
    write_warnings(directory, ["one line", "\udcff"])
    day = time.strftime("%Y-%m-%d")
    assert read_warnings(directory) == [f"{day} two", f"{day} one line", f"{day} ?"]
    for number in range(30):
        write_warnings(directory, [str(number)])
    assert read_warnings(directory) == [f"{day} {number}" for number in range(10, 30)]


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert read_warnings(PrivateDirectory(str(tmp_path / "file" / "state"))) == []
