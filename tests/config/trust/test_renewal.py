"""Whether a folder stays trusted when the person changes its settings by a command."""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tejat.config.files.lock import file_lock
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.editor import remove_member, set_member, settings_lock_path
from tejat.config.trust.decision import TrustLevel, trust_folder
from tejat.config.trust.renewal import TrustAfterEdit, edit_project_settings, persistent_trust
from tejat.config.trust.store import TrustVerdict, read_trust_store

SETTINGS = {"tools": {"discoveryCommand": "./find.sh"}}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def paths(environment: dict[str, str]) -> AppPaths:
    return app_paths(environment)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".gemini").mkdir(parents=True)
    (tmp_path / "project" / "find.sh").write_text("x")
    (tmp_path / "project" / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
    return tmp_path / "project"


def adding(*words: str) -> Callable[[str], str]:
    return lambda text: set_member(text, ("mcpServers", "one"), {"command": words[0], "args": list(words[1:])})


def level(paths: AppPaths, root: Path, environment: Mapping[str, str]) -> TrustLevel:
    return persistent_trust(paths, str(root), environment).level


def edit(paths: AppPaths, root: Path, change: Callable[[str], str], environment: Mapping[str, str]) -> TrustAfterEdit:
    return edit_project_settings(paths, str(root), change, environment=environment)


def test_what_was_trusted_stays_trusted(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    trust_folder(paths, str(root))
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.TRUSTED
    assert level(paths, root, environment) is TrustLevel.TRUSTED
    assert json.loads((root / ".gemini" / "settings.json").read_text()) == {
        **SETTINGS,
        "mcpServers": {"one": {"command": "x", "args": []}},
    }


def test_also_where_there_was_nothing(paths: AppPaths, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    trust_folder(paths, str(tmp_path / "bare"))
    assert edit(paths, tmp_path / "bare", adding("x"), environment) is TrustAfterEdit.TRUSTED
    assert level(paths, tmp_path / "bare", environment) is TrustLevel.TRUSTED


def test_the_script_of_an_entry_comes_and_goes_with_it(
    paths: AppPaths, root: Path, environment: dict[str, str]
) -> None:
    (root / "serve.py").write_text("x")
    trust_folder(paths, str(root))
    assert edit(paths, root, adding("python", "serve.py"), environment) is TrustAfterEdit.TRUSTED
    assert "serve.py" in read_trust_store(paths)[str(root.resolve())].items
    removed = edit(paths, root, lambda text: remove_member(text, ("mcpServers", "one")), environment)
    assert removed is TrustAfterEdit.TRUSTED
    assert "serve.py" not in read_trust_store(paths)[str(root.resolve())].items


def test_what_nobody_trusted_stays_so(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.NOT_TRUSTED
    assert level(paths, root, environment) is TrustLevel.UNKNOWN
    trust_folder(paths, str(root), level=TrustLevel.NOT_TRUSTED)
    assert edit(paths, root, adding("y"), environment) is TrustAfterEdit.NOT_TRUSTED
    assert level(paths, root, environment) is TrustLevel.NOT_TRUSTED


def test_what_had_changed_before(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    trust_folder(paths, str(root))
    (root / "find.sh").write_text("y")
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.NOT_TRUSTED
    assert level(paths, root, environment) is TrustLevel.CHANGED


@pytest.mark.parametrize("path", ["find.sh", ".env", ".gemini/policies/a.toml"])
def test_what_somebody_else_changes_meanwhile(
    paths: AppPaths, root: Path, environment: dict[str, str], path: str
) -> None:
    trust_folder(paths, str(root))

    def change(text: str) -> str:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("A=1")
        return adding("x")(text)

    assert edit(paths, root, change, environment) is TrustAfterEdit.CHANGED
    assert level(paths, root, environment) is TrustLevel.CHANGED


def test_settings_that_somebody_exchanges_before_they_are_edited(
    paths: AppPaths, root: Path, environment: dict[str, str]
) -> None:
    """The folder has been looked at when the edit waits for its turn."""
    trust_folder(paths, str(root))
    file = root / ".gemini" / "settings.json"
    with ThreadPoolExecutor() as threads:
        with file_lock(settings_lock_path(paths, str(file)), timeout=30):
            editing = threads.submit(edit, paths, root, adding("x"), environment)
            # However slow it is: exchanged before the look, the settings are not trusted either.
            time.sleep(0.5)
            file.write_text(json.dumps({"tools": {"discoveryCommand": "./evil.sh"}}))
        assert editing.result(60) in (TrustAfterEdit.CHANGED, TrustAfterEdit.NOT_TRUSTED)
    assert level(paths, root, environment) is TrustLevel.CHANGED


def test_who_said_so_is_remembered(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    """What Gemini CLI trusts is trusted for as long as it does."""
    Path(paths.gemini).mkdir(mode=0o700)
    rules = Path(paths.gemini, "trustedFolders.json")
    rules.write_text(json.dumps({str(root.resolve()): "TRUST_FOLDER"}))
    rules.chmod(0o600)
    assert level(paths, root, environment) is TrustLevel.TRUSTED
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.TRUSTED
    assert read_trust_store(paths)[str(root.resolve())].verdict is TrustVerdict.PINNED
    rules.write_text("{}")
    assert level(paths, root, environment) is not TrustLevel.TRUSTED


def test_trust_for_one_run_does_not_last(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.NOT_TRUSTED
    assert read_trust_store(paths) == {}


def test_where_every_folder_is_trusted(paths: AppPaths, root: Path, environment: dict[str, str]) -> None:
    Path(paths.gemini).mkdir(mode=0o700)
    file = Path(paths.gemini, "settings.json")
    file.write_text('{"folderTrust": false}')
    file.chmod(0o600)
    assert edit(paths, root, adding("x"), environment) is TrustAfterEdit.TRUSTED
    assert read_trust_store(paths) == {}
