"""Which extensions are there, and in which state."""

import json
import os
from pathlib import Path

import pytest

from support.extensions import link_extension, write_extension
from tejat.config.extensions.consent import agree_to_extension
from tejat.config.extensions.consent_store import ConsentParty, read_consents
from tejat.config.extensions.install_record import read_install_record
from tejat.config.extensions.loader import ExtensionState, FoundExtension, FoundExtensions, find_extensions
from tejat.config.extensions.manifest import read_manifest
from tejat.config.paths import AppPaths, SourceTier, app_paths
from tejat.config.settings.types import Setting, Settings
from tejat.core.errors import ConfigurationError


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


def find(paths: AppPaths, root: str, settings: Settings = Settings(), **options: object) -> FoundExtensions:  # noqa: B008 -- immutable
    return find_extensions(paths, root, settings, **options)  # pyright: ignore[reportArgumentType]


def only(found: FoundExtensions) -> FoundExtension:
    assert len(found.extensions) == 1, found
    return found.extensions[0]


def agree(paths: AppPaths, directory: Path, *, follows: bool = False) -> None:
    record = read_install_record(str(directory))
    source = Path(record.source) if record is not None and record.type == "link" else directory
    manifest = read_manifest(str(source))
    agree_to_extension(paths, str(directory), manifest, record, party=ConsentParty.USER, follows=follows)


def test_nothing_is_there(paths: AppPaths, root: str) -> None:
    assert find(paths, root) == FoundExtensions()


def test_taken_over_once(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo", files={"GEMINI.md": "words", "server.js": "code"})
    first = only(find(paths, root))
    assert (first.state, first.is_taken_over) == (ExtensionState.ENABLED, True)
    consent = read_consents(paths)[str(extensions / "demo")]
    assert (consent.party, consent.source, consent.type) == (ConsentParty.GEMINI, "/src/demo", "local")
    second = only(find(paths, root))
    assert (second.state, second.is_taken_over) == (ExtensionState.ENABLED, False)


def test_nothing_is_taken_over_where_nothing_is_used(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo")
    assert only(find(paths, root, takes_over=False)).state is ExtensionState.NEW
    assert only(find(paths, root, selection=())).state is ExtensionState.DISABLED
    assert read_consents(paths) == {}


def test_changed(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", files={"GEMINI.md": "words"})
    find(paths, root)
    with (directory / "GEMINI.md").open("a") as file:
        file.write("more")
    found = only(find(paths, root))
    assert (found.state, found.changes, found.is_restricting) == (ExtensionState.CHANGED, ("GEMINI.md",), True)
    assert "GEMINI.md" in found.reason
    agree(paths, directory)
    assert only(find(paths, root)).state is ExtensionState.ENABLED


def test_another_directory_of_the_same_content_is_changed(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo")
    find(paths, root)
    directory.rename(extensions / ".old")
    write_extension(directory)
    assert only(find(paths, root)).state is ExtensionState.CHANGED


def test_without_an_install_record_it_is_new(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", is_new=True)
    assert only(find(paths, root)).state is ExtensionState.NEW
    assert only(find(paths, root, selection=("demo",))).state is ExtensionState.NEW
    agree(paths, directory)
    assert only(find(paths, root)).state is ExtensionState.ENABLED


def test_what_others_can_write_is_new(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", files={"lib/x.js": "code"})
    (directory / "lib/x.js").chmod(0o666)
    found = only(find(paths, root))
    assert found.state is ExtensionState.NEW
    assert "lib/x.js" in found.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_others_own_is_new(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", files={"lib/x.js": "code"})
    os.chown(directory / "lib/x.js", 12345, 12345)
    assert only(find(paths, root)).state is ExtensionState.NEW


def test_a_broken_one_does_not_stop_the_others(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "a")
    (extensions / "b").mkdir()
    (extensions / "b/gemini-extension.json").write_text('{"name": "b",\n "version": 3}')
    (extensions / "c").mkdir()
    (extensions / "c/README.md").write_text("no manifest")
    (extensions / "empty").mkdir()
    (extensions / ".hidden").mkdir()
    (extensions / ".hidden/file").write_text("x")
    (extensions / "file").write_text("x")
    write_extension(extensions / "d", files={"commands/x.toml": ""})
    (extensions / "d/commands/out.toml").symlink_to("/etc/passwd")
    os.mkfifo(extensions / "pipe")
    (extensions / "e").mkdir()
    os.mkfifo(extensions / "e/gemini-extension.json")
    found = {each.name: each for each in find(paths, root).extensions}
    assert {name: each.state.value for name, each in found.items()} == {
        "a": "enabled",
        "b": "broken",
        "c": "broken",
        "d": "broken",
        "e": "broken",
    }
    assert "line 2" in found["b"].reason
    assert "version" in found["b"].reason
    assert "gemini-extension.json" in found["c"].reason
    assert "commands/out.toml" in found["d"].reason
    assert all("\n" not in each.reason for each in found.values())


def test_a_manifest_that_broke_keeps_its_restrictions(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", manifest={"excludeTools": ["glob"]})
    find(paths, root)
    (directory / "gemini-extension.json").write_text("{")
    found = only(find(paths, root))
    assert (found.state, found.is_restricting) == (ExtensionState.BROKEN, True)
    assert found.consent is not None
    assert found.consent.excluded_tools == ("glob",)


def test_of_two_with_one_name_the_first_is_used(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "one", manifest={"name": "same"})
    write_extension(extensions / "two", manifest={"name": "Same"})
    found = find(paths, root)
    states = {os.path.basename(each.directory): each.state.value for each in found.extensions}
    assert states == {"one": "enabled", "two": "broken"}
    same = found.find("SAME")
    assert same is not None
    assert os.path.basename(same.directory) == "one"


def test_disabled(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo")
    Path(paths.extension_enablement).write_text(json.dumps({"demo": {"overrides": [f"!{root}/*"]}}))
    assert only(find(paths, root)).state is ExtensionState.DISABLED
    assert only(find(paths, root, selection=("DEMO",))).state is ExtensionState.ENABLED
    settings = Settings(extensions_disabled=(Setting("Demo", "f:1", SourceTier.USER),))
    found = only(find(paths, "/", settings))
    assert found.state is ExtensionState.DISABLED
    assert "f:1" in found.reason


def test_an_unreadable_enablement_file_turns_all_off(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo")
    Path(paths.extension_enablement).write_text("{")
    found = find(paths, root)
    assert only(found).state is ExtensionState.DISABLED
    assert paths.extension_enablement in found.problems[0]


def test_an_unreadable_store_means_new(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "demo")
    Path(paths.config).mkdir(parents=True)
    Path(paths.extension_consents).write_text("{")
    found = find(paths, root)
    assert only(found).state is ExtensionState.NEW
    assert paths.extension_consents in found.problems[0]
    assert Path(paths.extension_consents).read_text() == "{"


def test_blocked_by_settings(paths: AppPaths, extensions: Path, root: str) -> None:
    write_extension(extensions / "git", record={"source": "https://github.com/o/r", "type": "git"})
    write_extension(extensions / "local")
    write_extension(extensions / "none", is_new=True)

    def states(settings: Settings) -> dict[str, str]:
        return {each.name: each.state.value for each in find(paths, root, settings, takes_over=False).extensions}

    blocked = {"git": "blocked", "local": "blocked", "none": "blocked"}
    assert states(Settings(extensions_enabled=Setting(value=False))) == blocked
    assert states(Settings(block_git_extensions=Setting(value=True))) == {
        **blocked,
        "local": "new",
        "none": "new",
    }
    allowed = Settings(
        allowed_extensions=(Setting(("^https://github.com/o/",)),), block_git_extensions=Setting(value=True)
    )
    assert states(allowed) == {**blocked, "git": "new"}
    both = Settings(allowed_extensions=(Setting(("^https://",)), Setting(("nothing",))))
    assert states(both) == blocked
    with pytest.raises(ConfigurationError, match="allowedExtensions"):
        states(Settings(allowed_extensions=(Setting(("(",), "f:1"),)))


def test_a_link_is_read_from_its_source(paths: AppPaths, extensions: Path, root: str, tmp_path: Path) -> None:
    source = write_extension(tmp_path / "source", files={"GEMINI.md": "words"}, is_new=True)
    directory = link_extension(extensions / "source", source)
    agree(paths, directory)
    found = only(find(paths, root))
    assert (found.state, found.path) == (ExtensionState.ENABLED, str(source))
    (source / "GEMINI.md").write_text("other")
    assert only(find(paths, root)).state is ExtensionState.CHANGED
    (source / "gemini-extension.json").unlink()
    broken = only(find(paths, root))
    assert broken.state is ExtensionState.BROKEN
    assert str(source) in broken.reason


def test_a_followed_link_takes_changes_unless_it_is_in_the_workspace(
    paths: AppPaths, extensions: Path, root: str, tmp_path: Path
) -> None:
    source = write_extension(tmp_path / "source", files={"GEMINI.md": "words"}, is_new=True)
    directory = link_extension(extensions / "source", source)
    agree(paths, directory, follows=True)
    (source / "GEMINI.md").write_text("other")
    assert only(find(paths, str(source))).state is ExtensionState.CHANGED
    assert only(find(paths, str(tmp_path))).state is ExtensionState.CHANGED
    assert only(find(paths, root)).state is ExtensionState.ENABLED
    assert only(find(paths, str(source))).state is ExtensionState.ENABLED
    assert read_consents(paths)[str(directory)].follows


def test_disabled_ones_are_compared_if_wanted(paths: AppPaths, extensions: Path, root: str) -> None:
    directory = write_extension(extensions / "demo", files={"GEMINI.md": "words"})
    find(paths, root)
    (directory / "GEMINI.md").write_text("other")
    found = only(find(paths, root, selection=(), checks_all=True))
    assert (found.state, found.changes) == (ExtensionState.DISABLED, ("GEMINI.md",))
