"""Scripts of active skills are recognized in command lines, and so are changes of them."""

from pathlib import Path

import pytest

from tejat.app.skills.scripts import scripts_in_line
from tejat.app.skills.service import ActiveSkill
from tejat.config.skills.content import read_skill_content
from tejat.config.skills.skill import Skill, SkillFields
from tejat.core.provenance import Party, Provenance
from tejat.policy.shell.parser import parse_command_line


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path.resolve() / "pdf"
    (directory / "scripts").mkdir(parents=True)
    (directory / "SKILL.md").write_text("---\nname: pdf\ndescription: x\n---\n")
    (directory / "scripts/run.sh").write_text("echo")
    return directory


def found(directory: Path, line: str, where: str = "/") -> list[tuple[str, bool]]:
    skill = Skill(SkillFields("pdf", "x"), str(directory), Provenance(Party.USER, f"{directory}/SKILL.md"), "pdf")
    active = {"pdf": ActiveSkill(skill, read_skill_content(skill), "")}
    scripts = scripts_in_line(active, parse_command_line(line), where)
    return [(script.skill, script.is_unchanged) for script in scripts]


@pytest.mark.parametrize(
    "line",
    [
        "{d}/scripts/run.sh",
        "bash {d}/scripts/run.sh x",
        "cd / && sh -e {d}/scripts/run.sh",
        "env A=1 {d}/scripts/run.sh",
    ],
)
def test_scripts(directory: Path, line: str) -> None:
    assert found(directory, line.format(d=directory)) == [("pdf", True)]


def test_relative_to_the_directory(directory: Path) -> None:
    assert found(directory, "./scripts/run.sh", str(directory)) == [("pdf", True)]


@pytest.mark.parametrize("line", ["cat {d}/scripts/run.sh", "ls {d}", "{d}/scripts/missing.sh", "echo hi"])
def test_other_commands(directory: Path, line: str) -> None:
    assert found(directory, line.format(d=directory)) == []


def test_a_changed_script(directory: Path) -> None:
    skill = Skill(SkillFields("pdf", "x"), str(directory), Provenance(Party.USER, f"{directory}/SKILL.md"), "pdf")
    active = {"pdf": ActiveSkill(skill, read_skill_content(skill), "")}
    (directory / "scripts/run.sh").write_text("rm -rf /")
    (script,) = scripts_in_line(active, parse_command_line(f"{directory}/scripts/run.sh"), "/")
    assert not script.is_unchanged
