"""Plan files are opened by name in the open directory, and no link is followed."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.atomic_write import write_atomically
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.plan_directory import PlanDirectory


class Place:
    """A workspace and a directory of plans beside it."""

    def __init__(self, base: Path) -> None:
        self.project, self.plans = base / "project", base / "plans"
        self.project.mkdir()
        self.plans.mkdir()
        (self.project / "secret.md").write_text("mine")
        self.is_planning = True
        self.roots = Roots(str(self.project))
        self.roots.plans = PlanDirectory(str(self.plans), is_planning=lambda: self.is_planning)

    @property
    def directory(self) -> PlanDirectory:
        assert self.roots.plans is not None
        return self.roots.plans

    def write(self, path: str, text: str = "new") -> Location:
        location = self.roots.locate(path)
        write_atomically(self.roots, location, [text.encode()], expected=None)
        return location


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    place = Place(tmp_path)
    with place.roots:
        yield place


def failure(work: object) -> ErrorType:
    assert callable(work)
    with pytest.raises(WorkspaceError) as caught:
        work()
    return caught.value.error_type


def test_names(place: Place) -> None:
    names = {
        "a.md": True,
        "A b.md": True,
        "a.MD": False,
        "a.txt": False,
        ".md": False,
        ".a.md": False,
        "sub/a.md": False,
    }
    found = {name: place.directory.file_name(str(place.plans / name)) == name for name in names}
    assert found == names
    assert place.directory.file_name(str(place.project / "a.md")) is None


def test_reserved_names(place: Place) -> None:
    directory = PlanDirectory(str(place.plans), is_planning=lambda: True, reserved_names=("GEMINI.md",))
    assert [directory.file_name(f"{place.plans}/{name}") for name in ("GEMINI.md", "gemini.md", "a.md")] == [
        None,
        None,
        "a.md",
    ]
    directory.close()


def test_a_bare_name_means_a_plan_only_in_plan_mode(place: Place) -> None:
    assert place.roots.locate("plan.md").path == str(place.plans / "plan.md")
    assert place.roots.locate("secret.md").path == str(place.project / "secret.md")
    assert place.roots.locate("sub/plan.md").path == str(place.project / "sub" / "plan.md")
    assert place.roots.locate("plan.txt").path == str(place.project / "plan.txt")
    place.is_planning = False
    assert place.roots.locate("plan.md").path == str(place.project / "plan.md")


def test_plans_can_be_written_only_in_plan_mode(place: Place) -> None:
    location = place.write("plan.md")
    assert (place.plans / "plan.md").read_text() == "new"
    place.is_planning = False
    assert failure(lambda: place.roots.open_parent(location, create=False)) is ErrorType.PATH_NOT_IN_WORKSPACE
    with place.roots.open_file(location) as file:
        assert file.read_all() == b"new"


def test_links_and_other_things_are_refused(place: Place) -> None:
    (place.plans / "link.md").symlink_to(place.project / "secret.md")
    (place.plans / "new.md").symlink_to(place.project / "new.md")
    os.link(place.project / "secret.md", place.plans / "hard.md")
    (place.plans / "folder.md").mkdir()
    os.mkfifo(place.plans / "pipe.md")
    kinds = {
        name: failure(lambda name=name: place.write(str(place.plans / name)))
        for name in ("link.md", "new.md", "hard.md", "folder.md", "pipe.md")
    }
    assert kinds.pop("folder.md") is ErrorType.TARGET_IS_DIRECTORY
    assert set(kinds.values()) == {ErrorType.PATH_NOT_IN_WORKSPACE}
    assert (place.project / "secret.md").read_text() == "mine"
    assert not (place.project / "new.md").exists()


def test_a_link_is_not_read(place: Place) -> None:
    (place.plans / "link.md").symlink_to(place.project / "secret.md")
    location = place.roots.locate(str(place.plans / "link.md"))
    assert failure(lambda: place.roots.open_file(location)) is ErrorType.PATH_NOT_IN_WORKSPACE


def test_a_link_that_appears_after_the_check_is_never_written_through(place: Place) -> None:
    location = place.roots.locate(str(place.plans / "plan.md"))
    with place.roots.open_parent(location, create=False) as parent:
        (place.plans / "plan.md").symlink_to(place.project / "secret.md")
        assert parent.name == "plan.md"
    assert failure(lambda: place.write(str(place.plans / "plan.md"))) is ErrorType.PATH_NOT_IN_WORKSPACE
    assert (place.project / "secret.md").read_text() == "mine"


def test_a_directory_that_is_swapped_leads_nowhere_else(place: Place, tmp_path: Path) -> None:
    place.plans.rename(tmp_path / "moved")
    place.plans.symlink_to(place.project)
    place.write(str(tmp_path / "plans" / "plan.md"))
    assert (tmp_path / "moved" / "plan.md").read_text() == "new"
    assert not (place.project / "plan.md").exists()


def test_names_in_the_directory(place: Place) -> None:
    for name in ("b.md", "a.md", "c.txt"):
        (place.plans / name).write_text("x")
    (place.plans / "link.md").symlink_to("a.md")
    assert place.directory.names() == ["a.md", "b.md"]
    assert place.directory.modified_at("a.md") > 0
    assert place.directory.modified_at("gone.md") == 0
