"""Where extensions are on and off, in the file of Gemini CLI."""

import json
from pathlib import Path

import pytest

from tejat.config.extensions.enablement import (
    EVERYWHERE,
    read_enablement,
    remove_enablement,
    rename_enablement,
    set_extension_enabled,
)
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import ConfigurationError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path)})


def write(paths: AppPaths, content: object) -> None:
    Path(paths.extensions).mkdir(parents=True, exist_ok=True)
    Path(paths.extension_enablement).write_text(content if isinstance(content, str) else json.dumps(content))


def rules(paths: AppPaths, name: str = "demo") -> list[str]:
    found = json.loads(Path(paths.extension_enablement).read_text())
    return found[name]["overrides"]


def test_everything_is_on_without_the_file(paths: AppPaths) -> None:
    assert read_enablement(paths).is_enabled("demo", "/srv")
    assert not Path(paths.extensions).exists()


def test_the_last_matching_rule_counts(paths: AppPaths) -> None:
    write(paths, {"demo": {"overrides": ["/homes/u/*", "!/homes/u/p/*"]}})
    enablement = read_enablement(paths)
    assert not enablement.is_enabled("demo", "/homes/u/p/sub")
    assert not enablement.is_enabled("demo", "/homes/u/p")
    assert enablement.is_enabled("demo", "/homes/u/q")
    assert enablement.is_enabled("demo", "/homes/u/pq")
    assert enablement.is_enabled("demo", "/srv")
    assert enablement.is_enabled("other", "/homes/u/p")


def test_a_rule_without_a_star_is_for_one_directory(paths: AppPaths) -> None:
    write(paths, {"demo": {"overrides": ["!/a/"]}})
    assert not read_enablement(paths).is_enabled("demo", "/a")
    assert read_enablement(paths).is_enabled("demo", "/a/b")


def test_a_star_in_the_middle(paths: AppPaths) -> None:
    write(paths, {"demo": {"overrides": ["!/homes/*/p/*"]}})
    assert not read_enablement(paths).is_enabled("demo", "/homes/u/p/x")
    assert read_enablement(paths).is_enabled("demo", "/homes/u/q/x")


def test_off_everywhere_removes_narrower_rules(paths: AppPaths) -> None:
    write(paths, {"demo": {"overrides": ["/homes/u/*", "!/homes/u/p/*", "/x/"], "kept": 1}, "other": {"overrides": []}})
    set_extension_enabled(paths, "demo", EVERYWHERE, enabled=False)
    assert rules(paths) == ["!/*"]
    for place in ("/homes/u/p/sub", "/homes/u/q", "/srv", "/"):
        assert not read_enablement(paths).is_enabled("demo", place)
    content = json.loads(Path(paths.extension_enablement).read_text())
    assert content["demo"]["kept"] == 1
    assert content["other"] == {"overrides": []}


def test_on_again_in_one_directory(paths: AppPaths, tmp_path: Path) -> None:
    set_extension_enabled(paths, "demo", EVERYWHERE, enabled=False)
    set_extension_enabled(paths, "demo", str(tmp_path), enabled=True)
    assert rules(paths) == ["!/*", f"{tmp_path}/*"]
    assert read_enablement(paths).is_enabled("demo", f"{tmp_path}/deep/inside")
    assert not read_enablement(paths).is_enabled("demo", "/srv")


def test_rules_follow_a_new_name(paths: AppPaths) -> None:
    set_extension_enabled(paths, "demo", "/a", enabled=False)
    rename_enablement(paths, "demo", "new")
    assert rules(paths, "new") == ["!/a/*"]
    remove_enablement(paths, "new")
    remove_enablement(paths, "missing")
    assert json.loads(Path(paths.extension_enablement).read_text()) == {}


@pytest.mark.parametrize("content", ["{", "[]", {"demo": []}, {"demo": {"overrides": [1]}}, {"d": {"overrides": "x"}}])
def test_an_unreadable_file_turns_everything_off(paths: AppPaths, content: object) -> None:
    write(paths, content)
    enablement = read_enablement(paths)
    assert not enablement.is_enabled("demo", "/srv")
    assert paths.extension_enablement in enablement.problem
    before = Path(paths.extension_enablement).read_text()
    with pytest.raises(ConfigurationError):
        set_extension_enabled(paths, "demo", EVERYWHERE, enabled=True)
    assert Path(paths.extension_enablement).read_text() == before
