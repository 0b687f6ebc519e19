"""Expansion of prompts: custom commands, MCP prompts, mentioned files and resources."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.app.tools.toolset import Toolset
from tejat.core.frozen import replace
from tejat.core.messages.types import Text
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.prompt.expanded_prompt import ExpandedPrompt

if TYPE_CHECKING:
    from tejat.core.agent.events import EventSink
    from tejat.engine.prompt.custom_command import CustomCommandExpander
    from tejat.engine.prompt.mentions import AgentFinder

_INVOCATION = r"(?s)/(\S+)\s*(.*)"


class PromptExpander:
    def __init__(self, run_config: RunConfig, toolset: Toolset, *, find_agent: AgentFinder | None = None) -> None:
        self._run_config = run_config
        self._toolset = toolset
        self._find_agent = find_agent
        self._recursive_search = run_config.settings.recursive_file_search.value

    def reload_commands(self) -> None:
        """Read the custom commands again when one is next called."""
        self.__dict__.pop("_commands", None)

    def use_configuration(self, run_config: RunConfig) -> None:
        """Use another configuration from the next prompt on."""
        self._run_config = run_config
        self.__dict__.pop("_mask", None)
        self.reload_commands()

    async def expand(self, prompt: str, emit: EventSink, *, may_call: bool = True) -> ExpandedPrompt:
        """Expand a prompt, or a later text of one, which may not call a command. Raises BadPrompt and NotTrusted."""
        text = prompt.strip()
        called = re.fullmatch(_INVOCATION, text) if may_call and text.startswith("/") else None
        if called is None:
            return await self._expand_mentions(prompt)
        name, words = called[1], called[2]
        servers = self._toolset.mcp_manager
        prompts = () if servers is None else servers.prompt_commands(taken=self._commands.names)
        command = next((prompt for prompt in prompts if prompt.name == name), None)
        if servers is None or command is None:
            if "/" not in name and name not in self._commands.names and (found := await self._call_skill(name, words)):
                return found
            return await self._commands.expand(prompt, emit)
        parts = await servers.expand_prompt(command, words)
        return ExpandedPrompt(
            tuple(Text(self._mask.mask_text(part.text)) if isinstance(part, Text) else part for part in parts)
        )

    async def _expand_mentions(self, prompt: str) -> ExpandedPrompt:
        if "@" not in prompt:
            return ExpandedPrompt((Text(prompt),))
        from tejat.engine.prompt.mentions import expand_mentions

        return await expand_mentions(
            prompt,
            registry=self._toolset.registry,
            roots=self._toolset.roots,
            recursive_search=self._recursive_search,
            mask=self._mask,
            read_resource=self._read_resource,
            approve=self._approve_reading,
            find_agent=self._find_agent,
            has_escaped_signs=self._run_config.settings.escape_pasted_at.value,
        )

    async def _call_skill(self, name: str, words: str) -> ExpandedPrompt | None:
        """The prompt of a skill that the user calls, None if there is none of this name. Raises BadPrompt."""
        from tejat.app.skills.slash import activate_called_skill, find_called_skill

        skill = find_called_skill(self._toolset.services.skills, name)
        if skill is None:
            return None
        instructions, request = await activate_called_skill(self._toolset, skill, words)
        expanded = await self._expand_mentions(request)
        return replace(expanded, parts=(instructions, *expanded.parts))

    async def _approve_reading(self, path: str) -> None:
        from tejat.engine.calls.read_approval import approve_reading

        await approve_reading(self._toolset.start_scheduler(), path)

    async def _read_resource(self, wanted: str) -> str | None:
        servers = self._toolset.mcp_manager
        return None if servers is None else await servers.read_resource(wanted)

    @cached_property
    def _mask(self) -> SecretMask:
        return SecretMask(self._run_config.named_secrets)

    @cached_property
    def _commands(self) -> CustomCommandExpander:
        from tejat.app.commands.builtin import builtin_names
        from tejat.config.custom_commands import find_custom_commands
        from tejat.engine.prompt.custom_command import CustomCommandExpander

        run_config = self._run_config
        return CustomCommandExpander(
            find_custom_commands(
                run_config.paths, run_config.roots[0], run_config.trust, run_config.extensions, builtin_names()
            ),
            self._toolset.start_scheduler(),
            self._toolset.roots,
            recursive_search=self._recursive_search,
            untrusted_reason=run_config.trust.reason,
            read_resource=self._read_resource,
            find_agent=self._find_agent,
        )
