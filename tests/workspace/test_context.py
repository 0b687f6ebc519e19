"""The workspace as an object that is opened and closed."""

from pathlib import Path

from tejat.workspace.context import Workspace


def test_closing_twice(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        assert workspace.roots.first.real_path == str(tmp_path)
        workspace.close()
    workspace.close()


def test_its_directories_are_shown(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with Workspace([tmp_path, tmp_path / "b"]) as workspace:
        assert repr(workspace) == f"Workspace({str(tmp_path)!r}, {str(tmp_path / 'b')!r})"
