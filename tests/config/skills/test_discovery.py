"""Which skill a name means, and what is said about the others."""

import json
import os
from pathlib import Path

import pytest

from support.extensions import write_extension
from tejat.app.extensions.session.activation import activate_extensions
from tejat.config.extensions.active import ActiveExtension
from tejat.config.paths import AppPaths
from tejat.config.settings.types import Settings
from tejat.config.skills import discovery, skill_file
from tejat.config.skills.discovery import SkillLibrary, find_skills
from tejat.config.skills.places import has_skills, skill_places
from tejat.config.trust.decision import TrustDecision, TrustLevel
from tejat.core.provenance import Party

TRUSTED = TrustDecision(TrustLevel.TRUSTED, "As a test says.")


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = f"{tmp_path}/home"
    os.mkdir(home)
    admin = f"{tmp_path}/etc"
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", (admin,))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def skill(directory: Path, *, name: str | None = None, description: str = "Does it.", more: str = "") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    header = f"name: {name or directory.name}\ndescription: {description}\n{more}"
    (directory / "SKILL.md").write_text(f"---\n{header}---\nBody of {directory}\n")
    return directory


def find(
    paths: AppPaths,
    root: Path,
    *,
    is_trusted: bool = True,
    disabled: tuple[str, ...] = (),
    extensions: tuple[ActiveExtension, ...] = (),
    pins: dict[str, str] | None = None,
) -> SkillLibrary:
    places = skill_places(paths, str(root), is_trusted=is_trusted, extensions=extensions)
    found = find_skills(paths, places, disabled=disabled, pins=pins)
    added = tuple(each for each in found.skills if each.provenance.party is not Party.BUILT_IN)
    return SkillLibrary(added, found.disabled, found.replaced, found.problems)


def test_precedence(paths: AppPaths, root: Path, tmp_path: Path) -> None:
    home = Path(paths.home)
    inner = root / "inner"
    inner.mkdir()
    (root / ".git").mkdir()
    places = [
        tmp_path / "etc/skills/greet",
        home / ".claude/skills/greet",
        home / ".gemini/skills/greet",
        home / ".agents/skills/greet",
        root / ".claude/skills/greet",
        root / ".gemini/skills/greet",
        root / ".agents/skills/greet",
        inner / ".claude/skills/greet",
        inner / ".gemini/skills/greet",
        inner / ".agents/skills/greet",
    ]
    for place in places:
        skill(place)
    while places:
        library = find(paths, inner)
        assert [each.directory for each in library.skills] == [str(places[-1])]
        assert len(library.replaced) == len(places) - 1
        (places.pop() / "SKILL.md").unlink()
    assert find(paths, inner).skills == ()


def test_an_untrusted_folder_adds_none(paths: AppPaths, root: Path) -> None:
    skill(root / ".agents/skills/greet")
    mine = skill(Path(paths.home) / ".claude/skills/greet")
    (used,) = find(paths, root, is_trusted=False).skills
    assert used.directory == str(mine)


def test_one_directory_linked_from_two_places_is_one_skill(paths: AppPaths, root: Path) -> None:
    real = skill(Path(paths.home) / ".agents/skills/x")
    (Path(paths.home) / ".claude/skills").mkdir(parents=True)
    (Path(paths.home) / ".claude/skills/x").symlink_to(real)
    library = find(paths, root)
    assert [each.directory for each in library.skills] == [str(real)]
    assert library.replaced == ()
    assert library.problems == ()


def test_links_of_a_project_that_lead_out_are_named_and_not_followed(paths: AppPaths, root: Path) -> None:
    outside = skill(root.parent / "outside")
    (root / ".agents/skills").mkdir(parents=True)
    (root / ".agents/skills/outside").symlink_to(outside)
    library = find(paths, root)
    assert library.skills == ()
    assert "points outside the project" in library.problems[0].message


def test_links_of_the_user_are_followed(paths: AppPaths, root: Path) -> None:
    outside = skill(root.parent / "outside")
    (Path(paths.home) / ".agents/skills").mkdir(parents=True)
    (Path(paths.home) / ".agents/skills/mine").symlink_to(outside)
    assert [each.name for each in find(paths, root).skills] == ["outside"]


def test_a_skill_directly_in_the_directory(paths: AppPaths, root: Path) -> None:
    skill(Path(paths.home) / ".agents/skills", name="single")
    assert [each.name for each in find(paths, root).skills] == ["single"]


def test_names_are_found_in_any_case_and_qualified(paths: AppPaths, root: Path) -> None:
    skill(Path(paths.home) / ".agents/skills/Greet")
    library = find(paths, root)
    assert [library.find(name) is not None for name in ("greet", "GREET", "user:greet", "project:greet", "x")] == [
        *(True, True, True, False, False)
    ]


def test_skills_of_extensions_keep_their_bare_name_if_it_is_unique(paths: AppPaths, root: Path, tmp_path: Path) -> None:
    extensions = tuple(ActiveExtension(name, "1.0", str(tmp_path / name)) for name in ("b", "a"))
    for extension in extensions:
        skill(Path(extension.path) / "skills/deploy")
    skill(tmp_path / "a/skills/audit")
    skill(tmp_path / "a/skills/mine")
    skill(Path(paths.home) / ".gemini/skills/mine")
    library = find(paths, root, extensions=extensions)
    assert [each.call_name for each in library.skills] == ["a:deploy", "a:mine", "audit", "b:deploy", "mine"]
    assert library.replaced == ()
    assert library.find("a:audit") is library.find("audit")


@pytest.mark.parametrize("file", ["SKILL.md", "agents/openai.yaml"])
def test_a_skill_that_changed_after_its_extension_was_checked(paths: AppPaths, root: Path, file: str) -> None:
    directory = skill(Path(paths.extensions) / "demo/skills/audit")
    kept = skill(Path(paths.extensions) / "demo/skills/kept")
    (directory / "agents").mkdir()
    (directory / "agents/openai.yaml").write_text("policy:\n  allow_implicit_invocation: true\n")
    write_extension(Path(paths.extensions) / "demo")
    active = activate_extensions(paths, (str(root),), Settings(), TRUSTED, {}).extensions
    assert [each.name for each in find(paths, root, extensions=active).skills] == ["audit", "kept"]
    (kept / "SKILL.md").touch()
    (directory / file).write_text((directory / file).read_text() + "# More\n")
    library = find(paths, root, extensions=active)
    assert [each.name for each in library.skills] == ["kept"]
    (problem,) = library.problems
    assert "changed since it was agreed to. Run `tejat extensions review demo`" in problem.message


def test_disabled_names(paths: AppPaths, root: Path) -> None:
    skill(Path(paths.home) / ".agents/skills/one")
    skill(Path(paths.home) / ".agents/skills/two")
    library = find(paths, root, disabled=("ONE",))
    assert [each.name for each in library.skills] == ["two"]
    assert [each.name for each in library.disabled] == ["one"]


def test_a_disabled_skill_does_not_uncover_a_weaker_one(paths: AppPaths, root: Path) -> None:
    skill(Path(paths.home) / ".agents/skills/one")
    skill(Path(paths.home) / ".claude/skills/one")
    assert find(paths, root, disabled=("one",)).skills == ()


def test_project_skills_need_a_pin(paths: AppPaths, root: Path) -> None:
    skill(root / ".agents/skills/old")
    skill(root / ".agents/skills/new")
    library = find(paths, root, pins={".agents/skills/old/SKILL.md": "digest"})
    assert [(each.name, each.pin) for each in library.skills] == [("old", "digest")]
    assert "new since this folder was trusted" in library.problems[0].message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no front matter", "no front matter"),
        ("---\nname: x\n---\n", "no description"),
        ("---\nname: '///'\ndescription: x\n---\n", "no usable name"),
        ("---\nname: x\ndescription: &a x\n---\n", "anchors"),
        ("---\nname: x\ndescription: y\n---\n" + "x" * 600_000, "larger than 512 KB"),
        ("---\nname: x\ndescription: \ud800\n---\n", "not UTF-8"),
    ],
)
def test_a_broken_skill_gets_one_line_and_leaves_the_others(paths: AppPaths, root: Path, text: str, why: str) -> None:
    directory = Path(paths.home) / ".agents/skills"
    skill(directory / "good")
    (directory / "bad").mkdir()
    (directory / "bad/SKILL.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    for _run in ("parsed", "from the cache"):
        library = find(paths, root)
        assert [each.name for each in library.skills] == ["good"]
        (problem,) = library.problems
        assert why in problem.message
        assert "\n" not in problem.message


def test_special_files_and_dangling_links(paths: AppPaths, root: Path) -> None:
    directory = Path(paths.home) / ".agents/skills"
    for name in ("pipe", "gone", "folder"):
        (directory / name).mkdir(parents=True)
    os.mkfifo(directory / "pipe/SKILL.md")
    (directory / "gone/SKILL.md").symlink_to("nowhere")
    (directory / "folder/SKILL.md").mkdir()
    library = find(paths, root)
    assert library.skills == ()
    assert len(library.problems) == 3


def test_a_skill_that_others_may_write_is_refused(paths: AppPaths, root: Path) -> None:
    directory = skill(Path(paths.home) / ".agents/skills/open")
    (directory / "SKILL.md").chmod(0o666)
    library = find(paths, root)
    assert library.skills == ()
    assert "writable by everyone" in library.problems[0].message


def test_limits_of_a_directory(paths: AppPaths, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_SKILLS", 3)
    for number in range(5):
        skill(Path(paths.home) / f".agents/skills/s{number}")
    library = find(paths, root)
    assert [each.name for each in library.skills] == ["s0", "s1", "s2"]
    assert "more than 3 skills" in library.problems[0].message


def test_unchanged_files_are_not_parsed_again(paths: AppPaths, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = skill(
        Path(paths.home) / ".agents/skills/x", more="allowed-tools: [a, b]\nmetadata: {a: b}\nuser-invocable: false\n"
    )
    before = find(paths, root).skills
    cache = json.loads(Path(paths.skill_cache).read_text())
    assert str(directory / "SKILL.md") in cache["files"]
    monkeypatch.setattr(skill_file, "parse_skill", None)
    assert find(paths, root).skills == before
    monkeypatch.undo()
    skill(directory, description="Changed.")
    assert find(paths, root).skills[0].fields.description == "Changed."


def test_a_broken_cache_is_ignored(paths: AppPaths, root: Path) -> None:
    skill(Path(paths.home) / ".agents/skills/x")
    find(paths, root)
    Path(paths.skill_cache).write_text("[]")
    assert [each.name for each in find(paths, root).skills] == ["x"]


def test_the_quick_look(paths: AppPaths, root: Path, tmp_path: Path) -> None:
    assert not has_skills(paths, str(root), is_trusted=True)
    (root / ".agents/skills").mkdir(parents=True)
    assert has_skills(paths, str(root), is_trusted=True)
    assert not has_skills(paths, str(root), is_trusted=False)
    (tmp_path / "ext/skills").mkdir(parents=True)
    extension = ActiveExtension("ext", "1.0", str(tmp_path / "ext"))
    assert has_skills(paths, str(root), is_trusted=False, extensions=(extension,))


def test_built_in_skills_are_not_for_the_model(paths: AppPaths, root: Path) -> None:
    library = find_skills(paths, skill_places(paths, str(root), is_trusted=True))
    assert [each.call_name for each in library.skills] == ["skill-creator"]
    assert library.catalogue == ()
    assert library.problems == ()
