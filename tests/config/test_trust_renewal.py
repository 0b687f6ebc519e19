"""Whether a folder stays trusted when the person changes its settings by a command."""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tejat.config.lock import locked
from tejat.config.places import Places, places_of
from tejat.config.settings_edit import lock_of, with_member, without_member
from tejat.config.trust import TrustLevel, trust_folder
from tejat.config.trust_renewal import Standing, edit_project_settings, lasting_trust
from tejat.config.trust_store import Verdict, read_store

SETTINGS = {"tools": {"discoveryCommand": "./find.sh"}}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def places(environment: dict[str, str]) -> Places:
    return places_of(environment)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".gemini").mkdir(parents=True)
    (tmp_path / "project" / "find.sh").write_text("x")
    (tmp_path / "project" / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
    return tmp_path / "project"


def adding(*words: str) -> Callable[[str], str]:
    return lambda text: with_member(text, ("mcpServers", "one"), {"command": words[0], "args": list(words[1:])})


def level(places: Places, root: Path, environment: Mapping[str, str]) -> TrustLevel:
    return lasting_trust(places, str(root), environment).level


def edit(places: Places, root: Path, change: Callable[[str], str], environment: Mapping[str, str]) -> Standing:
    return edit_project_settings(places, str(root), change, environment=environment)


def test_what_was_trusted_stays_trusted(places: Places, root: Path, environment: dict[str, str]) -> None:
    trust_folder(places, str(root))
    assert edit(places, root, adding("x"), environment) is Standing.TRUSTED
    assert level(places, root, environment) is TrustLevel.TRUSTED
    assert json.loads((root / ".gemini" / "settings.json").read_text()) == {
        **SETTINGS,
        "mcpServers": {"one": {"command": "x", "args": []}},
    }


def test_also_where_there_was_nothing(places: Places, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    trust_folder(places, str(tmp_path / "bare"))
    assert edit(places, tmp_path / "bare", adding("x"), environment) is Standing.TRUSTED
    assert level(places, tmp_path / "bare", environment) is TrustLevel.TRUSTED


def test_the_script_of_an_entry_comes_and_goes_with_it(places: Places, root: Path, environment: dict[str, str]) -> None:
    (root / "serve.py").write_text("x")
    trust_folder(places, str(root))
    assert edit(places, root, adding("python", "serve.py"), environment) is Standing.TRUSTED
    assert "serve.py" in read_store(places)[str(root.resolve())].items
    removed = edit(places, root, lambda text: without_member(text, ("mcpServers", "one")), environment)
    assert removed is Standing.TRUSTED
    assert "serve.py" not in read_store(places)[str(root.resolve())].items


def test_what_nobody_trusted_stays_so(places: Places, root: Path, environment: dict[str, str]) -> None:
    assert edit(places, root, adding("x"), environment) is Standing.NOT_TRUSTED
    assert level(places, root, environment) is TrustLevel.UNKNOWN
    trust_folder(places, str(root), level=TrustLevel.NOT_TRUSTED)
    assert edit(places, root, adding("y"), environment) is Standing.NOT_TRUSTED
    assert level(places, root, environment) is TrustLevel.NOT_TRUSTED


def test_what_had_changed_before(places: Places, root: Path, environment: dict[str, str]) -> None:
    trust_folder(places, str(root))
    (root / "find.sh").write_text("y")
    assert edit(places, root, adding("x"), environment) is Standing.NOT_TRUSTED
    assert level(places, root, environment) is TrustLevel.CHANGED


@pytest.mark.parametrize("path", ["find.sh", ".env", ".gemini/policies/a.toml"])
def test_what_somebody_else_changes_meanwhile(
    places: Places, root: Path, environment: dict[str, str], path: str
) -> None:
    trust_folder(places, str(root))

    def change(text: str) -> str:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("A=1")
        return adding("x")(text)

    assert edit(places, root, change, environment) is Standing.CHANGED
    assert level(places, root, environment) is TrustLevel.CHANGED


def test_settings_that_somebody_exchanges_before_they_are_edited(
    places: Places, root: Path, environment: dict[str, str]
) -> None:
    """The folder has been looked at when the edit waits for its turn."""
    trust_folder(places, str(root))
    file = root / ".gemini" / "settings.json"
    with ThreadPoolExecutor() as threads:
        with locked(lock_of(places, str(file)), patience=30):
            editing = threads.submit(edit, places, root, adding("x"), environment)
            # However slow it is: exchanged before the look, the settings are not trusted either.
            time.sleep(0.5)
            file.write_text(json.dumps({"tools": {"discoveryCommand": "./evil.sh"}}))
        assert editing.result(60) in (Standing.CHANGED, Standing.NOT_TRUSTED)
    assert level(places, root, environment) is TrustLevel.CHANGED


def test_who_said_so_is_remembered(places: Places, root: Path, environment: dict[str, str]) -> None:
    """What Gemini CLI trusts is trusted for as long as it does."""
    Path(places.gemini).mkdir(mode=0o700)
    rules = Path(places.gemini, "trustedFolders.json")
    rules.write_text(json.dumps({str(root.resolve()): "TRUST_FOLDER"}))
    rules.chmod(0o600)
    assert level(places, root, environment) is TrustLevel.TRUSTED
    assert edit(places, root, adding("x"), environment) is Standing.TRUSTED
    assert read_store(places)[str(root.resolve())].verdict is Verdict.PINNED
    rules.write_text("{}")
    assert level(places, root, environment) is not TrustLevel.TRUSTED


def test_trust_for_one_run_does_not_last(places: Places, root: Path, environment: dict[str, str]) -> None:
    environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    assert edit(places, root, adding("x"), environment) is Standing.NOT_TRUSTED
    assert read_store(places) == {}


def test_where_every_folder_is_trusted(places: Places, root: Path, environment: dict[str, str]) -> None:
    Path(places.gemini).mkdir(mode=0o700)
    file = Path(places.gemini, "settings.json")
    file.write_text('{"folderTrust": false}')
    file.chmod(0o600)
    assert edit(places, root, adding("x"), environment) is Standing.TRUSTED
    assert read_store(places) == {}
