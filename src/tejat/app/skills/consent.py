"""What the user agreed to of skills: their contents by source and digest, for the session or for good."""

import os
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.app.skills.proposal import find_proposal
from tejat.config.skills.skill import Skill
from tejat.core.approval.confirmation import Confirmation, InfoConfirmation, Scope
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.provenance import Party

if TYPE_CHECKING:
    from tejat.config.skills.content import SkillContent


class SkillConsent:
    """The consent of one session. With `can_ask` there is a user to ask."""

    def __init__(self, run_config: RunConfig, *, can_ask: bool) -> None:
        self.run_config = run_config
        self._can_ask = can_ask
        self._activated: set[tuple[str, str]] = set()
        self._approved: set[tuple[str, str]] = set()

    def read(self, skill: Skill) -> "SkillContent":
        """Read a skill; one of an extension only as it was agreed to, with its variables. Raises ConfigurationError."""
        # Imported late, as everything about activations: the code that parses skills is rarely needed at the start.
        from tejat.config.skills.content import read_skill_content

        content = read_skill_content(skill)
        named = [each for each in self.run_config.extensions if each.name == skill.provenance.extension]
        if skill.provenance.party is not Party.EXTENSION or not named:
            return content
        extension = named[0]
        if extension.pinned is not None and (reason := extension.pinned.find_declared_change()):
            raise ConfigurationError(lazy("{why}.", why=reason), path=skill.path)
        body = extension.expand_places(content.body, self.run_config.roots[0])
        return content if body == content.body else replace(content, body=body)

    def needs_question(self, skill: Skill, content: "SkillContent") -> bool:
        """Whether the user is asked before this content is loaded."""
        if skill.is_built_in:
            return False
        if self.run_config.settings.skills_confirm.value:
            return True
        if not self._can_ask or (skill.path, content.digest) in self._activated:
            return False
        return not self._is_saved(skill, content)

    def may_offer_tools(self, skill: Skill) -> bool:
        """Whether the user may allow the tools that a skill asks for: a project needs trust for that."""
        return skill.provenance.party is not Party.PROJECT or self.run_config.trust.is_trusted

    def add_activation(self, skill: Skill, content: "SkillContent", approved: Confirmation | None) -> None:
        """Note that the skill was activated, after the user approved it or without a question."""
        self._activated.add((skill.path, content.digest))
        if isinstance(approved, InfoConfirmation) and approved.digest and approved.digest == content.digest:
            self._approved.add((skill.path, content.digest))

    def agreement(self, confirmation: Confirmation) -> str | None:
        """What an "always" would save, None if it cannot be saved."""
        proposal = find_proposal(confirmation)
        if proposal is None or not confirmation.digest or self.run_config.settings.skills_confirm.value:
            return None
        return lazy("the skill {name} as it is now", name=proposal.skill.call_name)

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        """Save an "always" for what was shown. Raises UsageError."""
        proposal = find_proposal(confirmation)
        if proposal is None:
            return
        source = proposal.skill.path
        self._activated.add((source, confirmation.digest))
        if scope in (Scope.PROJECT, Scope.USER):
            from tejat.config.skills.consents import save_agreement

            root = self.run_config.roots[0] if scope is Scope.PROJECT else None
            save_agreement(self.run_config.paths, source=source, digest=confirmation.digest, project=root)

    def find_doubt(self, skill: Skill) -> str | None:
        """The reason why the files of a skill are not known to be what the user agreed to, None if they are.

        That is: as approved in this session or for good, as trusted with the folder, or as agreed to with the
        extension. It reads all files of the skill.
        """
        try:
            content = self.read(skill)
        except ConfigurationError as error:
            return str(error).rstrip(".")
        if not content.digest:
            return lazy("the skill {name} has too many or too large files to be checked", name=skill.call_name)
        if outside := content.find_outside_link(skill.directory):
            return lazy("{path} is a link that leads out of the skill", path=os.path.join(skill.directory, outside))
        if skill.is_built_in or (skill.path, content.digest) in self._approved or self._is_saved(skill, content):
            return None
        if self._is_pinned(skill, content):
            return None
        return lazy("the skill {name} as it is now was not approved by you", name=skill.call_name)

    def _is_saved(self, skill: Skill, content: "SkillContent") -> bool:
        from tejat.config.skills.consents import is_agreed

        paths, root = self.run_config.paths, self.run_config.roots[0]
        try:
            return is_agreed(paths, source=skill.path, digest=content.digest, root=root)
        except ConfigurationError:
            return False

    def _is_pinned(self, skill: Skill, content: "SkillContent") -> bool:
        """Whether the folder was trusted, or the extension agreed to, with this content."""
        if skill.provenance.party is Party.EXTENSION:
            # What was read is compared with the pins already.
            return any(
                each.name == skill.provenance.extension and each.pinned is not None
                for each in self.run_config.extensions
            )
        trust = self.run_config.trust
        if skill.provenance.party is not Party.PROJECT or not trust.is_trusted or trust.is_unpinned:
            return False
        root = self.run_config.roots[0]
        below = os.path.relpath(skill.directory, os.path.realpath(root))
        pins = {item.path: item.digest for item in trust.items}
        return all(digest is None or pins.get(f"{below}/{name}") == digest for name, digest in content.digests())
