"""What the user decides about when a skill is to be activated."""

from tejat.config.skills.skill import Skill
from tejat.core.approval.confirmation import Confirmation
from tejat.core.frozen import Frozen
from tejat.policy.types import PolicyRule


class SkillProposal(Frozen):
    """A skill, and the rules for the tools it asks for that may be added with it."""

    skill: Skill
    tool_rules: tuple[PolicyRule, ...] = ()


def find_proposal(confirmation: Confirmation) -> SkillProposal | None:
    """The proposal of a confirmation, None if it is about something else."""
    return confirmation.proposal if isinstance(confirmation.proposal, SkillProposal) else None
