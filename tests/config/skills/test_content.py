"""The digest of a skill changes with every file of it."""

import hashlib
import os
from pathlib import Path

import pytest

from tejat.config.skills import content as content_module
from tejat.config.skills.content import describe_tree, is_changed_file, read_skill_content
from tejat.config.skills.skill import Skill, SkillFields
from tejat.core.errors import ConfigurationError
from tejat.core.provenance import Party, Provenance


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nBody")
    (tmp_path / "scripts/run.sh").write_text("echo")
    return tmp_path


def skill(directory: Path, pin: str = "") -> Skill:
    provenance = Provenance(Party.USER, str(directory / "SKILL.md"))
    return Skill(SkillFields("x", "y"), str(directory), provenance, "x", pin)


def digest(directory: Path) -> str:
    return read_skill_content(skill(directory)).digest


def test_content(directory: Path) -> None:
    content = read_skill_content(skill(directory))
    assert content.body == "Body"
    assert content.sizes == {"SKILL.md": 35, "scripts/run.sh": 4}


def test_every_change_changes_the_digest(directory: Path) -> None:
    seen = [digest(directory)]
    (directory / "scripts/run.sh").write_text("exit")
    seen.append(digest(directory))
    (directory / "scripts/run.sh").chmod(0o755)
    seen.append(digest(directory))
    (directory / "new").touch()
    seen.append(digest(directory))
    (directory / "link").symlink_to("/etc/passwd")
    seen.append(digest(directory))
    (directory / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nOther")
    seen.append(digest(directory))
    assert len(set(seen)) == 6


def test_version_control_does_not_count(directory: Path) -> None:
    before = digest(directory)
    (directory / ".git").mkdir()
    (directory / ".git/config").touch()
    assert digest(directory) == before


def test_a_changed_script_is_recognized(directory: Path) -> None:
    files = read_skill_content(skill(directory)).files
    assert not is_changed_file(str(directory), files, "scripts/run.sh")
    (directory / "scripts/run.sh").write_text("rm")
    assert is_changed_file(str(directory), files, "scripts/run.sh")
    assert is_changed_file(str(directory), files, "scripts/new.sh")


def test_a_pinned_skill_must_be_as_it_was_trusted(directory: Path) -> None:
    pin = hashlib.sha256((directory / "SKILL.md").read_bytes()).hexdigest()
    assert read_skill_content(skill(directory, pin)).body == "Body"
    (directory / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nEvil")
    with pytest.raises(ConfigurationError, match="changed since this folder was trusted"):
        read_skill_content(skill(directory, pin))


def test_a_skill_that_is_gone(directory: Path) -> None:
    os.unlink(directory / "SKILL.md")
    with pytest.raises(ConfigurationError, match="Could not read"):
        read_skill_content(skill(directory))


def test_too_many_files_have_no_digest(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_module, "MAX_FILES", 3)
    for number in range(5):
        (directory / f"{number}").touch()
    assert digest(directory) == ""


def test_the_tree_for_the_model() -> None:
    text = describe_tree("/s/x", {f"{number:03}": 1000 for number in range(250)})
    lines = text.splitlines()
    assert lines[:3] == ["/s/x", "Paths in this skill are relative to this directory.", "000 (1,000 bytes)"]
    assert lines[-1] == "... and 50 more"
    assert len(lines) == 203
