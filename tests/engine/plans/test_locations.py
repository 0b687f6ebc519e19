"""Where plans are written: the setting, an extension, or a private directory of the session."""

from pathlib import Path

import pytest

from tejat.config.extensions.active import ActiveExtension
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.paths import app_paths
from tejat.config.settings.types import Setting, Settings
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.engine.plans.locations import PlanLocation, plan_location


def located(root: Path, setting: str | None = None, *wanted: str) -> PlanLocation:
    settings = Settings() if setting is None else replace(Settings(), plan_directory=Setting(setting, "mine:1"))
    extensions = [
        ActiveExtension(
            f"e{number}", "1", "/e", manifest=ExtensionManifest("/e", f"e{number}", "1", plan_directory=name)
        )
        for number, name in enumerate(wanted)
    ]
    paths = app_paths({"HOME": str(root.parent / "home")})
    return plan_location(settings, paths, str(root), session_id="id", extensions=extensions)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to("docs")
    (root / "file").write_text("")
    return root


def test_a_private_directory_of_the_session(root: Path) -> None:
    found = located(root)
    assert found.path.startswith(f"{root.parent}/home/.local/state/tejat/plans/")
    assert found.path.endswith("/id")
    assert not found.is_in_workspace


@pytest.mark.parametrize(
    ("name", "path"), [("docs/plans", "docs/plans"), (".gemini/plans/x", ".gemini/plans/x"), ("in", "docs")]
)
def test_a_directory_of_the_settings(root: Path, name: str, path: str) -> None:
    found = located(root, name)
    assert (found.path, found.is_in_workspace) == (str(root / path), True)
    assert "GEMINI.md" in found.reserved_names


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../project", "/", "/etc", "out", "out/x", "file", ".git", ".gemini", ".claude/plans", "a\0b"],
)
def test_one_that_cannot_be_used(root: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^mine:1: general\.plan\.directory is "):
        located(root, name)


def test_an_extension_only_if_the_settings_say_nothing(root: Path) -> None:
    assert located(root, None, "", "plans", "other").path == str(root / "plans")
    assert located(root, "docs", "plans").path == str(root / "docs")


def test_an_invalid_directory_of_an_extension_is_named(root: Path) -> None:
    found = located(root, None, "../x")
    assert not found.is_in_workspace
    (problem,) = found.problems
    assert str(problem).startswith("The extension e0 sets the plan directory '../x', which is not used: it must be ")
