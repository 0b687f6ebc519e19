"""What the prompts of a session stand for: commands, prompts of MCP servers, files and resources that they name."""

import re
from functools import cached_property
from typing import TYPE_CHECKING

from tejat.app.ground import Ground
from tejat.app.tools import Workshop
from tejat.core.agent_events import Tell
from tejat.core.types import Text
from tejat.engine.at_paths import Expanded, expand_at_paths
from tejat.engine.secret_mask import SecretMask

if TYPE_CHECKING:
    from tejat.app.server_tools import ServerTools
    from tejat.engine.custom_command import CommandPrompts

_INVOCATION = r"(?s)/(\S+)\s*(.*)"


class Prompts:
    def __init__(self, ground: Ground, workshop: Workshop) -> None:
        self._ground = ground
        self._workshop = workshop
        self._recursive_search = ground.settings.recursive_file_search.value

    async def expand(self, prompt: str, tell: Tell) -> Expanded:
        """Raises BadPrompt and NotTrusted."""
        called = re.fullmatch(_INVOCATION, prompt.strip())
        if called is None:
            return await expand_at_paths(
                prompt,
                registry=self._workshop.session.registry,
                roots=self._workshop.roots,
                recursive_search=self._recursive_search,
                mask=self._mask,
                resource=self._resource,
            )
        servers = self._servers
        prompts = () if servers is None else servers.commands(taken=self._commands.names)
        command = next((prompt for prompt in prompts if prompt.name == called[1]), None)
        if servers is None or command is None:
            return await self._commands.expand(prompt, tell)
        parts = await servers.prompt(command, called[2])
        return Expanded(tuple(Text(self._mask.text(part.text)) if isinstance(part, Text) else part for part in parts))

    @property
    def _servers(self) -> "ServerTools | None":
        return None if self._workshop.session.foreign is None else self._workshop.session.foreign.servers

    async def _resource(self, wanted: str) -> str | None:
        return None if self._servers is None else await self._servers.resource(wanted)

    @cached_property
    def _mask(self) -> SecretMask:
        return SecretMask(self._ground.named_secrets)

    @cached_property
    def _commands(self) -> "CommandPrompts":
        from tejat.config.custom_commands import find_commands
        from tejat.engine.custom_command import CommandPrompts

        ground = self._ground
        return CommandPrompts(
            find_commands(ground.places, ground.roots[0], ground.trust),
            self._workshop.session.scheduler,
            self._workshop.roots,
            recursive_search=self._recursive_search,
            why_not_trusted=ground.trust.reason,
            resource=self._resource,
        )
