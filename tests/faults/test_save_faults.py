"""Whichever system call of a save fails, there is the old or the new content, and no success without undo."""

import errno
from pathlib import Path

import pytest

from support.fault_injection import FILE_SYSTEMS
from support.save_faults import SAVES, try_fault_points


@pytest.mark.parametrize("save", SAVES)
def test_every_fault_point(tmp_path: Path, save: str) -> None:
    """The other file systems and errors are tried by `support/save_faults.py`."""
    is_used = save in ("overwritten file", "command")
    counts = try_fault_points(save, tmp_path, file_system=FILE_SYSTEMS[0], is_used=is_used, error=errno.EIO)
    assert counts.points >= 3
    assert counts.refused > 0
    assert counts.succeeded > 0
