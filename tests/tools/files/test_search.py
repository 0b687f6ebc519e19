"""Where tools search and what a pattern means there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.tools.files.search import (
    PathEntry,
    compile_pattern,
    compile_patterns,
    real_path,
    reject_outside_pattern,
    relativize_pattern,
    search_directories,
    stat_entry,
)
from tejat.workspace.context import Workspace
from tejat.workspace.files.roots import Location


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    (base / "root" / "sub").mkdir(parents=True)
    (base / "other").mkdir()
    (base / "link").symlink_to("root")
    return base


@pytest.fixture
def workspace(base: Path) -> Iterator[Workspace]:
    with Workspace([base / "link", base / "other"]) as workspace:
        yield workspace


@pytest.fixture
def place(workspace: Workspace) -> Location:
    return Location(workspace.roots.first, "")


class TestPlaces:
    @pytest.mark.parametrize("path", [None, ""])
    def test_every_root(self, workspace: Workspace, base: Path, path: str | None) -> None:
        assert [place.path for place in search_directories(workspace, path)] == [f"{base}/link", f"{base}/other"]

    def test_one_directory(self, workspace: Workspace, base: Path) -> None:
        assert [place.path for place in search_directories(workspace, "sub")] == [f"{base}/link/sub"]

    def test_one_outside(self, workspace: Workspace) -> None:
        with pytest.raises(WorkspaceError) as caught:
            search_directories(workspace, "/etc")
        assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE

    def test_the_real_path(self, workspace: Workspace, base: Path) -> None:
        assert real_path(workspace.roots.locate("sub")) == f"{base}/root/sub"
        assert real_path(Location(workspace.roots.first, "")) == f"{base}/root"
        with Workspace(["/"]) as whole:
            assert real_path(Location(whole.roots.first, "")) == "/"


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("*.py", "*.py"),
            ("./*.py", "*.py"),
            ("{base}/link/*.py", "*.py"),
            ("{base}/root/sub/*.py", "sub/*.py"),
            ("{base}/link", ""),
            ("{base}/root/", ""),
            ("{base}/other/*.py", None),
            ("{base}/roots/*.py", None),
            ("/etc/*", None),
        ],
    )
    def test_from_the_place_on(self, place: Location, base: Path, pattern: str, expected: str | None) -> None:
        assert relativize_pattern(place, pattern.replace("{base}", str(base))) == expected

    def test_a_pattern(self, workspace: Workspace, place: Location, base: Path) -> None:
        pattern = compile_pattern(workspace, place, "sub/*.PY", case_sensitive=False)
        assert pattern is not None
        assert [path for path in ("sub/a.py", "a.py", "sub/a/b.py") if pattern.matches(path)] == ["sub/a.py"]
        assert compile_pattern(workspace, place, f"{base}/other/*", case_sensitive=False) is None
        assert compile_pattern(workspace, place, f"{base}/link", case_sensitive=False) is None

    def test_the_name_of_a_file_to_the_letter(self, workspace: Workspace, place: Location, base: Path) -> None:
        before = compile_pattern(workspace, place, "f[1]", case_sensitive=True)
        (base / "root" / "f[1]").touch()
        after = compile_pattern(workspace, place, "f[1]", case_sensitive=True)
        assert before is not None
        assert after is not None
        assert [before.matches("f1"), before.matches("f[1]")] == [True, False]
        assert [after.matches("f1"), after.matches("f[1]")] == [False, True]

    def test_several(self, workspace: Workspace, place: Location, base: Path) -> None:
        patterns = compile_patterns(workspace, place, ["*.a", f"{base}/other/*", "*.b"], case_sensitive=True)
        assert [pattern.text for pattern in patterns] == ["*.a", "*.b"]

    def test_one_that_leads_out(self, workspace: Workspace, place: Location) -> None:
        with pytest.raises(ToolFailure) as caught:
            compile_pattern(workspace, place, "../*", case_sensitive=True)
        assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE

    def test_absolute_ones_outside_are_refused(self, workspace: Workspace, base: Path) -> None:
        places = search_directories(workspace, None)
        for pattern in ("*", "../*", f"{base}/other/*", f"{base}/root/*", f"{base}/link"):
            reject_outside_pattern(workspace, pattern, places)
        for pattern in ("/etc/*", f"{base}/*", f"{base}/rooted/*"):
            with pytest.raises(ToolFailure) as caught:
                reject_outside_pattern(workspace, pattern, places)
            assert caught.value.message == (
                f'Path not in workspace: Attempted path "{pattern}" resolves outside the allowed workspace '
                f"directories: {base}/link, {base}/other"
            )
            assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
            assert caught.value.display == "Path not in workspace."


class TestEntries:
    def test_what_is_there(self, workspace: Workspace, place: Location, base: Path) -> None:
        (base / "root" / "f").touch()
        (base / "root" / "to-sub").symlink_to("sub")
        (base / "root" / "out").symlink_to("/etc")
        root = workspace.roots.first
        assert stat_entry(workspace, place, "f") == PathEntry(Location(root, "f"), is_directory=False)
        assert stat_entry(workspace, place, "sub/") == PathEntry(Location(root, "sub"), is_directory=True)
        assert stat_entry(workspace, place, "to-sub") == PathEntry(Location(root, "to-sub"), is_directory=True)
        assert stat_entry(workspace, place, "") == PathEntry(place, is_directory=True)
        for name in ("none", "out", "../none", "n" * 300):
            assert stat_entry(workspace, place, name) is None
