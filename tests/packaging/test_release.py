"""`scripts/release` on a clone of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.source_tree import ROOT

GIT = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false")
FILES = ("scripts/release", "scripts/man", "src/tejat", "packaging", "docs", "pyproject.toml", "README.md", "LICENSE")
CHANGELOG = "# Changelog\n\n## Unreleased\n\n### Added\n\n- Something new.\n\n## 0.0.1 - 2020-01-01\n\n- The first.\n"


class Clone:
    def __init__(self, place: Path) -> None:
        self.root = place
        for name in FILES:
            source, target = ROOT / name, place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "images"))
            else:
                shutil.copy(source, target)
        (place / "CHANGELOG.md").write_text(CHANGELOG)
        (place / ".gitignore").write_text("dist/\n__pycache__/\n")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "Begin")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *GIT, *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout

    def release(self, *words: str, code: int = 0) -> str:
        settings = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            [sys.executable, "scripts/release", *words],
            cwd=self.root,
            env={**os.environ, **settings, "PYTHONPATH": str(self.root / "src"), "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def registry_entry(self) -> tuple[str, str]:
        entry = json.loads((self.root / "packaging/acp-registry/tejat/agent.json").read_text())
        return entry["version"], entry["distribution"]["uvx"]["package"]

    def state(self) -> str:
        return self.git("status", "--porcelain") + self.git("log", "--oneline") + self.git("tag")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


def test_a_release(clone: Clone) -> None:
    told = clone.release("9.8.0", "--checks", "true")
    assert "Released 9.8.0: dist/tejat-9.8.0-py3-none-any.whl, dist/tejat-9.8.0.tar.gz\n" in told
    assert (clone.root / "dist" / "tejat-9.8.0-py3-none-any.whl").is_file()
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("log", "-1", "--format=%s") == "Release 9.8.0\n"
    assert clone.git("tag", "--points-at", "HEAD") == "v9.8.0\n"
    assert '__version__ = "9.8.0"' in (clone.root / "src" / "tejat" / "__init__.py").read_text()
    text = (clone.root / "CHANGELOG.md").read_text()
    assert re.search(
        r"## Unreleased\n\n## 9\.8\.0 - \d{4}-\d\d-\d\d\n\n### Added\n\n- Something new\.\n\n## 0\.0\.1", text
    )
    assert "tejat 9.8.0" in (clone.root / "packaging/data/share/man/man1/tejat.1").read_text()
    assert clone.registry_entry() == ("9.8.0", "tejat==9.8.0")
    assert "no entries" in clone.release("9.8.1", code=1)


def test_a_candidate_is_not_for_the_registry_of_agents(clone: Clone) -> None:
    before = clone.registry_entry()
    clone.release("9.8.0rc1", "--checks", "true")
    assert clone.registry_entry() == before


def test_nothing_changes_unless_everything_works(clone: Clone) -> None:
    before = clone.state()
    told = clone.release("9.8.0", "--dry-run")
    assert "would set the version in src/tejat/__init__.py to 9.8.0\n" in told
    assert not (clone.root / "dist").exists()
    assert "false failed with exit code 1" in clone.release("9.8.0", "--checks", "false", code=1)
    assert clone.state() == before
    (clone.root / "new.txt").write_text("")
    refused = {
        "9.8": "is not a version",
        "v9.8.0": "is not a version",
        "0.0.1": "is not newer than",
        "9.8.0": "changes",
    }
    for version, why in refused.items():
        assert why in clone.release(version, code=1)
