"""A task for each repository that a pattern matches."""

import os
from pathlib import Path

import pytest

from tejat.batch.plan.repositories import read_repositories
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "a [tree]*"
    for path in ("web", "api", "team/web", "team/api/vendor/inner", ".hidden/web"):
        (root / path / ".git").mkdir(parents=True)
    (root / "plain").mkdir()
    (root / "team" / "api" / ".git").mkdir()
    (root / "file").touch()
    (root / "team" / "loop").symlink_to("..")
    monkeypatch.chdir(root)
    return root


def matches(pattern: str) -> dict[str, str]:
    """The paths by id, `!` before those that are rejected."""
    found: dict[str, str] = {}
    for each in read_repositories(pattern):
        match each:
            case TaskRecord():
                found[str(each.values["id"])] = os.path.relpath(str(each.values["repo"]))
            case RejectedTask():
                assert each.failure is TaskFailure.REPOSITORY
                found[each.id] = "!" + each.message
        assert each.source == pattern
    return found


@pytest.mark.usefixtures("tree")
class TestPatterns:
    def test_one_level(self, tree: Path) -> None:
        assert matches("*") == {
            "api": "api",
            "plain": f"!{tree}/plain is not a git repository.",
            "team": f"!{tree}/team is not a git repository.",
            "web": "web",
        }

    def test_all_levels(self) -> None:
        root = os.path.basename(os.getcwd())
        expected = {f"{root}/api": "api", f"{root}/web": "web", "team/api": "team/api", "team/web": "team/web"}
        assert matches("**") == matches("./**/") == matches("**/*") == expected

    def test_a_name_at_any_level(self) -> None:
        assert sorted(matches("**/web").values()) == ["team/web", "web"]
        assert sorted(matches("**/a?i").values()) == ["api", "team/api"]

    def test_does_not_search_within_repositories(self) -> None:
        with pytest.raises(UsageError, match='No directory matches "team/\\*\\*/inner"'):
            matches("team/**/inner")
        assert matches("team/api/vendor/*") == {"inner": "team/api/vendor/inner"}
        assert matches("team/api/**/inner") == {"inner": "team/api/vendor/inner"}

    def test_sets_and_hidden_directories(self) -> None:
        assert matches("[wx]eb") == {"web": "web"}
        assert matches(".h*/*") == {"web": ".hidden/web"}

    def test_absolute_ones_and_home(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tree))
        assert matches("~/w*") == {"web": "web"}
        assert matches("~/team/../web") == {"web": "web"}
        monkeypatch.chdir("/")
        assert list(matches(str(tree.parent) + "/*/w*")) == ["web"]

    def test_a_link_is_followed_where_it_is_named(self) -> None:
        assert matches("team/l*/web") == {"web": "team/loop/web"}

    @pytest.mark.parametrize("pattern", ["none*", "file", "", " ", "none/**", "[", "a\0b"])
    def test_none(self, pattern: str) -> None:
        with pytest.raises(UsageError, match=r"No (directory|git repository) matches \""):
            read_repositories(pattern)

    def test_no_repository_below(self) -> None:
        with pytest.raises(UsageError, match='No git repository matches "plain/\\*\\*"'):
            read_repositories("plain/**")


def test_names_that_cannot_be_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a\nb", "c"):
        (tmp_path / name / ".git").mkdir(parents=True)
    try:
        os.makedirs(os.fsencode(tmp_path) + b"/d\xff/.git")
    except OSError:
        pytest.skip("the file system has no names that are not UTF-8")
    first, second, third = read_repositories("*")
    assert isinstance(first, TaskRecord)
    assert isinstance(second, TaskRecord)
    assert isinstance(third, RejectedTask)
    assert (first.values["id"], second.values["id"], third.id) == ("repository-1", "c", "repository-3")
    assert "not valid UTF-8" in third.message
