"""Switching servers off and on again."""

import json
import os
from pathlib import Path

import pytest

from support.file_version import file_version
from tejat.config.mcp.enablement import disabled_servers, is_disabled, set_server_enabled
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import ConfigurationError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path)})


def file_of(paths: AppPaths) -> Path:
    return Path(paths.gemini) / "mcp-server-enablement.json"


def test_nothing_is_off_without_the_file(paths: AppPaths) -> None:
    assert disabled_servers(paths) == frozenset()
    assert not file_of(paths).exists()


def test_off_and_on_again(paths: AppPaths) -> None:
    assert set_server_enabled(paths, "GitHub", enabled=False)
    assert disabled_servers(paths) == {"github"}
    assert is_disabled("GITHUB", disabled_servers(paths))
    assert json.loads(file_of(paths).read_text()) == {"github": {"enabled": False}}
    assert set_server_enabled(paths, "github", enabled=True)
    assert disabled_servers(paths) == frozenset()


def test_what_is_so_already_changes_nothing(paths: AppPaths) -> None:
    assert not set_server_enabled(paths, "github", enabled=True)
    assert not file_of(paths).exists()
    set_server_enabled(paths, "github", enabled=False)
    before = file_version(file_of(paths))
    assert not set_server_enabled(paths, "github", enabled=False)
    assert file_version(file_of(paths)) == before


def test_what_others_wrote_there_stays(paths: AppPaths) -> None:
    os.makedirs(paths.gemini)
    file_of(paths).write_text(json.dumps({"other": {"enabled": False}, "third": {"enabled": True, "why": "x"}}))
    set_server_enabled(paths, "mine", enabled=False)
    assert json.loads(file_of(paths).read_text()) == {
        "other": {"enabled": False},
        "third": {"enabled": True, "why": "x"},
        "mine": {"enabled": False},
    }
    assert disabled_servers(paths) == {"other", "mine"}


@pytest.mark.parametrize("text", ["[]", "{", "null"])
def test_a_broken_file_is_named_and_not_written_over(paths: AppPaths, text: str) -> None:
    os.makedirs(paths.gemini)
    file_of(paths).write_text(text)
    with pytest.raises(ConfigurationError, match=str(file_of(paths))):
        disabled_servers(paths)
    with pytest.raises(ConfigurationError):
        set_server_enabled(paths, "mine", enabled=False)
    assert file_of(paths).read_text() == text
