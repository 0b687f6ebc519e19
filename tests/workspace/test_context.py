"""The workspace as an object that is opened and closed."""

import time
from pathlib import Path

import pytest

from tejat.workspace.context import Workspace
from tejat.workspace.files.handles.cached_files import Storage
from tejat.workspace.paths.ignore_rules import IgnoreOptions, IgnoreStatus


def test_closing_twice(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        assert workspace.roots.first.real_path == str(tmp_path)
        workspace.close()
    workspace.close()


def test_its_directories_are_shown(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with Workspace([tmp_path, tmp_path / "b"]) as workspace:
        assert repr(workspace) == f"Workspace({str(tmp_path)!r}, {str(tmp_path / 'b')!r})"


class TestOwnIgnoreRules:
    def test_they_are_read_again_when_their_file_has_changed(self, tmp_path: Path) -> None:
        file = tmp_path / ".geminiignore"
        with Workspace(tmp_path) as workspace:
            root = workspace.roots.first
            assert workspace.own_ignore_rules(root).is_empty
            file.write_text("a")
            for expected, text in (
                (IgnoreStatus.GEMINI, "b"),
                (IgnoreStatus.NOT_IGNORED, "a"),
                (IgnoreStatus.GEMINI, ""),
            ):
                assert workspace.own_ignore_rules(root).check("a", is_directory=False) is expected
                file.write_text(text)
            file.unlink()
            assert workspace.own_ignore_rules(root).is_empty

    def test_they_are_kept_once_their_file_has_settled(self, tmp_path: Path) -> None:
        (tmp_path / ".geminiignore").write_text("a")
        with Workspace(tmp_path) as workspace:
            root = workspace.roots.first
            rules = workspace.own_ignore_rules(root)
            assert (
                workspace.own_ignore_rules(root) is not rules
            )  # it may change again within the same tick of the clock
            time.sleep(0.2)
            rules = workspace.own_ignore_rules(root)
            assert workspace.own_ignore_rules(root) is rules

    def test_git_does_not_count(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".gitignore").write_text("a")
        with Workspace(tmp_path) as workspace:
            assert workspace.own_ignore_rules(workspace.roots.first).is_empty


class TestCurrentRules:
    def test_they_are_there_once_they_were_read(self, tmp_path: Path) -> None:
        with Workspace(tmp_path) as workspace:
            root = workspace.roots.first
            if root.storage is Storage.ELSEWHERE:
                pytest.skip("the temporary directory is not on a local file system")
            assert workspace.find_current_rules() is None
            rules = workspace.own_ignore_rules(root)
            assert workspace.find_current_rules() == {root: rules}
            (tmp_path / ".geminiignore").write_text("a")
            assert workspace.find_current_rules() is None

    def test_every_root_must_be_known(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        with Workspace([tmp_path / "a", tmp_path / "b"]) as workspace:
            workspace.own_ignore_rules(workspace.roots.first)
            assert workspace.find_current_rules() is None

    def test_files_from_the_settings_may_be_anywhere(self, tmp_path: Path) -> None:
        with Workspace(tmp_path, ignore=IgnoreOptions(files=(str(tmp_path / "ignored"),))) as workspace:
            workspace.own_ignore_rules(workspace.roots.first)
            assert workspace.find_current_rules() is None
