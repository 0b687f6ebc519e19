"""The tool of skills, and their scripts in commands; nothing of skills is loaded without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.skills.places import has_skills
from tejat.tools.registry import ACTIVATE_SKILL, ToolRegistry

if TYPE_CHECKING:
    from tejat.app.tools.tool_services import ToolServices
    from tejat.core.approval.confirmation import Confirmation
    from tejat.policy.shell.command_line import CommandLine
    from tejat.policy.types import PolicyRule, SkillScript


def register_skills(run_config: RunConfig, services: ToolServices, registry: ToolRegistry) -> tuple[str, ...]:
    """Register the tool that activates skills if there are any, and return notices about them."""
    if not may_have_skills(run_config):
        return ()
    from tejat.app.skills.notices import startup_notices

    offer_skills(services, registry)
    return startup_notices(run_config.paths, services.skills.library)


def may_have_skills(run_config: RunConfig) -> bool:
    """Whether skills are switched on and there may be some besides those of the program. Nothing is read for that."""
    settings, is_trusted = run_config.settings, run_config.trust.is_trusted
    if not settings.skills_enabled.value or not settings.skills_switch.value:
        return False
    return has_skills(run_config.paths, run_config.roots[0], is_trusted=is_trusted, extensions=run_config.extensions)


def offer_skills(services: ToolServices, registry: ToolRegistry) -> None:
    """Declare the tool for the skills that there are now; without any for the model there is none."""
    registry.unregister(ACTIVATE_SKILL)
    entry = services.skills.tool_entry()
    if entry is not None:
        registry.register_entry(entry)
    services.has_skills = any(not skill.is_built_in for skill in services.skills.library.skills)


def find_tool_rules(confirmation: Confirmation) -> tuple[PolicyRule, ...]:
    """The rules for the tools that the skill in a question asks for."""
    from tejat.core.approval.confirmation import InfoConfirmation

    if confirmation.proposal is None or not isinstance(confirmation, InfoConfirmation):
        return ()
    from tejat.app.skills.proposal import find_proposal

    proposal = find_proposal(confirmation)
    return () if proposal is None else proposal.tool_rules


def find_skill_scripts(services: ToolServices, line: CommandLine, directory: str) -> tuple[SkillScript, ...]:
    """The files of skills that a command line in this directory may run."""
    if not services.has_skills:
        return ()
    from tejat.app.skills.scripts import ScriptFinder

    finder = ScriptFinder(services.skills, services.workspace().roots.paths, services.child_environment)
    return finder.find(line, directory)
