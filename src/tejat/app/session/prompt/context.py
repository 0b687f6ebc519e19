"""Context files and system prompt of a session."""

import os
from collections.abc import Callable

from tejat.app.run_config import RunConfig
from tejat.app.session.prompt.instructions import (
    SYSTEM_PROMPT,
    find_all_context_files,
    relative_path,
    unseen_instructions,
)
from tejat.config.agents.registry import SubagentRegistry
from tejat.config.context.discovery import ContextFiles
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.engine.loop.context_window import is_lean_window
from tejat.engine.loop.tool_declarations import ToolDeclarations
from tejat.engine.prompt.system_prompt import build_system_prompt

_INVOKE_AGENT = "invoke_agent"
_LEAN_CONTEXT_SHARE = 0.15
"""The share of a small context window for context files."""


def load_context_files(run_config: RunConfig) -> ContextFiles:
    """Load the context files as they are now, without those of the project that the user has not seen like this."""
    found = find_all_context_files(run_config)
    unseen = {each.path for each in unseen_instructions(run_config, found)}
    left_out = [file for file in found.files if relative_path(run_config, file) in unseen]
    if not left_out:
        return found
    kept = tuple(file for file in found.files if file not in left_out)
    return replace(found, files=kept, warnings=(*found.warnings, *(unseen_message(file.path) for file in left_out)))


def session_system_prompt(
    options: AgentOptions,
    run_config: RunConfig,
    declared: ToolDeclarations,
    context: ContextFiles,
    *,
    describe_sandbox: Callable[[], str],
    is_headless: bool,
    window: Callable[[], int],
    subagents: SubagentRegistry,
    skills: Callable[[int], str] = lambda _window: "",
) -> str:
    """Build the system prompt for a context window of `window` tokens. Raises UsageError.

    `describe_sandbox` returns what commands run in, empty for nothing. `subagents` are offered if they can be called.
    `skills` returns the catalogue of skills.
    """
    is_lean = is_lean_window(window())
    text = context.to_prompt(run_config.roots[0])
    if is_lean:
        from tejat.engine.loop.transcript import truncate_tokens

        text = truncate_tokens(text, int(window() * _LEAN_CONTEXT_SHARE))
    tool_names = [declaration.name for declaration in declared()]
    return options.system or build_system_prompt(
        context=text,
        tool_names=tool_names,
        sandbox=describe_sandbox(),
        is_headless=is_headless,
        replacement=_system_prompt_override(run_config, context),
        is_lean=is_lean,
        subagents=subagents.catalogue(window()) if _INVOKE_AGENT in tool_names and not is_lean else "",
        skills=skills(window()),
    )


def builtin_system_prompt(declared: ToolDeclarations, *, describe_sandbox: Callable[[], str], is_headless: bool) -> str:
    """Build the system prompt without context files, whatever replaces it. Raises UsageError."""
    return build_system_prompt(
        context="",
        tool_names=[declaration.name for declaration in declared()],
        sandbox=describe_sandbox(),
        is_headless=is_headless,
        replacement=None,
    )


def _system_prompt_override(run_config: RunConfig, context: ContextFiles) -> str | None:
    """The system prompt that GEMINI_SYSTEM_MD names: a file, or `1` for the project's own. Raises UsageError."""
    word = run_config.environment.get("GEMINI_SYSTEM_MD", "").strip()
    if word.lower() in ("", "0", "false"):
        return None
    path = word
    if word.lower() in ("1", "true"):
        if not run_config.trust.is_trusted:
            return None
        path = os.path.join(run_config.roots[0], SYSTEM_PROMPT)
    is_own = path == word
    writers = AllowedWriters.TRUSTED if is_own else AllowedWriters.ANYONE
    text = read_config_file(os.path.expanduser(path), writers=writers)
    if text is None:
        raise ConfigurationError(_("GEMINI_SYSTEM_MD points to {path}, which does not exist.", path=path))
    if not is_own and any(each.path == SYSTEM_PROMPT for each in unseen_instructions(run_config, context)):
        raise ConfigurationError(unseen_message(path))
    return text


def unseen_message(path: str) -> str:
    return _(
        "{path} is new or has changed since you trusted this folder, so it is not used. See `tejat trust`.", path=path
    )
