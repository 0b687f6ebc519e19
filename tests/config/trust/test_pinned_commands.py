"""Commands that run only with the files that they name as they were."""

import hashlib
import os
from pathlib import Path

import pytest

from tejat.config.trust.command_files import MAX_NAMES, CommandSpec
from tejat.config.trust.pinned_commands import PinnedCommand, PinnedCommands, describe_changed_file
from tejat.config.trust.store import TrustItem


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "check.sh"
    script.write_text("echo fine")
    return script


@pytest.fixture
def pinned(tmp_path: Path, script: Path) -> PinnedCommand:
    item = TrustItem("bin/check.sh", "script", hashlib.sha256(script.read_bytes()).hexdigest())
    return PinnedCommand(CommandSpec('sh "$GEMINI_PROJECT_DIR"/bin/check.sh'), str(tmp_path), [item])


def test_as_it_was(pinned: PinnedCommand) -> None:
    assert pinned.find_changed_file() is None


def test_changed_and_put_back(pinned: PinnedCommand, script: Path) -> None:
    script.write_text("rm -rf /")
    assert pinned.find_changed_file() == "bin/check.sh"
    script.write_text("echo fine")
    assert pinned.find_changed_file() is None


def test_a_new_file_that_a_pattern_matches(tmp_path: Path, script: Path) -> None:
    pinned = PinnedCommand(CommandSpec("sh bin/*.sh"), str(tmp_path))
    assert pinned.find_changed_file() is None
    (script.parent / "another.sh").write_text("rm -rf /")
    assert pinned.find_changed_file() == "bin/another.sh"


def test_touched_only(pinned: PinnedCommand, script: Path) -> None:
    os.utime(script, (1, 1))
    assert pinned.find_changed_file() is None
    assert pinned.find_changed_file() is None


def test_gone_or_no_file(pinned: PinnedCommand, script: Path) -> None:
    script.unlink()
    assert pinned.find_changed_file() == "bin/check.sh"
    os.mkfifo(script)
    assert pinned.find_changed_file() == "bin/check.sh"
    script.unlink()
    script.mkdir()
    assert pinned.find_changed_file() == "bin/check.sh"


def test_one_that_has_grown_beyond_measure(pinned: PinnedCommand, script: Path) -> None:
    os.truncate(script, 65 * 2**20)
    assert pinned.find_changed_file() == "bin/check.sh"


def test_what_nobody_has_told_of_is_pinned_as_it_is_now(tmp_path: Path, script: Path) -> None:
    pinned = PinnedCommand(CommandSpec("sh bin/check.sh"), str(tmp_path))
    os.utime(script, (1, 1))
    assert pinned.find_changed_file() is None
    script.write_text("rm -rf /")
    assert pinned.find_changed_file() == "bin/check.sh"


def test_the_file_behind_a_link(tmp_path: Path, script: Path) -> None:
    (tmp_path / "link.sh").symlink_to("bin/check.sh")
    pinned = PinnedCommand(CommandSpec("./link.sh"), str(tmp_path))
    script.write_text("rm -rf /")
    assert pinned.find_changed_file() == "bin/check.sh"


@pytest.mark.parametrize("target", ["/bin/true", "bin/other.sh"])
def test_a_link_that_leads_elsewhere(tmp_path: Path, script: Path, target: str) -> None:
    script.with_name("other.sh").write_text("echo fine")
    (tmp_path / "link.sh").symlink_to("bin/check.sh")
    pinned = PinnedCommand(CommandSpec("./link.sh"), str(tmp_path))
    (tmp_path / "link.sh").unlink()
    (tmp_path / "link.sh").symlink_to(target)
    assert pinned.find_changed_file() == "bin/check.sh"


def test_one_that_was_not_there(tmp_path: Path) -> None:
    pinned = PinnedCommand(CommandSpec("test ! -e late.sh || sh late.sh"), str(tmp_path))
    assert pinned.find_changed_file() is None
    (tmp_path / "late.sh").write_text("rm -rf /")
    assert pinned.find_changed_file() == "late.sh"


def test_one_that_names_too_much_never_runs(tmp_path: Path) -> None:
    words = [str(number) for number in range(MAX_NAMES + 1)]
    assert PinnedCommand(CommandSpec("x", words), str(tmp_path)).find_changed_file() == "x"


def test_several_lines(tmp_path: Path, script: Path) -> None:
    pinned = PinnedCommands(["sh bin/check.sh", "true"], str(tmp_path))
    script.write_text("rm -rf /")
    lines = ("sh bin/check.sh", "true", "cat bin/check.sh")
    assert [pinned.find_changed_file(line) for line in lines] == ["bin/check.sh", None, None]
    assert PinnedCommands().find_changed_file("sh bin/check.sh") is None


def test_in_words() -> None:
    assert describe_changed_file("a.sh") == "a.sh changed since this folder was trusted. Run `tejat trust`"
