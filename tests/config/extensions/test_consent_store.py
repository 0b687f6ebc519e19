"""What was agreed to is kept whole and closed to others."""

import json
import os
import stat
from pathlib import Path

import pytest

from tejat.config.extensions.consent_store import (
    ConsentDetails,
    ConsentParty,
    ExtensionConsent,
    complete_consent,
    move_consent,
    prepare_consent,
    read_consent_details,
    read_consents,
    read_previous_consent,
    remove_consent,
    renew_code,
    renew_pins,
    save_consent,
)
from tejat.config.extensions.pins import FileIdentity, Pin
from tejat.config.paths import AppPaths, app_paths
from tejat.config.trust.store import FolderIdentity
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace

PIN = Pin("ab" * 32, is_executable=False, identity=FileIdentity(1, 2, 3, 4, 5))
CONSENT = ExtensionConsent(
    "/e/demo",
    FolderIdentity(1, 2, 3),
    "demo",
    "1.0.0",
    ConsentParty.USER,
    77,
    {"GEMINI.md": PIN, os.fsdecode(b"commands/\xff.toml"): PIN},
    source="/src",
    type="local",
    follows=True,
    excluded_tools=("glob",),
    shown="s",
)
DETAILS = ConsentDetails({"server.js": PIN}, {"GEMINI.md": "text ☃"})


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path)})


def test_nothing_yet(paths: AppPaths) -> None:
    assert read_consents(paths) == {}
    assert os.listdir(paths.home) == []


def test_kept_replaced_and_forgotten(paths: AppPaths) -> None:
    stored = save_consent(paths, CONSENT, DETAILS)
    assert read_consents(paths) == {"/e/demo": stored}
    assert replace(stored, details="") == CONSENT
    assert read_consent_details(paths, stored) == DETAILS
    assert stat.S_IMODE(os.stat(paths.extension_consents).st_mode) == 0o600
    newer = save_consent(paths, replace(CONSENT, version="2"), ConsentDetails())
    assert read_consents(paths)["/e/demo"].version == "2"
    assert os.listdir(paths.extension_pins) == [f"{newer.details}.json"]
    remove_consent(paths, "/e/demo")
    assert read_consents(paths) == {}
    assert os.listdir(paths.extension_pins) == []


def test_moved(paths: AppPaths) -> None:
    stored = save_consent(paths, CONSENT, DETAILS)
    move_consent(paths, stored, "/e/new", FolderIdentity(7, 8, 9))
    moved = read_consents(paths)
    assert list(moved) == ["/e/new"]
    assert read_consent_details(paths, moved["/e/new"]) == DETAILS


def test_details_that_were_changed_are_refused(paths: AppPaths) -> None:
    stored = save_consent(paths, CONSENT, DETAILS)
    path = Path(paths.extension_pins, f"{stored.details}.json")
    path.write_text(path.read_text().replace("text", "TEXT"))
    with pytest.raises(ConfigurationError, match="not the file that was written"):
        read_consent_details(paths, stored)
    path.unlink()
    with pytest.raises(ConfigurationError, match="Could not read"):
        read_consent_details(paths, stored)


def test_identities_are_renewed_only_for_the_same_content(paths: AppPaths) -> None:
    save_consent(paths, CONSENT, DETAILS)
    newer, other = PIN._replace(identity=FileIdentity(9, 9, 9, 9, 9)), PIN._replace(digest="cd" * 32)
    renew_pins(paths, {"/e/demo": {"GEMINI.md": newer}, "/e/missing": {"x": newer}})
    assert read_consents(paths)["/e/demo"].declared["GEMINI.md"] == newer
    renew_pins(paths, {"/e/demo": {"GEMINI.md": other}})
    assert read_consents(paths)["/e/demo"].declared["GEMINI.md"] == newer


def test_code_is_renewed_unless_another_consent_came(paths: AppPaths) -> None:
    stored = save_consent(paths, CONSENT, DETAILS)
    newer = PIN._replace(identity=FileIdentity(9, 9, 9, 9, 9))
    renewed = renew_code(paths, stored, {"server.js": newer})
    assert read_consent_details(paths, renewed).code == {"server.js": newer}
    assert read_consents(paths) == {"/e/demo": renewed}
    assert renew_code(paths, stored, {"server.js": PIN}) == stored
    assert read_consents(paths) == {"/e/demo": renewed}


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"version": 2, "extensions": {}}', '{"version": 1}', '{"version": 1, "extensions": {"/e": {}}}'],
)
def test_an_unusable_store_is_named_and_kept(paths: AppPaths, text: str) -> None:
    Path(paths.config).mkdir(parents=True)
    Path(paths.extension_consents).write_text(text)
    with pytest.raises(ConfigurationError, match=r"extensions\.json"):
        read_consents(paths)
    assert Path(paths.extension_consents).read_text() == text


def test_a_store_that_others_can_write_is_refused(paths: AppPaths) -> None:
    save_consent(paths, CONSENT, DETAILS)
    os.chmod(paths.extension_consents, 0o666)
    with pytest.raises(ConfigurationError, match="writable by everyone"):
        read_consents(paths)


def test_a_wrong_pin_is_refused(paths: AppPaths) -> None:
    save_consent(paths, CONSENT, DETAILS)
    content = json.loads(Path(paths.extension_consents).read_text())
    content["extensions"]["/e/demo"]["declared"]["GEMINI.md"] = ["x"]
    Path(paths.extension_consents).write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match="unknown entry"):
        read_consents(paths)


class TestExchange:
    """A prepared consent counts as soon as its tree is in place, whenever the process is killed."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        (tmp_path / "place").mkdir()
        return tmp_path / "place"

    def consent(self, place: Path, tree: Path, version: str) -> ExtensionConsent:
        status = tree.stat()
        identity = FolderIdentity(status.st_dev, status.st_ino, status.st_uid)
        return replace(CONSENT, directory=str(place), identity=identity, version=version)

    def exchange(self, paths: AppPaths, place: Path) -> None:
        new = place.parent / "new"
        new.mkdir()
        save_consent(paths, self.consent(place, place, "1"), DETAILS)
        prepare_consent(paths, self.consent(place, new, "2"), ConsentDetails({}, {"GEMINI.md": "new"}))
        assert read_consents(paths)[str(place)].version == "1"
        place.rename(place.parent / "old")
        new.rename(place)
        assert read_consents(paths)[str(place)].version == "2"

    def test_completed(self, paths: AppPaths, place: Path) -> None:
        self.exchange(paths, place)
        assert read_previous_consent(paths, str(place)) is None
        complete_consent(paths, str(place), keeps_previous=True)
        stored, previous = read_consents(paths)[str(place)], read_previous_consent(paths, str(place))
        assert stored.version == "2"
        assert read_consent_details(paths, stored).texts == {"GEMINI.md": "new"}
        assert previous is not None
        assert previous.version == "1"
        assert read_consent_details(paths, previous) == DETAILS
        save_consent(paths, replace(stored, version="3"), DETAILS)
        assert read_previous_consent(paths, str(place)) == previous

    def test_given_up(self, paths: AppPaths, place: Path, tmp_path: Path) -> None:
        save_consent(paths, self.consent(place, place, "1"), DETAILS)
        prepare_consent(paths, self.consent(place, tmp_path, "2"), DETAILS)
        complete_consent(paths, str(place), keeps_previous=True)
        assert read_consents(paths)[str(place)].version == "1"
        assert read_previous_consent(paths, str(place)) is None
        complete_consent(paths, str(place), keeps_previous=True)

    def test_the_first_one(self, paths: AppPaths, place: Path) -> None:
        prepare_consent(paths, self.consent(place, place, "1"), DETAILS)
        assert read_consents(paths)[str(place)].version == "1"

    def test_code_is_renewed_beside_an_earlier_version(self, paths: AppPaths, place: Path) -> None:
        self.exchange(paths, place)
        complete_consent(paths, str(place), keeps_previous=True)
        stored = read_consents(paths)[str(place)]
        renewed = renew_code(paths, stored, {"server.js": PIN})
        assert read_consent_details(paths, renewed).code == {"server.js": PIN}
        assert read_previous_consent(paths, str(place)) is not None
