"""Switching sessions: start a new one, resume an earlier one, load a saved chat."""

from collections.abc import Iterable, Sequence

from tejat.app.session.initial_state import loaded_state, new_state, open_session_store, open_sessions, resume_state
from tejat.app.session.manager import SessionManager
from tejat.core.agent.events import SessionEnd, SessionSource
from tejat.core.i18n import _
from tejat.core.messages.history import Message, Role
from tejat.core.ui.report import MarkdownBlock, Paragraph, Report, ReportBlock, Tone
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.transcript import truncate_middle
from tejat.engine.prompt.mentions import mentioning_text
from tejat.engine.sessions.journal_reader import LoadedSession
from tejat.engine.sessions.rewind_points import RewindPoint
from tejat.engine.sessions.session_id import new_session_id
from tejat.engine.sessions.session_store import SessionSummary

_MAX_MESSAGES = 6
_MAX_PROMPT_LENGTH = 500
_MAX_ANSWER_LENGTH = 2_000


async def start_new_session(manager: SessionManager) -> None:
    """Start an empty session. Raises UsageError while the current one is busy."""
    model = _journal_model(manager)
    sessions = None if model is None else open_sessions(manager.options, manager.run_config)
    initial_state = new_state(
        manager.run_config, new_session_id(), sessions, model=model or "", source=SessionSource.CLEAR
    )
    await manager.switch_to(initial_state, SessionEnd.CLEAR)


async def resume_session(manager: SessionManager, entry: SessionSummary) -> None:
    """Resume an earlier session. Raises UsageError if it cannot be loaded."""
    await manager.switch_to(resume_state(open_session_store(manager.run_config), entry), SessionEnd.OTHER)


async def load_saved_chat(manager: SessionManager, loaded: LoadedSession) -> None:
    """Start a new session with a saved conversation. Raises UsageError while the current one is busy."""
    model, session_id = _journal_model(manager), new_session_id()
    journal = None
    if model is not None:
        journal = open_sessions(manager.options, manager.run_config).create(session_id=session_id, model=model)
        journal.record_preamble(loaded.messages[: loaded.preamble_length])
        journal.record_compression(loaded.messages)
    await manager.switch_to(loaded_state(session_id, loaded, journal), SessionEnd.OTHER)


def session_tail(conversation: Conversation) -> Report:
    """The end of the conversation of a resumed session."""
    messages, opening = conversation.history.messages, conversation.template.preamble_length
    return conversation_tail(messages, opening=opening, rewind_points=conversation.rewind_points)


def conversation_tail(
    messages: Sequence[Message], *, opening: int, rewind_points: Iterable[RewindPoint] = ()
) -> Report:
    """The end of a conversation as a short report, to orient the user.

    If there are rewind points, only they tell what the user wrote, because other user messages were for the model.
    """
    prompts = {point.prompt_index: point.display_text for point in rewind_points}
    found = [
        _prompt_block(prompts[index]) if index in prompts else _message_block(message, with_prompts=not prompts)
        for index, message in enumerate(messages)
        if index >= opening
    ]
    blocks = [block for block in found if block is not None]
    omitted = len(blocks) - _MAX_MESSAGES
    if omitted > 0:
        blocks = [Paragraph(_("… {count} earlier messages", count=f"{omitted:,}"), Tone.QUIET), *blocks[omitted:]]
    return Report(_("Where you left off"), tuple(blocks))


def _message_block(message: Message, *, with_prompts: bool) -> ReportBlock | None:
    """The text of a message without calls and results, None if there is none."""
    if message.role is Role.MODEL:
        text = message.text.strip()
        return MarkdownBlock(truncate_middle(text, _MAX_ANSWER_LENGTH)) if text else None
    if message.responses or not with_prompts:
        return None
    text = mentioning_text(message)
    return _prompt_block(text) if text else None


def _prompt_block(text: str) -> ReportBlock:
    return Paragraph(f"> {truncate_middle(text, _MAX_PROMPT_LENGTH)}", Tone.STRONG)


def _journal_model(manager: SessionManager) -> str | None:
    """The model name for a new journal, None if sessions are not saved."""
    is_kept = manager.options.keeps_session and manager.run_model.recorded_at is None
    return manager.session.conversation.model.name if is_kept else None
