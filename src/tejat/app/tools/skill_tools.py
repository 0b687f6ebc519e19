"""The tool of skills, and their scripts in commands; nothing of skills is loaded without any."""

from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.skills.places import has_skills
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.tools.tool_services import ToolServices
    from tejat.policy.shell.command_line import CommandLine
    from tejat.policy.types import SkillScript


def register_skills(run_config: RunConfig, services: "ToolServices", registry: ToolRegistry) -> tuple[str, ...]:
    """Register the tool that activates skills if there are any, and return notices about them."""
    settings, is_trusted = run_config.settings, run_config.trust.is_trusted
    if not settings.skills_enabled.value or not settings.skills_switch.value:
        return ()
    if not has_skills(run_config.paths, run_config.roots[0], is_trusted=is_trusted, extensions=run_config.extensions):
        return ()
    from tejat.app.skills.notices import startup_notices

    entry = services.skills.tool_entry()
    if entry is not None:
        registry.register_entry(entry)
        services.has_skills = True
    return startup_notices(run_config.paths, services.skills.library)


def find_skill_scripts(services: "ToolServices", line: "CommandLine", directory: str) -> "tuple[SkillScript, ...]":
    """The scripts of active skills that a command line in this directory would run."""
    if not services.has_skills:
        return ()
    from tejat.app.skills.scripts import scripts_in_line

    return scripts_in_line(services.skills.active, line, directory)
