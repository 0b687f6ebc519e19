"""Pins tell whether the files of an extension are what was agreed to."""

import os
from pathlib import Path

import pytest

from tejat.config.extensions import pins
from tejat.config.extensions.pins import (
    UnpinnableExtension,
    check_code,
    check_declared,
    find_foreign_writer,
    pin_code,
    pin_declared,
)

CONTEXT = ("GEMINI.md",)


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    root = tmp_path / "demo"
    for name in (
        *("gemini-extension.json", "GEMINI.md", "hooks/hooks.json", "hooks/check.sh", "commands/git/a.toml"),
        *("skills/s/SKILL.md", "skills/s/scripts/x.py", "agents/a.md", "agents/a.txt", "policies/p.toml"),
        *("server.js", "node_modules/m/index.js", ".git/config", ".env", ".gemini-extension-install.json"),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def test_the_two_sets(extension: Path) -> None:
    declared = pin_declared(str(extension), CONTEXT)
    assert sorted(declared) == [
        *("GEMINI.md", "agents/a.md", "commands/git/a.toml", "gemini-extension.json", "hooks/hooks.json"),
        *("policies/p.toml", "skills/s/SKILL.md", "skills/s/scripts/x.py"),
    ]
    code = pin_code(str(extension), declared)
    assert sorted(code) == ["agents/a.txt", "hooks/check.sh", "node_modules/m/index.js", "server.js"]


def test_unchanged_files_are_not_read(extension: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = pin_declared(str(extension), CONTEXT)

    def refuse(*_: object, **__: object) -> int:
        raise AssertionError("read")

    monkeypatch.setattr(pins, "regular_file_opener", refuse)
    assert check_declared(str(extension), CONTEXT, pinned) == pins.PinCheck()


def test_changed_new_and_missing_files_are_named(extension: Path) -> None:
    pinned = pin_declared(str(extension), CONTEXT)
    (extension / "GEMINI.md").write_text("GEMINI.md, changed")
    (extension / "commands/new.toml").write_text("x")
    (extension / "agents/a.md").unlink()
    check = check_declared(str(extension), CONTEXT, pinned)
    assert check.changed == ("GEMINI.md", "agents/a.md", "commands/new.toml")
    assert not check.renewed


def test_same_content_with_another_time_is_unchanged_and_renewed(extension: Path) -> None:
    pinned = pin_declared(str(extension), CONTEXT)
    os.utime(extension / "GEMINI.md", (1, 1))
    check = check_declared(str(extension), CONTEXT, pinned)
    assert check.changed == ()
    assert set(check.renewed) == {"GEMINI.md"}
    assert check_declared(str(extension), CONTEXT, {**pinned, **check.renewed}) == pins.PinCheck()


def test_an_executable_bit_is_a_change(extension: Path) -> None:
    pinned = pin_code(str(extension), ())
    (extension / "server.js").chmod(0o755)
    assert check_code(str(extension), (), pinned).changed == ("server.js",)


def test_code_that_was_only_seen_is_hashed_at_the_first_check(extension: Path) -> None:
    declared = pin_declared(str(extension), CONTEXT)
    seen = pin_code(str(extension), declared, hashes=False)
    assert {pin.digest for pin in seen.values()} == {""}
    check = check_code(str(extension), declared, seen)
    assert check.changed == ()
    assert check.renewed == pin_code(str(extension), declared)


def test_code_that_was_only_seen_and_touched_is_changed(extension: Path) -> None:
    declared = pin_declared(str(extension), CONTEXT)
    seen = pin_code(str(extension), declared, hashes=False)
    os.utime(extension / "server.js", (1, 1))
    assert check_code(str(extension), declared, seen).changed == ("server.js",)


def test_links_inside_are_pinned_with_what_they_lead_to(extension: Path) -> None:
    (extension / "shared").mkdir()
    (extension / "shared/SKILL.md").write_text("shared")
    (extension / "skills/linked").symlink_to("../shared")
    (extension / "skills/loop").symlink_to("../skills")
    pinned = pin_declared(str(extension), CONTEXT)
    assert pinned["skills/linked"].digest == "link:../shared"
    assert "shared/SKILL.md" in pinned
    (extension / "shared/SKILL.md").write_text("other text")
    assert check_declared(str(extension), CONTEXT, pinned).changed == ("shared/SKILL.md",)


@pytest.mark.parametrize("name", ["commands/x.toml", "skills/s/etc", "GEMINI.md", "policies/p.toml"])
def test_a_link_out_of_the_extension_is_refused(extension: Path, name: str) -> None:
    path = extension / name
    path.unlink(missing_ok=True)
    path.symlink_to("/etc")
    with pytest.raises(UnpinnableExtension, match=name):
        pin_declared(str(extension), CONTEXT)


def test_code_that_links_out_is_refused(extension: Path) -> None:
    (extension / "node_modules/out").symlink_to("../../..")
    with pytest.raises(UnpinnableExtension, match="node_modules/out"):
        pin_code(str(extension), ())


def test_large_trees_are_refused(extension: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "MAX_FILES", 5)
    with pytest.raises(UnpinnableExtension, match="more than 5 files"):
        pin_code(str(extension), ())
    monkeypatch.setattr(pins, "MAX_DECLARED_FILES", 3)
    with pytest.raises(UnpinnableExtension, match="more than 3"):
        pin_declared(str(extension), CONTEXT)


def test_special_files_are_left_out(extension: Path) -> None:
    os.mkfifo(extension / "commands/pipe.toml")
    os.mkfifo(extension / "pipe")
    declared = pin_declared(str(extension), CONTEXT)
    assert "commands/pipe.toml" not in declared
    assert "pipe" not in pin_code(str(extension), declared)


def test_who_could_write(extension: Path) -> None:
    assert find_foreign_writer(str(extension)) == ""
    (extension / "node_modules/m").chmod(0o777)
    assert find_foreign_writer(str(extension)) == str(extension / "node_modules/m")
