"""What the user allowed for good belongs to a source and its content."""

import os
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths
from tejat.config.skills.consents import is_agreed, remove_agreement, save_agreement
from tejat.core.errors import ConfigurationError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = str(tmp_path)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def agreed(paths: AppPaths, source: str = "/s/SKILL.md", digest: str = "d", root: str = "/p") -> bool:
    return is_agreed(paths, source=source, digest=digest, root=root)


def test_nothing_is_agreed_at_first(paths: AppPaths) -> None:
    assert not agreed(paths)


def test_everywhere(paths: AppPaths) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="d", project=None)
    assert agreed(paths)
    assert agreed(paths, root="/other")
    assert not agreed(paths, digest="changed")
    assert not agreed(paths, source="/t/SKILL.md")
    assert os.stat(paths.skill_consents).st_mode & 0o777 == 0o600


def test_in_projects(paths: AppPaths) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="d", project="/p")
    save_agreement(paths, source="/s/SKILL.md", digest="d", project="/q")
    assert [agreed(paths, root=root) for root in ("/p", "/q", "/r")] == [True, True, False]
    save_agreement(paths, source="/s/SKILL.md", digest="new", project="/p")
    assert not agreed(paths, digest="new", root="/q")


def test_content_without_a_digest_is_never_agreed(paths: AppPaths) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="", project=None)
    assert not agreed(paths, digest="")


def test_removal(paths: AppPaths) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="d", project=None)
    remove_agreement(paths, "/s/SKILL.md")
    remove_agreement(paths, "/s/SKILL.md")
    assert not agreed(paths)


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 2, "skills": {}}', '{"version": 1, "skills": [1]}'])
def test_a_broken_file_agrees_to_nothing(paths: AppPaths, text: str) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="d", project=None)
    Path(paths.skill_consents).write_text(text)
    with pytest.raises(ConfigurationError, match="cannot be used"):
        agreed(paths)


def test_a_file_that_others_may_write_is_refused(paths: AppPaths) -> None:
    save_agreement(paths, source="/s/SKILL.md", digest="d", project=None)
    os.chmod(paths.skill_consents, 0o666)
    with pytest.raises(ConfigurationError, match="writable by everyone"):
        agreed(paths)
