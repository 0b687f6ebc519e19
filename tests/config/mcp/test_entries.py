"""The entries of MCP servers in the settings of the person and of the project."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from tejat.config.mcp.entries import McpServerEntries, SettingsScope, validate_server_url
from tejat.config.paths import app_paths
from tejat.config.settings.loader import load_settings
from tejat.config.trust.renewal import TrustAfterEdit
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.messages.types import JsonObject

ENTRY = {"command": "x", "args": ["$HOME", ""]}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def entries_of(project: Path, environment: Mapping[str, str]) -> McpServerEntries:
    return McpServerEntries(app_paths(environment), str(project), environment)


@pytest.mark.parametrize("scope", [*SettingsScope])
def test_put_and_removed(project: Path, environment: dict[str, str], scope: SettingsScope) -> None:
    entries = entries_of(project, environment)
    assert entries.names(scope) == ()
    standing = entries.put(scope, "one", ENTRY)
    assert standing is (TrustAfterEdit.TRUSTED if scope is SettingsScope.USER else TrustAfterEdit.NOT_TRUSTED)
    entries.put(scope, "two", ENTRY)
    assert (entries.names(SettingsScope.USER), entries.names(SettingsScope.PROJECT)) == (
        (("one", "two"), ()) if scope is SettingsScope.USER else ((), ("one", "two"))
    )
    assert json.loads(Path(entries.path(scope)).read_text()) == {"mcpServers": {"one": ENTRY, "two": ENTRY}}
    entries.remove(scope, "one")
    entries.remove(scope, "one")
    assert entries.names(scope) == ("two",)


def test_where_they_are(project: Path, environment: dict[str, str], tmp_path: Path) -> None:
    entries = entries_of(project, {**environment, "GEMINI_CLI_HOME": str(tmp_path / "other")})
    assert entries.path(SettingsScope.USER) == str(tmp_path / "other" / ".gemini" / "settings.json")
    assert entries.path(SettingsScope.PROJECT) == str(project / ".gemini" / "settings.json")


def test_what_is_home(project: Path, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home")
    (tmp_path / "other").mkdir()
    assert [
        entries_of(path, environment).is_home for path in (project, tmp_path / "home", tmp_path / "link", tmp_path)
    ] == [False, True, True, False]
    elsewhere = {**environment, "GEMINI_CLI_HOME": str(tmp_path / "other")}
    assert entries_of(tmp_path / "other", elsewhere).is_home


def test_at_home_there_is_no_project(environment: dict[str, str], tmp_path: Path) -> None:
    entries = entries_of(tmp_path / "home", environment)
    entries.put(SettingsScope.USER, "one", ENTRY)
    assert (entries.names(SettingsScope.USER), entries.names(SettingsScope.PROJECT)) == (("one",), ())


def test_a_link_to_a_file_in_the_project_stays_one(project: Path, environment: dict[str, str]) -> None:
    (project / ".gemini").mkdir()
    (project / "kept.json").write_text("{}")
    (project / ".gemini" / "settings.json").symlink_to(project / "kept.json")
    entries_of(project, environment).put(SettingsScope.PROJECT, "one", ENTRY)
    assert (project / ".gemini" / "settings.json").is_symlink()
    assert json.loads((project / "kept.json").read_text()) == {"mcpServers": {"one": ENTRY}}


@pytest.mark.parametrize("link", [".gemini", ".gemini/settings.json"])
def test_a_link_that_leads_out_is_not_followed(
    project: Path, environment: dict[str, str], tmp_path: Path, link: str
) -> None:
    target = tmp_path / "target"
    if link == ".gemini":
        target.mkdir()
    else:
        (project / ".gemini").mkdir()
        target.write_text("{}")
    (project / link).symlink_to(target)
    entries = entries_of(project, environment)
    for change in (
        lambda: entries.put(SettingsScope.PROJECT, "one", ENTRY),
        lambda: entries.remove(SettingsScope.PROJECT, "one"),
    ):
        with pytest.raises(UsageError, match="is a link that points outside"):
            change()
    assert target.read_text() == "{}" if target.is_file() else list(target.iterdir()) == []


@pytest.mark.parametrize("text", ["{", '{"mcpServers": 7}'])
def test_settings_that_cannot_be_read(project: Path, environment: dict[str, str], text: str) -> None:
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"settings\.json"):
        entries_of(project, environment).names(SettingsScope.PROJECT)


def test_a_file_of_the_person_that_others_could_write(project: Path, environment: dict[str, str]) -> None:
    entries = entries_of(project, environment)
    entries.put(SettingsScope.USER, "one", ENTRY)
    Path(entries.path(SettingsScope.USER)).chmod(0o666)
    with pytest.raises(ConfigurationError):
        entries.put(SettingsScope.USER, "two", ENTRY)
    with pytest.raises(ConfigurationError):
        entries.names(SettingsScope.USER)


class TestAddresses:
    @pytest.mark.parametrize("url", ["http://a.test", "HTTPS://a.test/b?c=d", "https://[::1]:8080/x", "http://$A:$B/"])
    def test_good_ones(self, url: str) -> None:
        validate_server_url(url)

    @pytest.mark.parametrize(
        "url", ["", "a.test", "ftp://a.test", "https://", "http://a b", "https://a.test:x", "https://me:hunter2@a.test"]
    )
    def test_others(self, url: str) -> None:
        with pytest.raises(UsageError) as raised:
            validate_server_url(url)
        assert "hunter2" not in str(raised.value)


class TestOwnFields:
    """Fields that Gemini CLI does not know are in Tejat's own settings."""

    ENTRY: ClassVar[JsonObject] = {"command": "x", "sandbox": True, "startTimeout": 5}

    def own_file(self, environment: dict[str, str]) -> Path:
        return Path(app_paths(environment).own_settings)

    def test_are_kept_apart(self, project: Path, environment: dict[str, str]) -> None:
        entries = entries_of(project, environment)
        entries.put(SettingsScope.USER, "one", self.ENTRY)
        assert json.loads(Path(entries.path(SettingsScope.USER)).read_text()) == {
            "mcpServers": {"one": {"command": "x"}}
        }
        own = {"mcpServers": {"one": {"sandbox": True, "startTimeout": 5}}}
        assert json.loads(self.own_file(environment).read_text()) == own
        settings = load_settings(app_paths(environment), [], trusted=False, environment=environment)
        server = settings.mcp_servers["one"]
        assert (server.value.command, server.value.is_sandboxed, server.value.start_timeout) == ("x", True, 0.005)
        assert server.source == f"{entries.path(SettingsScope.USER)}:3"

    def test_stay_when_the_entry_is_replaced(self, project: Path, environment: dict[str, str]) -> None:
        entries = entries_of(project, environment)
        own = self.own_file(environment)
        own.parent.mkdir(parents=True)
        own.write_text('{"mcpServers": {"one": {"command": "old", "sandbox": true}}}')
        entries.put(SettingsScope.USER, "one", {"command": "new"})
        assert json.loads(own.read_text()) == {"mcpServers": {"one": {"sandbox": True}}}

    def test_go_with_the_entry(self, project: Path, environment: dict[str, str]) -> None:
        entries = entries_of(project, environment)
        entries.put(SettingsScope.USER, "one", self.ENTRY)
        assert entries.names(SettingsScope.USER) == ("one",)
        assert entries.paths_with(SettingsScope.USER, "one") == [
            entries.path(SettingsScope.USER),
            str(self.own_file(environment)),
        ]
        entries.remove(SettingsScope.USER, "one")
        assert entries.names(SettingsScope.USER) == ()

    def test_of_a_server_that_only_the_own_file_has(self, project: Path, environment: dict[str, str]) -> None:
        entries = entries_of(project, environment)
        own = self.own_file(environment)
        own.parent.mkdir(parents=True)
        own.write_text('{"mcpServers": {"one": {"command": "x"}}}')
        entries.remove(SettingsScope.USER, "one")
        assert entries.names(SettingsScope.USER) == ()
        assert not Path(entries.path(SettingsScope.USER)).exists()
