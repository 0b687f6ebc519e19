"""Files that are known by their digests."""

import hashlib
import os
from pathlib import Path

import pytest

from tejat.engine.hooks.pinned import PinnedFiles


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "check.sh"
    script.write_text("echo fine")
    return script


@pytest.fixture
def pinned(tmp_path: Path, script: Path) -> PinnedFiles:
    return PinnedFiles(str(tmp_path), {"bin/check.sh": hashlib.sha256(script.read_bytes()).hexdigest()})


def test_as_it_was(pinned: PinnedFiles) -> None:
    assert pinned.changed("sh bin/check.sh") is None


def test_changed_and_put_back(pinned: PinnedFiles, script: Path) -> None:
    script.write_text("rm -rf /")
    assert pinned.changed('"$GEMINI_PROJECT_DIR"/bin/check.sh') == "bin/check.sh"
    script.write_text("echo fine")
    assert pinned.changed("bin/check.sh") is None


def test_touched_only(pinned: PinnedFiles, script: Path) -> None:
    os.utime(script, (1, 1))
    assert pinned.changed("bin/check.sh") is None
    assert pinned.changed("bin/check.sh") is None


def test_gone_or_no_file(pinned: PinnedFiles, script: Path) -> None:
    script.unlink()
    assert pinned.changed("bin/check.sh") == "bin/check.sh"
    os.mkfifo(script)
    assert pinned.changed("bin/check.sh") == "bin/check.sh"
    script.unlink()
    script.mkdir()
    assert pinned.changed("bin/check.sh") == "bin/check.sh"


def test_one_that_the_command_does_not_name(pinned: PinnedFiles, script: Path) -> None:
    script.unlink()
    assert pinned.changed("sh other.sh") is None
    assert PinnedFiles().changed("sh bin/check.sh") is None


def test_one_that_has_grown_beyond_measure(pinned: PinnedFiles, script: Path) -> None:
    os.truncate(script, 65 * 2**20)
    assert pinned.changed("bin/check.sh") == "bin/check.sh"
