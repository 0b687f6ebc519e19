"""An extension in use must stay what was agreed to."""

import os
from pathlib import Path

import pytest

from support.extensions import write_extension
from tejat.config.extensions.consent_store import read_consent_details, read_consents
from tejat.config.extensions.loader import find_extensions
from tejat.config.extensions.pinned import PinnedExtension
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.types import Settings


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path)})


@pytest.fixture
def extension(paths: AppPaths) -> Path:
    files = {"GEMINI.md": "words", "more.md": "more", "server.js": "code", "node_modules/m/i.js": "m"}
    return write_extension(Path(paths.extensions, "demo"), files=files)


def take_over(paths: AppPaths, extension: Path) -> PinnedExtension:
    find_extensions(paths, "/", Settings())
    return PinnedExtension(paths, "demo", str(extension), ("GEMINI.md",), read_consents(paths)[str(extension)])


def test_the_first_check_hashes_what_was_only_seen(paths: AppPaths, extension: Path) -> None:
    pinned = take_over(paths, extension)
    assert pinned.find_change() == ""
    consent = read_consents(paths)[str(extension)]
    assert all(pin.digest for pin in read_consent_details(paths, consent).code.values())
    assert pinned.find_change() == ""


@pytest.mark.parametrize("name", ["server.js", "node_modules/m/i.js", "GEMINI.md", "new.js"])
def test_a_changed_file_is_named(paths: AppPaths, extension: Path, name: str) -> None:
    pinned = take_over(paths, extension)
    assert pinned.find_change() == ""
    (extension / name).write_text("changed")
    assert name in pinned.find_change()
    assert "tejat extensions review demo" in pinned.find_change()


def test_values_of_settings_are_no_change(paths: AppPaths, extension: Path) -> None:
    pinned = take_over(paths, extension)
    (extension / ".env").write_text("A=b")
    assert pinned.find_change() == ""


def test_another_directory_is_a_change(paths: AppPaths, extension: Path) -> None:
    pinned = take_over(paths, extension)
    extension.rename(extension.parent / ".old")
    assert "cannot be checked" in pinned.find_change()
    (extension.parent / ".old").rename(extension)
    assert pinned.find_change() == ""


def test_content_is_compared_as_it_was_read(paths: AppPaths, extension: Path) -> None:
    pinned = take_over(paths, extension)
    for name, content in (("GEMINI.md", b"words"), ("more.md", b"more")):
        path = str(extension / name)
        assert pinned.accepts(path, os.stat(path), content)
        pinned.find_change()
        assert not pinned.accepts(path, os.stat(path), b"other")
    unknown = extension / "unknown.md"
    unknown.write_text("x")
    assert not pinned.accepts(str(unknown), unknown.stat(), b"x")


class TestDeclaredFile:
    """One file that is about to be read."""

    def change(self, pinned: PinnedExtension, path: Path) -> str:
        return pinned.find_file_change(str(path), path.stat())

    def test_the_same_content(self, paths: AppPaths, extension: Path) -> None:
        pinned = take_over(paths, extension)
        assert self.change(pinned, extension / "GEMINI.md") == ""
        (extension / "GEMINI.md").write_text("words")  # with another time
        assert self.change(pinned, extension / "GEMINI.md") == ""

    @pytest.mark.parametrize("text", ["sdrow", "longer words"])
    def test_another_content(self, paths: AppPaths, extension: Path, text: str) -> None:
        pinned = take_over(paths, extension)
        (extension / "GEMINI.md").write_text(text)
        assert "tejat extensions review demo" in self.change(pinned, extension / "GEMINI.md")

    def test_a_file_that_is_new(self, paths: AppPaths, extension: Path) -> None:
        pinned = take_over(paths, extension)
        new = extension / "skills" / "new" / "SKILL.md"
        new.parent.mkdir(parents=True)
        new.write_text("x")
        assert str(new) in self.change(pinned, new)

    def test_a_file_behind_a_link(self, paths: AppPaths, extension: Path) -> None:
        target = extension / "shared" / "one" / "SKILL.md"
        target.parent.mkdir(parents=True)
        target.write_text("x")
        (extension / "skills").symlink_to("shared")
        pinned = take_over(paths, extension)
        path = extension / "skills" / "one" / "SKILL.md"
        assert self.change(pinned, path) == ""
        target.write_text("y")
        assert self.change(pinned, path) != ""
