"""The skills and sub-agents of a session, which are read after the first screen and before the first request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.app.session.session_parts import await_external_tools
from tejat.app.subagents.definitions import subagent_notes
from tejat.app.tools.skill_tools import may_have_skills, register_skills
from tejat.core.agent.events import Noticed, Severity
from tejat.core.errors import UsageError
from tejat.workspace.threads.stop import StopToken

if TYPE_CHECKING:
    from tejat.app.session.manager import SessionManager
    from tejat.core.agent.events import EventSink


def read_definitions(manager: SessionManager) -> tuple[str, ...]:
    """Find the skills and agents, register the tools for them, and return notes for the user."""
    run_config, toolset = manager.run_config, manager.toolset
    notes = register_skills(run_config, toolset.services, toolset.registry)
    manager.offer_subagents()
    manager.has_definitions = True
    return (*notes, *subagent_notes(run_config, manager.subagents))


def load_definitions(manager: SessionManager) -> None:
    """Read the skills and agents unless that has been done. Everything that shows or uses them calls this first.

    Blocks while files are read, or until a thread that `preload_definitions` has started has read them.
    """
    if manager.has_definitions:
        return
    notes, conversation = read_definitions(manager), manager.session.conversation
    try:
        # Renders the system prompt again, which lists them.
        conversation.set_context(conversation.template.context)
    except UsageError as error:
        notes = (*notes, str(error))
    manager.session.add_startup_notes(notes)


async def preload_definitions(manager: SessionManager) -> None:
    """Read the skills and agents in a thread, so that the user can type meanwhile."""
    from tejat.workspace.threads.offload import run_blocking

    if manager.has_definitions:
        return
    skills = manager.toolset.services.skills if may_have_skills(manager.run_config) else None

    def read(_stop: StopToken) -> None:
        if skills is not None:
            _ = skills.library
        _ = manager.subagents.entries

    await run_blocking(read)
    load_definitions(manager)


async def prepare_prompt(manager: SessionManager, emit: EventSink) -> None:
    """Wait for everything that the model is told of: skills, agents and external tools."""
    load_definitions(manager)
    for note in manager.session.take_notes():
        emit(Noticed(note, Severity.NOTE))
    external = manager.toolset.external
    if external is not None:
        await await_external_tools(external, emit, is_headless=manager.is_headless)
