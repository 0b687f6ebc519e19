"""Plan directories of sessions are removed, and nothing else is."""

import os
from pathlib import Path

import pytest

from tejat.config.paths import plans_name
from tejat.engine.plans.storage import PlanStorage

NOW = 1_770_000_000.0


def make_plan(directory: Path, project: str, session_id: str, *, at: float = NOW) -> Path:
    """The directory of a session with one plan file."""
    place = directory / project / plans_name(session_id)
    place.mkdir(parents=True)
    (place / "plan.md").write_text("# Plan\n")
    os.utime(place, (at, at))
    return place


def test_the_plans_of_one_session(tmp_path: Path) -> None:
    storage = PlanStorage(str(tmp_path))
    one, other = make_plan(tmp_path, "p", "one"), make_plan(tmp_path, "p", "other")
    assert storage.path("p", "one") == str(one)
    storage.remove("p", "one")
    assert (one.exists(), other.exists()) == (False, True)
    storage.remove("p", "other")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("session_id", ["..", ".", "", "../../x", "/etc", "a/b", "a\0b", "é", "\udcff"])
def test_an_id_never_leads_elsewhere(tmp_path: Path, session_id: str) -> None:
    storage = PlanStorage(str(tmp_path / "plans"))
    other = make_plan(tmp_path / "plans", "p", "other")
    place = make_plan(tmp_path / "plans", "p", session_id)
    assert place.parent == other.parent
    storage.remove("p", session_id)
    assert (place.exists(), other.exists()) == (False, True)


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    mine = make_plan(tmp_path, "mine", "mine")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "one").symlink_to(mine)
    PlanStorage(str(tmp_path)).remove("p", "one")
    assert ((mine / "plan.md").exists(), os.path.lexists(tmp_path / "p" / "one")) == (True, False)


def test_old_directories_without_a_session(tmp_path: Path) -> None:
    storage = PlanStorage(str(tmp_path))
    kept = make_plan(tmp_path, "p", "kept", at=NOW - 100)
    orphan = make_plan(tmp_path, "p", "orphan", at=NOW - 100)
    young = make_plan(tmp_path, "p", "young")
    assert sorted(storage.old_names("p", before=NOW - 50)) == ["kept", "orphan"]
    storage.remove_orphans("p", {"kept"}, before=NOW - 50)
    assert [place.exists() for place in (kept, orphan, young)] == [True, False, True]
    assert storage.projects() == ["p"]


def test_nothing_there(tmp_path: Path) -> None:
    storage = PlanStorage(str(tmp_path / "none"))
    assert (storage.projects(), storage.old_names("p", before=NOW)) == ([], [])
    storage.remove_orphans("p", (), before=NOW)
