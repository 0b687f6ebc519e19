"""Skills and agents of a project need trust, with every file that belongs to them."""

import os
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths, project_directories
from tejat.config.trust.decision import find_trust_items
from tejat.config.trust.definitions import MAX_SKILL_FILES, find_definition_files
from tejat.config.trust.store import TrustItem
from tejat.core.errors import UsageError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = f"{tmp_path}/home"
    os.mkdir(home)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def skill(directory: Path, header: str = "description: Does it.") -> None:
    write(directory / "SKILL.md", f"---\nname: {directory.name}\n{header}\n---\nBody\n")


def items(paths: AppPaths, root: Path) -> dict[str, TrustItem]:
    return {item.path: item for item in find_trust_items(paths, str(root))}


def test_every_file_of_a_skill_is_pinned(paths: AppPaths, root: Path) -> None:
    for place in (".agents", ".gemini", ".claude"):
        skill(root / place / "skills" / "pdf")
        write(root / place / "skills" / "pdf" / "scripts" / "deep" / "fill.py")
        write(root / place / "skills" / "pdf" / ".git" / "config")
        write(root / place / "skills" / "no-skill" / "README.md")
    found = {path: item.kind for path, item in items(paths, root).items()}
    assert found == {
        f"{place}/skills/pdf/{name}": kind
        for place in (".agents", ".gemini", ".claude")
        for name, kind in (("SKILL.md", "skill"), ("scripts/deep/fill.py", "skill file"))
    }


def test_a_changed_script_changes_the_pins(paths: AppPaths, root: Path) -> None:
    skill(root / ".agents/skills/pdf")
    write(root / ".agents/skills/pdf/run.sh", "one")
    before = items(paths, root)
    write(root / ".agents/skills/pdf/run.sh", "two")
    after = items(paths, root)
    changed = [path for path in before if before[path].digest != after[path].digest]
    assert changed == [".agents/skills/pdf/run.sh"]


def test_a_skill_directly_in_the_directory(paths: AppPaths, root: Path) -> None:
    skill(root / ".gemini/skills")
    write(root / ".gemini/skills/scripts/x.py")
    assert set(items(paths, root)) == {".gemini/skills/SKILL.md", ".gemini/skills/scripts/x.py"}


def test_what_a_skill_says(paths: AppPaths, root: Path) -> None:
    skill(root / ".agents/skills/pdf", "description: Fills forms.\nallowed-tools: Bash(python:*) Read")
    write(root / ".agents/skills/pdf/scripts/fill.py")
    assert list(items(paths, root)[".agents/skills/pdf/SKILL.md"].details) == [
        "Fills forms.",
        "asks for the tools Bash(python:*), Read",
        "has the scripts fill.py",
    ]


def test_a_broken_skill_is_pinned_and_named(paths: AppPaths, root: Path) -> None:
    write(root / ".agents/skills/pdf/SKILL.md", "no front matter")
    (line,) = items(paths, root)[".agents/skills/pdf/SKILL.md"].details
    assert line.startswith("cannot be read: no front matter")


def test_skills_of_directories_above_up_to_the_top_of_the_repository(paths: AppPaths, root: Path) -> None:
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    (root / ".git").mkdir()
    skill(root / ".agents/skills/top")
    skill(root / "a/.claude/skills/middle")
    skill(root.parent / ".agents/skills/outside")
    write(root / ".gemini/agents/not-here.md")
    assert set(items(paths, inner)) == {"../../.agents/skills/top/SKILL.md", "../.claude/skills/middle/SKILL.md"}


def test_without_a_repository_only_the_root_counts(paths: AppPaths, root: Path) -> None:
    inner = root / "a"
    inner.mkdir()
    skill(root / ".agents/skills/top")
    assert items(paths, inner) == {}


def test_the_home_directory_is_no_project(paths: AppPaths) -> None:
    home = Path(paths.home)
    (home / ".git").mkdir()
    inner = home / "work" / "here"
    inner.mkdir(parents=True)
    skill(home / ".agents/skills/mine")
    skill(home / "work/.agents/skills/theirs")
    assert set(items(paths, inner)) == {"../.agents/skills/theirs/SKILL.md"}
    assert project_directories(str(inner), paths.homes) == (str(inner), str(home / "work"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_above_does_not_count(paths: AppPaths, root: Path) -> None:
    inner = root / "a"
    inner.mkdir()
    (root / ".git").mkdir()
    os.chown(root / ".git", 12345, 12345)
    skill(root / ".agents/skills/planted")
    assert items(paths, inner) == {}


def test_links_that_lead_out_are_not_followed(paths: AppPaths, root: Path) -> None:
    outside = root.parent / "outside"
    skill(outside / "evil")
    write(outside / "secret")
    skill(root / ".agents/skills/good")
    (root / ".agents/skills/evil").symlink_to(outside / "evil")
    (root / ".agents/skills/good/link").symlink_to(outside / "secret")
    (root / ".claude").mkdir()
    (root / ".claude/skills").symlink_to(outside)
    assert set(items(paths, root)) == {".agents/skills/good/SKILL.md"}


def test_links_inside_the_project_are_followed_once(paths: AppPaths, root: Path) -> None:
    skill(root / "shared/pdf")
    (root / ".agents/skills").mkdir(parents=True)
    (root / ".agents/skills/pdf").symlink_to(root / "shared/pdf")
    (root / "shared/pdf/loop").symlink_to(root / "shared/pdf")
    assert set(items(paths, root)) == {".agents/skills/pdf/SKILL.md"}


def test_too_many_files(paths: AppPaths, root: Path) -> None:
    skill(root / ".agents/skills/big")
    for number in range(MAX_SKILL_FILES):
        (root / f".agents/skills/big/{number}").touch()
    with pytest.raises(UsageError, match="contains more than"):
        list(find_definition_files(paths, str(root)))


AGENT = """---
name: auditor
description: Looks at it.
tools: read_file, grep_search
model: flash
mcp_servers:
  db:
    command: python
    args: [tools/server.py]
  far:
    url: https://example.com/mcp
---
You look at it.
"""


def test_agents_and_the_scripts_of_their_servers(paths: AppPaths, root: Path) -> None:
    write(root / ".gemini/agents/auditor.md", AGENT)
    write(root / ".gemini/agents/notes.txt")
    write(root / ".gemini/agents/deeper/x.md")
    write(root / "tools/server.py")
    found = items(paths, root)
    assert {path: item.kind for path, item in found.items()} == {
        ".gemini/agents/auditor.md": "agent",
        "tools/server.py": "script",
    }
    assert found[".gemini/agents/auditor.md"].servers == 2
    assert list(found[".gemini/agents/auditor.md"].details) == [
        "Looks at it.",
        "may use the tools read_file, grep_search",
        "uses the model flash",
        "db runs: python tools/server.py",
        "far connects to: https://example.com/mcp",
    ]


def test_an_agent_without_tools_may_use_all(paths: AppPaths, root: Path) -> None:
    write(root / ".claude/agents/x.md", "---\nname: x\ndescription: y\n---\n")
    assert list(items(paths, root)[".claude/agents/x.md"].details) == ["y", "may use all tools"]
