"""The workspace of tools."""

from pathlib import Path

import pytest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.py").write_text("print('hello')\n")
    return tmp_path
