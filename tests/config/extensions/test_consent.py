"""Agreeing to an extension pins it as it is."""

import json
import os
from pathlib import Path

import pytest

from tejat.config.extensions.consent import ExtensionPins, agree_to_extension, content_path
from tejat.config.extensions.consent_store import ConsentParty, read_consent_details, read_consents
from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.config.extensions.manifest import ExtensionManifest, read_manifest
from tejat.config.paths import AppPaths, app_paths
from tejat.config.trust.store import folder_identity


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path / "home")})


def make(directory: Path) -> ExtensionManifest:
    directory.mkdir(parents=True)
    manifest = {"name": "demo", "version": "1.0", "excludeTools": ["glob"]}
    (directory / "gemini-extension.json").write_text(json.dumps(manifest))
    (directory / "GEMINI.md").write_text("words")
    (directory / "commands").mkdir()
    (directory / "commands/binary.toml").write_bytes(b"\xff\xfe")
    (directory / "run.sh").write_text("#!/bin/sh\n")
    return read_manifest(str(directory))


def test_everything_is_pinned(paths: AppPaths, tmp_path: Path) -> None:
    directory = tmp_path / "e" / "demo"
    manifest = make(directory)
    record = InstallRecord("https://github.com/o/r", InstallType.GITHUB_RELEASE, release_tag="v1")
    consent = agree_to_extension(paths, str(directory), manifest, record, party=ConsentParty.USER, shown="abc")
    assert read_consents(paths) == {str(directory): consent}
    assert (consent.name, consent.version, consent.revision, consent.shown) == ("demo", "1.0", "v1", "abc")
    assert consent.identity == folder_identity(str(directory))
    assert consent.excluded_tools == ("glob",)
    assert sorted(consent.declared) == ["GEMINI.md", "commands/binary.toml", "gemini-extension.json"]
    details = read_consent_details(paths, consent)
    assert details.texts["GEMINI.md"] == "words"
    assert "commands/binary.toml" not in details.texts
    assert details.code["run.sh"].digest


def test_a_link_is_pinned_at_its_source(paths: AppPaths, tmp_path: Path) -> None:
    source, directory = tmp_path / "source", tmp_path / "e" / "demo"
    manifest = make(source)
    directory.mkdir(parents=True)
    record = InstallRecord(str(source), InstallType.LINK)
    assert content_path(str(directory), record) == str(source)
    consent = agree_to_extension(paths, str(directory), manifest, record, party=ConsentParty.USER, follows=True)
    assert consent.directory == str(directory)
    assert consent.identity == folder_identity(str(source))
    assert consent.follows


def test_what_the_user_saw_is_pinned(paths: AppPaths, tmp_path: Path) -> None:
    directory = tmp_path / "demo"
    manifest = make(directory)
    shown = ExtensionPins(str(directory), manifest)
    (directory / "GEMINI.md").write_text("other")
    consent = agree_to_extension(paths, str(directory), manifest, None, party=ConsentParty.USER, pins=shown)
    assert consent.declared == shown.declared
    assert read_consent_details(paths, consent).texts["GEMINI.md"] == "words"


def test_code_can_be_pinned_without_reading_it(tmp_path: Path) -> None:
    manifest = make(tmp_path / "demo")
    os.chmod(tmp_path / "demo/run.sh", 0o700)
    pins = ExtensionPins(str(tmp_path / "demo"), manifest, hashes_code=False)
    assert pins.code["run.sh"].digest == ""
    assert pins.code["run.sh"].is_executable
