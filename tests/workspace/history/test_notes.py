"""Notes are kept for later: the newest, each once."""

import time
from pathlib import Path

from tejat.workspace.history.notes import read_notes, write_notes
from tejat.workspace.history.private_directory import PrivateDirectory


def test_the_newest_each_once(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    assert read_notes(directory) == []
    assert not directory.exists()
    write_notes(directory, ["one\nline", "two"])
    write_notes(directory, ["one line", "\udcff"])
    day = time.strftime("%Y-%m-%d")
    assert read_notes(directory) == [f"{day} two", f"{day} one line", f"{day} ?"]
    for number in range(30):
        write_notes(directory, [str(number)])
    assert read_notes(directory) == [f"{day} {number}" for number in range(10, 30)]


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert read_notes(PrivateDirectory(str(tmp_path / "file" / "state"))) == []
