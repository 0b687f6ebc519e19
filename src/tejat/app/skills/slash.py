"""Skills called by people: `/NAME words`, `/EXTENSION:NAME words` and `/skill:NAME words`."""

from tejat.app.commands.builtin import builtin_names
from tejat.app.skills.activation import fill_arguments
from tejat.app.skills.service import SkillService
from tejat.app.tools.toolset import Toolset
from tejat.config.skills.skill import Skill
from tejat.core.errors import BadPrompt, ToolFailure
from tejat.core.i18n import lazy
from tejat.core.messages.types import Text
from tejat.tools.activate_skill import ActivateSkillTool

PREFIX = "skill:"


def find_called_skill(skills: SkillService, name: str) -> Skill | None:
    """The skill that a slash command means, None if it is not the name of one that people may call."""
    if name.casefold().startswith(PREFIX):
        found = skills.library.find(name[len(PREFIX) :])
    elif name.casefold() in builtin_names():
        return None
    else:
        wanted = name.casefold()
        found = next((skill for skill in skills.library.skills if skill.slash_name.casefold() == wanted), None)
    return found if found is not None and found.fields.is_user_invocable else None


async def activate_called_skill(toolset: Toolset, skill: Skill, words: str) -> tuple[Text, str]:
    """Activate a skill for the user, asking where the model's call would be asked about.

    Returns the instructions with the words filled in, and the request to the model. Raises BadPrompt.
    """
    service = toolset.services.skills
    tool = ActivateSkillTool([skill.call_name], service)
    try:
        permission = toolset.start_scheduler().permission
        allowed = await permission.authorise(tool, {"name": skill.call_name})
        result = await service.activate(skill.call_name, allowed.approved)
    except ToolFailure as failure:
        raise BadPrompt(
            lazy("The skill {name} was not activated. {why}", name=skill.call_name, why=failure.display)
        ) from None
    text = fill_arguments(str(result.llm_content), words)
    return Text(text), words or f"Use the skill {skill.call_name}"
