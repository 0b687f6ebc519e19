"""Whichever system call of a save fails, there is the old or the new content, and no success without undo."""

import errno
from pathlib import Path

import pytest

from support.save_faults import SAVES, Faults, try_fault_points


@pytest.mark.parametrize("save", SAVES)
def test_every_fault_point(tmp_path: Path, save: str) -> None:
    """The other file systems, errors and states are tried by `support/save_faults.py`."""
    is_used = save in ("overwritten file", "command")
    faults = Faults(errno.EIO, lasting=save in ("edited file", "command"))
    counts = try_fault_points(save, tmp_path, faults, is_used=is_used)
    assert counts.points >= 3
    assert counts.refused > 0
    assert counts.succeeded > 0
