"""`tejat skills`: nothing of a skill is run, and nothing is changed without a yes."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def skill(directory: Path, body: str = "Body", *, more: str = "") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_text(
        f"---\nname: {directory.name}\ndescription: Does {directory.name}.\n{more}---\n{body}\n"
    )
    return directory


class TestList:
    def test_without_skills(self, env: ProgramEnv) -> None:
        result = env.run("skills", "list")
        assert (result.code, result.stdout, result.stderr) == (0, "No skills discovered.\n", "")

    def test_text(self, env: ProgramEnv) -> None:
        skill(env.home / ".agents/skills/pdf", more="license: MIT\nmodel: opus\n")
        skill(env.home / ".claude/skills/pdf")
        (env.home / ".agents/skills/bad").mkdir()
        (env.home / ".agents/skills/bad/SKILL.md").write_text("x")
        result = env.run("skill", "list")
        assert result.code == 0
        for text in ("pdf [enabled]", "Does pdf.", "user: ~/.agents/skills/pdf/SKILL.md", "in every request"):
            assert text in result.stdout
        assert "replaced by ~/.agents/skills/pdf/SKILL.md" in result.stdout
        assert "Skipped the skill" in result.stdout
        assert "skill-creator" not in result.stdout
        assert "MIT" not in result.stdout
        verbose = env.run("skills", "list", "--all", "--verbose").stdout
        for text in ("skill-creator [enabled]", "license: MIT", "fields without effect: model"):
            assert text in verbose

    def test_json(self, env: ProgramEnv) -> None:
        skill(env.home / ".agents/skills/pdf", "word " * 30_000)
        (row,) = env.run("skills", "list", "-o", "json").json
        assert (row["name"], row["party"], row["state"], row["isLong"]) == ("pdf", "user", "enabled", True)
        assert row["tokens"]["catalogue"] > 10
        assert row["location"] == str(env.home / ".agents/skills/pdf/SKILL.md")

    def test_show(self, env: ProgramEnv) -> None:
        directory = skill(env.home / ".agents/skills/pdf", "The whole body")
        (directory / "a.txt").write_text("12345")
        result = env.run("skills", "show", "PDF")
        assert result.code == 0
        assert "The whole body" in result.stdout
        assert "a.txt" in result.stdout
        unknown = env.run("skills", "show", "x")
        assert (unknown.code, unknown.stderr) == (1, 'tejat: Skill "x" not found.\n')

    def test_off_for_the_machine(self, env: ProgramEnv) -> None:
        admin = env.base / "admin"
        admin.mkdir()
        (admin / "settings.json").write_text(json.dumps({"admin": {"skills": {"enabled": False}}}))
        result = env.run("skills", "list", TEJAT_ADMIN_DIRECTORY=str(admin))
        assert result.code == 52
        assert "admin.skills.enabled" in result.stderr


class TestSwitch:
    def test_for_the_user(self, env: ProgramEnv) -> None:
        skill(env.home / ".agents/skills/pdf")
        env.write_user_settings(skills={"disabled": ["other"]})
        off = env.run("skills", "disable", "PDF")
        path = env.user_file
        assert off.stdout == (f'Skill "pdf" disabled by adding it to the disabled list in user ({path}) settings.\n')
        assert env.saved_settings() == {"skills": {"disabled": ["other", "pdf"]}}
        assert env.run("skills", "disable", "pdf").stdout == 'Skill "pdf" is already disabled.\n'
        assert "pdf [disabled]" in env.run("skills", "list").stdout
        on = env.run("skills", "enable", "pdf")
        assert on.stdout == (f'Skill "pdf" enabled by removing it from the disabled list in user ({path}) settings.\n')
        assert env.saved_settings() == {"skills": {"disabled": ["other"]}}
        assert env.run("skills", "enable", "pdf").stdout == 'Skill "pdf" is already enabled.\n'

    def test_for_the_project_keeps_its_trust(self, env: ProgramEnv) -> None:
        skill(env.project / ".agents/skills/pdf")
        assert env.run("trust", "--yes").code == 0
        assert env.run("skills", "disable", "pdf", "-s", "workspace").code == 0
        assert "pdf [disabled]" in env.run("skills", "list").stdout
        assert env.run("trust", "--json").json["level"] == "trusted"
        assert "workspace (" in env.run("skills", "enable", "pdf").stdout

    def test_an_unknown_skill(self, env: ProgramEnv) -> None:
        assert env.run("skills", "disable", "x").code == 1


class TestInstall:
    def test_nobody_to_ask(self, env: ProgramEnv) -> None:
        source = skill(env.base / "source/pdf", more="allowed-tools: Bash\n")
        (source / "scripts").mkdir()
        (source / "scripts/run.sh").write_text("#!/bin/sh\n")
        result = env.run("skills", "install", str(env.base / "source"))
        assert result.code == 3
        for text in ("Target:", "2 files", "Scripts: scripts/run.sh", "Asks for the tools Bash", "not executable"):
            assert text in result.stdout
        assert not (env.home / ".gemini/skills").exists()

    def test_a_directory_of_skills(self, env: ProgramEnv) -> None:
        for name in ("one", "two"):
            skill(env.base / "source/skills" / name)
        result = env.run("skills", "install", str(env.base / "source"), "--consent")
        target = env.home / ".gemini/skills/one"
        assert f"Successfully installed skill: one (scope: user, location: {target})" in result.stdout
        assert json.loads((target / ".tejat-skill.json").read_text()) == {
            "source": str(env.base / "source"),
            "type": "local",
            "path": "skills/one",
        }
        assert [row["name"] for row in env.run("skills", "list", "-o", "json").json] == ["one", "two"]
        assert sorted(os.listdir(env.home / ".gemini/skills")) == ["one", "two"]

    def test_a_part_of_the_source(self, env: ProgramEnv) -> None:
        for name in ("one", "two"):
            skill(env.base / "source" / name)
        assert env.run("skills", "install", str(env.base / "source"), "--path", "two", "--yes").code == 0
        assert os.listdir(env.home / ".gemini/skills") == ["two"]
        out = env.run("skills", "install", str(env.base / "source"), "--path", "../..", "--yes")
        assert out.code == 1
        assert "leads out of the source" in out.stderr

    def test_git(self, env: ProgramEnv) -> None:
        source = env.base / "repository"
        skill(source / "pdf")
        git = ["git", "-C", str(source), "-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
        bare = env.base / "skills.git"
        subprocess.run(["git", "clone", "-q", "--bare", str(source), str(bare)], check=True)
        result = env.run("skills", "install", str(bare), "--yes")
        assert result.code == 0, result.stderr
        record = json.loads((env.home / ".gemini/skills/pdf/.tejat-skill.json").read_text())
        assert record["type"] == "git"
        assert len(record["commit"]) == 40
        assert env.run("skills", "update", "pdf").stdout == 'Skill "pdf" is already up to date.\n'

    def test_a_package(self, env: ProgramEnv) -> None:
        with zipfile.ZipFile(env.base / "pdf.skill", "w") as package:
            package.writestr("pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\nBody")
        assert env.run("skills", "install", str(env.base / "pdf.skill"), "--yes").code == 0
        assert (env.home / ".gemini/skills/pdf/SKILL.md").is_file()

    @pytest.mark.parametrize("name", ["../evil/SKILL.md", "/tmp/evil/SKILL.md"])
    def test_a_package_that_leads_out(self, env: ProgramEnv, name: str) -> None:
        with zipfile.ZipFile(env.base / "pdf.skill", "w") as package:
            package.writestr(name, "---\nname: pdf\ndescription: x\n---\nBody")
        result = env.run("skills", "install", str(env.base / "pdf.skill"), "--yes")
        assert result.code == 1
        assert "evil" in result.stderr
        assert not (env.home / ".gemini/skills").exists()

    def test_nothing_to_install(self, env: ProgramEnv) -> None:
        (env.base / "empty").mkdir()
        result = env.run("skills", "install", str(env.base / "empty"), "--yes")
        assert result.code == 1
        assert result.stderr.startswith(f"tejat: No valid skills found in {env.base / 'empty'}.")
        assert env.run("skills", "install", "http://example.com/x", "--yes").code == 1

    def test_update_and_back(self, env: ProgramEnv) -> None:
        source = skill(env.base / "source/pdf", "Version 1")
        assert env.run("skills", "install", str(source), "--yes").code == 0
        skill(source, "Version 2")
        (source / "new.txt").touch()
        installed = env.home / ".gemini/skills/pdf"
        refused = env.run("skills", "update", "pdf")
        assert refused.code == 3
        for text in ("new: new.txt", "changed: SKILL.md", "+ Version 2"):
            assert text in refused.stdout
        assert "Version 1" in (installed / "SKILL.md").read_text()
        assert env.run("skills", "update", "--all", "--yes").code == 0
        assert "Version 2" in (installed / "SKILL.md").read_text()
        assert env.run("skills", "back", "pdf").code == 0
        assert "Version 1" in (installed / "SKILL.md").read_text()
        assert not (installed / "new.txt").exists()
        assert env.run("skills", "back", "other").code == 1

    def test_a_skill_of_the_same_name_is_shown_and_kept(self, env: ProgramEnv) -> None:
        installed = skill(env.home / ".gemini/skills/pdf", "Mine")
        source = skill(env.base / "source/pdf", "Theirs")
        result = env.run("skills", "install", str(source), "--yes")
        assert "Replaces the installed skill" in result.stdout
        assert "Theirs" in (installed / "SKILL.md").read_text()
        assert env.run("skills", "back", "pdf").code == 0
        assert "Mine" in (installed / "SKILL.md").read_text()

    def test_for_the_project_renews_its_trust_if_nothing_else_changed(self, env: ProgramEnv) -> None:
        skill(env.project / ".agents/skills/first")
        assert env.run("trust", "--yes").code == 0
        source = skill(env.base / "source/pdf")
        assert env.run("skills", "install", str(source), "-s", "workspace", "--yes").code == 0
        assert env.run("trust", "--json").json["level"] == "trusted"
        assert "pdf [enabled]" in env.run("skills", "list").stdout
        skill(env.project / ".agents/skills/first", "changed by somebody")
        assert env.run("skills", "uninstall", "pdf", "-s", "workspace", "--yes").code == 0
        assert env.run("trust", "--json").json["level"] == "changed"


class TestLink:
    def test_link_and_uninstall(self, env: ProgramEnv) -> None:
        source = skill(env.base / "source/pdf")
        assert env.run("skills", "link", str(source)).code == 3
        result = env.run("skills", "link", str(source), "--yes")
        assert result.code == 0
        link = env.home / ".gemini/skills/pdf"
        assert link.is_symlink()
        assert "pdf [enabled]" in env.run("skills", "list").stdout
        assert "exists already" in env.run("skills", "link", str(source), "--yes").stderr
        assert env.run("skills", "uninstall", "pdf").code == 3
        assert env.run("skills", "uninstall", "pdf", "--yes").code == 0
        assert not link.exists()
        assert (source / "SKILL.md").is_file()

    def test_a_link_of_a_project_that_leads_out_is_not_made(self, env: ProgramEnv) -> None:
        source = skill(env.base / "source/pdf")
        result = env.run("skills", "link", str(source), "-s", "workspace", "--yes")
        assert result.code == 1
        assert "outside the project" in result.stderr
        assert not (env.project / ".gemini").exists()


class TestValidate:
    def test_a_good_one(self, env: ProgramEnv) -> None:
        directory = skill(env.base / "pdf")
        result = env.run("skills", "validate", str(directory))
        assert result.code == 0
        assert f"Skill {directory} has been successfully validated" in result.stdout
        assert env.run("skills", "validate", str(directory / "SKILL.md")).code == 0

    def test_what_is_wrong(self, env: ProgramEnv) -> None:
        mark = env.base / "ran"
        body = f"Now: !`touch {mark}`\nRun scripts/missing.py\n"
        directory = skill(env.base / "pdf", body, more="model: x\n")
        (directory / "key.txt").write_text("ghp_" + "a1B2c3D4e5" * 4)
        result = env.run("skills", "validate", str(directory), "-o", "json")
        assert result.code == 0
        warnings = "\n".join(result.json["warnings"])
        for text in ("not executed", "scripts/missing.py, which does not exist", "looks like a key", "without effect"):
            assert text in warnings
        assert not mark.exists()

    def test_tools_that_cannot_be_offered(self, env: ProgramEnv) -> None:
        directory = skill(env.base / "pdf", more="allowed-tools: Bash(python:*) Read\n")
        result = env.run("skills", "validate", str(directory))
        assert "warning: allowed-tools: Bash(python:*) cannot be offered: python can run any code\n" in result.stdout

    def test_examples(self, env: ProgramEnv) -> None:
        directory = skill(env.base / "pdf")
        result = env.run("skills", "validate", str(directory), "--run")
        assert (result.code, result.stderr) == (1, "")
        assert f"No examples: there is no .toml file in {directory}/tests.\n" in result.stdout
        (directory / "tests").mkdir()
        example = script_answer(calls=[("activate_skill", {"name": "pdf"})]) + script_answer(say="done")
        (directory / "tests/one.toml").write_text(example)
        result = env.run("skills", "validate", str(directory), "--run")
        assert result.code == 0
        assert result.stdout.endswith(
            'one.toml: passed\n  ask     activate_skill {"name":"pdf"} (yes)\n1 of 1 examples passed\n'
        )
        (directory / "tests/two.toml").write_text(script_answer(calls=[("frob", {})]) + script_answer(say="done"))
        (directory / "tests/three.toml").write_text("x = 1")
        found = env.run("skills", "validate", str(directory), "--run", "-o", "json")
        assert found.code == 1
        assert [(Path(each["file"]).name, each["passed"]) for each in found.json["examples"]] == [
            ("one.toml", True),
            ("three.toml", False),
            ("two.toml", True),
        ]
        assert "unknown key 'x'" in found.json["examples"][1]["problems"][0]
        assert found.json["examples"][2]["calls"][0]["decision"] is None

    @pytest.mark.parametrize("text", ["x", "---\nname: Bad Name\ndescription: x\n---\n"])
    def test_errors(self, env: ProgramEnv, text: str) -> None:
        (env.base / "pdf").mkdir()
        (env.base / "pdf/SKILL.md").write_text(text)
        result = env.run("skills", "validate", str(env.base / "pdf"))
        assert result.code == 1
        assert result.stdout.startswith("error: ")


def test_help(env: ProgramEnv) -> None:
    assert env.run("skills").code == 2
    assert "install" in env.run("skills", "--help").stdout
    assert env.run("skills", "install", "--help").code == 0


def test_listing_loads_no_servers(env: ProgramEnv) -> None:
    mark = env.base / "ran"
    env.write_user_settings(mcpServers={"x": {"command": sys.executable, "args": ["-c", f"open({str(mark)!r}, 'w')"]}})
    assert env.run("skills", "list").code == 0
    assert not mark.exists()
