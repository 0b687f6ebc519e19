"""The initial state of a session: new, or resumed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.app.model_source import RunModel, current_date
from tejat.app.run_config import RunConfig
from tejat.core.agent.events import SessionSource
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.history import Message
from tejat.core.messages.types import JsonObject
from tejat.engine.loop.archive import ConversationArchive
from tejat.engine.plans.storage import PlanStorage
from tejat.engine.prompt.system_prompt import environment_messages
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.rewind_points import RewindPoint
from tejat.engine.sessions.session_store import SessionStore

if TYPE_CHECKING:
    from tejat.engine.sessions.journal_reader import LoadedSession
    from tejat.engine.sessions.session_store import Sessions, SessionSummary


class InitialState(Frozen):
    """The messages and the journal that a session begins with."""

    session_id: str
    messages: Sequence[Message]
    opening: int
    journal: SessionJournal | None = None
    source: SessionSource = SessionSource.STARTUP
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    rewind_points: tuple[RewindPoint, ...] = ()
    values: JsonObject = MappingProxyType({})
    """The values of the session's state."""
    archive: ConversationArchive | None = None
    """The messages that summaries have replaced."""


def initial_state(options: AgentOptions, run_config: RunConfig, run_model: RunModel) -> InitialState:
    """The state for the first session of a run. Raises UsageError."""
    sessions = open_sessions(options, run_config)
    if options.resume is not None:
        return resume_state(sessions, sessions.find(options.resume))
    if not options.keeps_session or run_model.recorded_at is not None:
        sessions = None
    if sessions is not None and options.session_id is not None and sessions.has(options.session_id):
        raise UsageError(_id_is_taken(options.session_id, in_program=options.names_arguments))
    if options.session_file is not None:
        from tejat.app.session.chat_import import imported_state

        return imported_state(run_config, options.session_file, run_model.session_id, sessions)
    return new_state(run_config, run_model.session_id, sessions, model=run_model.model.name)


def _id_is_taken(session_id: str, *, in_program: bool) -> str:
    if in_program:
        return _("There is a session {id} already. Pass resume={id!r} to continue it, or another id.", id=session_id)
    return _("There is a session {id} already. Use --resume {id} to continue it, or another id.", id=session_id)


def open_sessions(options: AgentOptions, run_config: RunConfig) -> Sessions:
    """The place where the sessions of these options are kept."""
    if options.storage is None:
        return open_session_store(run_config)
    from tejat.engine.sessions.storage_sessions import StorageSessions

    return StorageSessions(options.storage, run_config.roots[0], secrets=run_config.secrets)


def open_session_store(run_config: RunConfig) -> SessionStore:
    retention = run_config.settings.session_retention.value
    paths = run_config.paths
    plans = PlanStorage(paths.plans)
    return SessionStore(paths.sessions, run_config.roots[0], retention, plans=plans, secrets=run_config.secrets)


def resume_state(sessions: Sessions, entry: SessionSummary) -> InitialState:
    """The state at the end of an earlier session. Raises UsageError."""
    journal, loaded = sessions.resume(entry)
    return replace(loaded_state(loaded.session_id, loaded, journal), rewind_points=loaded.rewind_points)


def loaded_state(session_id: str, loaded: LoadedSession, journal: SessionJournal | None) -> InitialState:
    """The state of a session with an earlier conversation, without its rewind points."""
    return InitialState(
        session_id,
        loaded.messages,
        loaded.preamble_length,
        journal,
        source=SessionSource.RESUME,
        repairs=loaded.repairs,
        problems=loaded.problems,
        values=loaded.state,
        archive=ConversationArchive(loaded.replaced, head_length=loaded.head_length or loaded.preamble_length),
    )


def new_state(
    run_config: RunConfig,
    session_id: str,
    sessions: Sessions | None,
    *,
    model: str,
    source: SessionSource = SessionSource.STARTUP,
) -> InitialState:
    """The state of a new session, which is saved in `sessions`, if anywhere."""
    messages = opening_messages(run_config)
    if sessions is None:
        return InitialState(session_id, messages, len(messages), source=source)
    sessions.prune()
    journal = sessions.create(session_id=session_id, model=model)
    journal.record_preamble(messages)
    return InitialState(session_id, messages, len(messages), journal, source=source)


def opening_messages(run_config: RunConfig) -> Sequence[Message]:
    """The messages before the first prompt: what the model is told about its environment."""
    return environment_messages(
        directories=run_config.roots,
        today=current_date(),
        platform=sys.platform,
        ignore=run_config.ignore_options if run_config.settings.include_directory_tree.value else None,
    )
