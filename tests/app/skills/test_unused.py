"""Skills that nobody activates are named with what they cost."""

from pathlib import Path

from tejat.app.run_config import load_run_config
from tejat.app.skills.service import load_library
from tejat.app.skills.unused import unused_skills
from tejat.app.skills.usage import record_use


def test_unused_skills(tmp_path: Path) -> None:
    for name in ("one", "two"):
        directory = tmp_path / ".agents/skills" / name
        directory.mkdir(parents=True)
        (directory / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\n")
    project = tmp_path / "project"
    project.mkdir()
    config = load_run_config([str(project)], environment={"HOME": str(tmp_path)})
    before = unused_skills(config)
    assert before.names == ("one", "two")
    skill = load_library(config).find("one")
    assert skill is not None
    record_use(config.paths, skill)
    after = unused_skills(config)
    assert after.names == ("two",)
    assert 0 < after.tokens < before.tokens
