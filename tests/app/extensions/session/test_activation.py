"""What extensions add to a session."""

import json
import os
from pathlib import Path

import pytest

from support.extensions import link_extension, write_extension
from tejat.app.extensions.session.activation import ActivatedExtensions, activate_extensions
from tejat.config.extensions.consent import agree_to_extension
from tejat.config.extensions.consent_store import ConsentParty
from tejat.config.extensions.install_record import read_install_record
from tejat.config.extensions.manifest import read_manifest
from tejat.config.paths import AppPaths, SourceTier, app_paths
from tejat.config.settings.types import Setting, Settings
from tejat.config.trust.decision import TrustDecision, TrustLevel
from tejat.core.errors import UsageError

TRUSTED = TrustDecision(TrustLevel.TRUSTED, "")
UNTRUSTED = TrustDecision(TrustLevel.UNKNOWN, "")


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path / "home")})


@pytest.fixture
def extensions(paths: AppPaths) -> Path:
    directory = Path(paths.extensions)
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "project").mkdir()
    return str(tmp_path / "project")


def activate(
    paths: AppPaths,
    root: str,
    settings: Settings = Settings(),  # noqa: B008 -- immutable
    *,
    trust: TrustDecision = TRUSTED,
    selection: tuple[str, ...] | None = None,
    is_session: bool = True,
    **environment: str,
) -> ActivatedExtensions:
    return activate_extensions(paths, [root], settings, trust, environment, selection=selection, is_session=is_session)


def test_settings_get_what_an_extension_adds(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(
        extensions / "demo",
        manifest={
            "mcpServers": {"s": {"command": "$RUNNER", "args": ["${extensionPath}/s.js"]}},
            "excludeTools": ["glob"],
            "themes": [{"name": "night", "background": {"primary": "#101010"}}],
            "plan": {"directory": "plans"},
        },
    )
    found = activate(paths, root, RUNNER="node")
    server = found.settings.mcp_servers["s"]
    assert (server.value.command, server.value.arguments) == ("node", (f"{extensions}/demo/s.js",))
    assert [(entry.value, entry.tier) for entry in found.settings.exclude] == [("glob", SourceTier.EXTENSION)]
    assert "extension demo" in found.settings.exclude[0].source
    assert found.settings.custom_themes["night (demo)"].value.name == "night (demo)"
    # A bad directory of an extension must not end a run: it is no setting of the user.
    assert found.settings.plan_directory is None
    assert found.extensions[0].plan_directory == "plans"


def test_blocked_variables_are_not_filled_in(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo", manifest={"mcpServers": {"s": {"command": "x", "args": ["$PLAIN"]}}})
    settings = Settings(environment_blocked=(Setting("plain"),))
    assert activate(paths, root, settings, PLAIN="p").settings.mcp_servers["s"].value.arguments == ("$PLAIN",)


def test_values_are_variables_of_its_programs_and_secrets(paths: AppPaths, extensions: Path, root: str) -> None:
    manifest = {
        "mcpServers": {"s": {"command": "x"}, "t": {"command": "x", "args": ["$OTHER_KEY"]}},
        "settings": [
            {"name": "Key", "envVar": "MY_KEY", "sensitive": True},
            {"name": "Region", "envVar": "REGION"},
            {"name": "Other", "envVar": "OTHER_KEY", "sensitive": True},
        ],
    }
    directory = write_extension(extensions / "demo", manifest=manifest)
    (directory / ".env").write_text("REGION=europe\nMY_KEY=ignored\n")
    stored = Path(paths.extension_settings)
    stored.mkdir(parents=True)
    (stored / "demo.env").write_text("MY_KEY=sk-0123456789\n")
    Path(root, ".env").write_text("REGION=asia\n")
    found = activate(paths, root)
    extension = found.extensions[0]
    assert extension.values == {"MY_KEY": "sk-0123456789", "REGION": "asia"}
    assert extension.missing_settings == ("Other",)
    assert extension.blocked_servers == {"t": "missing settings: Other"}
    environment = found.settings.mcp_servers["s"].value.environment
    assert (environment["MY_KEY"], environment["REGION"]) == ("sk-0123456789", "asia")
    assert found.effects.secrets == {"demo.MY_KEY": "sk-0123456789"}
    assert "sk-0123456789" not in repr(found)
    untrusted = activate(paths, root, trust=UNTRUSTED).extensions[0]
    assert untrusted.values["REGION"] == "europe"


def test_rules_of_one_that_changed_are_those_that_were_agreed_to(paths: AppPaths, extensions: Path, root: str) -> None:
    rule = '[[rule]]\ntool = "glob"\ndecision = "deny"\n'
    directory = write_extension(
        extensions / "demo", manifest={"excludeTools": ["write_file"]}, files={"policies/p.toml": rule}
    )
    assert [file.text for file in activate(paths, root).effects.rules] == [rule]
    (directory / "policies/p.toml").write_text("")
    (directory / "policies/new.toml").write_text('[[rule]]\ntool = "*"\ndecision = "deny"\n')
    found = activate(paths, root)
    assert found.extensions == ()
    assert [file.text for file in found.effects.rules] == [rule]
    assert [entry.value for entry in found.settings.exclude] == ["write_file"]
    disabled = activate(paths, root, selection=())
    assert (disabled.effects.rules, disabled.settings.exclude) == ((), ())


@pytest.mark.parametrize(
    ("manifest", "files", "words"),
    [
        ({"excludeTools": ["write_file(x)"]}, {}, "parentheses"),
        ({}, {"policies/p.toml": "[[rules]]"}, "p.toml"),
        ({}, {"policies/p.toml": "\0"}, "p.toml"),
        ({}, {"hooks/hooks.json": "{}"}, "hooks.json"),
    ],
)
def test_a_part_that_is_wrong_breaks_the_whole(
    paths: AppPaths, extensions: Path, root: str, manifest: dict[str, object], files: dict[str, str], words: str
) -> None:
    context = {"mcpServers": {"s": {"command": "x"}}}
    write_extension(extensions / "demo", manifest={**context, **manifest}, files=files)
    found = activate(paths, root)
    assert found.extensions == ()
    assert found.settings.mcp_servers == {}
    assert len(found.effects.warnings) == 1
    assert words in found.effects.warnings[0]
    assert "\n" not in found.effects.warnings[0]


def test_wrong_themes_are_left_out(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo", manifest={"themes": [{"name": "x", "background": {"primary": "no colour"}}]})
    found = activate(paths, root)
    assert [extension.name for extension in found.extensions] == ["demo"]
    assert "themes" in found.effects.warnings[0]


def test_unknown_names(paths: AppPaths, root: str) -> None:
    with pytest.raises(UsageError, match="Extension not found: nope"):
        activate(paths, root, selection=("nope",))
    assert activate(paths, root, selection=()).extensions == ()


def test_sources_of_links_ask_before_they_are_changed(
    paths: AppPaths, extensions: Path, root: str, tmp_path: Path
) -> None:
    source = write_extension(tmp_path / "project" / "source", is_new=True)
    directory = link_extension(extensions / "source", source)
    record, manifest = read_install_record(str(directory)), read_manifest(str(source))
    agree_to_extension(paths, str(directory), manifest, record, party=ConsentParty.USER, follows=True)
    found = activate(paths, root)
    assert [file.entry.value for file in found.effects.rules if file.entry is not None] == [str(source)]
    assert any("not followed here" in note for note in found.notes)


class TestNotes:
    def test_told_once_in_sessions(self, paths: AppPaths, extensions: Path, root: str) -> None:
        files = {"GEMINI.md": "x" * 400, "commands/a.toml": "", "hooks/hooks.json": json.dumps({"hooks": {}})}
        write_extension(extensions / "demo", manifest={"mcpServers": {"s": {"command": "x"}}}, files=files)
        assert activate(paths, root, is_session=False).notes == ()
        (note,) = activate(paths, root).notes
        assert "demo (1 MCP server, 1 command, hooks, about 100 tokens of context)" in note
        assert activate(paths, root).notes == ()

    def test_new_ones_are_named_once(self, paths: AppPaths, extensions: Path, root: str) -> None:
        write_extension(extensions / "demo", is_new=True)
        (note,) = activate(paths, root).notes
        assert "tejat extensions review demo" in note
        assert activate(paths, root).notes == ()

    def test_many_are_one_line(self, paths: AppPaths, extensions: Path, root: str) -> None:
        for number in range(12):
            write_extension(extensions / f"e{number:02}")
        (note,) = activate(paths, root).notes
        assert "e00; e01" in note
        assert "and 2 more" in note


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_breaks_one(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", files={"policies/p.toml": ""})
    (directory / "policies/p.toml").chmod(0)
    assert activate(paths, root).extensions == ()
