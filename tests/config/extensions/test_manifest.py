"""The manifest of an extension."""

import json
from pathlib import Path

import pytest

from tejat.config.extensions.manifest import find_name_problem, parse_manifest, read_manifest
from tejat.core.errors import ConfigurationError

FULL = {
    "name": "demo",
    "version": "1.0.0",
    "description": "A demo.",
    "mcpServers": {"s": {"command": "node", "args": ["${extensionPath}/s.js"], "env": {"K": "$K"}, "trust": True}},
    "contextFileName": ["A.md", "docs/B.md"],
    "excludeTools": ["glob", "run_shell_command(rm -rf)"],
    "settings": [
        {"name": "API Key", "description": "d", "envVar": "MY_API_KEY", "sensitive": True},
        {"name": "Path", "envVar": "PATH"},
        {"name": "Proxy", "envVar": "HTTPS_PROXY"},
        {"name": "Mine", "envVar": "GEMINI_API_KEY"},
        {"name": "Again", "envVar": "MY_API_KEY"},
    ],
    "themes": [{"name": "night", "type": "custom", "background": {"primary": "#101010"}}],
    "plan": {"directory": "plans"},
    "migratedTo": "https://github.com/o/r",
    "extra": 1,
}


def test_all_fields() -> None:
    manifest = parse_manifest("/e/gemini-extension.json", json.dumps(FULL, indent=2))
    assert (manifest.name, manifest.version, manifest.description) == ("demo", "1.0.0", "A demo.")
    assert manifest.context_files == ("A.md", "docs/B.md")
    assert [entry.value for entry in manifest.excluded_tools] == ["glob", "run_shell_command(rm -rf)"]
    assert manifest.server_names == ("s",)
    assert manifest.theme_names == ("night",)
    assert manifest.plan_directory == "plans"
    assert manifest.migrated_to == "https://github.com/o/r"
    assert manifest.unknown_fields == ("extra",)
    assert [(setting.variable, setting.is_sensitive) for setting in manifest.effective_settings] == [
        ("MY_API_KEY", True)
    ]
    assert len(manifest.settings) == 5
    assert manifest.themes()["night"].background == "#101010"


def test_servers_are_expanded_and_never_trusted() -> None:
    manifest = parse_manifest("/e/gemini-extension.json", json.dumps(FULL))
    server = manifest.servers(lambda text: text.replace("${extensionPath}", "/e").replace("$K", "v"))["s"].value
    assert server.arguments == ("/e/s.js",)
    assert server.environment == {"K": "v"}
    assert not server.is_trusted


def test_excluded_tools_have_their_line() -> None:
    text = '{\n "name": "a",\n "version": "1",\n "excludeTools": [\n  "glob",\n  "write_file"\n ]\n}'
    sources = [entry.source for entry in parse_manifest("/e/m.json", text).excluded_tools]
    assert sources == ["/e/m.json:5", "/e/m.json:6"]


def test_comments_and_trailing_commas_are_fine() -> None:
    manifest = parse_manifest("/e/m.json", '{"name": "a", // mine\n "version": "1",}')
    assert manifest.name == "a"
    assert manifest.context_files is None
    assert manifest.possible_context_files == ("GEMINI.md",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"version": "1"}', ["name is missing"]),
        ('{"name": "a"}', ["version is missing"]),
        ('{"name": "a b", "version": "1"}', ["line 1", "name", "letters, digits and dashes"]),
        ('{"name": "a",\n"version": 1}', ["line 2", "version"]),
        ('{"name": "a", "version": "1",\n\n"mcpServers": []}', ["line 3", "mcpServers"]),
        ('{"name": "a", "version": "1",\n"mcpServers": {"s": {"args": "x"}}}', ["line 2", "mcpServers.s.args"]),
        ('{"name": "a", "version": "1",\n"contextFileName": "../x.md"}', ["line 2", "inside the extension"]),
        ('{"name": "a", "version": "1",\n"contextFileName": "/x.md"}', ["line 2", "inside the extension"]),
        ('{"name": "a", "version": "1",\n"settings": [{"name": "x"}]}', ["line 2", "envVar"]),
        ('{"name": "a", "version": "1",\n"settings": [{"name": "x", "envVar": "a-b"}]}', ["line 2", "variable"]),
        ('{"name": "a", "name": "b"}', ["duplicate key"]),
        ('{"name": ', ["line 1"]),
        ("[]", ["must be an object"]),
        ("[" * 100_000, ["nested"]),
    ],
)
def test_errors_name_the_place(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_manifest("/e/gemini-extension.json", text)
    message = str(caught.value)
    assert all(word in message for word in ["/e/gemini-extension.json", *words]), message


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        read_manifest(str(tmp_path))


@pytest.mark.parametrize("name", ["none", "All", "a" * 65, "help"])
def test_names_that_mean_something_else(name: str) -> None:
    assert find_name_problem(name, {"help"})


def test_other_names_are_fine() -> None:
    assert not find_name_problem("demo", {"help"})
