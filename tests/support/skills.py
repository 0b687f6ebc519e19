"""A home and a project with skills, and the decisions of the policy there."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.skills.service import load_library
from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset
from tejat.config.skills.consents import save_agreement
from tejat.config.skills.content import read_skill_content
from tejat.config.trust.decision import trust_folder
from tejat.core.approval.confirmation import Approver
from tejat.engine.calls.permission import Permission
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.types import CallFacts, PolicyVerdict, Tier

SHELL = "run_shell_command"
RUN_SH = '#!/bin/bash\n. "$(dirname "$0")/lib.sh"\necho "ran $*"\n'


def write_skill(directory: Path, *, name: str = "", more: str = "", files: dict[str, str] | None = None) -> Path:
    """Write a skill; files with a first line `#!` are executable."""
    directory.mkdir(parents=True, exist_ok=True)
    written = {"SKILL.md": f"---\nname: {name or directory.name}\ndescription: Does it.\n{more}---\nBody\n"}
    for path, text in (written | (files or {})).items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if text.startswith("#!") else 0o644)
    return directory


def write_script_skill(directory: Path) -> Path:
    """A skill with scripts in three languages, one of which loads another file beside it."""
    files = {
        "scripts/run.sh": RUN_SH,
        "scripts/lib.sh": "true\n",
        "scripts/fill.py": "#!/usr/bin/env python3\nprint('filled')\n",
        "scripts/plain.txt": "echo plain\n",
        "assets/form.txt": "form\n",
    }
    return write_skill(directory, files=files)


@dataclass
class SkillPlace:
    """A home and a project. `environment` is that of the process."""

    base: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.base = self.base.resolve()
        for directory in (self.home, self.project):
            directory.mkdir(exist_ok=True)
        self.environment |= {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def user_skills(self) -> Path:
        return self.home / ".agents/skills"

    @property
    def project_skills(self) -> Path:
        return self.project / ".agents/skills"

    def config(self) -> RunConfig:
        return load_run_config([str(self.project)], environment=self.environment)

    def trust(self) -> None:
        trust_folder(self.config().paths, str(self.project))

    def agree(self, name: str) -> None:
        """Say "always" to a skill as it is now."""
        config = self.config()
        skill = load_library(config).find(name)
        assert skill is not None
        save_agreement(config.paths, source=skill.path, digest=read_skill_content(skill).digest, project=None)

    @contextmanager
    def tools(self, rules: str = "", approver: Approver | None = None) -> Generator[Toolset]:
        with open_tools([str(self.project)], approver, environment=self.environment) as toolset:
            permission = toolset.scheduler.permission
            permission.policy = permission.policy.with_rules(*parse_rules(rules, source="mine", tier=Tier.USER))
            yield toolset

    def decide(self, command: str, rules: str, **arguments: object) -> PolicyVerdict:
        with self.tools(rules) as toolset:
            return decide(toolset, command, **arguments)[1]


def decide(toolset: Toolset, command: str, **arguments: object) -> tuple[CallFacts, PolicyVerdict]:
    tool = toolset.registry.get(SHELL)
    assert tool is not None
    permission: Permission = toolset.scheduler.permission
    return permission.decide(tool, {"command": command, **arguments})


def allow_skill(name: str) -> str:
    return f'[[rule]]\nskill = "{name}"\ndecision = "allow"\n'


def make_executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.chmod(path, 0o755)
    return path
