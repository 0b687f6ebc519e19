"""Values of the settings of extensions."""

import os
import stat
from pathlib import Path

import pytest

from tejat.config.extensions import settings_values
from tejat.config.extensions.manifest import ExtensionManifest, ExtensionSetting
from tejat.config.extensions.settings_values import ExtensionSettingsStore, SettingScope, find_missing
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import replace

PLAIN = ExtensionSetting("Region", "MY_REGION")
SECRET = ExtensionSetting("API Key", "MY_API_KEY", is_sensitive=True)
REFUSED = ExtensionSetting("Path", "PATH", refusal="no")
MANIFEST = ExtensionManifest("/m", "demo", "1", settings=(PLAIN, SECRET, REFUSED))


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path / "home")})


@pytest.fixture
def store(paths: AppPaths, tmp_path: Path) -> ExtensionSettingsStore:
    directory, workspace = Path(paths.extensions, "demo"), tmp_path / "work"
    directory.mkdir(parents=True)
    workspace.mkdir()
    return ExtensionSettingsStore(paths, str(directory), "demo", "ID", str(workspace))


class MemoryKeyring:
    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}

    def get_password(self, service_name: str, username: str) -> str | None:
        return self.values.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.values[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.values[service_name, username]


@pytest.fixture(autouse=True)
def keyring(monkeypatch: pytest.MonkeyPatch) -> list[MemoryKeyring]:
    """The secret service of the test: none unless one is put into the list."""
    services: list[MemoryKeyring] = []
    monkeypatch.setattr(settings_values, "load_keyring", lambda: services[0] if services else None)
    return services


def values(store: ExtensionSettingsStore) -> dict[str, str]:
    return {variable: found.value for variable, found in store.read(MANIFEST).items()}


def test_stored_where_gemini_cli_looks(store: ExtensionSettingsStore, paths: AppPaths) -> None:
    store.store(PLAIN, "eu west # 1")
    store.store(SECRET, "sk-'\"x\\n$HOME")
    assert values(store) == {"MY_REGION": "eu west # 1", "MY_API_KEY": "sk-'\"x\\n$HOME"}
    assert Path(store.directory, ".env").read_text() == "MY_REGION='eu west # 1'\n"
    secret = Path(store.secret_location())
    assert secret.parent == Path(paths.extension_settings)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert find_missing(MANIFEST, values(store)) == ()


def test_a_workspace_goes_before_the_user_if_it_is_trusted(store: ExtensionSettingsStore) -> None:
    store.store(PLAIN, "user")
    store.store(SECRET, "user-secret")
    store.store(PLAIN, "work", SettingScope.WORKSPACE)
    store.store(SECRET, "work-secret", SettingScope.WORKSPACE)
    assert values(store) == {"MY_REGION": "work", "MY_API_KEY": "work-secret"}
    assert values(replace(store, is_trusted=False)) == {"MY_REGION": "user", "MY_API_KEY": "user-secret"}
    assert {found.scope for found in store.read(MANIFEST).values()} == {SettingScope.WORKSPACE}


def test_only_declared_variables_are_read_and_others_stay(store: ExtensionSettingsStore) -> None:
    file = Path(store.directory, ".env")
    file.write_text("# mine\nPATH=/evil\nMY_REGION=a\nMY_API_KEY=plain\nOTHER=1\n")
    assert values(store) == {"MY_REGION": "a"}
    store.store(PLAIN, "b")
    assert file.read_text() == "# mine\nPATH=/evil\nMY_API_KEY=plain\nOTHER=1\nMY_REGION=b\n"


def test_removed(store: ExtensionSettingsStore) -> None:
    for scope in SettingScope:
        store.store(SECRET, "x", scope)
        store.store(PLAIN, "y", scope)
        store.store(PLAIN, "", scope)
        store.remove(SECRET, scope)
    assert values(store) == {}
    assert [setting.name for setting in find_missing(MANIFEST, values(store))] == ["Region", "API Key"]
    store.store(SECRET, "x", SettingScope.WORKSPACE)
    store.remove_all(MANIFEST)
    assert os.listdir(store.paths.extension_settings) == []


def test_the_secret_service_has_the_names_of_gemini_cli(
    store: ExtensionSettingsStore, keyring: list[MemoryKeyring]
) -> None:
    store.store(SECRET, "in the file")
    keyring.append(MemoryKeyring())
    assert values(store) == {"MY_API_KEY": "in the file"}
    store.store(SECRET, "user")
    store.store(SECRET, "work", SettingScope.WORKSPACE)
    service = "Gemini CLI Extensions demo ID"
    assert keyring[0].values == {
        (service, "MY_API_KEY"): "user",
        (f"{service} {store.workspace}", "MY_API_KEY"): "work",
    }
    assert values(store) == {"MY_API_KEY": "work"}
    store.remove(SECRET, SettingScope.WORKSPACE)
    assert values(store) == {"MY_API_KEY": "user"}
    assert store.secret_location() == ""


@pytest.mark.parametrize("value", ["a\nb", "a\0b", "a\rb"])
def test_values_are_one_line(store: ExtensionSettingsStore, value: str) -> None:
    with pytest.raises(UsageError, match="one line"):
        store.store(PLAIN, value)


def test_a_file_that_others_can_write_is_refused(store: ExtensionSettingsStore) -> None:
    store.store(PLAIN, "x")
    os.chmod(Path(store.directory, ".env"), 0o666)
    with pytest.raises(ConfigurationError, match="writable by everyone"):
        store.read(MANIFEST)
