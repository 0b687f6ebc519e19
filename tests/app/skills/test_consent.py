"""What counts as agreed to: answers, saved answers, the trust in a folder, and the pins of an extension."""

import asyncio
from pathlib import Path

import pytest

from support.extensions import write_extension
from support.skills import SkillPlace, allow_skill, decide, write_script_skill
from tejat.app.skills.consent import SkillConsent
from tejat.app.skills.service import load_library
from tejat.config.skills.skill import Skill
from tejat.policy.types import Decision


@pytest.fixture
def place(tmp_path: Path) -> SkillPlace:
    return SkillPlace(tmp_path)


def find(place: SkillPlace, name: str) -> tuple[SkillConsent, Skill]:
    config = place.config()
    skill = load_library(config).find(name)
    assert skill is not None
    return SkillConsent(config, can_ask=True), skill


def doubt(place: SkillPlace, name: str) -> str | None:
    consent, skill = find(place, name)
    return consent.find_doubt(skill)


def test_a_saved_answer(place: SkillPlace) -> None:
    write_script_skill(place.user_skills / "pdf")
    assert doubt(place, "pdf") == "the skill pdf as it is now was not approved by you"
    place.agree("pdf")
    assert doubt(place, "pdf") is None


def test_a_skill_that_cannot_be_read_any_more(place: SkillPlace) -> None:
    directory = write_script_skill(place.user_skills / "pdf")
    consent, skill = find(place, "pdf")
    (directory / "SKILL.md").unlink()
    assert consent.find_doubt(skill) == f"Could not read {directory}/SKILL.md: No such file or directory"


def test_built_in_skills(place: SkillPlace) -> None:
    assert doubt(place, "skill-creator") is None


def test_an_extension(place: SkillPlace) -> None:
    """Its skills are pinned when it is first seen, and a change of any of them counts."""
    directory = place.home / ".gemini/extensions/gcp"
    files = {
        "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: d\n---\n",
        "skills/deploy/run.sh": "#!/bin/sh\n",
    }
    write_extension(directory, files=files)
    line = f"bash {directory}/skills/deploy/run.sh"
    assert doubt(place, "gcp:deploy") is None
    assert place.decide(line, allow_skill("gcp:deploy")).decision is Decision.ALLOW
    assert place.decide(line, allow_skill("deploy")).decision is Decision.ASK
    with place.tools(allow_skill("gcp:deploy")) as toolset:
        (directory / "skills/deploy/run.sh").write_text("touch MARK")
        verdict = decide(toolset, line)[1]
    assert verdict.decision is Decision.ASK
    assert "skills/deploy/run.sh of the extension gcp changed since it was agreed to" in verdict.reason


@pytest.mark.parametrize("name", ["user", "machine", "Builtin", "project"])
def test_an_extension_cannot_take_the_name_of_a_party(place: SkillPlace, name: str) -> None:
    directory = place.home / ".gemini/extensions/x"
    files = {"skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\n", "skills/pdf/run.sh": "#!/bin/sh\n"}
    write_extension(directory, manifest={"name": name}, files=files)
    for rule in ("pdf", f"{name}:pdf", f"{name.lower()}:pdf"):
        assert place.decide(f"bash {directory}/skills/pdf/run.sh", allow_skill(rule)).decision is Decision.ASK


def test_an_answer_is_for_what_was_shown(place: SkillPlace) -> None:
    write_script_skill(place.user_skills / "pdf")
    with place.tools() as toolset:
        skills = toolset.services.skills
        skills.consent = consent = SkillConsent(place.config(), can_ask=True)
        question = asyncio.run(skills.propose("pdf"))
        asyncio.run(skills.activate("pdf", question))
        skill = skills.library.find("pdf")
        assert skill is not None
        assert consent.find_doubt(skill) is None
        (place.user_skills / "pdf/new").touch()
        assert consent.find_doubt(skill) is not None
