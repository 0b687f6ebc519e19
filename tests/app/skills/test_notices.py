"""The user is told once about each content."""

from pathlib import Path

from tejat.app.skills.notices import new_catalogue_note, startup_notices
from tejat.config.paths import AppPaths
from tejat.config.skills.discovery import SkillLibrary, SkillProblem
from tejat.config.skills.skill import Skill, SkillFields
from tejat.core.provenance import Party, Provenance


def app_paths(base: Path) -> AppPaths:
    return AppPaths(str(base), f"{base}/config", f"{base}/state", f"{base}/.gemini", ())


def problems(*messages: str) -> SkillLibrary:
    return SkillLibrary(problems=tuple(SkillProblem(f"/{text}", text) for text in messages))


def skill(party: Party, pin: str = "") -> Skill:
    return Skill(SkillFields("x", "y"), "/x", Provenance(party, f"/{party}/SKILL.md"), "x", pin)


def test_problems_once(tmp_path: Path) -> None:
    paths = app_paths(tmp_path)
    assert startup_notices(paths, problems("one")) == ("one",)
    assert startup_notices(paths, problems("one")) == ()
    assert startup_notices(paths, problems("one", "two")) == ("one", "two")


def test_many_problems_are_counted(tmp_path: Path) -> None:
    lines = startup_notices(app_paths(tmp_path), problems(*map(str, range(10))))
    assert lines == ("0", "1", "8 more notices about skills. See `tejat skills list --verbose`.")


def test_a_replaced_skill_is_named_once_for_each_content(tmp_path: Path) -> None:
    paths = app_paths(tmp_path)
    library = SkillLibrary(replaced=((skill(Party.PROJECT, "1"), skill(Party.USER)),))
    assert startup_notices(paths, library) == ("The skill x (/project/SKILL.md) replaces /user/SKILL.md (user).",)
    assert startup_notices(paths, library) == ()
    changed = SkillLibrary(replaced=((skill(Party.PROJECT, "2"), skill(Party.USER)),))
    assert len(startup_notices(paths, changed)) == 1


def test_the_catalogue(tmp_path: Path) -> None:
    paths = app_paths(tmp_path)
    assert [new_catalogue_note(paths, note) for note in ("a", "a", "b", "")] == [True, False, True, False]
