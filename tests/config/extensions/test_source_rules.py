"""Which sources of extensions the settings allow."""

import pytest

from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.config.extensions.source_rules import SourceRules
from tejat.config.settings.types import Setting, Settings
from tejat.core.errors import ConfigurationError

GIT = InstallRecord("https://github.com/o/r", InstallType.GIT)
LOCAL = InstallRecord("/src/x", InstallType.LOCAL)


def test_everything_is_allowed_by_default() -> None:
    rules = SourceRules.of(Settings())
    assert [rules.find_refusal(record) for record in (GIT, LOCAL, None)] == ["", "", ""]


def test_allowed_sources() -> None:
    rules = SourceRules.of(Settings(allowed_extensions=(Setting(("^https://github\\.com/o/", "^/src/")),)))
    assert [rules.find_refusal(record) for record in (GIT, LOCAL)] == ["", ""]
    assert rules.find_refusal(None)
    refused = rules.find_source_refusal("https://github.com/other/r", InstallType.GIT)
    assert refused == (
        'Installing extension from source "https://github.com/other/r" is not allowed by the "allowedExtensions" '
        "security setting."
    )


def test_git() -> None:
    rules = SourceRules.of(Settings(block_git_extensions=Setting(value=True)))
    assert rules.find_refusal(GIT)
    assert not rules.find_refusal(LOCAL)
    assert rules.find_source_refusal("x", InstallType.GITHUB_RELEASE)


def test_all_off() -> None:
    rules = SourceRules.of(Settings(extensions_enabled=Setting(value=False, source="/etc:1")))
    assert "/etc:1" in rules.find_refusal(LOCAL)


@pytest.mark.parametrize("expression", ["(", "(?=x)", "a{1000}{1000}{1000}"])
def test_invalid_expressions(expression: str) -> None:
    with pytest.raises(ConfigurationError, match=r"f:1: security\.allowedExtensions"):
        SourceRules.of(Settings(allowed_extensions=(Setting((expression,), "f:1"),)))
