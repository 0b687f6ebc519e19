"""Import of chats that Gemini CLI saved, as new sessions of the project."""

import hashlib
import os
from contextlib import suppress

from tejat.app.run_config import RunConfig
from tejat.app.session.initial_state import InitialState, open_session_store, opening_messages, resume_state
from tejat.config.paths import AppPaths
from tejat.core.agent.events import SessionSource
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import ngettext
from tejat.core.messages.history import Role, repair_history
from tejat.core.model import NO_USAGE
from tejat.engine.sessions.gemini_chat import GeminiChat, read_chat_head, read_gemini_chat
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.session_id import new_session_id
from tejat.engine.sessions.session_store import Sessions, SessionSummary

_SUBAGENT = "subagent"


def find_chats(paths: AppPaths, root: str) -> list[str]:
    """The files of the chats that Gemini CLI saved for this project, newest last. Raises nothing."""
    hashes = {hashlib.sha256(os.fsencode(path)).hexdigest() for path in (os.path.abspath(root), os.path.realpath(root))}
    found: list[tuple[int, str]] = []
    for path in _chat_files(os.path.join(paths.gemini, "tmp")):
        head = read_chat_head(path)
        if head.get("projectHash") in hashes and head.get("kind") != _SUBAGENT:
            with suppress(OSError):
                found.append((os.stat(path).st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def import_chat(
    run_config: RunConfig, path: str, session_id: str | None = None, sessions: Sessions | None = None
) -> tuple[SessionSummary, tuple[str, ...]]:
    """Copy a chat into a new session of the project; return it and what was left out. Raises UsageError.

    `sessions` is another place for the session than the files of the project.
    """
    chat = read_gemini_chat(path)
    sessions = sessions or open_session_store(run_config)
    sessions.prune()
    session_id = session_id or new_session_id()
    journal = sessions.create(session_id=session_id, model=chat.model)
    try:
        with journal.sync_once():
            _record(journal, chat, run_config)
        if journal.failure is not None:
            raise UsageError(journal.failure)
    finally:
        journal.close()
    return sessions.find(session_id), _problems(chat)


def imported_state(run_config: RunConfig, path: str, session_id: str, sessions: Sessions | None) -> InitialState:
    """The state of a new session that continues a chat, and is saved in `sessions`, if anywhere. Raises UsageError."""
    if sessions is not None:
        entry, problems = import_chat(run_config, path, session_id, sessions)
        state = resume_state(sessions, entry)
        return replace(state, problems=(*problems, *state.problems))
    chat = read_gemini_chat(path)
    opening = opening_messages(run_config)
    messages, _ = repair_history([*opening, *(turn.message for turn in chat.turns)])
    return InitialState(session_id, messages, len(opening), source=SessionSource.RESUME, problems=_problems(chat))


def _chat_files(directory: str) -> list[str]:
    """The files `PROJECT/chats/session-*` below a directory, with endings of old and new versions."""
    found: list[str] = []
    with suppress(OSError):
        for project in os.listdir(directory):
            chats = os.path.join(directory, project, "chats")
            with suppress(OSError):
                names = [name for name in os.listdir(chats) if name.startswith("session-")]
                found += [os.path.join(chats, name) for name in names if name.endswith((".json", ".jsonl"))]
    return found


def _record(journal: SessionJournal, chat: GeminiChat, run_config: RunConfig) -> None:
    journal.record_preamble(opening_messages(run_config))
    for turn in chat.turns:
        if turn.message.role is Role.MODEL:
            journal.record_answer(turn.message, NO_USAGE, chat.model)
        else:
            journal.record_prompt(turn.message, turn.message.text, permanent=turn.is_note)


def _problems(chat: GeminiChat) -> tuple[str, ...]:
    if not chat.damaged_lines:
        return ()
    count = chat.damaged_lines
    return (ngettext("Skipped {count} damaged line.", "Skipped {count} damaged lines.", count),)
