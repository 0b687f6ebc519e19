"""What `admin.*` does to the other settings."""

import json
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths
from tejat.config.settings.admin import unlisted_source
from tejat.config.settings.file import SettingsError
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings


class Machine:
    def __init__(self, base: Path) -> None:
        self.base = base
        home = str(base / "home")
        self.paths = AppPaths(home, f"{home}/.config/tejat", f"{home}/state", f"{home}/.gemini", (str(base / "etc"),))

    def write(self, name: str, settings: object) -> str:
        places = {"user": "home/.gemini", "project": "project/.gemini", "admin": "etc"}
        path = self.base / places[name] / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
        path.chmod(0o600)
        return f"{path}:1"

    def load(self, **environment: str) -> Settings:
        return load_settings(self.paths, [str(self.base / "project")], trusted=True, environment=environment)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def admin(**switches: object) -> dict[str, object]:
    return {"admin": switches}


@pytest.mark.parametrize("strict_file", ["user", "project", "admin"])
def test_the_strict_value_of_any_file_wins(machine: Machine, strict_file: str) -> None:
    off = {"enabled": False}
    for name in ("user", "project", "admin"):
        on = {"enabled": True}
        source = machine.write(name, admin(secureModeEnabled=False, mcp=on, extensions=on, skills=on))
    source = machine.write(strict_file, admin(secureModeEnabled=True, mcp=off, extensions=off, skills=off))
    settings = machine.load()
    switches = settings.mcp_enabled, settings.extensions_enabled, settings.skills_enabled
    assert [(switch.value, switch.source) for switch in switches] == [(False, source)] * 3
    assert (settings.secure_mode.value, settings.yolo_disabled.value, settings.always_disabled.value) == (
        True,
        True,
        True,
    )
    assert settings.yolo_disabled.source == source


def test_the_lax_value_loosens_nothing(machine: Machine) -> None:
    source = machine.write("user", {"security": {"disableYoloMode": True}})
    machine.write("project", admin(secureModeEnabled=False))
    assert (machine.load().yolo_disabled.value, machine.load().yolo_disabled.source) == (True, source)


def test_a_wrong_value_ends_the_run(machine: Machine) -> None:
    machine.write("user", admin(mcp={"enabled": "maybe"}))
    with pytest.raises(SettingsError, match=r"admin\.mcp\.enabled must be true or false"):
        machine.load()


LOCAL = {
    "command": "run",
    "args": ["a"],
    "env": {"K": "v"},
    "cwd": "/d",
    "httpUrl": "http://h",
    "tcp": "h:1",
    "url": "http://local",
    "type": "sse",
    "trust": True,
    "headers": {"X": "y"},
    "timeout": 5000,
    "includeTools": ["one"],
}


def test_the_administrator_says_how_a_server_is_reached(machine: Machine) -> None:
    machine.write("user", {"mcpServers": {"a": LOCAL, "b": {"command": "b"}}, "mcp": {"serverCommand": "c"}})
    source = machine.write("admin", admin(mcp={"config": {"a": {"url": "http://corp", "type": "http"}}}))
    settings = machine.load()
    server = settings.mcp_servers["a"].value
    assert (server.url, server.type, server.is_trusted) == ("http://corp", "http", False)
    assert (server.command, server.arguments, server.environment, server.directory) == (None, (), {}, None)
    assert (server.http_url, server.tcp) == (None, None)
    assert (server.headers, server.timeout, server.include_tools) == ({"X": "y"}, 5.0, ("one",))
    assert settings.mcp_servers["a"].source == source
    assert [unlisted_source(settings, name) for name in ("a", "b", "mcp")] == [None, source, source]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"includeTools": ["two"]}, (("two",), ())),
        ({"excludeTools": ["two"]}, (None, ("two",))),
        ({"includeTools": [], "excludeTools": []}, (("one",), ())),
    ],
)
def test_lists_of_tools_come_from_one_place(machine: Machine, given: dict[str, object], kept: object) -> None:
    machine.write("user", {"mcpServers": {"a": LOCAL}})
    machine.write("admin", admin(mcp={"config": {"a": {"url": "http://corp", "trust": True, **given}}}))
    server = machine.load().mcp_servers["a"].value
    assert ((server.include_tools, server.exclude_tools), server.is_trusted) == (kept, True)


@pytest.mark.parametrize("name", ["user", "project"])
def test_lists_of_others_only_narrow(machine: Machine, name: str) -> None:
    servers = {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}
    machine.write("user", servers)
    source = machine.write(name, {**servers, **admin(mcp={"config": {"a": {"url": "http://evil"}}})})
    settings = machine.load()
    assert (settings.mcp_servers["a"].value.command, settings.mcp_servers["a"].value.url) == ("a", None)
    assert [unlisted_source(settings, each) for each in ("a", "b")] == [None, source]


def test_every_list_narrows_and_an_empty_one_does_not(machine: Machine) -> None:
    machine.write("admin", admin(mcp={"config": {}}))
    assert unlisted_source(machine.load(), "a") is None
    machine.write("admin", admin(mcp={"config": {"a": {}, "b": {}}}))
    source = machine.write("user", admin(mcp={"config": {"b": {}, "c": {}}}))
    settings = machine.load()
    assert unlisted_source(settings, "a") == source
    assert unlisted_source(settings, "b") is None
    assert unlisted_source(settings, "c") is not None


def test_required_servers_are_added_after_the_filter(machine: Machine) -> None:
    machine.write(
        "user", {"mcpServers": {"c": {"command": "c"}}, **admin(mcp={"requiredConfig": {"d": {"url": "http://d"}}})}
    )
    required = {"c": {"url": "http://c", "type": "sse", "headers": {"A": "b"}}}
    source = machine.write("admin", admin(mcp={"config": {"a": {"url": "http://a"}}, "requiredConfig": required}))
    settings = machine.load()
    assert list(settings.mcp_servers) == ["c"]
    server = settings.mcp_servers["c"]
    assert (server.value.url, server.value.type, server.value.command, server.source) == (
        "http://c",
        "sse",
        None,
        source,
    )
    assert (server.value.is_trusted, unlisted_source(settings, "c")) == (False, None)


@pytest.mark.parametrize(
    "entry",
    [{}, {"command": "x"}, {"url": "http://a", "command": "x"}, {"url": "http://a", "type": "stdio"}, "x"],
)
def test_a_required_server_must_be_remote(machine: Machine, entry: object) -> None:
    machine.write("admin", admin(mcp={"requiredConfig": {"a": entry}}))
    with pytest.raises(SettingsError, match=r"admin\.mcp\.requiredConfig"):
        machine.load()


def test_a_blocked_variable_is_not_inserted_into_the_settings_of_servers(machine: Machine) -> None:
    server = {"command": "a", "args": ["$FOO", "$BAR"], "headers": {"X": "${foo}", "Y": "$BAR"}}
    machine.write(
        "user",
        {
            "mcpServers": {"a": server},
            "security": {"environmentVariableRedaction": {"blocked": ["foo"]}},
            "web": {"searchUrl": "http://h/$FOO"},
        },
    )
    settings = machine.load(FOO="f", foo="g", BAR="b")
    loaded = settings.mcp_servers["a"].value
    assert (loaded.arguments, loaded.headers) == (("$FOO", "b"), {"X": "${foo}", "Y": "b"})
    assert settings.search_url is not None
    assert settings.search_url.value == "http://h/f"
